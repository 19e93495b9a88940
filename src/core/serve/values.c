#include "core/serve/values.h"

#include "base/messages.h"
#include "base/seal.h"

#include <strings.h>

#define KEY_FILE   "key"
#define SEALED_MAX 8000 /* bytes */

static bool is_name(struct str name)
{
    bool plain = name.n > 0 && name.n <= 100 && !(name.p[0] >= '0' && name.p[0] <= '9');
    for (size_t k = 0; k < name.n; k++)
        plain = plain && (name.p[k] == '_' || (name.p[k] >= '0' && name.p[k] <= '9') ||
                          (name.p[k] >= 'A' && name.p[k] <= 'Z') || (name.p[k] >= 'a' && name.p[k] <= 'z'));
    return plain;
}

bool values_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    if (value->type != DB_TEXT)
        return true;
    yyjson_val *doc = json_parse(a, value->s, err), *key, *v;
    size_t i, max;
    if (!doc)
        return false;
    if (!yyjson_is_obj(doc) || yyjson_obj_size(doc) > VALUES_MAX)
        return err_message(err, ERR_INVALID, f->name, MESSAGE_ENV_OBJECT, f->name, VALUES_MAX);
    yyjson_obj_foreach(doc, i, max, key, v)
    {
        struct str name = json_str(key), text = json_str(v);
        if (!is_name(name))
            return err_message(err, ERR_INVALID, f->name, MESSAGE_ENV_NAME, f->name,
                               (int)(name.n < 100 ? name.n : 100), name.p);
        if (!text.p || text.n > SEALED_MAX)
            return err_message(err, ERR_INVALID, f->name, MESSAGE_ENV_VALUE, f->name, STR_ARG(name),
                               VALUES_CHARACTER);
    }
    return true;
}

static bool is_line(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' && text.p[i] != '\t')
            return false;
    return utf8_count(text) <= VALUES_CHARACTER;
}

bool values_seal(struct op *op, const struct db_value *old, struct db_value *value, struct err *err)
{
    struct arena *a = op->arena;
    uint8_t secret[SEAL_KEY];
    size_t i, max;
    auto_buf struct buf text = {0};
    struct json_out out;
    if (value->type != DB_TEXT)
        return true;
    yyjson_val *doc = json_parse(a, value->s, err), *key, *v;
    yyjson_val *was = old && old->type == DB_TEXT ? json_parse(a, old->s, err) : NULL;
    if (!doc || !seal_key(op->core->data_fd, KEY_FILE, secret, err))
        return false;
    json_begin(&out, &text);
    json_object(&out);
    bool ok = true;
    yyjson_obj_foreach(doc, i, max, key, v)
    {
        struct str name = json_str(key), given = json_str(v);
        bool sealed = was && str_eq(json_str(yyjson_obj_get(was, name.p)), given);
        if (!sealed && !is_line(given))
            ok = err_message(err, ERR_INVALID, "env", MESSAGE_ENV_VALUE, "env", STR_ARG(name),
                             VALUES_CHARACTER);
        json_key(&out, name.p);
        json_string(&out, sealed || !ok ? given : str_of(seal_text(a, secret, given)));
    }
    json_object_end(&out);
    explicit_bzero(secret, sizeof secret);
    *value = db_text(arena_str(a, buf_view(&text)));
    return ok;
}

bool values_launch(struct launch *u, struct str sealed, struct err *err)
{
    struct arena *a = launch_arena(u);
    uint8_t secret[SEAL_KEY];
    size_t i, max;
    yyjson_val *doc = sealed.n ? json_parse(a, sealed, err) : NULL, *key, *v;
    if (!sealed.n || (doc && yyjson_obj_size(doc) == 0))
        return true;
    if (!doc || !seal_key(launch_core(u)->data_fd, KEY_FILE, secret, err))
        return false;
    bool ok = true;
    yyjson_obj_foreach(doc, i, max, key, v)
    {
        struct str value;
        ok = ok && seal_open(a, secret, json_str(v), &value);
        if (ok)
            launch_secret(u, yyjson_get_str(key), value.p);
    }
    explicit_bzero(secret, sizeof secret);
    return ok || err_set(err, ERR_CONFLICT, NULL,
                         "the environment values of the version cannot be read any more, as the data folder "
                         "has another key: give them again");
}

void values_write_names(struct arena *a, struct str sealed, struct json_out *out)
{
    struct err ignored = {0};
    yyjson_val *doc = sealed.n ? json_parse(a, sealed, &ignored) : NULL, *key, *v;
    size_t i, max;
    json_array(out);
    if (doc)
        yyjson_obj_foreach(doc, i, max, key, v) json_string(out, json_str(key));
    json_array_end(out);
}
