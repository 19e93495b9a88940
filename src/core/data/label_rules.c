#include "core/data/label_rules.h"

yyjson_val *label_rules_find(yyjson_val *labels, struct str name)
{
    size_t i, n;
    yyjson_val *label;
    yyjson_arr_foreach(labels, i, n, label)
    {
        struct str own = json_str(yyjson_obj_get(label, "name"));
        if (str_eq(own, name))
            return label;
        yyjson_val *children = yyjson_obj_get(label, "children");
        bool below = own.p && name.n > own.n && name.p[own.n] == '/' && memcmp(name.p, own.p, own.n) == 0;
        yyjson_val *child = label_rules_find(children, name);
        if (!child && below)
            child = label_rules_find(children, (struct str){name.p + own.n + 1, name.n - own.n - 1});
        if (child)
            return child;
    }
    return NULL;
}

/* [["former","now"],...]; a name that a label has again means that label. */
static void read_former(struct arena *a, yyjson_val *list, struct label_rules *r)
{
    size_t i, n;
    yyjson_val *pair;
    r->former = arena_array(a, struct relabel, yyjson_arr_size(list) + 1);
    yyjson_arr_foreach(list, i, n, pair)
    {
        struct relabel one = {json_str(yyjson_arr_get(pair, 0)), json_str(yyjson_arr_get(pair, 1))};
        if (one.from.n && one.to.n && !label_rules_find(r->labels, one.from))
            r->former[r->former_count++] = one;
    }
}

bool label_rules_read(struct arena *a, struct str labels, struct str renames, struct label_rules *ret,
                      struct err *err)
{
    struct label_rules r = {.labels = json_parse(a, labels.n ? labels : STR("[]"), err)};
    yyjson_val *list = json_parse(a, renames.n ? renames : STR("[]"), err);
    if (!r.labels || !list)
        return false;
    read_former(a, list, &r);
    *ret = r;
    return true;
}

bool label_rules_of(struct db *db, struct db_conn *c, struct arena *a, int64_t dataset,
                    struct label_rules *ret, struct err *err)
{
    const char *sql = "SELECT s.id, s.labels, COALESCE(s.renames, '') FROM datasets d"
                      " JOIN label_sets s ON s.id = d.label_set WHERE d.id = ?";
    struct db_args args = db_args(db_int(dataset));
    struct db_row row;
    bool found;
    if (!(c ? conn_query_one(c, a, sql, args, &row, &found, err)
            : db_query_one(db, a, sql, args, &row, &found, err)))
        return false;
    *ret = (struct label_rules){0};
    if (!found)
        return true;
    if (!label_rules_read(a, row.v[1].s, row.v[2].s, ret, err))
        return false;
    ret->set = row.v[0].i;
    return true;
}

bool label_rules_name(struct arena *a, const struct label_rules *rules, enum annotation_type type,
                      struct str *annotation, struct err *err)
{
    return !rules->former_count ||
           relabel_text(a, type, *annotation, rules->former, rules->former_count, annotation, err);
}
