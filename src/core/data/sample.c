/* Samples: their tables, reading and listing them. */
#include "base/messages.h"
#include "core/data/sample_own.h"
#include "core/sql.h"

const char *const sample_state_names[] = {"unannotated", "annotated", "machine", "review",
                                          "accepted",    "rejected",  "cleaned"};

const char sample_sql[] =
    "CREATE TABLE samples (id {id}, version BIGINT NOT NULL, position BIGINT NOT NULL, name {text} NOT NULL,"
    " digest {bytes} NOT NULL, size BIGINT NOT NULL, width BIGINT NOT NULL, height BIGINT NOT NULL,"
    " duration DOUBLE PRECISION NOT NULL, state BIGINT NOT NULL, former BIGINT NOT NULL, revision BIGINT NOT "
    "NULL,"
    " annotation {text} NOT NULL, sharpness DOUBLE PRECISION, phash BIGINT, updated_at BIGINT NOT NULL,"
    " updated_by BIGINT NOT NULL);\n"
    "CREATE UNIQUE INDEX samples_name ON samples (version, name);\n"
    "CREATE UNIQUE INDEX samples_position ON samples (version, position);\n"
    "CREATE INDEX samples_state ON samples (version, state, position);\n"
    "CREATE TABLE sample_labels (version BIGINT NOT NULL, label {text} NOT NULL, position BIGINT NOT NULL,"
    " sample BIGINT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (version, label, position));\n"
    "CREATE INDEX sample_labels_sample ON sample_labels (sample);\n"
    "CREATE TABLE sample_history (sample BIGINT NOT NULL, revision BIGINT NOT NULL, at BIGINT NOT NULL,"
    " by_user BIGINT NOT NULL, state BIGINT NOT NULL, annotation {text} NOT NULL, PRIMARY KEY (sample, "
    "revision));\n"
    "CREATE TABLE version_states (version BIGINT NOT NULL, state BIGINT NOT NULL, count BIGINT NOT NULL,"
    " PRIMARY KEY (version, state));\n"
    "CREATE TABLE version_labels (version BIGINT NOT NULL, label {text} NOT NULL, samples BIGINT NOT NULL,"
    " shapes BIGINT NOT NULL, PRIMARY KEY (version, label));\n"
    "CREATE TABLE version_totals (version BIGINT PRIMARY KEY, next_position BIGINT NOT NULL, bytes BIGINT "
    "NOT NULL);\n"
    "CREATE TABLE sample_waiting (version BIGINT NOT NULL, name {text} NOT NULL, annotation {text} NOT NULL,"
    " PRIMARY KEY (version, name));\n"
    "CREATE TABLE version_purges (version BIGINT PRIMARY KEY, project BIGINT NOT NULL);\n";

bool sample_state_of(struct str name, enum sample_state *ret)
{
    for (int i = 0; i < SAMPLE_STATE_COUNT; i++)
        if (str_is(name, sample_state_names[i])) {
            *ret = (enum sample_state)i;
            return true;
        }
    return false;
}

enum sample_state sample_state_for(struct str annotation, bool machine)
{
    if (!annotation.n || annotation_empty(annotation))
        return SAMPLE_UNANNOTATED;
    return machine ? SAMPLE_MACHINE : SAMPLE_ANNOTATED;
}

bool sample_set_of(struct op *op, const struct object *version, struct sample_set *ret, struct err *err)
{
    struct db_row row;
    bool found;
    const char *sql = "SELECT annotation_type FROM datasets WHERE id = ?";
    struct db_args args = db_args(db_int(version->parent));
    bool ok = op->conn ? conn_query_one(op->conn, op->arena, sql, args, &row, &found, err)
                       : db_query_one(op->core->db, op->arena, sql, args, &row, &found, err);
    struct sample_set set = {.version = version->id,
                             .dataset = version->parent,
                             .project = version->project,
                             .published = str_is(object_text(version, "state"), "published"),
                             .publishing = str_is(object_text(version, "state"), "publishing"),
                             .reviewing = str_is(object_text(version, "state"), "reviewing")};
    if (!ok)
        return false;
    if (!found || !annotation_type_of(row.v[0].s, &set.type))
        return err_set(err, ERR_NOT_FOUND, NULL, "the version's dataset is gone");
    *ret = set;
    return true;
}

bool sample_set_open(const struct sample_set *set, struct err *err)
{
    if (set->reviewing)
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_VERSION_REVIEWING);
    if (set->publishing)
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_VERSION_PUBLISHING);
    return !set->published || err_message(err, ERR_CONFLICT, "state", MESSAGE_VERSION_PUBLISHED);
}

