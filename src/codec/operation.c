#include "codec/operation.h"

#include "base/json.h"
#include "base/messages.h"

const char *const operation_names[] = {
    [OPERATION_PUT] = "put",         [OPERATION_REMOVE] = "remove",       [OPERATION_LABEL] = "label",
    [OPERATION_TEXT] = "text",       [OPERATION_ATTRIBUTE] = "attribute", [OPERATION_REPLACE] = "replace",
    [OPERATION_RELABEL] = "relabel",
};

struct reading {
    struct arena *a;
    enum annotation_type type;
    struct err *err;
};

static bool refuse(const struct reading *r, const char *member, const char *rule)
{
    return err_set(r->err, ERR_INVALID, member, "%s %s", member, rule);
}

static bool client_is(struct str s)
{
    if (s.n < 8 || s.n > 24)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], low = (char)(c | 0x20);
        if (!(c >= '0' && c <= '9') && !(low >= 'a' && low <= 'z'))
            return false;
    }
    return true;
}

static bool read_id(const struct reading *r, yyjson_val *v, struct operation *op)
{
    struct str number;
    op->id = json_str(v);
    op->client = str_cut(op->id, '.', &number);
    if (op->id.n <= OPERATION_MAX_ID && client_is(op->client) && number.n && number.p[0] >= '1' &&
        number.p[0] <= '9' && str_to_i64(number, &op->number))
        return true;
    return refuse(r, "id",
                  "must be a client's name of 8 to 24 letters and digits, a dot, and a number from 1");
}

/* A number from 0 to max that may be absent: -1. */
static bool read_count(const struct reading *r, const char *member, yyjson_val *v, int64_t max, int64_t *ret)
{
    *ret = -1;
    if (!v || yyjson_is_null(v))
        return true;
    if (!yyjson_is_int(v) || yyjson_get_num(v) < 0 || yyjson_get_num(v) > (double)max)
        return refuse(r, member, "must be a whole number that is not negative");
    *ret = yyjson_get_sint(v);
    return true;
}

/* A text of 1 to OPERATION_MAX_NAME characters. */
static bool read_name(const struct reading *r, const char *member, struct str s, struct str *ret)
{
    if (!s.n || utf8_count(s) > OPERATION_MAX_NAME || memchr(s.p, 0, s.n))
        return refuse(r, member, "must be a text of 1 to 100 characters");
    *ret = s;
    return true;
}

static struct str target_of(const struct reading *r, const char *kind, struct str name)
{
    return str_of(arena_printf(r->a, "%s:" STR_FMT, kind, STR_ARG(name)));
}

static bool read_put(const struct reading *r, yyjson_val *v, struct operation *op)
{
    yyjson_val *shape = yyjson_obj_get(v, "shape");
    op->list = model_list_of(r->type);
    if (op->list == MODEL_NO_LIST)
        return refuse(r, "shape", "does not belong to this type of annotation");
    if (!yyjson_is_obj(shape))
        return refuse(r, "shape", "must be an object");
    if (!(op->list == MODEL_SHAPES ? model_read_shape(r->a, r->type, shape, "shape", &op->shape, r->err)
                                   : model_read_part(r->a, r->type, shape, "shape", &op->part, r->err)) ||
        !read_name(r, "shape.id", op->list == MODEL_SHAPES ? op->shape.id : op->part.id, &op->shape_id) ||
        !read_count(r, "at", yyjson_obj_get(v, "at"), ANNOTATION_MAX_SHAPES, &op->at))
        return false;
    op->target = target_of(r, "shape", op->shape_id);
    return true;
}

static bool read_remove(const struct reading *r, yyjson_val *v, struct operation *op)
{
    if (model_list_of(r->type) == MODEL_NO_LIST)
        return refuse(r, "shape", "does not belong to this type of annotation");
    if (!read_name(r, "shape", json_str(yyjson_obj_get(v, "shape")), &op->shape_id))
        return false;
    op->target = target_of(r, "shape", op->shape_id);
    return true;
}

