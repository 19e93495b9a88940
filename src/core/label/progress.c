/* Progress of a task: per member and day, as JSON and CSV; how long it will take. */
#include "core/label/label_own.h"

#define DAY_US (24 * HOUR_US)

struct span {
    int64_t from, to; /* hours */
};

/* Without times: today, in UTC. */
static struct span span_of(int64_t from, int64_t to)
{
    int64_t now = clock_now();
    from = from ? from : now / DAY_US * DAY_US;
    to = to ? to : from + DAY_US;
    return (struct span){from / HOUR_US, (to + HOUR_US - 1) / HOUR_US};
}

#define SUMS                                                                                                 \
    "CAST(SUM(h.submitted) AS BIGINT), CAST(SUM(h.skipped) AS BIGINT), CAST(SUM(h.accepted) AS BIGINT),"     \
    " CAST(SUM(h.rejected) AS BIGINT), CAST(SUM(h.active) AS BIGINT)"

static bool read_members(struct op *op, int64_t task, struct span s, struct db_rows *ret, struct err *err)
{
    return label_query(op,
                       "SELECT h.worker, u.name, h.stage, " SUMS " FROM label_hours h"
                       " LEFT JOIN users u ON u.id = h.worker WHERE h.task = ? AND h.hour >= ? AND h.hour < ?"
                       " GROUP BY h.worker, u.name, h.stage ORDER BY u.name, h.stage",
                       db_args(db_int(task), db_int(s.from), db_int(s.to)), ret, err);
}

static double per_hour(int64_t n, int64_t seconds)
{
    return seconds > 0 ? (double)n * 3600 / (double)seconds : 0;
}

static void write_sums(struct json_out *out, const struct db_value *v)
{
    json_kint(out, "submitted", v[0].i);
    json_kint(out, "skipped", v[1].i);
    json_kint(out, "accepted", v[2].i);
    json_kint(out, "rejected", v[3].i);
    json_kint(out, "active_seconds", v[4].i);
    json_key(out, "per_hour");
    json_real(out, per_hour(v[0].i, v[4].i));
}

static void write_person(struct json_out *out, const struct db_value *v)
{
    json_key(out, "user");
    json_object(out);
    json_kint(out, "id", v[0].i);
    json_kstr(out, "name", v[1].type == DB_TEXT ? v[1].s : STR_NULL);
    json_object_end(out);
    json_kz(out, "stage", stage_names[v[2].i]);
}

static void write_day(struct json_out *out, const char *key, int64_t at)
{
    char text[CLOCK_TEXT_MAX];
    json_kz(out, key, clock_format(at, text));
}

/* Days begin where the span does, so that a client's own days are counted. */
static bool write_days(struct op *op, int64_t task, struct span s, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!label_query(op,
                     "SELECT (h.hour - CAST(? AS BIGINT)) / 24, h.stage, " SUMS " FROM label_hours h"
                     " WHERE h.task = ? AND h.hour >= ? AND h.hour < ? GROUP BY 1, 2 ORDER BY 1, 2",
                     db_args(db_int(s.from), db_int(task), db_int(s.from), db_int(s.to)), &rows, err))
        return false;
    json_key(out, "days");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(out);
        write_day(out, "day", (s.from + v[0].i * 24) * HOUR_US);
        json_kz(out, "stage", stage_names[v[1].i]);
        write_sums(out, v + 2);
        json_object_end(out);
    }
    json_array_end(out);
    return true;
}

/* At the pace of the last seven days: what is left, and when that is done. */
static bool write_forecast(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct db_row row;
    bool found;
    int64_t now = clock_now(), deadline = object_int(o, "deadline");
    int64_t left = object_int(o, "samples") - object_int(o, "labelled");
    if (!label_query_one(op,
                         "SELECT CAST(COALESCE(SUM(submitted), 0) AS BIGINT), MIN(hour) FROM label_hours"
                         " WHERE task = ? AND stage = 0 AND hour >= ?",
                         db_args(db_int(o->id), db_int(now / HOUR_US - INT64_C(7) * 24)), &row, &found, err))
        return false;
    int64_t hours = row.v[1].type == DB_NULL ? 0 : now / HOUR_US - row.v[1].i + 1;
    double days = (double)hours / 24;
    double pace = days > 0 ? (double)row.v[0].i / days : 0;
    int64_t seats = object_int(o, "seats");
    double takes = pace > 0 ? (double)(left * seats) / pace : -1; /* days */
    bool known = left == 0 || (takes >= 0 && takes < 36500);
    int64_t ends = now + (int64_t)(known && left ? takes * (double)DAY_US : 0);
    json_key(out, "forecast");
    json_object(out);
    json_kint(out, "left", left);
    json_key(out, "per_day");
    json_real(out, pace);
    if (known)
        write_day(out, "ends_at", ends);
    else
        json_kz(out, "ends_at", NULL);
    if (deadline)
        write_day(out, "deadline", deadline);
    else
        json_kz(out, "deadline", NULL);
    json_kbool(out, "late", deadline && (known ? ends > deadline : now > deadline));
    json_object_end(out);
    return true;
}

bool run_progress(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                  int *status, struct err *err)
{
    (void)status;
    struct span s = span_of(input[0].i, input[1].i);
    struct db_rows rows;
    if (!read_members(op, o->id, s, &rows, err))
        return false;
    json_object(out);
    write_day(out, "from", s.from * HOUR_US);
    write_day(out, "to", s.to * HOUR_US);
    json_key(out, "members");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        json_object(out);
        write_person(out, rows.row[i].v);
        write_sums(out, rows.row[i].v + 3);
        json_object_end(out);
    }
    json_array_end(out);
    if (!write_days(op, o->id, s, out, err) || !write_forecast(op, o, out, err))
        return false;
    json_object_end(out);
    return true;
}

/* --- CSV --- */

/* A name that a spreadsheet would take for a formula gets an apostrophe before it. */
static void csv_text(struct buf *out, struct str s)
{
    buf_char(out, '"');
    if (s.n && strchr("=+-@\t\r", s.p[0]))
        buf_char(out, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            buf_char(out, '"');
        buf_char(out, s.p[i]);
    }
    buf_char(out, '"');
}

bool label_progress_csv(struct op *op, const struct object *task, int64_t from, int64_t to, struct buf *out,
                        struct err *err)
{
    struct span s = span_of(from, to);
    struct db_rows rows;
    char text[CLOCK_TEXT_MAX];
    if (!label_query(op,
                     "SELECT h.worker, u.name, h.stage, " SUMS ", (h.hour - CAST(? AS BIGINT)) / 24"
                     " FROM label_hours h LEFT JOIN users u ON u.id = h.worker"
                     " WHERE h.task = ? AND h.hour >= ? AND h.hour < ?"
                     " GROUP BY h.worker, u.name, h.stage, 9 ORDER BY 9, u.name, h.stage",
                     db_args(db_int(s.from), db_int(task->id), db_int(s.from), db_int(s.to)), &rows, err))
        return false;
    buf_z(out, "day,user,stage,submitted,skipped,accepted,rejected,active_seconds,per_hour\r\n");
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        buf_printf(out, "%s,", clock_format((s.from + v[8].i * 24) * HOUR_US, text));
        csv_text(out, v[1].type == DB_TEXT ? v[1].s : STR(""));
        buf_printf(out, ",%s,%lld,%lld,%lld,%lld,%lld,%.1f\r\n", stage_names[v[2].i], (long long)v[3].i,
                   (long long)v[4].i, (long long)v[5].i, (long long)v[6].i, (long long)v[7].i,
                   per_hour(v[3].i, v[7].i));
    }
    return true;
}
