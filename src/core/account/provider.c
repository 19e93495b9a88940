#include "core/account/provider.h"

#include "base/fs.h"
#include "base/hash.h"

#define CONFIG_MAX    (1 << 20)
#define PROVIDERS_MAX 20
#define DOMAINS_MAX   100

enum { ANY, URL, BOOL, DOMAINS };
enum { OIDC = 1, OAUTH2 = 2 };

static const struct key {
    const char *name;
    int sort;
    unsigned required; /* for which types */
    size_t offset;
    const char *fallback;
} keys[] = {
    {"id", ANY, OIDC | OAUTH2, offsetof(struct provider, id), NULL},
    {"title", ANY, 0, offsetof(struct provider, title), NULL},
    {"issuer", URL, OIDC, offsetof(struct provider, issuer), NULL},
    {"authorize_url", URL, OAUTH2, offsetof(struct provider, authorize_url), NULL},
    {"token_url", URL, OAUTH2, offsetof(struct provider, token_url), NULL},
    {"userinfo_url", URL, OAUTH2, offsetof(struct provider, userinfo_url), NULL},
    {"client_id", ANY, OIDC | OAUTH2, offsetof(struct provider, client_id), NULL},
    {"client_secret", ANY, 0, offsetof(struct provider, client_secret), NULL},
    {"scopes", ANY, 0, offsetof(struct provider, scopes), "openid profile email"},
    {"subject_claim", ANY, 0, offsetof(struct provider, subject_claim), "sub"},
    {"name_claim", ANY, 0, offsetof(struct provider, name_claim), "preferred_username"},
    {"email_claim", ANY, 0, offsetof(struct provider, email_claim), "email"},
    {"default_project", ANY, 0, offsetof(struct provider, default_project), NULL},
    {"default_role", ANY, 0, offsetof(struct provider, default_role), "member"},
    {"ca_file", ANY, 0, offsetof(struct provider, ca_file), NULL},
    {"create_users", BOOL, 0, offsetof(struct provider, create_users), NULL},
    {"link_by_email", BOOL, 0, offsetof(struct provider, link_by_email), NULL},
    {"trust_email", BOOL, 0, offsetof(struct provider, trust_email), NULL},
    {"allowed_domains", DOMAINS, 0, offsetof(struct provider, allowed_domains), NULL},
};

static bool bad(struct err *err, const char *id, const char *key, const char *rule)
{
    return err_set(err, ERR_INVALID, key, "sign_in.providers: \"%s\": %s %s", id, key, rule);
}

bool provider_url_ok(const char *url)
{
    static const char *const here[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};
    if (str_starts(str_of(url), "https://"))
        return url[8] != 0 && url[8] != '/';
    for (size_t i = 0; i < countof(here); i++) {
        size_t n = strlen(here[i]);
        if (strncmp(url, here[i], n) == 0 && (url[n] == 0 || url[n] == ':' || url[n] == '/'))
            return true;
    }
    return false;
}

static bool read_domains(struct arena *a, const char *id, yyjson_val *v, const char ***ret, struct err *err)
{
    if (!yyjson_is_arr(v) || yyjson_arr_size(v) > DOMAINS_MAX)
        return bad(err, id, "allowed_domains", "must be a list of at most 100 domains");
    const char **list = arena_array(a, const char *, yyjson_arr_size(v) + 1);
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(v, i, n, item)
    {
        if (!yyjson_is_str(item) || yyjson_get_len(item) == 0)
            return bad(err, id, "allowed_domains", "must be a list of texts");
        list[i] = arena_strdup(a, yyjson_get_str(item));
    }
    *ret = n > 0 ? list : NULL;
    return true;
}

static bool read_key(struct arena *a, const struct key *k, yyjson_val *v, struct provider *p, struct err *err)
{
    const char *id = p->id ? p->id : "?";
    void *at = (char *)p + k->offset;
    if (k->sort == DOMAINS)
        return read_domains(a, id, v, at, err);
    if (k->sort == BOOL) {
        *(bool *)at = yyjson_get_bool(v);
        return yyjson_is_bool(v) || bad(err, id, k->name, "must be true or false");
    }
    if (!yyjson_is_str(v) || yyjson_get_len(v) == 0 || yyjson_get_len(v) > 2000)
        return bad(err, id, k->name, "must be a text of 1 to 2000 bytes");
    const char *text = arena_strdup(a, yyjson_get_str(v));
    if (k->sort == URL && !provider_url_ok(text))
        return bad(err, id, k->name, "must be an https address (http only on this machine)");
    *(const char **)at = text;
    return true;
}

static bool read_special(const char *name, yyjson_val *v, struct provider *p, bool *ret_known,
                         struct err *err)
{
    const char *id = p->id ? p->id : "?", *text = yyjson_get_str(v);
    *ret_known = true;
    if (strcmp(name, "type") == 0) {
        p->oidc = text && strcmp(text, "oidc") == 0;
        return p->oidc || (text && strcmp(text, "oauth2") == 0) ||
               bad(err, id, "type", "must be oidc or oauth2");
    }
    if (strcmp(name, "token_auth") == 0) {
        p->secret_in_body = text && strcmp(text, "post") == 0;
        return p->secret_in_body || (text && strcmp(text, "basic") == 0) ||
               bad(err, id, "token_auth", "must be basic or post");
    }
    *ret_known = false;
    return true;
}

