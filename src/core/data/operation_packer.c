/* Packs the operations of samples that were left alone (operation_pack.h). */
#include "base/clock.h"
#include "core/controller.h"
#include "core/data/operation_pack.h"
#include "core/engine.h"

#define ALONE_US (15 * 60 * INT64_C(1000000)) /* since the last operation */
#define LATE_US  (60 * 60 * INT64_C(1000000)) /* then also few are packed */
#define ENOUGH   1000                         /* operations of a version; fewer wait for more */
#define TOGETHER 4000                         /* of one pack */
#define BYTES    (1 << 20)                    /* of their texts in one pack, but at least one sample's */

/* Samples of one version whose operations go into one pack, and what that replaces. */
struct packing {
    struct core *core;
    struct arena *arena;
    int64_t version;
    struct operation_section *sections;
    size_t n, operations, bytes;
    struct buf data;
};

static struct operation_entry entry_of(const struct db_value *v)
{
    return (struct operation_entry){.revision = v[0].i,
                                    .at = v[1].i,
                                    .by = v[2].i,
                                    .state = (enum sample_state)v[3].i,
                                    .client = v[4].s,
                                    .number = v[5].i,
                                    .body = v[6].s};
}

/* The state before the first operation: it goes into the pack, where it costs little. */
static bool take_base(struct packing *p, struct operation_section *s, struct err *err)
{
    struct db_row row;
    bool found;
    if (s->layer || !s->n)
        return true;
    if (!db_query_one(p->core->db, p->arena,
                      "SELECT revision, at, by_user, state, annotation FROM sample_history"
                      " WHERE sample = ? AND revision = ?",
                      db_args(db_int(s->sample), db_int(s->entries[0].revision - 1)), &row, &found, err))
        return false;
    if (found)
        s->base = (struct sample_past){row.v[0].i, row.v[1].i, row.v[2].i, (enum sample_state)row.v[3].i,
                                       row.v[4].s};
    p->bytes += s->base.annotation.n;
    return true;
}

static bool take_sample(struct packing *p, int64_t sample, int64_t layer, struct err *err)
{
    struct operation_section *s = &p->sections[p->n];
    struct db_rows rows;
    *s = (struct operation_section){.sample = sample, .layer = layer};
    if (!db_query(p->core->db, p->arena,
                  "SELECT revision, at, by_user, state, client, number, body FROM sample_operations"
                  " WHERE sample = ? AND layer = ? ORDER BY revision LIMIT ?",
                  db_args(db_int(sample), db_int(layer), db_int(TOGETHER)), &rows, err))
        return false;
    s->entries = arena_array(p->arena, struct operation_entry, rows.n + 1);
    for (; s->n < rows.n && p->bytes < OPERATION_PACK_MAX / 2; s->n++) {
        s->entries[s->n] = entry_of(rows.row[s->n].v);
        p->bytes += s->entries[s->n].body.n;
    }
    p->operations += s->n;
    p->n++;
    return take_base(p, s, err);
}

/* The newest pack of the place, which the section names as the one before. */
static bool read_before(struct packing *p, struct operation_section *s, struct err *err)
{
    struct db_row row;
    bool found;
    const char *sql = s->layer ? "SELECT pack FROM layer_samples WHERE sample = ? AND layer = ?"
                               : "SELECT pack FROM samples WHERE id = ? AND ? = 0";
    if (!db_query_one(p->core->db, p->arena, sql, db_args(db_int(s->sample), db_int(s->layer)), &row, &found,
                      err))
        return false;
    s->before = found ? row.v[0].i : 0;
    return true;
}

