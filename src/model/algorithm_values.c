/* Values of an algorithm's parameters. */
#include "base/messages.h"
#include "base/messages_learn.h"
#include "model/algorithm.h"

#include <math.h>

#define MAX_WHOLE 9007199254740992.0 /* what a double can count to */
#define MAX_REAL  1e300

struct place {
    struct arena *a;
    const struct algorithm_parameter *p;
    const char *path;
    struct err *err;
};

static bool check_int(const struct place *at, yyjson_val *v)
{
    double d = yyjson_is_num(v) ? yyjson_get_num(v) : NAN, min = isnan(at->p->min) ? -MAX_WHOLE : at->p->min,
           max = isnan(at->p->max) ? MAX_WHOLE : at->p->max;
    return (yyjson_is_int(v) && d >= min && d <= max) ||
           err_message(at->err, ERR_INVALID, at->path, MESSAGE_MODEL_WHOLE, at->path, min, max);
}

static bool check_real(const struct place *at, yyjson_val *v)
{
    double d = yyjson_is_num(v) ? yyjson_get_num(v) : NAN, min = isnan(at->p->min) ? -MAX_REAL : at->p->min,
           max = isnan(at->p->max) ? MAX_REAL : at->p->max;
    return (d >= min && d <= max) ||
           err_message(at->err, ERR_INVALID, at->path, MESSAGE_MODEL_RANGE, at->path, min, max);
}

static bool check_bool(const struct place *at, yyjson_val *v)
{
    return yyjson_is_bool(v) || err_message(at->err, ERR_INVALID, at->path, MESSAGE_MODEL_BOOL, at->path);
}

static bool check_choice(const struct place *at, yyjson_val *v)
{
    auto_buf struct buf list = {0};
    struct str name = json_str(v);
    size_t i, n;
    yyjson_val *one;
    yyjson_arr_foreach(at->p->choices, i, n, one)
    {
        if (yyjson_equals(one, v))
            return true;
        if (list.n > 200)
            continue;
        if (yyjson_is_str(one))
            buf_printf(&list, "%s" STR_FMT, i ? ", " : "", STR_ARG(json_str(one)));
        else
            buf_printf(&list, "%s%g", i ? ", " : "", yyjson_get_num(one));
    }
    if (name.n > 60)
        name.n = 60;
    return err_message(at->err, ERR_INVALID, at->path, MESSAGE_NO_CHOICE, at->path,
                       name.p ? arena_strz(at->a, name) : "this", list.p);
}

static bool check_text(const struct place *at, yyjson_val *v)
{
    struct str s = json_str(v);
    if (!s.p)
        return err_message(at->err, ERR_INVALID, at->path, MESSAGE_MODEL_TEXT, at->path);
    return (utf8_count(s) <= ALGORITHM_MAX_TEXT && !memchr(s.p, 0, s.n)) ||
           err_message(at->err, ERR_INVALID, at->path, MESSAGE_MODEL_LENGTH, at->path, 0LL,
                       (long long)ALGORITHM_MAX_TEXT);
}

static bool is_label(struct str s)
{
    return s.n && utf8_count(s) <= ANNOTATION_MAX_LABEL && !memchr(s.p, 0, s.n);
}

static bool check_labels(const struct place *at, yyjson_val *v)
{
    size_t i, n;
    yyjson_val *one;
    if (!yyjson_is_arr(v) || yyjson_arr_size(v) > ALGORITHM_MAX_LABELS)
        return err_message(at->err, ERR_INVALID, at->path, MESSAGE_MODEL_ELEMENTS, at->path, 0,
                           ALGORITHM_MAX_LABELS);
    yyjson_arr_foreach(v, i, n, one)
    {
        const char *full = arena_printf(at->a, "%s[%zu]", at->path, i);
        if (!is_label(json_str(one)))
            return err_message(at->err, ERR_INVALID, full, MESSAGE_MODEL_LABEL, full);
    }
    return true;
}

static bool check_json(const struct place *at, yyjson_val *v)
{
    return !str_is(at->p->name, "merge") ||
           algorithm_labels_check(at->a, NULL, v, "leave_out", at->path, at->err);
}

bool algorithm_value_check(struct arena *a, const struct algorithm_parameter *p, yyjson_val *v,
                           const char *path, struct err *err)
{
    static bool (*const checks[])(const struct place *, yyjson_val *) = {
        [ALGORITHM_INT] = check_int,       [ALGORITHM_REAL] = check_real, [ALGORITHM_BOOL] = check_bool,
        [ALGORITHM_CHOICE] = check_choice, [ALGORITHM_TEXT] = check_text, [ALGORITHM_LABELS] = check_labels,
        [ALGORITHM_JSON] = check_json,
    };
    return checks[p->type](&(struct place){a, p, path, err}, v);
}

/* --- labels --- */

struct str algorithm_merged(yyjson_val *merge, struct str label)
{
    for (size_t i = yyjson_obj_size(merge); i > 0; i--) {
        struct str to = json_str(yyjson_obj_getn(merge, label.p, label.n));
        if (!to.p)
            break;
        label = to;
    }
    return label;
}

