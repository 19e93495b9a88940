/* Making manifests and configurations. */
#include "base/clock.h"
#include "core/image/oci.h"
#include "core/image/reference.h"

static void write_descriptor(struct json_out *o, const struct oci_descriptor *d)
{
    char text[REFERENCE_DIGEST];
    json_object(o);
    json_kstr(o, "mediaType", d->media_type);
    json_kz(o, "digest", reference_text(&d->digest, text));
    json_kint(o, "size", d->size);
    json_object_end(o);
}

void oci_write(const struct oci_write *w, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_kint(&o, "schemaVersion", 2);
    json_kz(&o, "mediaType", OCI_MANIFEST);
    json_key(&o, "config");
    write_descriptor(&o, &w->config);
    json_key(&o, "layers");
    json_array(&o);
    for (size_t i = 0; i < w->n; i++)
        write_descriptor(&o, &w->layers[i]);
    json_array_end(&o);
    if (w->host) {
        json_key(&o, "annotations");
        json_object(&o);
        json_kz(&o, OCI_BASE, "host");
        json_object_end(&o);
    }
    json_object_end(&o);
}

static bool sets(yyjson_val *env, const char *pair)
{
    size_t i, max, n = strcspn(pair, "=");
    yyjson_val *key, *v;
    if (!env)
        return false;
    yyjson_obj_foreach(env, i, max, key, v)
    {
        struct str name = json_str(key);
        if (name.n == n && memcmp(name.p, pair, n) == 0)
            return true;
    }
    return false;
}

static void write_env(struct arena *a, struct json_out *o, const struct oci_change *c)
{
    size_t i, max;
    yyjson_val *key, *v;
    json_key(o, "Env");
    json_array(o);
    for (size_t k = 0; c->from && k < c->from->n_env; k++)
        if (!sets(c->env, c->from->env[k]))
            json_z(o, c->from->env[k]);
    if (c->env)
        yyjson_obj_foreach(c->env, i, max, key, v) if (yyjson_is_str(v))
            json_z(o, arena_printf(a, "%s=%s", yyjson_get_str(key), yyjson_get_str(v)));
    json_array_end(o);
}

/* Those that this writes itself are left out; the rest of the old object is copied. */
static void copy_rest(struct json_out *o, yyjson_val *old, const char *const *own, size_t n)
{
    size_t i, max;
    yyjson_val *key, *v;
    if (!yyjson_is_obj(old))
        return;
    yyjson_obj_foreach(old, i, max, key, v)
    {
        bool mine = false;
        for (size_t k = 0; k < n; k++)
            mine = mine || strcmp(yyjson_get_str(key), own[k]) == 0;
        if (mine)
            continue;
        json_key(o, yyjson_get_str(key));
        json_value(o, v);
    }
}

static void write_inner(struct arena *a, struct json_out *o, const struct oci_change *c)
{
    static const char *const own[] = {"Env", "Cmd", "Entrypoint", "WorkingDir"};
    yyjson_val *old = c->from ? yyjson_obj_get(c->from->doc, "config") : NULL;
    const struct {
        const char *name;
        yyjson_val *v;
    } lists[] = {{"Cmd", c->cmd}, {"Entrypoint", c->entrypoint}};
    json_key(o, "config");
    json_object(o);
    copy_rest(o, old, own, countof(own));
    write_env(a, o, c);
    for (size_t i = 0; i < countof(lists); i++) {
        yyjson_val *v = lists[i].v ? lists[i].v : yyjson_obj_get(old, lists[i].name);
        if (!yyjson_is_arr(v))
            continue;
        json_key(o, lists[i].name);
        json_value(o, v);
    }
    struct str cwd = c->cwd ? str_of(c->cwd) : json_str(yyjson_obj_get(old, "WorkingDir"));
    if (cwd.n)
        json_kstr(o, "WorkingDir", cwd);
    json_object_end(o);
}

static void write_rootfs(struct json_out *o, const struct oci_change *c)
{
    char text[REFERENCE_DIGEST];
    json_key(o, "rootfs");
    json_object(o);
    json_kz(o, "type", "layers");
    json_key(o, "diff_ids");
    json_array(o);
    for (size_t i = 0; c->from && i < c->from->n_diff_ids; i++)
        json_z(o, reference_text(&c->from->diff_ids[i], text));
    if (c->add_diff)
        json_z(o, reference_text(c->add_diff, text));
    json_array_end(o);
    json_object_end(o);
}

static void write_history(struct json_out *o, const struct oci_change *c, const char *now)
{
    yyjson_val *old = c->from ? yyjson_obj_get(c->from->doc, "history") : NULL, *v;
    size_t i, max;
    json_key(o, "history");
    json_array(o);
    if (yyjson_is_arr(old))
        yyjson_arr_foreach(old, i, max, v) json_value(o, v);
    json_object(o);
    json_kz(o, "created", now);
    json_kz(o, "created_by", c->comment ? c->comment : "ingot");
    if (!c->add_diff)
        json_kbool(o, "empty_layer", true);
    json_object_end(o);
    json_array_end(o);
}

void oci_config_write(struct arena *a, const struct oci_change *c, struct buf *out)
{
    static const char *const own[] = {"config", "rootfs", "history", "created", "architecture", "os"};
    char now[CLOCK_TEXT_MAX];
    struct json_out o;
    clock_format(clock_now(), now);
    json_begin(&o, out);
    json_object(&o);
    json_kz(&o, "created", now);
    struct str arch = c->from ? c->from->arch : str_of(c->arch), os = c->from ? c->from->os : STR("linux");
    json_kstr(&o, "architecture", arch.p ? arch : STR("amd64"));
    json_kstr(&o, "os", os.p ? os : STR("linux"));
    copy_rest(&o, c->from ? c->from->doc : NULL, own, countof(own));
    write_inner(a, &o, c);
    write_rootfs(&o, c);
    write_history(&o, c, now);
    json_object_end(&o);
}
