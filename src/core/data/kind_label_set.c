/* Label sets (SPEC D8): two levels of labels, each with a colour, a shortcut and the attributes it asks for,
 * those of keypoints with their skeleton. A retired label stays, since samples bear it, and is offered no
 * more. */
#include "base/json.h"
#include "core/data/label_attribute.h"
#include "core/data/label_example.h"
#include "core/data/label_set_actions.h"
#include "core/fields.h"
#include "core/kinds.h"
#include "core/rule.h"

#define MAX_LABELS 1000
#define MAX_POINTS 1000

struct check {
    const struct field *field;
    struct arena *arena;
    size_t count;
    uint64_t keys; /* bit per shortcut in use: a-z, then 0-9 */
    struct err *err;
};

static bool bad(struct check *c, const char *path, const char *what)
{
    return err_set(c->err, ERR_INVALID, c->field->name, "%s%s: %s", c->field->name, path, what);
}

/* A text of one label, by rule; absent is allowed unless required. */
static bool check_text(struct check *c, yyjson_val *label, const char *path, const char *key,
                       const char *rule, bool required)
{
    yyjson_val *v = yyjson_obj_get(label, key);
    const char *where = arena_printf(c->arena, "%s.%s", path, key);
    if (!v || yyjson_is_null(v))
        return !required || bad(c, where, "is required");
    struct str s = json_str(v);
    if (!s.p)
        return bad(c, where, "must be a text");
    const struct rule *r = rule_find(rule);
    int64_t n = (int64_t)utf8_count(s);
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127)
            return bad(c, where, "contains a control character");
    if (n < r->min || n > r->max)
        return bad(c, where, r->says);
    struct err why = {0};
    if (rule_check(r, where, s, &why))
        return true;
    return err_set(c->err, ERR_INVALID, c->field->name, "%s%s", c->field->name, why.message);
}

static bool check_key(struct check *c, yyjson_val *label, const char *path)
{
    struct str key = json_str(yyjson_obj_get(label, "key"));
    if (key.n != 1)
        return true;
    unsigned bit = key.p[0] >= 'a' ? (unsigned)(key.p[0] - 'a') : 26u + (unsigned)(key.p[0] - '0');
    if (c->keys & UINT64_C(1) << bit)
        return bad(c, path, arena_printf(c->arena, "the shortcut \"%c\" is used twice", key.p[0]));
    c->keys |= UINT64_C(1) << bit;
    return true;
}

static bool known_keys(struct check *c, yyjson_val *label, const char *path, bool top)
{
    static const char *const known[] = {"name",  "color",      "key",    "keypoints",
                                        "edges", "attributes", "retired"};
    size_t i, n;
    yyjson_val *k, *v;
    yyjson_obj_foreach(label, i, n, k, v)
    {
        const char *key = yyjson_get_str(k);
        bool found = top && strcmp(key, "children") == 0;
        for (size_t j = 0; j < countof(known); j++)
            found = found || strcmp(key, known[j]) == 0;
        if (!found)
            return bad(
                c, path,
                arena_printf(c->arena,
                             "there is no \"%.40s\" here (name, color, key, keypoints, edges, attributes, "
                             "retired%s)",
                             key, top ? ", children" : ""));
    }
    return true;
}

static bool is_point(yyjson_val *v, size_t points)
{
    return yyjson_is_uint(v) && yyjson_get_uint(v) < points;
}

/* Names of points, and pairs of their numbers from 0. */
static bool check_skeleton(struct check *c, yyjson_val *label, const char *path)
{
    yyjson_val *points = yyjson_obj_get(label, "keypoints"), *edges = yyjson_obj_get(label, "edges"), *v;
    size_t count = yyjson_arr_size(points), i, n;
    if ((points && !yyjson_is_arr(points)) || count > MAX_POINTS)
        return bad(c, path, "keypoints must be a list of at most 1000 names");
    yyjson_arr_foreach(points, i, n, v)
    {
        struct str name = json_str(v);
        if (!name.n || utf8_count(name) > 50)
            return bad(c, arena_printf(c->arena, "%s.keypoints[%zu]", path, i),
                       "must be a text of 1 to 50 characters");
    }
    if ((edges && !yyjson_is_arr(edges)) || yyjson_arr_size(edges) > MAX_POINTS)
        return bad(c, path, "edges must be a list of at most 1000 pairs");
    yyjson_arr_foreach(edges, i, n, v)
    {
        if (yyjson_arr_size(v) != 2 || !is_point(yyjson_arr_get(v, 0), count) ||
            !is_point(yyjson_arr_get(v, 1), count))
            return bad(c, arena_printf(c->arena, "%s.edges[%zu]", path, i),
                       "must be two numbers of keypoints, from 0");
    }
    return true;
}

