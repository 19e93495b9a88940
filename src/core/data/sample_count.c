/* Counters of a version: samples by state, samples and shapes by label, bytes. */
#include "base/map.h"
#include "core/data/sample_own.h"
#include "core/growth.h"

void tally_begin(struct tally *t, struct arena *a, int64_t version)
{
    *t = (struct tally){.arena = a, .version = version, .labels = map_new()};
}

struct counting {
    struct tally *tally;
    int sign;
};

void tally_state(struct tally *t, enum sample_state state, int64_t samples, int64_t bytes)
{
    t->states[state] += samples;
    t->bytes += bytes;
}

void tally_label(struct tally *t, struct str label, int64_t samples, int64_t shapes)
{
    struct tally_label *l = map_get(t->labels, label);
    if (!l) {
        l = arena_new(t->arena, struct tally_label);
        map_set(t->labels, label, l);
    }
    l->samples += samples;
    l->shapes += shapes;
}

static void count_label(void *ctx, struct str label, uint32_t count)
{
    struct counting *c = ctx;
    tally_label(c->tally, label, c->sign, c->sign * (int64_t)count);
}

bool tally_sample(struct tally *t, enum sample_state state, struct str annotation, int64_t size, int sign,
                  struct err *err)
{
    tally_state(t, state, sign, sign * size);
    if (state == SAMPLE_CLEANED || !annotation.n)
        return true;
    return annotation_each_label(annotation, count_label, &(struct counting){t, sign}, err);
}

static bool write_label(struct db_conn *c, int64_t version, struct str label, const struct tally_label *l,
                        struct err *err)
{
    if (!conn_exec(
            c,
            "INSERT INTO version_labels (version, label, samples, shapes) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (version, label) DO UPDATE SET samples = version_labels.samples + excluded.samples,"
            " shapes = version_labels.shapes + excluded.shapes",
            db_args(db_int(version), db_text(label), db_int(l->samples), db_int(l->shapes)), NULL, err))
        return false;
    return l->samples >= 0 ||
           conn_exec(c, "DELETE FROM version_labels WHERE version = ? AND label = ? AND samples = 0",
                     db_args(db_int(version), db_text(label)), NULL, err);
}

static bool write_states(struct db_conn *c, const struct tally *t, struct err *err)
{
    for (int i = 0; i < SAMPLE_STATE_COUNT; i++)
        if (t->states[i] &&
            !conn_exec(c,
                       "INSERT INTO version_states (version, state, count) VALUES (?, ?, ?)"
                       " ON CONFLICT (version, state) DO UPDATE"
                       " SET count = version_states.count + excluded.count",
                       db_args(db_int(t->version), db_int(i), db_int(t->states[i])), NULL, err))
            return false;
    return true;
}

/* The totals shown in lists of versions are columns of the version itself. */
static bool write_version(struct op *op, const struct tally *t, struct err *err)
{
    int64_t all = 0;
    bool any = t->bytes != 0;
    for (int i = 0; i < SAMPLE_STATE_COUNT; i++) {
        all += t->states[i];
        any |= t->states[i] != 0;
    }
    if (!any)
        return true;
    int64_t cleaned = t->states[SAMPLE_CLEANED];
    int64_t annotated = all - cleaned - t->states[SAMPLE_UNANNOTATED];
    return engine_set_status(op, &kind_dataset_version, t->version,
                             ENGINE_STATUSES(status_add("samples", all - cleaned),
                                             status_add("annotated", annotated),
                                             status_add("cleaned", cleaned), status_add("bytes", t->bytes)),
                             err);
}

/* Copies of other versions' samples are not new. */
static bool write_growth(struct op *op, const struct tally *t, struct err *err)
{
    struct db_row row;
    bool found;
    int64_t all = 0;
    for (int i = 0; i < SAMPLE_STATE_COUNT; i++)
        all += t->states[i];
    if (t->copies || all <= 0)
        return true;
    return conn_query_one(op->conn, t->arena, "SELECT project FROM dataset_versions WHERE id = ?",
                          db_args(db_int(t->version)), &row, &found, err) &&
           (!found || growth_add(op->conn, GROWTH_SAMPLES, row.v[0].i, all, err));
}

bool tally_end(struct tally *t, struct op *op, bool write, struct err *err)
{
    bool ok =
        write && write_states(op->conn, t, err) && write_version(op, t, err) && write_growth(op, t, err);
    struct str label;
    void *value;
    for (size_t i = 0; ok && map_next(t->labels, &i, &label, &value);)
        ok = write_label(op->conn, t->version, label, value, err);
    map_free(t->labels);
    return ok;
}

bool sample_counts(struct db *db, int64_t version, struct sample_counts *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    struct db_row row;
    bool found;
    struct sample_counts n = {0};
    if (!db_query(db, &a, "SELECT state, count FROM version_states WHERE version = ?",
                  db_args(db_int(version)), &rows, err) ||
        !db_query_one(db, &a, "SELECT samples, bytes FROM dataset_versions WHERE id = ?",
                      db_args(db_int(version)), &row, &found, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        n.states[rows.row[i].v[0].i] = rows.row[i].v[1].i;
    n.samples = found ? row.v[0].i : 0;
    n.bytes = found ? row.v[1].i : 0;
    *ret = n;
    return true;
}

bool sample_label_counts(struct db *db, struct arena *a, int64_t version, struct sample_label_count **ret,
                         size_t *ret_n, struct err *err)
{
    struct db_rows rows;
    if (!db_query(
            db, a,
            "SELECT label, samples, shapes FROM version_labels WHERE version = ? ORDER BY samples DESC, label"
            " LIMIT 10000",
            db_args(db_int(version)), &rows, err))
        return false;
    struct sample_label_count *list = arena_array(a, struct sample_label_count, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        list[i] = (struct sample_label_count){rows.row[i].v[0].s, rows.row[i].v[1].i, rows.row[i].v[2].i};
    *ret = list;
    *ret_n = rows.n;
    return true;
}

struct labelling {
    struct db_conn *conn;
    int64_t version, sample, position;
    bool ok;
    struct err *err;
};

static void insert_label(void *ctx, struct str label, uint32_t count)
{
    struct labelling *l = ctx;
    l->ok = l->ok && conn_exec(l->conn,
                               "INSERT INTO sample_labels (version, label, position, sample, count)"
                               " VALUES (?, ?, ?, ?, ?)",
                               db_args(db_int(l->version), db_text(label), db_int(l->position),
                                       db_int(l->sample), db_int(count)),
                               NULL, l->err);
}

bool sample_labels_set(struct db_conn *c, int64_t version, int64_t sample, int64_t position,
                       struct str annotation, bool had, struct err *err)
{
    struct labelling l = {c, version, sample, position, true, err};
    if (had &&
        !conn_exec(c, "DELETE FROM sample_labels WHERE sample = ?", db_args(db_int(sample)), NULL, err))
        return false;
    return (!annotation.n || annotation_each_label(annotation, insert_label, &l, err)) && l.ok;
}
