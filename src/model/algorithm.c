#include "model/algorithm.h"

#include "base/messages.h"
#include "base/messages_learn.h"
#include "model/manifest_fields.h"

#include <math.h>

#define TEXT(m)     offsetof(struct algorithm_text, m)
#define FUNCTION(m) offsetof(struct algorithm_function, m)
#define P(m)        offsetof(struct algorithm_parameter, m)
#define NUMBERS     (1u << ALGORITHM_INT | 1u << ALGORITHM_REAL)
#define MAX_REAL    1e300

const char *const algorithm_type_names[] = {"int", "real", "bool", "choice", "text", "labels", "json", NULL};
const char *const algorithm_function_names[] = {"train", "test", "batch", "serve", "sdk", NULL};
const char *const algorithm_input_names[] = {"dataset", "base_model", NULL};
const char *const algorithm_output_names[] = {"model", "metrics", NULL};

static const struct model_field title_rows[] = {
    {"en", MODEL_FIELD_TEXT, TEXT(en), 1, 0, true, 1, 100, 0, NULL, "in English"},
    {"zh", MODEL_FIELD_TEXT, TEXT(zh), 1, 0, false, 0, 100, 0, NULL, "in Chinese"},
};
static const struct model_fields title_fields = {title_rows, countof(title_rows)};

static const struct model_field help_rows[] = {
    {"en", MODEL_FIELD_TEXT, TEXT(en), 1, 0, true, 1, 500, 0, NULL, "in English"},
    {"zh", MODEL_FIELD_TEXT, TEXT(zh), 1, 0, false, 0, 500, 0, NULL, "in Chinese"},
};
static const struct model_fields help_fields = {help_rows, countof(help_rows)};

static const struct model_field function_rows[] = {
    {"runtime", MODEL_FIELD_TEXT, FUNCTION(runtime), 1, 0, false, 0, 50, 0, NULL, "what it runs in"},
    {"image", MODEL_FIELD_TEXT, FUNCTION(image), 1, 0, false, 0, 200, 0, NULL,
     "an image in place of a runtime"},
    {"command", MODEL_FIELD_TEXT, FUNCTION(command), 1, 0, true, 1, 3000, 0, NULL, "run by /bin/sh"},
};
static const struct model_fields function_fields = {function_rows, countof(function_rows)};

static const struct model_field parameter_rows[] = {
    {"name", MODEL_FIELD_TEXT, P(name), 1, 0, true, 1, 40, 0, NULL, "its name"},
    {"min", MODEL_FIELD_REAL, P(min), 1, NUMBERS, false, -MAX_REAL, MAX_REAL, NAN, NULL, "the least value"},
    {"max", MODEL_FIELD_REAL, P(max), 1, NUMBERS, false, -MAX_REAL, MAX_REAL, NAN, NULL,
     "the greatest value"},
    {"log", MODEL_FIELD_BOOL, P(log), 1, NUMBERS, false, 0, 0, 0, NULL, "its size counts, not its distance"},
    {"advanced", MODEL_FIELD_BOOL, P(advanced), 1, 0, false, 0, 0, 0, NULL, "folded away in forms"},
};
static const struct model_fields parameter_fields = {parameter_rows, countof(parameter_rows)};

/* Names that the platform gives a meaning to, and so a type. */
static const struct {
    const char *name;
    enum algorithm_type type;
} reserved[] = {
    {"minutes", ALGORITHM_REAL},     {"seed", ALGORITHM_INT},   {"test_share", ALGORITHM_REAL},
    {"leave_out", ALGORITHM_LABELS}, {"merge", ALGORITHM_JSON},
};

static bool is_object(struct model_parse *p, yyjson_val *v, const char *path)
{
    return yyjson_is_obj(v) || err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_OBJECT, path);
}

static bool list_of(struct model_parse *p, yyjson_val *v, const char *path, size_t min, size_t max)
{
    size_t n = yyjson_is_arr(v) ? yyjson_arr_size(v) : 0;
    return (yyjson_is_arr(v) && n >= min && n <= max) ||
           err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_ELEMENTS, path, (int)min, (int)max);
}

