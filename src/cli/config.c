#include "cli/config.h"

#include "base/fs.h"
#include "base/json.h"

#define CONFIG_MAX (64 * 1024)

static const char *env(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

const char *config_path(struct arena *a, struct err *err)
{
    if (env("INGOT_CONFIG"))
        return env("INGOT_CONFIG");
    if (env("XDG_CONFIG_HOME"))
        return arena_printf(a, "%s/ingot/config.json", env("XDG_CONFIG_HOME"));
    if (env("HOME"))
        return arena_printf(a, "%s/.config/ingot/config.json", env("HOME"));
    err_set(err, ERR_INVALID, NULL, "neither INGOT_CONFIG nor HOME is set: no place for the configuration");
    return NULL;
}

static const char *text_of(struct arena *a, yyjson_val *object, const char *key)
{
    struct str s = json_str(yyjson_obj_get(object, key));
    return s.n ? arena_strz(a, s) : NULL;
}

bool config_load(struct arena *a, struct config *ret, struct err *err)
{
    const char *path = config_path(a, err);
    if (!path)
        return false;
    *ret = (struct config){0};
    if (access(path, F_OK) != 0)
        return true;
    struct str text;
    if (!fs_read(a, path, CONFIG_MAX, &text, err))
        return false;
    struct err parse = {0};
    yyjson_val *v = json_parse(a, text, &parse);
    if (!v || !yyjson_is_obj(v))
        return err_set(err, ERR_INVALID, NULL, "%s is not a JSON object: %s", path,
                       v ? "another type" : parse.message);
    ret->url = text_of(a, v, "url");
    ret->token = text_of(a, v, "token");
    ret->token_id = yyjson_get_sint(yyjson_obj_get(v, "token_id"));
    ret->project = text_of(a, v, "project");
    ret->ca_file = text_of(a, v, "ca_file");
    ret->insecure = yyjson_get_bool(yyjson_obj_get(v, "insecure"));
    return true;
}

bool config_save(struct arena *a, const struct config *c, struct err *err)
{
    const char *path = config_path(a, err);
    if (!path)
        return false;
    char *folder = arena_strdup(a, path);
    char *slash = strrchr(folder, '/');
    if (slash && slash != folder) {
        *slash = 0;
        if (!fs_mkdirs(folder, 0700, err))
            return false;
    }
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_object(&o);
    json_kz(&o, "url", c->url);
    json_kz(&o, "token", c->token);
    json_kint(&o, "token_id", c->token_id);
    json_kz(&o, "project", c->project);
    json_kz(&o, "ca_file", c->ca_file);
    json_kbool(&o, "insecure", c->insecure);
    json_object_end(&o);
    buf_char(&b, '\n');
    return fs_write_atomic(path, buf_view(&b), 0600, err);
}

bool config_url(struct arena *a, const char *text, const char **ret, struct err *err)
{
    struct str s = str_trim(str_of(text));
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    bool known = (str_starts(s, "http://") && s.n > 7) || (str_starts(s, "https://") && s.n > 8);
    if (!known)
        return err_set(err, ERR_INVALID, NULL, "\"%s\" is no address: it begins with http:// or https://",
                       text);
    *ret = arena_strz(a, s);
    return true;
}

bool config_effective(struct arena *a, const char *url, struct config *ret, struct err *err)
{
    struct config c;
    if (!config_load(a, &c, err))
        return false;
    if (!url)
        url = env("INGOT_URL");
    if (url) {
        if (!config_url(a, url, &url, err))
            return false;
        if (!c.url || strcmp(url, c.url) != 0)
            c = (struct config){0};
        c.url = url;
    }
    if (env("INGOT_TOKEN")) {
        c.token = env("INGOT_TOKEN");
        c.token_id = 0;
    }
    if (env("INGOT_PROJECT"))
        c.project = env("INGOT_PROJECT");
    *ret = c;
    return true;
}