static bool read_label(const struct reading *r, yyjson_val *v, struct operation *op)
{
    struct str label = json_str(yyjson_obj_get(v, "label"));
    yyjson_val *on = yyjson_obj_get(v, "on");
    if (!model_takes_labels(r->type))
        return refuse(r, "label", "does not belong to this type of annotation");
    if (!str_trim(label).n || !model_is_label(label))
        return refuse(r, "label", "must be a text of 1 to 200 characters");
    if (!yyjson_is_bool(on))
        return refuse(r, "on", "must be true or false");
    op->label = label;
    op->on = yyjson_get_bool(on);
    op->target = model_takes_one_label(r->type) ? STR("label") : target_of(r, "label", label);
    return true;
}

static bool read_text(const struct reading *r, yyjson_val *v, struct operation *op)
{
    yyjson_val *text = yyjson_obj_get(v, "text");
    if (!model_takes_text(r->type))
        return refuse(r, "text", "does not belong to this type of annotation");
    if (!yyjson_is_str(text) && !yyjson_is_null(text))
        return refuse(r, "text", "must be a text, or null for none");
    if (utf8_count(json_str(text)) > ANNOTATION_MAX_TEXT)
        return refuse(r, "text", "is longer than 100000 characters");
    op->text = json_str(text).n ? json_str(text) : STR_NULL;
    op->target = STR("text");
    return true;
}

static bool read_attribute(const struct reading *r, yyjson_val *v, struct operation *op)
{
    yyjson_val *value = yyjson_obj_get(v, "value");
    if (!read_name(r, "name", json_str(yyjson_obj_get(v, "name")), &op->name))
        return false;
    if (!value)
        return refuse(r, "value", "is missing; null takes the attribute away");
    op->target = target_of(r, "attribute", op->name);
    if (yyjson_is_null(value))
        return true;
    const char *why;
    if (!model_attribute(r->a, value, &op->value, &why))
        return refuse(r, "value", why);
    return true;
}

static bool read_replace(const struct reading *r, yyjson_val *v, struct operation *op)
{
    yyjson_val *annotation = yyjson_obj_get(v, "annotation");
    if (!annotation)
        return refuse(r, "annotation", "is missing");
    op->target = STR("*");
    return model_read(r->a, r->type, annotation, &op->annotation, r->err);
}

static bool read_relabel(const struct reading *r, yyjson_val *v, struct operation *op)
{
    yyjson_val *labels = yyjson_obj_get(v, "labels"), *key, *to;
    size_t i, max, n = yyjson_obj_size(labels);
    if (!yyjson_is_obj(labels) || n < 1 || n > RELABEL_MAX)
        return refuse(r, "labels", "must be an object of former and new names");
    op->names = arena_array(r->a, struct relabel, n);
    yyjson_obj_foreach(labels, i, max, key, to)
    {
        op->names[i] = (struct relabel){json_str(key), json_str(to)};
        if (!op->names[i].from.n || !op->names[i].to.n || !model_is_label(op->names[i].to))
            return refuse(r, "labels", "must name labels of 1 to 200 characters");
    }
    op->name_count = n;
    op->target = STR("names");
    return true;
}

/* Members that each kind has beside id, op and base. */
static const struct {
    bool (*read)(const struct reading *r, yyjson_val *v, struct operation *op);
    const char *members[2];
} kinds[] = {
    [OPERATION_PUT] = {read_put, {"shape", "at"}},
    [OPERATION_REMOVE] = {read_remove, {"shape"}},
    [OPERATION_LABEL] = {read_label, {"label", "on"}},
    [OPERATION_TEXT] = {read_text, {"text"}},
    [OPERATION_ATTRIBUTE] = {read_attribute, {"name", "value"}},
    [OPERATION_REPLACE] = {read_replace, {"annotation"}},
    [OPERATION_RELABEL] = {read_relabel, {"labels"}},
};

static bool known(struct str key, enum operation_kind kind)
{
    static const char *const all[] = {"id", "op", "base"};
    for (size_t i = 0; i < countof(all); i++)
        if (str_is(key, all[i]))
            return true;
    for (size_t i = 0; i < countof(kinds[kind].members); i++)
        if (kinds[kind].members[i] && str_is(key, kinds[kind].members[i]))
            return true;
    return false;
}

