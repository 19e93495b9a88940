#include "core/lineage/relation.h"

#include "core/sql.h"

/* A model's own rows are for those that no run is known of: with it, what the run was made from is told. */
#define NO_RUN "NOT EXISTS (SELECT 1 FROM training_instances t WHERE t.model_version = made_from.id)"

const struct relation relations[] = {
    {"from", "dataset_version", "dataset_version", RELATION_TO, "from", NULL},
    {"from", "algorithm_version", "algorithm_version", RELATION_TO, "from", NULL},
    {"from", "model_version", "model_version", RELATION_TO, "from", NULL},

    {"labelled", "label_task", "dataset_version", RELATION_FROM, "version", NULL},
    {"annotations", "dataset_version", "layer", RELATION_TO, "dataset_version", NULL},
    {"labelled", "label_task", "layer", RELATION_ANY, "made_by", NULL},
    {"found", "model_version", "layer", RELATION_ANY, "made_by", NULL},

    {"data", "dataset_version", "training_instance", RELATION_ROW, NULL, NULL},
    {"code", "algorithm_version", "training_instance", RELATION_TO, "algorithm", NULL},
    {"base_model", "model_version", "training_instance", RELATION_TO, "base_model", NULL},
    {"image", "image_version", "training_instance", RELATION_ROW, NULL, NULL},
    {"resumed_from", "training_instance", "training_instance", RELATION_TO, "resumed_from", NULL},
    {"made", "training_instance", "model_version", RELATION_FROM, "model_version", NULL},

    {"data", "dataset_version", "model_version", RELATION_ROW, NULL, NO_RUN},
    {"code", "algorithm_version", "model_version", RELATION_ROW, NULL, NO_RUN},
    {"base_model", "model_version", "model_version", RELATION_ROW, NULL, NO_RUN},
    {"image", "image_version", "model_version", RELATION_ROW, NULL, NO_RUN},
    {"kept", "environment", "model_version", RELATION_ROW, NULL, NULL},
    {"data", "dataset_version", "algorithm_version", RELATION_ROW, NULL, NULL},
    {"code", "algorithm_version", "algorithm_version", RELATION_ROW, NULL, NULL},
    {"base_model", "model_version", "algorithm_version", RELATION_ROW, NULL, NULL},
    {"kept", "environment", "algorithm_version", RELATION_ROW, NULL, NULL},

    {"serves", "model_version", "service_version", RELATION_TO, "model_version", NULL},
    {"image", "image_version", "service_version", RELATION_TO, "image_version", NULL},

    {"evaluates", "model_version", "evaluation", RELATION_TO, "model_version", NULL},
    {"evaluates", "service_version", "evaluation", RELATION_TO, "service_version", NULL},
    {"evaluates", "layer", "evaluation", RELATION_TO, "layer", NULL},
    {"truth", "dataset_version", "evaluation", RELATION_TO, "dataset_version", NULL},
};
const size_t relation_count = countof(relations);

bool relation_has(const struct kind *k)
{
    for (size_t i = 0; k && i < relation_count; i++)
        if (strcmp(relations[i].from, k->name) == 0 || strcmp(relations[i].to, k->name) == 0)
            return true;
    return false;
}

const char *relation_kinds(struct arena *a)
{
    const char *list = "";
    for (size_t i = 0; i < kind_count; i++)
        if (relation_has(kinds[i]))
            list = arena_printf(a, "%s%s%s", list, *list ? ", " : "", kinds[i]->name);
    return list;
}

/* --- by a field of the objects that are at hand --- */

static bool names_kind(const struct relation *r, const struct object *o)
{
    char field[64];
    snprintf(field, sizeof field, "%s_kind", r->field);
    return r->by != RELATION_ANY || str_is(object_text(o, field), r->from);
}

static void read_field(const struct relation *r, const struct relation_near *near, struct arena *a,
                       struct relation_pair **ret, size_t *ret_n)
{
    struct relation_pair *pairs = arena_array(a, struct relation_pair, near->n);
    size_t n = 0;
    for (size_t i = 0; i < near->n; i++) {
        int64_t far = names_kind(r, near->o[i]) ? object_int(near->o[i], r->field) : 0;
        if (far)
            pairs[n++] = (struct relation_pair){near->o[i]->id, far};
    }
    *ret = pairs;
    *ret_n = n;
}

/* --- by a search --- */

static void condition(struct sql *s, const char *column, const char *value)
{
    sql_name(s, column);
    sql_add(s, "=");
    sql_arg(s, db_textz(value));
    sql_add(s, " AND ");
}

/* The columns of near and far ids, the table, and what the rows must be: up to the list of ids. */
static void begin(struct sql *s, const struct relation *r, bool up)
{
    const char *near = r->field, *far = "id", *table = "made_from";
    if (r->by == RELATION_ROW) {
        near = up ? "id" : "from_id";
        far = up ? "from_id" : "id";
    } else {
        table = kind_by_name(str_of(r->by == RELATION_FROM ? r->from : r->to))->table;
    }
    buf_printf(&s->text, "SELECT \"%s\",\"%s\" FROM \"%s\" WHERE ", near, far, table);
    if (r->by == RELATION_ROW) {
        condition(s, "kind", r->to);
        condition(s, "relation", r->as);
        condition(s, "from_kind", r->from);
        if (r->only)
            buf_printf(&s->text, "%s AND ", r->only);
    } else if (r->by == RELATION_ANY) {
        condition(s, "made_by_kind", r->from);
    }
    buf_printf(&s->text, "\"%s\" IN (", near);
}

#define BATCH 100

static bool search(const struct relation *r, bool up, const struct relation_near *near, int64_t most,
                   struct db_conn *c, struct arena *a, struct db_rows *ret, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    begin(&s, r, up);
    /* A few lengths only: each text is one prepared statement. */
    size_t padded = near->n <= 1 ? 1 : near->n <= 8 ? 8 : BATCH;
    for (size_t i = 0; i < padded; i++) {
        sql_add(&s, i ? "," : "");
        sql_arg(&s, db_int(near->o[i < near->n ? i : near->n - 1]->id));
    }
    sql_add(&s, ") ORDER BY 2 DESC LIMIT ");
    sql_arg(&s, db_int(most));
    return conn_query(c, a, s.text.p, sql_args(&s), ret, err);
}

bool relation_find(const struct relation *r, bool up, const struct relation_near *near, int64_t most,
                   struct db_conn *c, struct arena *a, struct relation_pair **ret, size_t *ret_n,
                   struct err *err)
{
    if (r->by != RELATION_ROW && up == (r->by != RELATION_FROM)) {
        read_field(r, near, a, ret, ret_n);
        return true;
    }
    struct relation_pair *pairs = NULL;
    size_t n = 0;
    for (size_t at = 0; at < near->n; at += BATCH) {
        struct relation_near part = {near->o + at, near->n - at < BATCH ? near->n - at : BATCH};
        struct db_rows rows;
        if (!search(r, up, &part, most, c, a, &rows, err))
            return false;
        struct relation_pair *all = arena_array(a, struct relation_pair, n + rows.n);
        if (n)
            memcpy(all, pairs, n * sizeof *all);
        for (size_t i = 0; i < rows.n; i++)
            all[n++] = (struct relation_pair){rows.row[i].v[0].i, rows.row[i].v[1].i};
        pairs = all;
    }
    *ret = pairs;
    *ret_n = n;
    return true;
}
