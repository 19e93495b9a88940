/* Which manifests a project holds: see manifest.h. */
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "store/manifest.h"
#include "store/store_own.h"

#define CHUNK 50 /* files that are counted together: below a millisecond */

struct hold {
    struct store *store;
    int64_t project;
    const struct digest *self;
    const struct manifest *manifest;
    bool grew; /* the project takes more by its files */
    bool done;
};

/* --- what is held and not yet counted: one server per database, so memory knows all of it --- */

#define KEY_SIZE (sizeof(int64_t) + sizeof(struct digest))

static struct str key_of(int64_t project, const struct digest *self, char ret[KEY_SIZE])
{
    memcpy(ret, &project, sizeof project);
    memcpy(ret + sizeof project, self, sizeof *self);
    return (struct str){ret, KEY_SIZE};
}

static uintptr_t count_holders(struct store *s, int64_t project, const struct digest *self, int by)
{
    char space[KEY_SIZE];
    struct str key = key_of(project, self, space);
    pthread_mutex_lock(&s->holding_lock);
    uintptr_t n = (uintptr_t)map_get(s->holding, key) + (uintptr_t)by;
    if (n)
        map_set(s->holding, key, (void *)n);
    else
        map_remove(s->holding, key);
    pthread_mutex_unlock(&s->holding_lock);
    return n;
}

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
static bool use_range(struct db_conn *c, struct hold *h, int64_t from, int64_t to, struct arena *a,
                      struct err *err)
{
    int64_t files = to < (int64_t)h->manifest->n ? to : (int64_t)h->manifest->n, added;
    struct store_used *u = arena_array(a, struct store_used, CHUNK);
    for (int64_t i = from; i < files; i++)
        u[i - from] = (struct store_used){h->manifest->entry[i].blob, h->manifest->entry[i].size};
    if (files > from) {
        if (!store_use_all(c, h->project, u, (size_t)(files - from), &added, err))
            return false;
        h->grew |= added > 0;
    }
    if (to == files)
        return true;
    return h->grew ? store_use(c, h->project, h->self, 1, err)
                   : store_use_anyway(c, h->project, h->self, err);
}

/* Gives up the uses below *at, from the last on, as many as the write may; *at is how many are left. */
static bool unuse(struct db_conn *c, const struct hold *h, int64_t *at, struct err *err)
{
    int64_t i = *at;
    do {
        const struct digest *d = --i < (int64_t)h->manifest->n ? &h->manifest->entry[i].blob : h->self;
        if (!store_use(c, h->project, d, -1, err))
            return false;
    } while (i > 0 && conn_goes_on(c));
    *at = i;
    return true;
}

static bool set_applied(struct db_conn *c, const struct hold *h, int64_t applied, struct err *err)
{
    return conn_exec(c, "UPDATE manifest_uses SET applied = ? WHERE project = ? AND digest = ?",
                     db_args(db_int(applied), db_int(h->project), digest_arg(h->self)), NULL, err);
}

static bool hold_write(struct db_conn *c, void *ctx, struct err *err)
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
    int64_t from = row.v[0].i, at = from, all = (int64_t)h->manifest->n + 1;
    while (at < all && (at == from || conn_goes_on(c))) {
        int64_t to = at + CHUNK < all ? at + CHUNK : all;
        if (!use_range(c, h, at, to, &a, err))
            return false;
        at = to;
    }
    h->done = at == all;
    return at == from || set_applied(c, h, at, err);
}

