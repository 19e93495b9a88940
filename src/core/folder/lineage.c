#include "core/folder/lineage.h"

void lineage_ref(struct json_out *out, const char *key, const struct object *o)
{
    json_key(out, key);
    json_object(out);
    json_kint(out, "id", o->id);
    json_kstr(out, "name", object_text(o, "name"));
    json_object_end(out);
}

bool lineage_version(struct op *op, const struct kind *k, int64_t id, struct json_out *out, struct err *err)
{
    struct object version, set;
    bool found = false, has_set = false;
    if (id && (!engine_load_row(op, k, id, &version, &found, err) ||
               (found &&
                !engine_load_row(op, kind_by_name(str_of(k->parent)), version.parent, &set, &has_set, err))))
        return false;
    if (!found || !has_set) {
        json_null(out);
        return true;
    }
    json_object(out);
    json_kz(out, "kind", k->name);
    lineage_ref(out, "set", &set);
    lineage_ref(out, "version", &version);
    json_kstr(out, "digest", object_text(&version, "digest"));
    json_object_end(out);
    return true;
}

bool lineage_versions(struct op *op, const char *key, const struct kind *k, const struct object *o,
                      const char *field, struct json_out *out, struct err *err)
{
    size_t n;
    int64_t *ids = object_refs(op->arena, o, field, &n);
    json_key(out, key);
    json_array(out);
    for (size_t i = 0; i < n; i++)
        if (!lineage_version(op, k, ids[i], out, err))
            return false;
    json_array_end(out);
    return true;
}

bool lineage_named(struct op *op, const char *key, const struct kind *k, int64_t id, struct json_out *out,
                   struct err *err)
{
    struct object o;
    bool found = false;
    if (id && !engine_load_row(op, k, id, &o, &found, err))
        return false;
    if (found) {
        lineage_ref(out, key, &o);
    } else {
        json_key(out, key);
        json_null(out);
    }
    return true;
}
