/* Whole versions: copying samples without their bytes, and taking samples away. */
#include "base/clock.h"
#include "core/data/sample_own.h"

static bool drop_one(struct op *op, int64_t project, const struct sample *s, struct err *err)
{
    static const char *const tables[] = {"DELETE FROM sample_labels WHERE sample = ?",
                                         "DELETE FROM sample_history WHERE sample = ?",
                                         "DELETE FROM samples WHERE id = ?"};
    for (size_t i = 0; i < countof(tables); i++)
        if (!conn_exec(op->conn, tables[i], db_args(db_int(s->id)), NULL, err))
            return false;
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
    return tally_end(&t, op->conn, ok, err);
}

static bool copy_rows(struct op *op, const struct sample_set *from, const struct sample_set *to,
                      int64_t after, int64_t last, struct err *err)
{
    struct db_args range = db_args(db_int(to->version), db_int(from->version), db_int(after), db_int(last));
    return conn_exec(op->conn,
                     "INSERT INTO samples (version, position, name, digest, size, width, height, duration, "
                     "state, former,"
                     " revision, annotation, sharpness, phash, split, updated_at, updated_by)"
                     " SELECT ?, position, name, digest, size, width, height, duration, state, former, 1, "
                     "annotation,"
                     " sharpness, phash, split, updated_at, updated_by FROM samples"
                     " WHERE version = ? AND position > ? AND position <= ?",
                     range, NULL, err) &&
           conn_exec(op->conn,
                     "INSERT INTO sample_labels (version, label, position, sample, count)"
                     " SELECT n.version, l.label, l.position, n.id, l.count FROM samples n"
                     " JOIN samples o ON o.version = ? AND o.position = n.position"
                     " JOIN sample_labels l ON l.sample = o.id"
                     " WHERE n.version = ? AND n.position > ? AND n.position <= ?",
                     db_args(db_int(from->version), db_int(to->version), db_int(after), db_int(last)), NULL,
                     err) &&
           conn_exec(
               op->conn,
               "UPDATE blob_uses SET count = count + (SELECT COUNT(*) FROM samples s WHERE s.version = ?"
               " AND s.position > ? AND s.position <= ? AND s.digest = blob_uses.digest)"
               " WHERE project = ? AND digest IN (SELECT digest FROM samples WHERE version = ? AND position "
               "> ?"
               " AND position <= ?)",
               db_args(db_int(to->version), db_int(after), db_int(last), db_int(to->project),
                       db_int(to->version), db_int(after), db_int(last)),
               NULL, err);
}

static bool count_copied(struct op *op, const struct sample_set *to, int64_t after, int64_t last,
                         struct err *err)
{
    struct db_rows rows;
    struct tally t;
    if (!conn_query(op->conn, op->arena,
                    "SELECT state, annotation, size FROM samples WHERE version = ? AND position > ? AND "
                    "position <= ?",
                    db_args(db_int(to->version), db_int(after), db_int(last)), &rows, err))
        return false;
    tally_begin(&t, op->arena, to->version);
    bool ok = true;
    for (size_t i = 0; ok && i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        ok = tally_sample(&t, (enum sample_state)v[0].i, v[1].s, v[2].i, 1, err);
    }
    return tally_end(&t, op->conn, ok, err);
}

bool sample_copy_step(struct op *op, const struct sample_set *from, const struct sample_set *to,
                      int64_t after, int64_t n, int64_t *ret_last, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(
            op->conn, op->arena,
            "SELECT MAX(position) FROM (SELECT position FROM samples WHERE version = ? AND position > ?"
            " ORDER BY position LIMIT ?) AS page",
            db_args(db_int(from->version), db_int(after), db_int(n)), &row, &found, err))
        return false;
    int64_t last = row.v[0].type == DB_NULL ? 0 : row.v[0].i;
    if (last && (!copy_rows(op, from, to, after, last, err) || !count_copied(op, to, after, last, err)))
        return false;
    if (last && !conn_exec(op->conn,
                           "INSERT INTO version_totals (version, next_position, bytes) VALUES (?, ?, 0)"
                           " ON CONFLICT (version) DO UPDATE SET next_position = excluded.next_position",
                           db_args(db_int(to->version), db_int(last + 1)), NULL, err))
        return false;
    *ret_last = last;
    return true;
}

bool sample_purge_step(struct op *op, int64_t version, int64_t project, int64_t n, bool *ret_left,
                       struct err *err)
{
    static const char *const tables[] = {
        "DELETE FROM version_states WHERE version = ?",  "DELETE FROM sample_waiting WHERE version = ?",
        "DELETE FROM version_labels WHERE version = ?",  "DELETE FROM version_totals WHERE version = ?",
        "DELETE FROM version_classes WHERE version = ?", "DELETE FROM version_purges WHERE version = ?"};
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    "SELECT " SAMPLE_COLUMNS
                    " FROM samples s WHERE s.version = ? ORDER BY s.position LIMIT ?",
                    db_args(db_int(version), db_int(n)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct sample s = sample_row(&rows.row[i]);
        if (!drop_one(op, project, &s, err))
            return false;
    }
    *ret_left = (int64_t)rows.n == n;
    for (size_t i = 0; !*ret_left && i < countof(tables); i++)
        if (!conn_exec(op->conn, tables[i], db_args(db_int(version)), NULL, err))
            return false;
    return true;
}