struct sample sample_row(const struct db_row *row)
{
    const struct db_value *v = row->v;
    struct sample s = {.id = v[0].i,
                       .position = v[1].i,
                       .size = v[2].i,
                       .width = v[3].i,
                       .height = v[4].i,
                       .revision = v[5].i,
                       .updated_at = v[6].i,
                       .updated_by = v[7].i,
                       .duration = v[8].r,
                       .name = v[9].s,
                       .state = (enum sample_state)v[11].i,
                       .former = (enum sample_state)v[12].i,
                       .annotation = v[13].s,
                       .measured = v[14].type != DB_NULL,
                       .sharpness = v[14].type != DB_NULL ? v[14].r : -1,
                       .phash = (uint64_t)v[15].i,
                       .split = (enum codec_split)v[16].i,
                       .by_person = v[17].i != 0};
    size_t n = v[10].s.n < sizeof s.blob.b ? v[10].s.n : sizeof s.blob.b; /* whatever the row has */
    if (n)
        memcpy(s.blob.b, v[10].s.p, n);
    return s;
}

bool sample_get(struct db *db, struct db_conn *c, struct arena *a, int64_t version, int64_t id,
                struct sample *ret, struct err *err)
{
    const char *sql = "SELECT " SAMPLE_COLUMNS " FROM samples s WHERE s.id = ? AND s.version = ?";
    struct db_args args = db_args(db_int(id), db_int(version));
    struct db_row row;
    bool found;
    if (!(c ? conn_query_one(c, a, sql, args, &row, &found, err)
            : db_query_one(db, a, sql, args, &row, &found, err)))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no sample %lld in this version", (long long)id);
    *ret = sample_row(&row);
    return true;
}

static void add_int(struct sql *s, const char *text, int64_t v)
{
    sql_add(s, text);
    sql_arg(s, db_int(v));
}

/* Three ways through a version, each along an index: by label, by name, by position. */
static void write_query(struct sql *s, int64_t version, const struct sample_query *q)
{
    const char *order = "s.position";
    sql_add(s, "SELECT " SAMPLE_COLUMNS " FROM ");
    if (q->label.p) {
        add_int(s, "sample_labels l JOIN samples s ON s.id = l.sample WHERE l.version = ", version);
        sql_add(s, " AND l.label = ");
        sql_arg(s, db_text(q->label));
        add_int(s, " AND l.position > ", q->after);
        order = "l.position";
    } else if (q->by_name) {
        add_int(s, "samples s WHERE s.version = ", version);
        order = "s.name";
        if (q->after) {
            add_int(s, " AND s.name > (SELECT name FROM samples WHERE version = ", version);
            add_int(s, " AND position = ", q->after);
            sql_add(s, ")");
        }
    } else {
        add_int(s, "samples s WHERE s.version = ", version);
        add_int(s, " AND s.position > ", q->after);
    }
    if (q->state >= 0)
        add_int(s, " AND s.state = ", q->state);
    else if (q->state == -1)
        add_int(s, " AND s.state <> ", SAMPLE_CLEANED);
    sql_add(s, " ORDER BY ");
    sql_add(s, order);
    add_int(s, " LIMIT ", q->limit);
}

bool sample_list(struct db *db, struct arena *a, int64_t version, const struct sample_query *q,
                 struct sample **ret, size_t *ret_n, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    struct db_rows rows;
    if (q->q.n)
        return sample_search(db, a, version, q, ret, ret_n, err);
    write_query(&s, version, q);
    if (!db_query(db, a, s.text.p, sql_args(&s), &rows, err))
        return false;
    struct sample *list = arena_array(a, struct sample, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        list[i] = sample_row(&rows.row[i]);
    *ret = list;
    *ret_n = rows.n;
    return true;
}

bool sample_each(struct db *db, int64_t version, const struct sample_query *query,
                 bool (*each)(void *ctx, const struct sample *s, struct err *err), void *ctx, struct err *err)
{
    struct sample_query q = *query;
    q.limit = 500;
    for (;;) {
        auto_arena struct arena a;
        arena_init(&a);
        struct sample *list;
        size_t n;
        if (!sample_list(db, &a, version, &q, &list, &n, err))
            return false;
        for (size_t i = 0; i < n; i++)
            if (!each(ctx, &list[i], err))
                return false;
        if (n < 500)
            return true;
        q.after = list[n - 1].position;
    }
}

bool sample_each_by_name(struct db *db, int64_t version, const struct sample_query *q,
                         bool (*each)(void *ctx, const struct sample *s, struct err *err), void *ctx,
                         struct err *err)
{
    struct sample_query by_name = {.label = STR_NULL, .state = q->state, .by_name = true};
    return sample_each(db, version, &by_name, each, ctx, err);
}

bool sample_history(struct db *db, struct arena *a, int64_t sample, int64_t before, int64_t limit,
                    struct sample_past **ret, size_t *ret_n, struct err *err)
{
    struct db_rows rows;
    if (!db_query(db, a,
                  "SELECT revision, at, by_user, state, annotation FROM sample_history WHERE sample = ?"
                  " AND revision < ? ORDER BY revision DESC LIMIT ?",
                  db_args(db_int(sample), db_int(before), db_int(limit)), &rows, err))
        return false;
    struct sample_past *list = arena_array(a, struct sample_past, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        list[i] = (struct sample_past){v[0].i, v[1].i, v[2].i, (enum sample_state)v[3].i, v[4].s};
    }
    *ret = list;
    *ret_n = rows.n;
    return true;
}
