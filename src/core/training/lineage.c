/* What a model was made from: kept with the instance when it starts, and with the version that comes of it.
 */
#include "core/folder/lineage.h"
#include "core/data/sample.h"
#include "core/folder/folder.h"
#include "core/training/training.h"

bool training_lineage(struct op *op, const struct object *training, const struct object *o, const char *image,
                      struct str *ret, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    json_object(&out);
    lineage_ref(&out, "training", training);
    json_kstr(&out, "run", object_text(o, "name"));
    if (!lineage_versions(op, "data", &kind_dataset_version, o, "datasets", &out, err))
        return false;
    json_key(&out, "code");
    if (!lineage_version(op, &kind_algorithm_version, object_int(o, "algorithm"), &out, err))
        return false;
    json_key(&out, "base_model");
    if (!lineage_version(op, &kind_model_version, object_int(o, "base_model"), &out, err) ||
        !lineage_named(op, "resumed_from", &kind_training_instance, object_int(o, "resumed_from"), &out,
                       err) ||
        !lineage_named(op, "spec", kind_by_name(STR("spec")), object_int(o, "spec"), &out, err))
        return false;
    json_kstr(&out, "image", object_text(o, "image"));
    json_kz(&out, "image_digest", *image ? image : NULL);
    json_kstr(&out, "command", object_text(o, "command"));
    json_kstr(&out, "function", object_text(o, "function"));
    json_key(&out, "parameters");
    json_raw(&out, object_text(o, "parameters").n ? object_text(o, "parameters") : STR("{}"));
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
    bool ok = lineage_version(op, &kind_model_version, object_int(o, "model_version"), out, err);
    json_object_end(out);
    return ok;
}
