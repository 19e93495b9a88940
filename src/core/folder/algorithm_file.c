#include "core/folder/algorithm_file.h"

#include "base/messages.h"
#include "base/messages_learn.h"

bool algorithm_load(struct core *core, const struct object *version, struct arena *a, struct algorithm *ret,
                    bool *ret_there, struct err *err)
{
    struct manifest m;
    struct str text;
    *ret = (struct algorithm){0};
    if (!folder_manifest(core, version, a, &m, err))
        return false;
    const struct manifest_entry *e = manifest_find(&m, STR(ALGORITHM_FILE));
    *ret_there = e != NULL;
    if (!e)
        return true;
    if (e->size > (int64_t)ALGORITHM_MAX_BYTES)
        return err_message(err, ERR_INVALID, ALGORITHM_FILE, MESSAGE_ALGORITHM_LARGE, (long long)e->size,
                           (long long)ALGORITHM_MAX_BYTES);
    return blob_read(core->store, a, &e->blob, ALGORITHM_MAX_BYTES, &text, err) &&
           algorithm_parse(a, text, ret, err);
}

bool algorithm_load_id(struct core *core, int64_t version, struct arena *a, struct algorithm *ret,
                       bool *ret_there, struct err *err)
{
    struct object o;
    *ret = (struct algorithm){0};
    *ret_there = false;
    return !version || (engine_get(core, &caller_system, &kind_algorithm_version, 0, version, a, &o, err) &&
                        algorithm_load(core, &o, a, ret, ret_there, err));
}

/* --- functions --- */

/* By enum algorithm_function_name. Those without a reason are run by trainings. */
static const struct {
    struct words title;
    const char *id, *en, *zh;
} functions[] = {
    [ALGORITHM_TRAIN] = {{"Training", "训练"}, NULL, NULL, NULL},
    [ALGORITHM_TEST] = {{"Test", "测试"}, NULL, NULL, NULL},
    [ALGORITHM_BATCH] = {{"Batch inference", "批量推理"}, MESSAGE_FUNCTION_BATCH},
    [ALGORITHM_SERVE] = {{"Service", "服务"}, MESSAGE_FUNCTION_SERVE},
    [ALGORITHM_SDK] = {{"SDK", "SDK"}, MESSAGE_FUNCTION_SDK},
};

bool algorithm_function(const struct algorithm *m, struct str name, const struct algorithm_function **ret,
                        struct err *err)
{
    for (size_t i = 0; i < ALGORITHM_FUNCTION_COUNT; i++) {
        if (!str_is(name, algorithm_function_names[i]))
            continue;
        if (functions[i].id) {
            (void)err_set(err, ERR_INVALID, "function", "%s", functions[i].en);
            (void)err_chinese(err, functions[i].id, "%s", functions[i].zh);
            return false;
        }
        if (!m->functions[i].there)
            break;
        *ret = &m->functions[i];
        return true;
    }
    return err_message(err, ERR_INVALID, "function", MESSAGE_FUNCTION_NONE, STR_ARG(name));
}

static void write_function(const struct algorithm *m, size_t i, struct json_out *out)
{
    json_object(out);
    json_kz(out, "name", algorithm_function_names[i]);
    json_key(out, "title");
    json_object(out);
    json_kz(out, "en", functions[i].title.en);
    json_kz(out, "zh", functions[i].title.zh);
    json_object_end(out);
    json_kbool(out, "runs", !functions[i].id);
    json_kz(out, "reason", functions[i].en);
    json_kz(out, "reason_zh", functions[i].zh);
    algorithm_function_write(&m->functions[i], out);
    json_object_end(out);
}

bool algorithm_run_functions(struct op *op, struct object *o, const struct db_value *input,
                             struct json_out *out, int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct algorithm m;
    bool there;
    if (!algorithm_load(op->core, o, op->arena, &m, &there, err))
        return false;
    json_object(out);
    json_kbool(out, "manifest", there);
    json_key(out, "title");
    if (m.title.en.n) {
        json_object(out);
        json_kstr(out, "en", m.title.en);
        json_kstr(out, "zh", m.title.zh);
        json_object_end(out);
    } else {
        json_null(out);
    }
    json_key(out, "functions");
    json_array(out);
    for (size_t i = 0; i < ALGORITHM_FUNCTION_COUNT; i++)
        if (m.functions[i].there)
            write_function(&m, i, out);
    json_array_end(out);
    json_object_end(out);
    return true;
}