static bool is_left_out(yyjson_val *leave_out, struct str label)
{
    size_t i, n;
    yyjson_val *v;
    yyjson_arr_foreach(leave_out, i, n, v)
    {
        if (str_eq(json_str(v), label))
            return true;
    }
    return false;
}

/* Few enough for looking each up by going through all. */
#define MAX_MERGED 1000

bool algorithm_labels_check(struct arena *a, yyjson_val *leave_out, yyjson_val *merge, const char *leave_path,
                            const char *merge_path, struct err *err)
{
    size_t i, n;
    yyjson_val *key, *v;
    const struct algorithm_parameter plain = {.type = ALGORITHM_LABELS};
    if (leave_out && !algorithm_value_check(a, &plain, leave_out, leave_path, err))
        return false;
    if (!merge)
        return true;
    if (!yyjson_is_obj(merge))
        return err_message(err, ERR_INVALID, merge_path, MESSAGE_MODEL_OBJECT, merge_path);
    if (yyjson_obj_size(merge) > MAX_MERGED)
        return err_message(err, ERR_INVALID, merge_path, MESSAGE_ALGORITHM_MERGES, merge_path, MAX_MERGED);
    yyjson_obj_foreach(merge, i, n, key, v)
    {
        if (!is_label(json_str(key)) || !is_label(json_str(v)))
            return err_message(err, ERR_INVALID, merge_path, MESSAGE_MODEL_LABEL, merge_path);
        struct str from = json_str(key), to = algorithm_merged(merge, from);
        if (yyjson_obj_getn(merge, to.p, to.n))
            return err_message(err, ERR_INVALID, merge_path, MESSAGE_ALGORITHM_CIRCLE, merge_path,
                               STR_ARG(from));
        struct str out = is_left_out(leave_out, from) ? from : to;
        if (is_left_out(leave_out, out))
            return err_message(err, ERR_INVALID, merge_path, MESSAGE_ALGORITHM_LEFT_OUT, merge_path,
                               STR_ARG(out));
    }
    return true;
}

/* --- all of them --- */

static const struct algorithm_parameter *parameter_of(const struct algorithm_function *f, struct str name)
{
    for (size_t i = 0; i < f->n_parameters; i++)
        if (str_eq(f->parameters[i].name, name))
            return &f->parameters[i];
    return NULL;
}

static bool check_given(struct arena *a, const struct algorithm_function *f, yyjson_val *given,
                        struct err *err)
{
    size_t i, n;
    yyjson_val *key, *v;
    if (!given)
        return true;
    yyjson_obj_foreach(given, i, n, key, v)
    {
        struct str name = json_str(key);
        const struct algorithm_parameter *p = parameter_of(f, name);
        if (name.n > 40)
            name.n = 40;
        const char *path = arena_printf(a, "parameters." STR_FMT, STR_ARG(name));
        if (p) {
            if (!algorithm_value_check(a, p, v, path, err))
                return false;
            continue;
        }
        auto_buf struct buf list = {0};
        for (size_t k = 0; k < f->n_parameters && list.n < 200; k++)
            buf_printf(&list, "%s" STR_FMT, k ? ", " : "", STR_ARG(f->parameters[k].name));
        return err_message(err, ERR_INVALID, path, MESSAGE_ALGORITHM_NO_PARAMETER, path,
                           list.n ? list.p : "-");
    }
    return algorithm_labels_check(a, yyjson_obj_get(given, "leave_out"), yyjson_obj_get(given, "merge"),
                                  "parameters.leave_out", "parameters.merge", err);
}

static void write_merge(yyjson_val *merge, struct json_out *out)
{
    size_t i, n;
    yyjson_val *key, *v;
    json_object(out);
    yyjson_obj_foreach(merge, i, n, key, v)
    {
        json_key(out, yyjson_get_str(key));
        json_string(out, algorithm_merged(merge, json_str(key)));
    }
    json_object_end(out);
}

bool algorithm_values(struct arena *a, const struct algorithm_function *f, yyjson_val *given, bool fill,
                      struct str *ret, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    if (given && !yyjson_is_obj(given))
        return err_message(err, ERR_INVALID, "parameters", MESSAGE_MODEL_OBJECT, "parameters");
    if (!check_given(a, f, given, err))
        return false;
    json_begin(&out, &text);
    json_object(&out);
    for (size_t i = 0; i < f->n_parameters; i++) {
        const struct algorithm_parameter *p = &f->parameters[i];
        yyjson_val *v = yyjson_obj_getn(given, p->name.p, p->name.n);
        const char *name = arena_strz(a, p->name);
        if (!v && fill)
            v = p->otherwise;
        if (!v && fill) {
            const char *path = arena_printf(a, "parameters.%s", name);
            return err_message(err, ERR_INVALID, path, MESSAGE_REQUIRED, path);
        }
        if (!v)
            continue;
        json_key(&out, name);
        str_is(p->name, "merge") ? write_merge(v, &out) : json_value(&out, v);
    }
    json_object_end(&out);
    if (text.n > ALGORITHM_MAX_VALUES)
        return err_message(err, ERR_INVALID, "parameters", MESSAGE_ALGORITHM_VALUES, (long long)text.n,
                           (long long)ALGORITHM_MAX_VALUES);
    *ret = arena_str(a, buf_view(&text));
    return true;
}
