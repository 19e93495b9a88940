/* What a model was made from: kept with the instance when it starts, and with the version that comes of it.
 */
#include "core/data/sample.h"
#include "core/folder/folder.h"
#include "core/training/training.h"

static void write_ref(struct json_out *out, const char *key, const struct object *o)
{
    json_key(out, key);
    json_object(out);
    json_kint(out, "id", o->id);
    json_kstr(out, "name", object_text(o, "name"));
    json_object_end(out);
}

/* {"kind", "set": {}, "version": {}, "digest"} of a version; null when there is none. */
static bool write_version(struct op *op, const struct kind *k, int64_t id, struct json_out *out,
                          struct err *err)
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
    write_ref(out, "set", &set);
    write_ref(out, "version", &version);
    json_kstr(out, "digest", object_text(&version, "digest"));
    json_object_end(out);
    return true;
}

static bool write_data(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    size_t n;
    int64_t *ids = object_refs(op->arena, o, "datasets", &n);
    json_key(out, "data");
    json_array(out);
    for (size_t i = 0; i < n; i++)
        if (!write_version(op, &kind_dataset_version, ids[i], out, err))
            return false;
    json_array_end(out);
    return true;
}

static bool write_named(struct op *op, const char *key, const struct kind *k, int64_t id,
                        struct json_out *out, struct err *err)
{
    struct object o;
    bool found = false;
    if (id && !engine_load_row(op, k, id, &o, &found, err))
        return false;
    if (found) {
        write_ref(out, key, &o);
    } else {
        json_key(out, key);
        json_null(out);
    }
    return true;
}

bool training_lineage(struct op *op, const struct object *training, const struct object *o, const char *image,
                      struct str *ret, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    json_object(&out);
    write_ref(&out, "training", training);
    json_kstr(&out, "run", object_text(o, "name"));
    if (!write_data(op, o, &out, err))
        return false;
    json_key(&out, "code");
    if (!write_version(op, &kind_algorithm_version, object_int(o, "algorithm"), &out, err))
        return false;
    json_key(&out, "base_model");
    if (!write_version(op, &kind_model_version, object_int(o, "base_model"), &out, err) ||
        !write_named(op, "resumed_from", &kind_training_instance, object_int(o, "resumed_from"), &out, err) ||
        !write_named(op, "spec", kind_by_name(STR("spec")), object_int(o, "spec"), &out, err))
        return false;
    json_kstr(&out, "image", object_text(o, "image"));
    json_kz(&out, "image_digest", *image ? image : NULL);
    json_kstr(&out, "command", object_text(o, "command"));
    json_key(&out, "env");
    json_raw(&out, object_text(o, "env").n ? object_text(o, "env") : STR("{}"));
    json_kint(&out, "nodes", object_int(o, "nodes"));
    json_object_end(&out);
    *ret = arena_str(op->arena, buf_view(&text));
    return true;
}

bool training_lineage_write(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct str text = object_text(o, "lineage");
    yyjson_val *doc = json_parse(op->arena, text.n ? text : STR("{}"), err), *key, *v;
    size_t i, max;
    if (!doc)
        return false;
    json_object(out);
    yyjson_obj_foreach(doc, i, max, key, v)
    {
        json_key(out, yyjson_get_str(key));
        json_value(out, v);
    }
    json_kint(out, "instance", o->id);
    json_kint(out, "job", object_int(o, "job"));
    json_key(out, "model_version");
    bool ok = write_version(op, &kind_model_version, object_int(o, "model_version"), out, err);
    json_object_end(out);
    return ok;
}
