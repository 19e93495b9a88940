#include "core/data/sizes.h"

#include "core/data/sample.h"

#include <math.h>

enum { COMMON = 12, RANGES = 64, BELOW_ONE = 8 }; /* BELOW_ONE: the range that begins at 1 */

/* Range i is 2^(i - BELOW_ONE) <= x < 2^(i - BELOW_ONE + 1); the first also has what is smaller. */
struct ranges {
    int64_t samples[RANGES];
};

struct sizes {
    struct ranges seconds, bytes;
    struct json_out *out;
    int64_t listed;
};

static double lower_end(int i)
{
    return i == 0 ? 0 : ldexp(1, i - BELOW_ONE);
}

static void count(struct ranges *r, double x)
{
    int i = x > 0 ? ilogb(x) + BELOW_ONE : 0;
    r->samples[i < 0 ? 0 : i < RANGES ? i : RANGES - 1]++;
}

static bool count_row(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct sizes *s = ctx;
    if (row->v[0].r > 0)
        count(&s->seconds, row->v[0].r);
    count(&s->bytes, (double)row->v[1].i);
    return true;
}

static bool pixel_row(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct sizes *s = ctx;
    json_object(s->out);
    json_kint(s->out, "width", row->v[0].i);
    json_kint(s->out, "height", row->v[1].i);
    json_kint(s->out, "samples", row->v[2].i);
    json_object_end(s->out);
    s->listed += row->v[2].i;
    return true;
}

static bool write_pixels(struct db_conn *conn, struct arena *a, int64_t version, struct sizes *s,
                         struct err *err)
{
    struct db_args args = db_args(db_int(version), db_int(SAMPLE_CLEANED), db_int(COMMON));
    struct db_row row;
    bool found;
    json_key(s->out, "pixels");
    json_array(s->out);
    bool ok =
        conn_each(conn,
                  "SELECT width, height, COUNT(*) AS n FROM samples WHERE version = ? AND state <> ? AND "
                  "width > 0 GROUP BY width, height ORDER BY n DESC, width, height LIMIT ?",
                  args, pixel_row, s, err);
    json_array_end(s->out);
    if (!ok || !conn_query_one(conn, a,
                               "SELECT COUNT(*) FROM samples WHERE version = ? AND state <> ? AND width > 0",
                               db_args(db_int(version), db_int(SAMPLE_CLEANED)), &row, &found, err))
        return false;
    json_kint(s->out, "other_pixels", row.v[0].i - s->listed);
    return true;
}

static void write_ranges(struct json_out *out, const char *key, const struct ranges *r)
{
    int first = 0, last = RANGES - 1;
    while (first < RANGES && !r->samples[first])
        first++;
    while (last > first && !r->samples[last])
        last--;
    json_key(out, key);
    json_array(out);
    for (int i = first; i <= last; i++) {
        json_object(out);
        json_key(out, "from");
        json_real(out, lower_end(i));
        json_key(out, "to");
        json_real(out, lower_end(i + 1));
        json_kint(out, "samples", r->samples[i]);
        json_object_end(out);
    }
    json_array_end(out);
}

bool sizes_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
               int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct sizes s = {.out = out};
    struct db_conn *conn = db_read_begin(op->core->db, err);
    if (!conn)
        return false;
    json_object(out);
    bool ok = write_pixels(conn, op->arena, version->id, &s, err) &&
              conn_each(conn, "SELECT duration, size FROM samples WHERE version = ? AND state <> ?",
                        db_args(db_int(version->id), db_int(SAMPLE_CLEANED)), count_row, &s, err);
    db_read_end(op->core->db, conn);
    write_ranges(out, "seconds", &s.seconds);
    write_ranges(out, "bytes", &s.bytes);
    json_object_end(out);
    return ok;
}
