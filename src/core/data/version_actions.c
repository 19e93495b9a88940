/* Actions of dataset versions: statistics, clean. The table of all is core/dataset_actions.c. */
#include "base/messages.h"
#include "core/data/sample_own.h"
#include "core/data/version.h"

/* --- statistics --- */

bool version_run_statistics(struct op *op, struct object *o, const struct db_value *input,
                            struct json_out *out, int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct sample_counts n;
    struct sample_label_count *labels;
    size_t count;
    if (!sample_counts(op->core->db, o->id, &n, err) ||
        !sample_label_counts(op->core->db, op->arena, o->id, &labels, &count, err))
        return false;
    json_object(out);
    json_kint(out, "samples", n.samples);
    json_kint(out, "bytes", n.bytes);
    json_key(out, "states");
    json_object(out);
    for (int i = 0; i < SAMPLE_STATE_COUNT; i++)
        json_kint(out, sample_state_names[i], n.states[i]);
    json_object_end(out);
    json_key(out, "labels");
    json_array(out);
    for (size_t i = 0; i < count; i++) {
        json_object(out);
        json_kstr(out, "label", labels[i].label);
        json_kint(out, "samples", labels[i].samples);
        json_kint(out, "shapes", labels[i].shapes);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}

/* --- clean --- */

struct cleaning {
    const struct object *version;
    const int64_t *ids;
    size_t n;
    bool cleaned;
    int64_t changed;
};

static bool clean_write(struct op *op, void *ctx, struct err *err)
{
    struct cleaning *c = ctx;
    struct object now;
    struct sample_set set;
    bool found;
    if (!engine_load_row(op, c->version->kind, c->version->id, &now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    return sample_set_of(op, &now, &set, err) && sample_set_open(&set, err) &&
           sample_clean(op, &set, c->ids, c->n, c->cleaned, &c->changed, err);
}

bool version_run_clean(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    yyjson_val *list = json_parse(op->arena, input[0].s, err), *v;
    size_t i, max;
    if (!list)
        return false;
    struct cleaning c = {.version = o, .n = yyjson_arr_size(list), .cleaned = input[1].i != 0};
    if (!yyjson_is_arr(list) || c.n == 0 || c.n > 1000)
        return err_set(err, ERR_INVALID, "ids", "ids: a list of 1 to 1000 ids of samples");
    int64_t *ids = arena_array(op->arena, int64_t, c.n);
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!yyjson_is_int(v))
            return err_set(err, ERR_INVALID, "ids", "ids: each must be a whole number");
        ids[i] = yyjson_get_sint(v);
    }
    c.ids = ids;
    if (!engine_write(op->core, op->caller, op->arena, clean_write, &c, err))
        return false;
    json_object(out);
    json_kint(out, "changed", c.changed);
    json_object_end(out);
    return true;
}

const struct field version_clean_fields[] = {
    {.name = "ids",
     .type = FIELD_JSON,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .max = 1 << 16,
     .title = {"Samples", "样本"}},
    {.name = "cleaned",
     .type = FIELD_BOOL,
     .flags = FIELD_CREATE,
     .fallback = "true",
     .title = {"Cleaned", "清洗"},
     .help = {"true moves them out of the set, false back into it.", "true 移出数据集，false 移回。"}},
    {0},
};