static bool only_known(const struct reading *r, yyjson_val *v, enum operation_kind kind)
{
    size_t i, max;
    yyjson_val *key, *item;
    yyjson_obj_foreach(v, i, max, key, item)
    {
        char name[40];
        struct str k = json_str(key);
        if (known(k, kind))
            continue;
        snprintf(name, sizeof name, "%.*s", k.n > 36 ? 36 : (int)k.n, k.p);
        return refuse(r, name, "is not a member of this operation");
    }
    return true;
}

bool operation_read(struct arena *a, enum annotation_type type, yyjson_val *v, struct operation *ret,
                    struct err *err)
{
    struct reading r = {a, type, err};
    struct operation op = {.base = -1, .at = -1};
    if (!yyjson_is_obj(v))
        return err_set(err, ERR_INVALID, NULL, "an operation must be an object");
    struct str name = json_str(yyjson_obj_get(v, "op"));
    int kind = 0;
    while (kind < OPERATION_KIND_COUNT && !str_is(name, operation_names[kind]))
        kind++;
    if (kind == OPERATION_KIND_COUNT)
        return refuse(&r, "op", "must be put, remove, label, text, attribute or replace");
    op.kind = (enum operation_kind)kind;
    if (!only_known(&r, v, op.kind) || !read_id(&r, yyjson_obj_get(v, "id"), &op) ||
        !read_count(&r, "base", yyjson_obj_get(v, "base"), INT32_MAX, &op.base) ||
        !kinds[kind].read(&r, v, &op))
        return false;
    *ret = op;
    return true;
}

bool operation_meets(struct str target, struct str other)
{
    if (str_is(target, "*") || str_is(other, "*"))
        return true;
    return str_eq(target, other) && !str_starts(target, "label:");
}

/* ---- writing ---- */

static void write_shape(struct buf *b, const struct operation *op)
{
    if (op->list == MODEL_SHAPES)
        model_write_shape(b, &op->shape);
    else
        model_write_part(b, &op->part);
}

static void write_names(struct buf *b, const struct operation *op)
{
    for (size_t i = 0; i < op->name_count; i++) {
        buf_char(b, i ? ',' : '{');
        model_write_string(b, op->names[i].from);
        buf_char(b, ':');
        model_write_string(b, op->names[i].to);
    }
    buf_char(b, '}');
}

/* The members of each kind that come before "op" in the order of keys, and those after it. */
static void write_before(struct json_out *o, struct operation *op)
{
    if (op->kind == OPERATION_REPLACE) {
        json_key(o, "annotation");
        auto_buf struct buf text = {0};
        model_write(&text, &op->annotation);
        json_raw(o, buf_view(&text));
    }
    if (op->kind == OPERATION_PUT && op->at >= 0)
        json_kint(o, "at", op->at);
    json_kstr(o, "id", op->id);
    if (op->kind == OPERATION_LABEL) {
        json_kstr(o, "label", op->label);
        json_kbool(o, "on", op->on);
    }
    if (op->kind == OPERATION_RELABEL) {
        auto_buf struct buf names = {0};
        write_names(&names, op);
        json_key(o, "labels");
        json_raw(o, buf_view(&names));
    }
    if (op->kind == OPERATION_ATTRIBUTE)
        json_kstr(o, "name", op->name);
}

void operation_write(struct buf *b, struct operation *op)
{
    struct json_out o;
    json_begin(&o, b);
    json_object(&o);
    write_before(&o, op);
    json_kz(&o, "op", operation_names[op->kind]);
    if (op->kind == OPERATION_REMOVE)
        json_kstr(&o, "shape", op->shape_id);
    if (op->kind == OPERATION_PUT) {
        auto_buf struct buf text = {0};
        write_shape(&text, op);
        json_key(&o, "shape");
        json_raw(&o, buf_view(&text));
    }
    if (op->kind == OPERATION_TEXT)
        json_kstr(&o, "text", op->text);
    if (op->kind == OPERATION_ATTRIBUTE) {
        json_key(&o, "value");
        json_raw(&o, op->value.p ? op->value : STR("null"));
    }
    json_object_end(&o);
}