static bool replace_rows(struct op *op, const struct operation_section *s, int64_t pack, struct err *err)
{
    int64_t last = s->entries[s->n - 1].revision;
    const char *sql = s->layer ? "UPDATE layer_samples SET pack = ? WHERE sample = ? AND layer = ?"
                               : "UPDATE samples SET pack = ? WHERE id = ? AND ? = 0";
    return conn_exec(op->conn, sql, db_args(db_int(pack), db_int(s->sample), db_int(s->layer)), NULL, err) &&
           conn_exec(op->conn,
                     "DELETE FROM sample_operations WHERE sample = ? AND layer = ? AND revision <= ?",
                     db_args(db_int(s->sample), db_int(s->layer), db_int(last)), NULL, err) &&
           (!s->base.revision ||
            conn_exec(op->conn, "DELETE FROM sample_history WHERE sample = ? AND revision = ?",
                      db_args(db_int(s->sample), db_int(s->base.revision)), NULL, err));
}

/* Operations are only ever added behind those that were read, and packed by this thread alone: the rows are
 * still the same, or gone with their sample. */
static bool pack_write(struct op *op, void *ctx, struct err *err)
{
    struct packing *p = ctx;
    int64_t pack;
    if (!conn_insert(
            op->conn, "INSERT INTO operation_packs (version, operations, data) VALUES (?, ?, ?)",
            db_args(db_int(p->version), db_int((int64_t)p->operations), db_bytes(buf_view(&p->data))), &pack,
            err))
        return false;
    for (size_t i = 0; i < p->n; i++)
        if (p->sections[i].n && !replace_rows(op, &p->sections[i], pack, err))
            return false;
    return true;
}

static bool pack_all(struct packing *p, struct err *err)
{
    for (size_t i = 0; i < p->n; i++)
        if (!read_before(p, &p->sections[i], err))
            return false;
    bool ok = !p->operations || (operation_pack_write(&p->data, p->sections, p->n, err) &&
                                 engine_write(p->core, &caller_system, p->arena, pack_write, p, err));
    buf_clear(&p->data);
    p->n = p->operations = p->bytes = 0;
    return ok;
}

/* Samples of a version in the order of their ids; each pack as full as it may be. */
static bool pack_version(struct core *core, int64_t version, int64_t before, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    struct packing p = {.core = core, .arena = &a, .version = version};
    if (!db_query(core->db, &a,
                  "SELECT o.sample, o.layer FROM sample_operations o JOIN samples s ON s.id = o.sample"
                  " WHERE s.version = ? GROUP BY o.sample, o.layer HAVING MAX(o.at) < ?"
                  " ORDER BY o.sample, o.layer LIMIT 2000",
                  db_args(db_int(version), db_int(before)), &rows, err))
        return false;
    p.sections = arena_array(&a, struct operation_section, rows.n + 1);
    bool ok = true;
    for (size_t i = 0; ok && i < rows.n && !controller_ending(core); i++) {
        ok = take_sample(&p, rows.row[i].v[0].i, rows.row[i].v[1].i, err);
        if (ok && (p.operations >= TOGETHER || p.bytes >= BYTES))
            ok = pack_all(&p, err);
    }
    ok = ok && pack_all(&p, err);
    buf_release(&p.data);
    return ok;
}

bool operation_pack_all(struct core *core, int64_t alone_before, int64_t late_before, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    if (!db_query(core->db, &a,
                  "SELECT s.version, COUNT(*), MIN(o.at) FROM sample_operations o"
                  " JOIN samples s ON s.id = o.sample WHERE o.at < ? GROUP BY s.version",
                  db_args(db_int(alone_before)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && !controller_ending(core); i++)
        if ((rows.row[i].v[1].i >= ENOUGH || rows.row[i].v[2].i < late_before) &&
            !pack_version(core, rows.row[i].v[0].i, alone_before, err))
            return false;
    return true;
}

static bool tick(struct core *core, struct err *err)
{
    int64_t now = clock_now();
    return operation_pack_all(core, now - ALONE_US, now - LATE_US, err);
}

const struct controller controller_pack_operations = {
    .name = "pack-operations",
    .title = {"Packs the history of samples that were left alone", "压缩闲置样本的操作历史"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 120,
    .every_s = 120,
    .tick = tick,
};
