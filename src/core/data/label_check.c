#include "core/data/label_check.h"

#include "base/messages.h"
#include "core/data/label_attribute.h"

#define PAST_MOST 500 /* earlier states, and operations, that are looked through for a value */

struct checking {
    struct op *op;
    const struct label_rules *rules;
    const struct operation_place *at;
    struct err *why; /* the first value that is refused */
};

/* --- what was there before --- */

struct past {
    struct str member; /* "name":value, as canonical text has it */
    bool found;
};

static bool look(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct past *p = ctx;
    p->found = p->found || str_find(row->v[0].s, p->member) >= 0;
    return !p->found;
}

static bool look_through(struct db_conn *c, const char *sql, struct db_args args, struct past *p,
                         struct err *err)
{
    return p->found || conn_each(c, sql, args, look, p, err) || p->found;
}

static bool in_operations(const struct checking *c, struct past *p, struct err *err)
{
    struct operation_entry *list;
    size_t n;
    if (p->found)
        return true;
    if (!operation_log_range(NULL, c->op->conn, c->op->arena, c->at, 0, c->at->revision + 1, PAST_MOST, false,
                             &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        p->found = p->found || str_find(list[i].body, p->member) >= 0;
    return true;
}

/* Whether the sample, or a layer's part of it, has or had the value. */
static bool said_before(const struct checking *c, struct str name, yyjson_val *value, bool *ret,
                        struct err *err)
{
    auto_buf struct buf member = {0};
    struct db_value sample = db_int(c->at->sample);
    model_write_string(&member, name);
    buf_char(&member, ':');
    model_write_value(&member, value);
    struct past p = {.member = buf_view(&member)};
    bool ok =
        look_through(c->op->conn, "SELECT annotation FROM samples WHERE id = ?", db_args(sample), &p, err) &&
        look_through(c->op->conn, "SELECT annotation FROM layer_samples WHERE sample = ?", db_args(sample),
                     &p, err) &&
        look_through(c->op->conn,
                     "SELECT annotation FROM sample_history WHERE sample = ? ORDER BY revision DESC"
                     " LIMIT ?",
                     db_args(sample, db_int(PAST_MOST)), &p, err) &&
        in_operations(c, &p, err);
    *ret = p.found;
    return ok;
}

/* --- values --- */

static yyjson_val *attribute_named(yyjson_val *definition, struct str name)
{
    size_t i, n;
    yyjson_val *attribute;
    yyjson_arr_foreach(yyjson_obj_get(definition, "attributes"), i, n, attribute)
    {
        if (str_eq(json_str(yyjson_obj_get(attribute, "name")), name))
            return attribute;
    }
    return NULL;
}

/* Refuses the value at `place`, unless the sample said it before. */
static bool refuse(struct checking *c, const char *place, struct str name, yyjson_val *value,
                   const struct err *why, struct err *err)
{
    bool before;
    if (!said_before(c, name, value, &before, err))
        return false;
    if (!before) {
        *c->why = *why;
        snprintf(c->why->field, sizeof c->why->field, "%s", place);
    }
    return true;
}

static const char *place_of(struct checking *c, const char *where, struct str name)
{
    return arena_printf(c->op->arena, "%s." STR_FMT, where, STR_ARG(name));
}

/* The values of one thing that bears a label. */
static bool check_values(struct checking *c, const char *where, struct str label, struct str attributes,
                         struct err *err)
{
    yyjson_val *definition = label.n ? label_rules_find(c->rules->labels, label) : NULL, *key, *value;
    yyjson_val *values = definition && attributes.n ? json_parse(c->op->arena, attributes, err) : NULL;
    size_t i, n;
    if (!definition || !attributes.n)
        return true;
    if (!values)
        return false;
    yyjson_obj_foreach(values, i, n, key, value)
    {
        struct str name = json_str(key);
        const char *place = place_of(c, where, name);
        yyjson_val *attribute = attribute_named(definition, name);
        struct err why = {0};
        if (!attribute)
            err_message(&why, ERR_INVALID, place, MESSAGE_ATTRIBUTE_UNKNOWN, place, STR_ARG(label),
                        STR_ARG(name));
        else
            label_attribute_value(attribute, place, value, &why);
        if (why.code && !c->why->code && !refuse(c, place, name, value, &why, err))
            return false;
    }
    return true;
}

/* --- values of the sample itself --- */

/* Of the label or of those below it, the first that asks for an attribute of that name. */
static yyjson_val *asked_by(yyjson_val *labels, struct str name)
{
    size_t i, n;
    yyjson_val *label;
    yyjson_arr_foreach(labels, i, n, label)
    {
        yyjson_val *found = attribute_named(label, name);
        found = found ? found : asked_by(yyjson_obj_get(label, "children"), name);
        if (found)
            return found;
    }
    return NULL;
}

/* By one of its labels; a sample whose labels ask for nothing of the name: by any of the set, since the value
 * may come before the label. */
static bool check_of_sample(struct checking *c, const struct annotation *now, const char *place,
                            struct str name, yyjson_val *value, struct err *err)
{
    yyjson_val *attribute = NULL;
    struct err why = {0};
    for (uint32_t i = 0; now && i < now->label_count; i++) {
        yyjson_val *one = attribute_named(label_rules_find(c->rules->labels, now->labels[i]), name);
        struct err wrong = {0};
        attribute = one && (!attribute || label_attribute_value(one, place, value, &wrong)) ? one : attribute;
    }
    if (!attribute)
        attribute = asked_by(c->rules->labels, name);
    if (!attribute)
        err_message(&why, ERR_INVALID, place, MESSAGE_ATTRIBUTE_NOWHERE, place, STR_ARG(name));
    else
        label_attribute_value(attribute, place, value, &why);
    return !why.code || c->why->code || refuse(c, place, name, value, &why, err);
}

/* --- operations and annotations --- */

static bool check_shapes(struct checking *c, const char *prefix, const struct annotation *n, struct err *err)
{
    char where[64];
    for (uint32_t i = 0; i < n->shape_count && !c->why->code; i++) {
        snprintf(where, sizeof where, "%sshapes[%u].attributes", prefix, i);
        if (!check_values(c, where, n->shapes[i].label, n->shapes[i].attributes, err))
            return false;
    }
    const struct part *parts = n->span_count ? n->spans : n->segments;
    uint32_t count = n->span_count ? n->span_count : n->segment_count;
    for (uint32_t i = 0; i < count && !c->why->code; i++) {
        snprintf(where, sizeof where, "%s%s[%u].attributes", prefix, n->span_count ? "spans" : "segments", i);
        if (!check_values(c, where, parts[i].label, parts[i].attributes, err))
            return false;
    }
    return true;
}

static bool check_whole(struct checking *c, const struct annotation *n, struct err *err)
{
    yyjson_val *values = n->attributes.n ? json_parse(c->op->arena, n->attributes, err) : NULL, *key, *value;
    size_t i, max;
    if (n->attributes.n && !values)
        return false;
    yyjson_obj_foreach(values, i, max, key, value)
    {
        const char *place = place_of(c, "annotation.attributes", json_str(key));
        if (!c->why->code && !check_of_sample(c, n, place, json_str(key), value, err))
            return false;
    }
    return check_shapes(c, "annotation.", n, err);
}

bool label_check_operation(struct op *op, const struct label_rules *rules, const struct operation_place *at,
                           const struct operation *operation, const struct annotation *now,
                           struct err *ret_why, struct err *err)
{
    struct checking c = {op, rules, at, ret_why};
    const struct operation *o = operation;
    if (!rules || !rules->set)
        return true;
    if (o->kind == OPERATION_PUT && o->list == MODEL_SHAPES)
        return check_values(&c, "shape.attributes", o->shape.label, o->shape.attributes, err);
    if (o->kind == OPERATION_PUT)
        return check_values(&c, "shape.attributes", o->part.label, o->part.attributes, err);
    if (o->kind == OPERATION_REPLACE)
        return check_whole(&c, &o->annotation, err);
    if (o->kind != OPERATION_ATTRIBUTE || !o->value.p)
        return true;
    yyjson_val *value = json_parse(op->arena, o->value, err);
    return value && check_of_sample(&c, now, "value", o->name, value, err);
}

bool label_check_annotation(struct op *op, const struct label_rules *rules, const struct operation_place *at,
                            enum annotation_type type, struct str annotation, struct err *err)
{
    struct annotation n;
    struct err why = {0};
    struct checking c = {op, rules, at, &why};
    if (!rules->set)
        return true;
    if (!model_parse(op->arena, type, annotation, &n, err) || !check_whole(&c, &n, err))
        return false;
    if (why.code)
        *err = why;
    return !why.code;
}

/* --- imports --- */

static struct str first_unknown(struct arena *a, yyjson_val *definition, struct str label,
                                struct str attributes, const struct map *told)
{
    struct err ignored = {0};
    yyjson_val *values = attributes.n ? json_parse(a, attributes, &ignored) : NULL, *key, *value;
    size_t i, n;
    yyjson_obj_foreach(values, i, n, key, value)
    {
        yyjson_val *attribute = attribute_named(definition, json_str(key));
        if (attribute && label_attribute_value(attribute, "", value, &ignored))
            continue;
        struct str name =
            str_of(arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(label), STR_ARG(json_str(key))));
        if (!map_get(told, name))
            return name;
    }
    return STR_NULL;
}

struct str label_check_found(struct arena *a, const struct label_rules *rules, const struct annotation *n,
                             const struct map *told)
{
    struct str found = STR_NULL;
    for (uint32_t i = 0; i < n->shape_count && !found.p; i++) {
        const struct shape *s = &n->shapes[i];
        yyjson_val *definition =
            s->attributes.n && s->label.n ? label_rules_find(rules->labels, s->label) : NULL;
        found = definition ? first_unknown(a, definition, s->label, s->attributes, told) : STR_NULL;
    }
    return found;
}