/* {"en","zh"}; without Chinese the English stands for both. */
static bool read_words(struct model_parse *p, const struct model_fields *f, yyjson_val *of, const char *key,
                       const char *path, struct algorithm_text *ret)
{
    yyjson_val *v = yyjson_obj_get(of, key);
    const char *full = arena_printf(p->a, "%s%s%s", path, *path ? "." : "", key);
    if (!v)
        return true;
    if (!is_object(p, v, full) || !model_fields_read(p, f, v, full, 0, NULL, ret))
        return false;
    if (!ret->zh.n)
        ret->zh = ret->en;
    return true;
}

/* A list of some of the `count` names; NULL says nothing. */
static bool read_names(struct model_parse *p, yyjson_val *list, const char *path, const char *const *names,
                       size_t count, uint32_t *ret)
{
    size_t i, n;
    yyjson_val *v;
    if (!list)
        return true;
    if (!list_of(p, list, path, 1, count))
        return false;
    yyjson_arr_foreach(list, i, n, v)
    {
        const char *one = arena_printf(p->a, "%s[%zu]", path, i);
        uint32_t which;
        if (!model_choice_read(p, v, one, names, &which))
            return false;
        *ret |= 1u << which;
    }
    return true;
}

static bool read_types(struct model_parse *p, yyjson_val *list, const char *path, uint32_t *ret)
{
    const char *names[ANNOTATION_TYPE_COUNT + 1] = {NULL};
    for (size_t i = 0; i < ANNOTATION_TYPE_COUNT; i++)
        names[i] = annotation_types[i].name;
    return read_names(p, list, path, names, ANNOTATION_TYPE_COUNT, ret);
}

static bool read_choices(struct model_parse *p, struct algorithm_parameter *to, yyjson_val *v,
                         const char *path)
{
    size_t i, n;
    yyjson_val *list = yyjson_obj_get(v, "choices"), *one;
    const char *full = arena_printf(p->a, "%s.choices", path);
    if (to->type != ALGORITHM_CHOICE)
        return !list || err_message(p->err, ERR_INVALID, full, MESSAGE_UNKNOWN_FIELD, full);
    if (!list_of(p, list, full, 1, ALGORITHM_MAX_CHOICES))
        return false;
    yyjson_arr_foreach(list, i, n, one)
    {
        struct str s = json_str(one);
        const char *at = arena_printf(p->a, "%s[%zu]", full, i);
        if (!yyjson_is_num(one) && (!s.n || utf8_count(s) > 100))
            return err_message(p->err, ERR_INVALID, at, MESSAGE_ALGORITHM_CHOICE, at);
        for (size_t k = 0; k < i; k++)
            if (yyjson_equals(one, yyjson_arr_get(list, k)))
                return err_message(p->err, ERR_INVALID, at, MESSAGE_MODEL_SAME, at);
    }
    to->choices = list;
    return true;
}

/* Names become variables in people's code. */
static bool check_name(struct model_parse *p, const struct algorithm_function *f,
                       const struct algorithm_parameter *to, const char *path)
{
    const char *full = arena_printf(p->a, "%s.name", path);
    bool ok = to->name.p[0] >= 'a' && to->name.p[0] <= 'z';
    for (size_t i = 0; ok && i < to->name.n; i++)
        ok = strchr("abcdefghijklmnopqrstuvwxyz0123456789_", to->name.p[i]) != NULL;
    if (!ok)
        return err_message(p->err, ERR_INVALID, full, MESSAGE_ALGORITHM_NAME, full);
    for (size_t i = 0; i < f->n_parameters; i++)
        if (str_eq(f->parameters[i].name, to->name))
            return err_message(p->err, ERR_INVALID, full, MESSAGE_MODEL_SAME, full);
    for (size_t i = 0; i < countof(reserved); i++)
        if (str_is(to->name, reserved[i].name) && to->type != reserved[i].type)
            return err_message(p->err, ERR_INVALID, full, MESSAGE_ALGORITHM_RESERVED, full, reserved[i].name,
                               algorithm_type_names[reserved[i].type]);
    return true;
}