static bool read_secret(struct provider *p, struct err *err)
{
    if (!p->client_secret || strncmp(p->client_secret, "env:", 4) != 0)
        return true;
    const char *value = getenv(p->client_secret + 4);
    if (!value || !*value)
        return bad(err, p->id, "client_secret", "names an environment variable that is not set");
    p->client_secret = value;
    return true;
}

static bool id_ok(const char *id)
{
    size_t n = strlen(id);
    return n <= 50 && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-_") == n;
}

static bool finish(struct provider *p, struct err *err)
{
    for (size_t i = 0; i < countof(keys); i++) {
        if (keys[i].sort == BOOL || keys[i].sort == DOMAINS)
            continue;
        const char **at = (const char **)(void *)((char *)p + keys[i].offset);
        if (!*at && (keys[i].required & (p->oidc ? OIDC : OAUTH2)))
            return bad(err, p->id ? p->id : "?", keys[i].name, "is missing");
        if (!*at)
            *at = keys[i].fallback;
    }
    if (!id_ok(p->id))
        return bad(err, p->id, "id", "must be 1 to 50 of a-z 0-9 - _");
    if (!p->title)
        p->title = p->id;
    return read_secret(p, err);
}

static bool read_provider(struct arena *a, yyjson_val *v, struct provider *p, struct err *err)
{
    if (!yyjson_is_obj(v))
        return err_set(err, ERR_INVALID, "providers", "sign_in.providers: must be a list of objects");
    p->id = arena_strdup(a, yyjson_get_str(yyjson_obj_get(v, "id")));
    p->oidc = p->create_users = true;
    size_t i, n;
    yyjson_val *key, *value;
    yyjson_obj_foreach(v, i, n, key, value)
    {
        const char *name = yyjson_get_str(key);
        bool known;
        if (!read_special(name, value, p, &known, err))
            return false;
        for (size_t k = 0; !known && k < countof(keys); k++)
            if (strcmp(keys[k].name, name) == 0) {
                known = true;
                if (!read_key(a, &keys[k], value, p, err))
                    return false;
            }
        if (!known)
            return bad(err, p->id ? p->id : "?", name, "is no known key");
    }
    return finish(p, err);
}

static bool read_list(struct providers *all, yyjson_val *list, struct err *err)
{
    if (!list)
        return true;
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) > PROVIDERS_MAX)
        return err_set(err, ERR_INVALID, "providers", "sign_in.providers: must be a list of at most %d",
                       PROVIDERS_MAX);
    all->items = arena_array(&all->arena, struct provider, yyjson_arr_size(list) + 1);
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, n, item)
    {
        struct provider *p = &all->items[all->count];
        if (!read_provider(&all->arena, item, p, err))
            return false;
        if (providers_find(all, str_of(p->id)))
            return bad(err, p->id, "id", "is there twice");
        pthread_mutex_init(&p->lock, NULL);
        all->count++;
    }
    return true;
}

static bool read_file(struct providers *all, const char *path, struct err *err)
{
    struct str text;
    if (!fs_read(&all->arena, path, CONFIG_MAX, &text, err))
        return false;
    yyjson_val *root = json_parse(&all->arena, text, err);
    if (!root)
        return false;
    yyjson_val *sign_in = yyjson_obj_get(root, "sign_in");
    if (!yyjson_is_obj(root) || (sign_in && !yyjson_is_obj(sign_in)))
        return err_set(err, ERR_INVALID, "sign_in", "%s: sign_in must be an object", path);
    yyjson_val *password = yyjson_obj_get(sign_in, "password");
    if (password && !yyjson_is_bool(password))
        return err_set(err, ERR_INVALID, "password", "sign_in.password: must be true or false");
    all->password = !password || yyjson_get_bool(password);
    return read_list(all, yyjson_obj_get(sign_in, "providers"), err);
}

struct providers *providers_load(const char *path, struct err *err)
{
    struct providers *all = base_zalloc(sizeof *all);
    arena_init(&all->arena);
    all->password = true;
    random_bytes(all->key, sizeof all->key);
    if (path && !read_file(all, path, err)) {
        providers_free(all);
        return NULL;
    }
    return all;
}

void providers_free(struct providers *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++) {
        pthread_mutex_destroy(&p->items[i].lock);
        free(p->items[i].discovery);
        free(p->items[i].keys);
    }
    arena_release(&p->arena);
    free(p);
}

struct provider *providers_find(struct providers *p, struct str id)
{
    for (size_t i = 0; i < p->count; i++)
        if (str_is(id, p->items[i].id))
            return &p->items[i];
    return NULL;
}
