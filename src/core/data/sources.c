#include "core/data/sources.h"

#include "base/fs.h"
#include "base/seal.h"

#include <stdio.h>
#include <unistd.h>

#define KEY_FILE   "key"
#define MEMBER_MAX 20000

bool sources_is_host(const char *text)
{
    return *text && !strpbrk(text, "/ @");
}

static bool has_port(const char *host)
{
    const char *colon = strrchr(host, ':');
    return colon && !strchr(colon, ']') && (host[0] == '[' || strchr(host, ':') == colon);
}

bool sources_allow(struct core *core, const char *field, const char *host, int port, struct err *err)
{
    char full[300], bare[300];
    snprintf(full, sizeof full, has_port(host) ? "%s" : "%s:%d", host, port);
    snprintf(bare, sizeof bare, "%s", full);
    *strrchr(bare, ':') = 0;
    for (size_t i = 0; i < core->import_hosts.n; i++) {
        const char *allowed = core->import_hosts.items[i];
        if (strcasecmp(allowed, has_port(allowed) ? full : bare) == 0)
            return true;
    }
    return err_set(err, ERR_FORBIDDEN, NULL,
                   "%s: %s is none of the hosts that the administrator allows imports from (import_hosts)",
                   field, full);
}

static const struct source_member *find_member(const struct source_member *m, struct str name)
{
    while (m->name && !str_is(name, m->name))
        m++;
    return m->name ? m : NULL;
}

bool sources_check(const char *field, const struct source_member *members, yyjson_val *v, struct err *err)
{
    size_t i, max;
    yyjson_val *key, *value;
    if (!yyjson_is_obj(v))
        return err_set(err, ERR_INVALID, field, "%s: must be an object", field);
    yyjson_obj_foreach(v, i, max, key, value)
    {
        const struct source_member *m = find_member(members, json_str(key));
        if (!m)
            return err_set(err, ERR_INVALID, field, "%s: there is no member \"%s\"", field,
                           yyjson_get_str(key));
        bool ok = yyjson_is_null(value) || (m->number ? yyjson_is_int(value) : yyjson_is_str(value));
        if (!ok || yyjson_get_len(value) > MEMBER_MAX)
            return err_set(err, ERR_INVALID, field, "%s.%s: must be a %s", field, m->name,
                           m->number ? "whole number" : "text of at most 20,000 bytes");
        if (yyjson_is_str(value) && strlen(yyjson_get_str(value)) != yyjson_get_len(value))
            return err_set(err, ERR_INVALID, field, "%s.%s: must not have a NUL", field, m->name);
    }
    for (const struct source_member *m = members; m->name; m++)
        if (m->required && !json_str(yyjson_obj_get(v, m->name)).n)
            return err_set(err, ERR_INVALID, field, "%s.%s: is required", field, m->name);
    return true;
}

const char *sources_text(struct arena *a, yyjson_val *v, const char *name)
{
    struct str s = json_str(yyjson_obj_get(v, name));
    return s.n ? arena_strz(a, s) : NULL;
}

bool sources_check_ca(const char *field, yyjson_val *v, struct err *err)
{
    struct str ca = json_str(yyjson_obj_get(v, "ca"));
    return !ca.n || str_find(ca, STR("-----BEGIN CERTIFICATE-----")) >= 0 ||
           err_set(err, ERR_INVALID, field,
                   "%s.ca: must be certificates as text (PEM), each with -----BEGIN CERTIFICATE-----", field);
}

/* Libraries want a file, and remember by its name what was in it: so the name depends on that. */
static const char *ca_path(struct task *t, struct str ca)
{
    uint8_t hash[SHA256_SIZE];
    char hex[SHA256_HEX + 1];
    sha256_of(ca, hash);
    hex_encode(hash, sizeof hash, hex);
    return arena_printf(t->arena, "%s/cache/ca-%lld-%s", t->core->data, (long long)t->id, hex);
}

bool sources_ca(struct task *t, yyjson_val *v, const char **ret, struct err *err)
{
    struct str ca = json_str(yyjson_obj_get(v, "ca"));
    const char *path = ca.n ? ca_path(t, ca) : t->core->import_ca;
    if (ca.n && !fs_write_atomic(path, ca, 0640, err))
        return false;
    *ret = path;
    return true;
}

void sources_ca_end(struct task *t, yyjson_val *v)
{
    struct str ca = json_str(yyjson_obj_get(v, "ca"));
    if (ca.n)
        unlink(ca_path(t, ca));
}

bool sources_seal(struct core *core, struct arena *a, struct str secret, const char **ret, struct err *err)
{
    uint8_t key[SEAL_KEY];
    if (!seal_key(core->data_fd, KEY_FILE, key, err))
        return false;
    *ret = seal_text(a, key, secret);
    explicit_bzero(key, sizeof key);
    return true;
}

bool sources_secret(struct task *t, const char **ret, struct err *err)
{
    struct str sealed = json_str(yyjson_obj_get(t->params, "sealed")), secret;
    uint8_t key[SEAL_KEY];
    *ret = NULL;
    if (!sealed.p)
        return true;
    if (!seal_key(t->core->data_fd, KEY_FILE, key, err))
        return false;
    bool ok = seal_open(t->arena, key, sealed, &secret);
    explicit_bzero(key, sizeof key);
    if (!ok)
        return err_set(
            err, ERR_CONFLICT, NULL,
            "the secret of this import cannot be read any more, as the data folder has another key: start "
            "the import again");
    *ret = secret.p;
    return true;
}