static bool check_range(struct model_parse *p, const struct algorithm_parameter *to, const char *path)
{
    const char *full = arena_printf(p->a, "%s.max", path), *least = arena_printf(p->a, "%s.min", path);
    if (to->min > to->max)
        return err_message(p->err, ERR_INVALID, full, MESSAGE_ALGORITHM_RANGE, full);
    if (to->log && !(to->min > 0))
        return err_message(p->err, ERR_INVALID, least, MESSAGE_ALGORITHM_LOG, least);
    return true;
}

static bool read_parameter(struct model_parse *p, struct algorithm_function *f, yyjson_val *v,
                           const char *path)
{
    static const char *const other[] = {"type", "default", "choices", "title", "help", NULL};
    struct algorithm_parameter *to = &f->parameters[f->n_parameters];
    const char *type_path = arena_printf(p->a, "%s.type", path);
    uint32_t type;
    if (!is_object(p, v, path))
        return false;
    if (!yyjson_obj_get(v, "type"))
        return err_message(p->err, ERR_INVALID, type_path, MESSAGE_REQUIRED, type_path);
    if (!model_choice_read(p, yyjson_obj_get(v, "type"), type_path, algorithm_type_names, &type))
        return false;
    model_fields_default(&parameter_fields, to);
    to->type = (enum algorithm_type)type;
    if (!model_fields_read(p, &parameter_fields, v, path, 1u << type, other, to) ||
        !check_name(p, f, to, path) || !check_range(p, to, path) || !read_choices(p, to, v, path) ||
        !read_words(p, &title_fields, v, "title", path, &to->title) ||
        !read_words(p, &help_fields, v, "help", path, &to->help))
        return false;
    to->otherwise = yyjson_obj_get(v, "default");
    if (to->otherwise &&
        !algorithm_value_check(p->a, to, to->otherwise, arena_printf(p->a, "%s.default", path), p->err))
        return false;
    f->n_parameters++;
    return true;
}

static bool read_function(struct model_parse *p, struct algorithm_function *f, yyjson_val *v,
                          const char *path)
{
    static const char *const other[] = {"types", "inputs", "outputs", "parameters", NULL};
    yyjson_val *list = yyjson_obj_get(v, "parameters"), *one;
    const char *full = arena_printf(p->a, "%s.parameters", path);
    size_t i, n;
    if (!is_object(p, v, path) || !model_fields_read(p, &function_fields, v, path, 0, other, f) ||
        !read_types(p, yyjson_obj_get(v, "types"), arena_printf(p->a, "%s.types", path), &f->types) ||
        !read_names(p, yyjson_obj_get(v, "inputs"), arena_printf(p->a, "%s.inputs", path),
                    algorithm_input_names, ALGORITHM_INPUT_COUNT, &f->inputs) ||
        !read_names(p, yyjson_obj_get(v, "outputs"), arena_printf(p->a, "%s.outputs", path),
                    algorithm_output_names, ALGORITHM_OUTPUT_COUNT, &f->outputs))
        return false;
    if (f->image.n && f->runtime.n) {
        const char *at = arena_printf(p->a, "%s.image", path);
        return err_message(p->err, ERR_INVALID, at, MESSAGE_ALGORITHM_IMAGE, at);
    }
    f->there = true;
    if (!list)
        return true;
    if (!list_of(p, list, full, 0, ALGORITHM_MAX_PARAMETERS))
        return false;
    f->parameters = arena_array(p->a, struct algorithm_parameter, yyjson_arr_size(list) + 1);
    yyjson_arr_foreach(list, i, n, one)
    {
        if (!read_parameter(p, f, one, arena_printf(p->a, "%s[%zu]", full, i)))
            return false;
    }
    return true;
}

static bool read_functions(struct model_parse *p, yyjson_val *all, struct algorithm *ret)
{
    size_t i, n;
    yyjson_val *key, *v;
    if (!all)
        return err_message(p->err, ERR_INVALID, "functions", MESSAGE_REQUIRED, "functions");
    if (!is_object(p, all, "functions"))
        return false;
    if (yyjson_obj_size(all) == 0)
        return err_message(p->err, ERR_INVALID, "functions", MESSAGE_ALGORITHM_NO_FUNCTION);
    yyjson_obj_foreach(all, i, n, key, v)
    {
        uint32_t which;
        if (!model_choice_read(p, key, "functions", algorithm_function_names, &which) ||
            !read_function(p, &ret->functions[which], v,
                           arena_printf(p->a, "functions.%s", algorithm_function_names[which])))
            return false;
    }
    return true;
}