bool manifest_hold(struct store *s, int64_t project, const struct manifest *m, const struct digest *self,
                   struct err *err)
{
    struct hold h = {.store = s, .project = project, .self = self, .manifest = m};
    count_holders(s, project, self, 1);
    while (!h.done)
        if (!db_write(s->db, hold_write, &h, err)) {
            manifest_settle(s, project, self);
            return false;
        }
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

static bool may_replace(struct db_conn *c, struct store *s, int64_t project, const struct manifest_swap *x,
                        struct arena *a, bool *ret, struct err *err)
{
    struct db_row row;
    bool had, has;
    if (!conn_query_one(c, a, "SELECT count, applied FROM manifest_uses WHERE project = ? AND digest = ?",
                        db_args(db_int(project), digest_arg(x->old)), &row, &had, err))
        return false;
    *ret = had && row.v[0].i == 1 && row.v[1].i == (int64_t)x->before->n + 1 &&
           !count_holders(s, project, x->old, 0) && !count_holders(s, project, x->new_, 0);
    if (!conn_query_one(c, a, "SELECT 1 FROM manifest_uses WHERE project = ? AND digest = ?",
                        db_args(db_int(project), digest_arg(x->new_)), &row, &has, err))
        return false;
    *ret = *ret && !has;
    return true;
}

/* Those that go first: they make room for those that come. */
static bool use_difference(struct db_conn *c, int64_t project, const struct manifest_swap *x,
                           const struct manifest_diff *d, size_t n, struct arena *a, struct err *err)
{
    struct store_used *u = arena_array(a, struct store_used, n + 1);
    size_t come = 0;
    int64_t added = 0;
    for (size_t i = 0; i < n; i++) {
        if (d[i].before && !store_use(c, project, &d[i].before->blob, -1, err))
            return false;
        if (d[i].after)
            u[come++] = (struct store_used){d[i].after->blob, d[i].after->size};
    }
    return (come == 0 || store_use_all(c, project, u, come, &added, err)) &&
           store_use(c, project, x->old, -1, err) &&
           (added > 0 ? store_use(c, project, x->new_, 1, err) : store_use_anyway(c, project, x->new_, err));
}

bool manifest_replace(struct db_conn *c, struct store *s, int64_t project, const struct manifest_swap *x,
                      bool *ret_done, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct manifest_diff *d;
    size_t n;
    bool may;
    *ret_done = false;
    if (!may_replace(c, s, project, x, &a, &may, err))
        return false;
    if (!may)
        return true;
    manifest_compare(&a, x->before, x->after, &d, &n);
    if (n > CHUNK)
        return true;
    *ret_done = use_difference(c, project, x, d, n, &a, err) &&
                conn_exec(c,
                          "UPDATE manifest_uses SET digest = ?, applied = ?, touched_at = ?"
                          " WHERE project = ? AND digest = ?",
                          db_args(digest_arg(x->new_), db_int((int64_t)x->after->n + 1), db_int(clock_now()),
                                  db_int(project), digest_arg(x->old)),
                          NULL, err);
    return *ret_done;
}

static bool release_write(struct db_conn *c, void *ctx, struct err *err)
{
    struct hold *h = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &a,
                        "SELECT applied FROM manifest_uses WHERE project = ? AND digest = ? AND count = 0",
                        db_args(db_int(h->project), digest_arg(h->self)), &row, &found, err))
        return false;
    h->done = !found || count_holders(h->store, h->project, h->self, 0);
    if (h->done)
        return true;
    int64_t left = row.v[0].i;
    if (left > 0 && !unuse(c, h, &left, err))
        return false;
    h->done = left == 0;
    if (left > 0)
        return set_applied(c, h, left, err);
    return conn_exec(c, "DELETE FROM manifest_uses WHERE project = ? AND digest = ?",
                     db_args(db_int(h->project), digest_arg(h->self)), NULL, err);
}

static bool release_one(struct store *s, int64_t project, const struct digest *self, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct manifest m;
    if (!manifest_load(s, &a, self, &m, err))
        return false;
    struct hold h = {.store = s, .project = project, .self = self, .manifest = &m};
    while (!h.done)
        if (!db_write(s->db, release_write, &h, err))
            return false;
    return true;
}

void manifest_drop(struct store *s, int64_t project, const struct digest *self)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    struct db_row row;
    bool unused = false;
    bool ok =
        count_holders(s, project, self, 0) ||
        (db_query_one(s->db, &a, "SELECT 1 FROM manifest_uses WHERE project = ? AND digest = ? AND count = 0",
                      db_args(db_int(project), digest_arg(self)), &row, &unused, &err) &&
         (!unused || release_one(s, project, self, &err)));
    if (!ok)
        log_warn("files of a project are given back later: %s", err.message);
}

void manifest_settle(struct store *s, int64_t project, const struct digest *self)
{
    count_holders(s, project, self, -1);
    manifest_drop(s, project, self);
}

bool manifest_release(struct store *s, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    bool ok = true;
    if (!db_query(s->db, &a, "SELECT project, digest FROM manifest_uses WHERE count = 0 LIMIT 1000",
                  DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct digest self;
        memcpy(self.b, rows.row[i].v[1].s.p, sizeof self.b);
        struct err one = {0};
        if (!release_one(s, rows.row[i].v[0].i, &self, &one))
            ok = err_keep(err, &one);
    }
    return ok;
}
