/* Which manifests a project holds: see manifest.h. */
#include "base/clock.h"
#include "store/manifest.h"
#include "store/store_own.h"

#define CHUNK 500

struct hold {
    int64_t project;
    const struct digest *self;
    const struct manifest *manifest;
    int64_t limit; /* releasing: only rows untouched since before this */
    bool done;
};

bool manifest_save(struct store *s, const struct manifest *m, struct digest *ret, struct err *err)
{
    auto_buf struct buf text = {0};
    manifest_write(m, &text);
    return blob_put(s, buf_view(&text), ret, err);
}

bool manifest_load(struct store *s, struct arena *a, const struct digest *d, struct manifest *ret,
                   struct err *err)
{
    struct str text;
    return blob_read(s, a, d, (size_t)1 << 30, &text, err) && manifest_parse(a, text, ret, err);
}

/* Uses of the files [from, to); the index n stands for the manifest's own blob. */
static bool use_range(struct db_conn *c, const struct hold *h, int64_t from, int64_t to, int sign,
                      struct err *err)
{
    for (int64_t i = from; i < to; i++) {
        const struct digest *d = i < (int64_t)h->manifest->n ? &h->manifest->entry[i].blob : h->self;
        if (!store_use(c, h->project, d, sign, err))
            return false;
    }
    return true;
}

static bool set_applied(struct db_conn *c, const struct hold *h, int64_t applied, struct err *err)
{
    return conn_exec(c, "UPDATE manifest_uses SET applied = ? WHERE project = ? AND digest = ?",
                     db_args(db_int(applied), db_int(h->project), digest_arg(h->self)), NULL, err);
}

static bool hold_chunk(struct db_conn *c, void *ctx, struct err *err)
{
    struct hold *h = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!conn_query_one(
            c, &a,
            "INSERT INTO manifest_uses (project, digest, count, applied, touched_at) VALUES (?, ?, 0, 0, ?)"
            " ON CONFLICT (project, digest) DO UPDATE SET touched_at = excluded.touched_at"
            " RETURNING applied",
            db_args(db_int(h->project), digest_arg(h->self), db_int(clock_now())), &row, &found, err))
        return false;
    int64_t applied = row.v[0].i, all = (int64_t)h->manifest->n + 1;
    int64_t to = applied + CHUNK < all ? applied + CHUNK : all;
    if (applied < to && (!use_range(c, h, applied, to, 1, err) || !set_applied(c, h, to, err)))
        return false;
    h->done = to == all;
    return true;
}

bool manifest_hold(struct store *s, int64_t project, const struct manifest *m, const struct digest *self,
                   struct err *err)
{
    struct hold h = {.project = project, .self = self, .manifest = m};
    while (!h.done)
        if (!db_write(s->db, hold_chunk, &h, err))
            return false;
    return true;
}

bool manifest_count(struct db_conn *c, int64_t project, const struct digest *self, int by, struct err *err)
{
    int64_t changed;
    if (!conn_exec(
            c, "UPDATE manifest_uses SET count = count + ?, touched_at = ? WHERE project = ? AND digest = ?",
            db_args(db_int(by), db_int(clock_now()), db_int(project), digest_arg(self)), &changed, err))
        return false;
    return changed == 1 ||
           err_set(err, ERR_CONFLICT, NULL, "the project does not hold this content any more");
}

static bool release_chunk(struct db_conn *c, void *ctx, struct err *err)
{
    struct hold *h = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &a,
                        "SELECT applied FROM manifest_uses WHERE project = ? AND digest = ? AND count = 0"
                        " AND touched_at < ?",
                        db_args(db_int(h->project), digest_arg(h->self), db_int(h->limit)), &row, &found,
                        err))
        return false;
    h->done = !found;
    if (!found)
        return true;
    int64_t applied = row.v[0].i, from = applied > CHUNK ? applied - CHUNK : 0;
    if (!use_range(c, h, from, applied, -1, err))
        return false;
    h->done = from == 0;
    if (from > 0)
        return set_applied(c, h, from, err);
    return conn_exec(c, "DELETE FROM manifest_uses WHERE project = ? AND digest = ?",
                     db_args(db_int(h->project), digest_arg(h->self)), NULL, err);
}

static bool release_one(struct store *s, int64_t project, const struct digest *self, int64_t limit,
                        struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct manifest m;
    if (!manifest_load(s, &a, self, &m, err))
        return false;
    struct hold h = {.project = project, .self = self, .manifest = &m, .limit = limit};
    while (!h.done)
        if (!db_write(s->db, release_chunk, &h, err))
            return false;
    return true;
}

bool manifest_release(struct store *s, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    int64_t limit = clock_now() - s->grace_us;
    if (!db_query(s->db, &a,
                  "SELECT project, digest FROM manifest_uses WHERE count = 0 AND touched_at < ? LIMIT 1000",
                  db_args(db_int(limit)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct digest self;
        memcpy(self.b, rows.row[i].v[1].s.p, sizeof self.b);
        if (!release_one(s, rows.row[i].v[0].i, &self, limit, err))
            return false;
    }
    return true;
}
