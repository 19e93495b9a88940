/* Whole versions: copying samples without their bytes, and taking samples away. */
#include "core/data/room.h"
#include "core/data/sample_own.h"
#include "core/pending.h"

static bool drop_one(struct op *op, int64_t project, const struct sample *s, struct err *err)
{
    static const char *const tables[] = {
        "DELETE FROM sample_labels WHERE sample = ?", "DELETE FROM sample_history WHERE sample = ?",
        "DELETE FROM sample_operations WHERE sample = ?", "DELETE FROM layer_samples WHERE sample = ?",
        "DELETE FROM samples WHERE id = ?"};
    for (size_t i = 0; i < countof(tables); i++)
        if (!conn_exec(op->conn, tables[i], db_args(db_int(s->id)), NULL, err))
            return false;
    pending_note(op->pending, &(struct room_note){.sample = s->id});
    return store_use(op->conn, project, &s->blob, -1, err);
}

bool sample_remove(struct op *op, const struct sample_set *set, const int64_t *ids, size_t n, struct err *err)
{
    struct tally t;
    bool ok = true;
    if (!sample_set_open(set, err))
        return false;
    tally_begin(&t, op->arena, set->version);
    for (size_t i = 0; ok && i < n; i++) {
        struct sample s;
        ok = sample_get(NULL, op->conn, op->arena, set->version, ids[i], &s, err) &&
             tally_sample(&t, s.state, s.annotation, s.size, -1, err) && drop_one(op, set->project, &s, err);
    }
    return tally_end(&t, op, ok, err);
}

/* Each takes its rows along an index and touches each row once: no statement asks again for every row. */
const char *const sample_copy_sql[] = {
    [COPY_SAMPLES] =
        "INSERT INTO samples (version, position, name, digest, size, width, height, duration, state, former,"
        " revision, annotation, sharpness, phash, split, by_person, updated_at, updated_by)"
        " SELECT ?, position, name, digest, size, width, height, duration, state, former, 1, annotation,"
        " sharpness, phash, split, by_person, updated_at, updated_by FROM samples"
        " WHERE version = ? AND position > ? AND position <= ?",
    [COPY_LABELS] = "INSERT INTO sample_labels (version, label, position, sample, count)"
                    " SELECT n.version, l.label, l.position, n.id, l.count FROM samples n"
                    " JOIN samples o ON o.version = ? AND o.position = n.position"
                    " JOIN sample_labels l ON l.sample = o.id"
                    " WHERE n.version = ? AND n.position > ? AND n.position <= ?",
    [COPY_USES] = "UPDATE blob_uses SET count = blob_uses.count + c.n"
                  " FROM (SELECT digest, COUNT(*) AS n FROM samples"
                  " WHERE version = ? AND position > ? AND position <= ? GROUP BY digest) AS c"
                  " WHERE blob_uses.project = ? AND blob_uses.digest = c.digest",
    [COPY_STATES] = "SELECT state, COUNT(*), CAST(SUM(size) AS BIGINT) FROM samples"
                    " WHERE version = ? AND position > ? AND position <= ? GROUP BY state",
    [COPY_COUNTS] = "SELECT l.label, COUNT(*), CAST(SUM(l.count) AS BIGINT) FROM samples s"
                    " JOIN sample_labels l ON l.sample = s.id"
                    " WHERE s.version = ? AND s.position > ? AND s.position <= ? AND s.state <> ?"
                    " GROUP BY l.label",
};

static bool copy_rows(struct op *op, const struct sample_set *from, const struct sample_set *to,
                      int64_t after, int64_t last, int64_t *ret_rows, struct err *err)
{
    struct db_value low = db_int(after), high = db_int(last), old = db_int(from->version),
                    new_ = db_int(to->version);
    return conn_exec(op->conn, sample_copy_sql[COPY_SAMPLES], db_args(new_, old, low, high), ret_rows, err) &&
           conn_exec(op->conn, sample_copy_sql[COPY_LABELS], db_args(old, new_, low, high), NULL, err) &&
           conn_exec(op->conn, sample_copy_sql[COPY_USES], db_args(new_, low, high, db_int(to->project)),
                     NULL, err);
}

