#include "core/data/splits.h"

#include "codec/codec.h"
#include "core/data/sample.h"

enum { MOST_ROWS = 10000 * CODEC_SPLIT_COUNT }; /* as many labels as the statistics name */

/* Rows come label by label, a part at a time: one label is gathered until the next begins. */
struct splits {
    struct json_out *out;
    struct arena *arena;
    struct str label;
    bool begun;
    int64_t parts[CODEC_SPLIT_COUNT];
};

static void write_parts(struct json_out *out, const int64_t *parts)
{
    for (int i = CODEC_TRAIN; i < CODEC_SPLIT_COUNT; i++)
        json_kint(out, codec_split_names[i], parts[i]);
    json_kint(out, "none", parts[CODEC_SPLIT_NONE]);
}

static void add(int64_t *parts, int64_t part, int64_t samples)
{
    parts[part > CODEC_SPLIT_NONE && part < CODEC_SPLIT_COUNT ? part : CODEC_SPLIT_NONE] += samples;
}

static bool count_row(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    add(ctx, row->v[0].i, row->v[1].i);
    return true;
}

static void end_label(struct splits *s)
{
    if (!s->begun)
        return;
    json_object(s->out);
    json_kstr(s->out, "label", s->label);
    write_parts(s->out, s->parts);
    json_object_end(s->out);
    memset(s->parts, 0, sizeof s->parts);
}

static bool label_row(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct splits *s = ctx;
    if (!s->begun || !str_eq(s->label, row->v[0].s)) {
        end_label(s);
        s->label = arena_str(s->arena, row->v[0].s);
        s->begun = true;
    }
    add(s->parts, row->v[1].i, row->v[2].i);
    return true;
}

static bool write_labels(struct db_conn *conn, int64_t version, struct splits *s, struct err *err)
{
    struct db_args args = db_args(db_int(version), db_int(SAMPLE_CLEANED), db_int(MOST_ROWS));
    if (!conn_each(conn,
                   "SELECT l.label, s.split, COUNT(*) FROM sample_labels l JOIN samples s ON s.id = l.sample"
                   " WHERE l.version = ? AND s.state <> ? GROUP BY l.label, s.split"
                   " ORDER BY l.label, s.split LIMIT ?",
                   args, label_row, s, err))
        return false;
    end_label(s);
    return true;
}

bool splits_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    (void)input;
    (void)status;
    int64_t parts[CODEC_SPLIT_COUNT] = {0};
    struct splits s = {.out = out, .arena = op->arena};
    struct db_conn *conn = db_read_begin(op->core->db, err);
    if (!conn)
        return false;
    bool ok =
        conn_each(conn, "SELECT split, COUNT(*) FROM samples WHERE version = ? AND state <> ? GROUP BY split",
                  db_args(db_int(version->id), db_int(SAMPLE_CLEANED)), count_row, parts, err);
    json_object(out);
    json_key(out, "parts");
    json_object(out);
    write_parts(out, parts);
    json_object_end(out);
    json_key(out, "labels");
    json_array(out);
    if (ok && parts[CODEC_TRAIN] + parts[CODEC_VAL] + parts[CODEC_TEST] > 0)
        ok = write_labels(conn, version->id, &s, err);
    db_read_end(op->core->db, conn);
    json_array_end(out);
    json_object_end(out);
    return ok;
}
