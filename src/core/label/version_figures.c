#include "core/label/version_figures.h"

#include "core/label/label_own.h"

#define DAY_HOURS 24
#define DAYS_MOST 366

#define SUMS                                                                                                 \
    "CAST(SUM(h.submitted) AS BIGINT), CAST(SUM(h.accepted) AS BIGINT), CAST(SUM(h.rejected) AS BIGINT),"    \
    " CAST(SUM(h.active) AS BIGINT)"

static void write_sums(struct json_out *out, const struct db_value *v)
{
    json_kint(out, "submitted", v[0].i);
    json_kint(out, "accepted", v[1].i);
    json_kint(out, "rejected", v[2].i);
    json_kint(out, "active_seconds", v[3].i);
}

static bool write_people(struct op *op, int64_t version, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!db_query(op->core->db, op->arena,
                  "SELECT h.worker, u.name, h.stage, " SUMS " FROM label_hours h"
                  " LEFT JOIN users u ON u.id = h.worker WHERE h.version = ?"
                  " GROUP BY h.worker, u.name, h.stage ORDER BY u.name, h.stage",
                  db_args(db_int(version)), &rows, err))
        return false;
    json_key(out, "people");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(out);
        json_key(out, "user");
        json_object(out);
        json_kint(out, "id", v[0].i);
        json_kstr(out, "name", v[1].type == DB_TEXT ? v[1].s : STR_NULL);
        json_object_end(out);
        json_kz(out, "stage", stage_names[v[2].i]);
        write_sums(out, v + 3);
        json_object_end(out);
    }
    json_array_end(out);
    return true;
}

static bool write_days(struct op *op, int64_t version, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    char at[CLOCK_TEXT_MAX];
    if (!db_query(
            op->core->db, op->arena,
            "SELECT h.hour / 24, h.stage, " SUMS " FROM label_hours h WHERE h.version = ? AND h.hour > ?"
            " GROUP BY 1, 2 ORDER BY 1, 2",
            db_args(db_int(version), db_int(clock_now() / HOUR_US - DAYS_MOST * DAY_HOURS)), &rows, err))
        return false;
    json_key(out, "days");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(out);
        json_kz(out, "day", clock_format(v[0].i * DAY_HOURS * HOUR_US, at));
        json_kz(out, "stage", stage_names[v[1].i]);
        write_sums(out, v + 2);
        json_object_end(out);
    }
    json_array_end(out);
    return true;
}

struct waiting {
    int64_t review, rejected;
};

/* Samples in review and sent back, by label: those states are few, and have an index. */
static bool waiting_of(struct op *op, int64_t version, struct db_rows *ret, struct err *err)
{
    return db_query(op->core->db, op->arena,
                    "SELECT l.label, s.state, COUNT(*) FROM samples s JOIN sample_labels l ON l.sample = s.id"
                    " WHERE s.version = ? AND s.state IN (?, ?) GROUP BY l.label, s.state",
                    db_args(db_int(version), db_int(SAMPLE_REVIEW), db_int(SAMPLE_REJECTED)), ret, err);
}

static struct waiting find_waiting(const struct db_rows *rows, struct str label)
{
    struct waiting w = {0};
    for (size_t i = 0; i < rows->n; i++)
        if (str_eq(rows->row[i].v[0].s, label))
            *(rows->row[i].v[1].i == SAMPLE_REVIEW ? &w.review : &w.rejected) += rows->row[i].v[2].i;
    return w;
}

static bool write_labels(struct op *op, int64_t version, struct json_out *out, struct err *err)
{
    struct sample_label_count *labels;
    struct db_rows rows;
    size_t n;
    if (!sample_label_counts(op->core->db, op->arena, version, &labels, &n, err) ||
        !waiting_of(op, version, &rows, err))
        return false;
    json_key(out, "labels");
    json_array(out);
    for (size_t i = 0; i < n; i++) {
        struct waiting w = find_waiting(&rows, labels[i].label);
        json_object(out);
        json_kstr(out, "label", labels[i].label);
        json_kint(out, "samples", labels[i].samples);
        json_kint(out, "shapes", labels[i].shapes);
        json_kint(out, "review", w.review);
        json_kint(out, "rejected", w.rejected);
        json_object_end(out);
    }
    json_array_end(out);
    return true;
}

bool version_figures_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                         int *status, struct err *err)
{
    (void)input;
    (void)status;
    json_object(out);
    if (!write_people(op, o->id, out, err) || !write_labels(op, o->id, out, err) ||
        !write_days(op, o->id, out, err))
        return false;
    json_object_end(out);
    return true;
}
