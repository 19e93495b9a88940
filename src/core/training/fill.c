/* What an algorithm that declares itself (docs/algorithms.md) gives a training: command, image and the values
 * of parameters. */
#include "base/messages.h"
#include "base/messages_learn.h"
#include "core/data/sample.h"
#include "core/folder/algorithm_file.h"
#include "core/image/image.h"
#include "core/runtime/runtime.h"
#include "core/training/training.h"

#include <unistd.h>

/* --- runtimes --- */

/* Where this machine's own programs are as good as a runtime: a file that is there then. */
static const struct {
    const char *runtime, *file;
} on_host[] = {
    {"pytorch", "/usr/lib/python3/dist-packages/torch/__init__.py"},
};

bool training_runtime(struct core *core, struct str name, struct arena *a, const char **ret, struct err *err)
{
    *ret = "host";
    if (!name.n || str_is(name, "host"))
        return true;
    const char *image = runtime_image(core, name, a, err);
    if (image) {
        *ret = image;
        return true;
    }
    for (size_t i = 0; i < countof(on_host); i++)
        if (str_is(name, on_host[i].runtime) && access(on_host[i].file, R_OK) == 0)
            return true;
    return false;
}

/* --- parameters --- */

static yyjson_val *object_of(struct arena *a, struct str text, struct err *err)
{
    yyjson_val *v = json_parse(a, text.n ? text : STR("{}"), err);
    if (v && !yyjson_is_obj(v))
        return err_message(err, ERR_INVALID, "parameters", MESSAGE_MODEL_OBJECT, "parameters"), NULL;
    return v;
}

bool training_join(struct arena *a, struct str usual, struct str given, struct str *ret, struct err *err)
{
    yyjson_val *first = object_of(a, usual, err), *second = first ? object_of(a, given, err) : NULL, *key, *v;
    auto_buf struct buf text = {0};
    struct json_out out;
    size_t i, n;
    if (!second)
        return false;
    json_begin(&out, &text);
    json_object(&out);
    yyjson_obj_foreach(first, i, n, key, v)
    {
        if (yyjson_obj_getn(second, yyjson_get_str(key), yyjson_get_len(key)) || yyjson_is_null(v))
            continue;
        json_key(&out, yyjson_get_str(key));
        json_value(&out, v);
    }
    yyjson_obj_foreach(second, i, n, key, v)
    {
        if (yyjson_is_null(v))
            continue;
        json_key(&out, yyjson_get_str(key));
        json_value(&out, v);
    }
    json_object_end(&out);
    *ret = arena_str(a, buf_view(&text));
    return true;
}

/* Without a manifest any values go through. */
static bool plain_values(struct arena *a, yyjson_val *v, struct str *ret, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    json_value(&out, v);
    if (text.n > ALGORITHM_MAX_VALUES)
        return err_message(err, ERR_INVALID, "parameters", MESSAGE_ALGORITHM_VALUES, (long long)text.n,
                           (long long)ALGORITHM_MAX_VALUES);
    *ret = arena_str(a, buf_view(&text));
    return true;
}

/* --- all of it --- */

/* *ret is NULL when the training goes without a manifest. */
static bool function_of(struct core *core, const struct object *t, struct arena *a,
                        const struct algorithm_function **ret, struct err *err)
{
    struct algorithm *m = arena_array(a, struct algorithm, 1);
    struct str name = object_text(t, "function");
    bool there, usual = !name.n || str_is(name, algorithm_function_names[ALGORITHM_TRAIN]);
    *ret = NULL;
    if (!algorithm_load_id(core, object_int(t, "algorithm"), a, m, &there, err))
        return false;
    /* With a command of its own it may use code that declares other functions only, or none. */
    if (usual && object_text(t, "command").n && !m->functions[ALGORITHM_TRAIN].there)
        return true;
    if (!there && usual)
        return err_message(err, ERR_INVALID, "command", MESSAGE_TRAINING_COMMAND);
    return algorithm_function(m, usual ? str_of(algorithm_function_names[ALGORITHM_TRAIN]) : name, ret, err);
}

static bool check_data(struct core *core, const struct object *t, const struct algorithm_function *f,
                       struct arena *a, struct err *err)
{
    size_t n;
    int64_t *ids = object_refs(a, t, "datasets", &n);
    if (f->inputs & 1u << ALGORITHM_DATASET && !n)
        return err_message(err, ERR_INVALID, "datasets", MESSAGE_TRAINING_NO_DATASET);
    if (f->inputs & 1u << ALGORITHM_BASE_MODEL && !object_int(t, "base_model"))
        return err_message(err, ERR_INVALID, "base_model", MESSAGE_TRAINING_NO_BASE);
    for (size_t i = 0; f->types && i < n; i++) {
        struct db_row row;
        bool found;
        enum annotation_type type;
        if (!db_query_one(core->db, a,
                          "SELECT d.annotation_type, d.name FROM dataset_versions v JOIN datasets d"
                          " ON d.id = v.dataset WHERE v.id = ?",
                          db_args(db_int(ids[i])), &row, &found, err))
            return false;
        if (found && (!annotation_type_of(row.v[0].s, &type) || !(f->types & 1u << type)))
            return err_message(err, ERR_INVALID, "datasets", MESSAGE_TRAINING_TYPE, STR_ARG(row.v[1].s),
                               STR_ARG(row.v[0].s));
    }
    return true;
}

bool training_fill(struct core *core, const struct object *t, struct str given, bool start, struct arena *a,
                   struct training_filled *ret, struct err *err)
{
    const struct algorithm_function *f;
    struct err why = {0};
    struct training_filled made = {.image = arena_strz(a, object_text(t, "image")),
                                   .command = object_text(t, "command")};
    struct str text;
    yyjson_val *values =
        training_join(a, object_text(t, "parameters"), given, &text, err) ? json_parse(a, text, err) : NULL;
    if (!values || !function_of(core, t, a, &f, err) ||
        !(f ? algorithm_values(a, f, values, start, &made.parameters, err)
            : plain_values(a, values, &made.parameters, err)))
        return false;
    if (f && !made.command.n)
        made.command = f->command;
    if (start && f && !check_data(core, t, f, a, err))
        return false;
    /* A runtime that is missing is no reason to refuse a definition. */
    if (!*made.image && f && f->image.n)
        made.image = arena_strz(a, f->image);
    if (!*made.image && !(start && f))
        made.image = "host";
    if (!*made.image && !training_runtime(core, f->runtime, a, &made.image, &why))
        return err_because(err, ERR_INVALID, "image", &why, MESSAGE_RUNTIME_NONE, STR_ARG(f->runtime));
    *ret = made;
    return true;
}