/* What was just copied, counted by the database: reading a million annotations again takes longer than
 * copying them. */
static bool count_copied(struct op *op, int64_t version, int64_t after, int64_t last, struct err *err)
{
    struct db_rows states, labels;
    struct db_value v = db_int(version), low = db_int(after), high = db_int(last);
    struct tally t;
    if (!conn_query(op->conn, op->arena, sample_copy_sql[COPY_STATES], db_args(v, low, high), &states, err) ||
        !conn_query(op->conn, op->arena, sample_copy_sql[COPY_COUNTS],
                    db_args(v, low, high, db_int(SAMPLE_CLEANED)), &labels, err))
        return false;
    tally_begin(&t, op->arena, version);
    t.copies = true;
    for (size_t i = 0; i < states.n; i++)
        tally_state(&t, (enum sample_state)states.row[i].v[0].i, states.row[i].v[1].i, states.row[i].v[2].i);
    for (size_t i = 0; i < labels.n; i++)
        tally_label(&t, labels.row[i].v[0].s, labels.row[i].v[1].i, labels.row[i].v[2].i);
    return tally_end(&t, op, true, err);
}

bool sample_copy_step(struct op *op, const struct sample_set *from, const struct sample_set *to,
                      int64_t after, int64_t n, int64_t *ret_last, int64_t *ret_rows, struct err *err)
{
    struct db_row row;
    bool found;
    int64_t rows = 0;
    if (!conn_query_one(
            op->conn, op->arena,
            "SELECT MAX(position) FROM (SELECT position FROM samples WHERE version = ? AND position > ?"
            " ORDER BY position LIMIT ?) AS page",
            db_args(db_int(from->version), db_int(after), db_int(n)), &row, &found, err))
        return false;
    int64_t last = row.v[0].type == DB_NULL ? 0 : row.v[0].i;
    if (last && (!copy_rows(op, from, to, after, last, &rows, err) ||
                 !count_copied(op, to->version, after, last, err)))
        return false;
    if (last && !conn_exec(op->conn,
                           "INSERT INTO version_totals (version, next_position, bytes) VALUES (?, ?, 0)"
                           " ON CONFLICT (version) DO UPDATE SET next_position = excluded.next_position",
                           db_args(db_int(to->version), db_int(last + 1)), NULL, err))
        return false;
    *ret_last = last;
    *ret_rows = rows;
    return true;
}

bool sample_purge_step(struct op *op, int64_t version, int64_t project, bool *ret_left, struct err *err)
{
    static const char *const tables[] = {
        "DELETE FROM version_states WHERE version = ?",  "DELETE FROM sample_waiting WHERE version = ?",
        "DELETE FROM version_labels WHERE version = ?",  "DELETE FROM version_totals WHERE version = ?",
        "DELETE FROM operation_packs WHERE version = ?", "DELETE FROM version_classes WHERE version = ?",
        "DELETE FROM version_purges WHERE version = ?"};
    struct db_rows rows;
    bool on = true;
    do {
        if (!conn_query(op->conn, op->arena,
                        "SELECT " SAMPLE_COLUMNS
                        " FROM samples s WHERE s.version = ? ORDER BY s.position LIMIT 50",
                        db_args(db_int(version)), &rows, err))
            return false;
        for (size_t i = 0; on && i < rows.n; i++, on = conn_goes_on(op->conn)) {
            struct sample s = sample_row(&rows.row[i]);
            if (!drop_one(op, project, &s, err))
                return false;
        }
    } while (on && rows.n > 0);
    *ret_left = rows.n > 0;
    for (size_t i = 0; !*ret_left && i < countof(tables); i++)
        if (!conn_exec(op->conn, tables[i], db_args(db_int(version)), NULL, err))
            return false;
    return true;
}