bool algorithm_parse(struct arena *a, struct str text, struct algorithm *ret, struct err *err)
{
    static const char *const other[] = {"ingot", "title", "functions", NULL};
    static const struct model_fields none = {NULL, 0};
    struct algorithm m = {0};
    struct model_parse p = {.a = a, .err = err};
    struct err why = {0};
    if (text.n > ALGORITHM_MAX_BYTES)
        return err_message(err, ERR_INVALID, ALGORITHM_FILE, MESSAGE_ALGORITHM_LARGE, (long long)text.n,
                           (long long)ALGORITHM_MAX_BYTES);
    yyjson_val *v = json_parse(a, text, &why);
    if (!v)
        return err_because(err, ERR_INVALID, ALGORITHM_FILE, &why, MESSAGE_ALGORITHM_JSON);
    if (!is_object(&p, v, ALGORITHM_FILE))
        return false;
    if (!yyjson_is_int(yyjson_obj_get(v, "ingot")) || yyjson_get_int(yyjson_obj_get(v, "ingot")) != 1)
        return err_message(err, ERR_INVALID, "ingot", MESSAGE_ALGORITHM_FORM);
    if (!model_fields_read(&p, &none, v, "", 0, other, &m) ||
        !read_words(&p, &title_fields, v, "title", "", &m.title) ||
        !read_functions(&p, yyjson_obj_get(v, "functions"), &m))
        return false;
    *ret = m;
    return true;
}

/* --- writing --- */

static void write_words(struct json_out *out, const char *key, const struct algorithm_text *t)
{
    if (!t->en.n)
        return;
    json_key(out, key);
    json_object(out);
    json_kstr(out, "en", t->en);
    json_kstr(out, "zh", t->zh);
    json_object_end(out);
}

static void write_parameter(const struct algorithm_parameter *p, struct json_out *out)
{
    json_object(out);
    json_kz(out, "type", algorithm_type_names[p->type]);
    model_fields_write(NULL, &parameter_fields, p, 1u << p->type, out);
    if (p->otherwise) {
        json_key(out, "default");
        json_value(out, p->otherwise);
    }
    if (p->choices) {
        json_key(out, "choices");
        json_value(out, p->choices);
    }
    write_words(out, "title", &p->title);
    write_words(out, "help", &p->help);
    json_object_end(out);
}

static void write_names(const char *key, uint32_t bits, const char *const *names, struct json_out *out)
{
    if (!bits)
        return;
    json_key(out, key);
    json_array(out);
    for (size_t i = 0; i < 32; i++)
        if (bits & 1u << i)
            json_z(out, names[i]);
    json_array_end(out);
}

void algorithm_function_write(const struct algorithm_function *f, struct json_out *out)
{
    const char *types[ANNOTATION_TYPE_COUNT];
    for (size_t i = 0; i < ANNOTATION_TYPE_COUNT; i++)
        types[i] = annotation_types[i].name;
    model_fields_write(NULL, &function_fields, f, 0, out);
    write_names("types", f->types, types, out);
    write_names("inputs", f->inputs, algorithm_input_names, out);
    write_names("outputs", f->outputs, algorithm_output_names, out);
    json_key(out, "parameters");
    json_array(out);
    for (size_t i = 0; i < f->n_parameters; i++)
        write_parameter(&f->parameters[i], out);
    json_array_end(out);
}

void algorithm_write(const struct algorithm *m, struct json_out *out)
{
    json_object(out);
    json_kint(out, "ingot", 1);
    write_words(out, "title", &m->title);
    json_key(out, "functions");
    json_object(out);
    for (size_t i = 0; i < ALGORITHM_FUNCTION_COUNT; i++) {
        if (!m->functions[i].there)
            continue;
        json_key(out, algorithm_function_names[i]);
        json_object(out);
        algorithm_function_write(&m->functions[i], out);
        json_object_end(out);
    }
    json_object_end(out);
    json_object_end(out);
}