static bool check_asked(struct check *c, yyjson_val *label, const char *path)
{
    yyjson_val *attributes = yyjson_obj_get(label, "attributes"), *retired = yyjson_obj_get(label, "retired");
    const char *where, *why;
    if (retired && !yyjson_is_null(retired) && !yyjson_is_bool(retired))
        return bad(c, arena_printf(c->arena, "%s.retired", path), "must be true or false");
    if (!attributes || yyjson_is_null(attributes) ||
        label_attributes_check(c->arena, attributes, &where, &why))
        return true;
    return bad(c, arena_printf(c->arena, "%s.attributes%s", path, where), why);
}

static bool check_labels(struct check *c, yyjson_val *list, const char *path, bool top);

static bool check_label(struct check *c, yyjson_val *label, const char *path, bool top)
{
    if (!yyjson_is_obj(label))
        return bad(c, path, "must be an object {\"name\", \"color\", \"key\"}");
    if (++c->count > MAX_LABELS)
        return bad(c, path, "there are more than 1000 labels");
    if (!known_keys(c, label, path, top) || !check_text(c, label, path, "name", "name", true) ||
        !check_text(c, label, path, "color", "color", false) ||
        !check_text(c, label, path, "key", "key", false) || !check_key(c, label, path) ||
        !check_skeleton(c, label, path) || !check_asked(c, label, path))
        return false;
    yyjson_val *children = yyjson_obj_get(label, "children");
    if (!children || yyjson_is_null(children))
        return true;
    return check_labels(c, children, arena_printf(c->arena, "%s.children", path), false);
}

static bool check_labels(struct check *c, yyjson_val *list, const char *path, bool top)
{
    if (!yyjson_is_arr(list))
        return bad(c, path, "must be a list of labels");
    size_t i, n, j, m;
    yyjson_val *label, *other;
    yyjson_arr_foreach(list, i, n, label)
    {
        const char *where = arena_printf(c->arena, "%s[%zu]", path, i);
        if (!check_label(c, label, where, top))
            return false;
        struct str name = json_str(yyjson_obj_get(label, "name"));
        yyjson_arr_foreach(list, j, m, other)
        {
            if (j >= i)
                break;
            if (str_eq(json_str(yyjson_obj_get(other, "name")), name))
                return bad(c, where, "another label has the same name");
        }
    }
    return true;
}

static bool labels_ok(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    yyjson_val *v = json_parse(a, value->s, err);
    struct check c = {.field = f, .arena = a, .err = err};
    return v && check_labels(&c, v, "", true);
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    {.name = "description",
     .type = FIELD_TEXT,
     .max = 500,
     .fallback = "\"\"",
     .title = {"Description", "描述"},
     .flags = FIELD_EDIT | FIELD_SEARCH | FIELD_LONG | FIELD_LIST},
    {.name = "public",
     .type = FIELD_BOOL,
     .fallback = "false",
     .title = {"Public", "公开"},
     .help = {"Every project may use it", "所有项目均可使用"},
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST},
    {.name = "labels",
     .type = FIELD_JSON,
     .max = 262144,
     .fallback = "[]",
     .check = labels_ok,
     .schema = "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/LabelDefinition\"}}",
     .title = {"Labels", "标签"},
     .help = {"Two levels, each label with a colour and a shortcut", "两级标签，每个标签有颜色与快捷键"},
     .flags = FIELD_EDIT},
    /* [["former","now"],...]: label_rules.h */
    {.name = "renames",
     .type = FIELD_JSON,
     .flags = FIELD_INTERNAL,
     .max = 1 << 20,
     .title = {"Former names", "曾用名"}},
    {0},
};

static bool after_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    return str_eq(object_text(old, "labels"), object_text(new_, "labels")) ||
           label_examples_keep(op, new_->id, object_text(new_, "labels"), err);
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    return label_examples_keep(op, o->id, STR_NULL, err);
}

const struct kind kind_label_set = {
    .name = "label_set",
    .plural = "label-sets",
    .table = "label_sets",
    .title = {"Label set", "标签组"},
    .titles = {"Label sets", "标签组"},
    .help = {"Two-level sets of labels that datasets share", "数据集共用的两级标签"},
    .menu = "data",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = label_set_actions,
    .before_update = label_set_before_update,
    .after_update = after_update,
    .before_delete = before_delete,
    .public_too = true,
};
