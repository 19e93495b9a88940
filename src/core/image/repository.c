/* Finding repositories, and their blobs. */
#include "core/image/repository.h"

#include "base/clock.h"
#include "core/quota.h"

#include <inttypes.h>

#define KEEP_US (INT64_C(3600) * 1000000)

const char repository_sql[] =
    "CREATE TABLE image_blobs (project BIGINT NOT NULL, name {text} NOT NULL, digest {bytes} NOT NULL,"
    " size BIGINT NOT NULL, refs BIGINT NOT NULL, touched_at BIGINT NOT NULL,"
    " PRIMARY KEY (project, name, digest));\n"
    "CREATE INDEX image_blobs_unused ON image_blobs (touched_at) WHERE refs = 0;\n"
    "CREATE INDEX image_blobs_digest ON image_blobs (digest);\n"
    "CREATE TABLE image_manifests (image BIGINT NOT NULL, project BIGINT NOT NULL, digest {text} NOT NULL,"
    " media_type {text} NOT NULL, artifact_type {text}, size BIGINT NOT NULL, subject {text},"
    " annotations {text}, touched_at BIGINT NOT NULL, PRIMARY KEY (image, digest));\n"
    "CREATE INDEX image_manifests_subject ON image_manifests (image, subject);\n"
    "CREATE INDEX image_manifests_age ON image_manifests (touched_at);\n"
    "CREATE TABLE image_parts (image BIGINT NOT NULL, parent {text} NOT NULL, child {text} NOT NULL,"
    " is_blob BIGINT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (image, parent, child, is_blob));\n"
    "CREATE INDEX image_parts_child ON image_parts (image, child) WHERE is_blob = 0;\n"
    "CREATE TABLE layer_uses (job BIGINT NOT NULL, digest {bytes} NOT NULL,"
    " PRIMARY KEY (job, digest));\n";

/* --- finding --- */

static bool unknown(struct str path, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "repository", "there is no image \"%.*s\", or you may not see it",
                   (int)(path.n > 120 ? 120 : path.n), path.p ? path.p : "");
}

static bool find_project(struct core *core, struct str name, struct arena *a, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    int64_t id;
    *ret = 0;
    if (str_starts(name, "id.") && str_to_i64((struct str){name.p + 3, name.n - 3}, &id)) {
        if (!db_query_one(core->db, a, "SELECT id FROM projects WHERE id = ?", db_args(db_int(id)), &row,
                          &found, err))
            return false;
    } else if (!db_query_one(core->db, a, "SELECT id FROM projects WHERE name = ?", db_args(db_text(name)),
                             &row, &found, err)) {
        return false;
    }
    *ret = found ? row.v[0].i : 0;
    return true;
}

static bool load(struct core *core, struct str name, struct arena *a, struct repository *r, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, a, "SELECT id, public FROM images WHERE project = ? AND name = ?",
                      db_args(db_int(r->project), db_text(name)), &row, &found, err))
        return false;
    r->name = name;
    r->image = found ? row.v[0].i : 0;
    r->public_ = found && row.v[1].i;
    return true;
}

static bool may_pull(const struct caller *c, const struct repository *r, struct str path, bool blob,
                     struct err *err)
{
    struct err why = {0};
    if (blob && r->project && !r->image && caller_need(c, "image.create", r->project, &why))
        return true;
    why = (struct err){0};
    bool may = r->project && caller_need(c, "image.read", r->project, &why);
    if (r->image && (may || r->public_))
        return true;
    if (!may && why.code == ERR_FORBIDDEN) {
        *err = why;
        return false;
    }
    return unknown(path, err);
}

bool repository_find(struct core *core, const struct caller *c, struct str path, enum repository_right right,
                     struct arena *a, struct repository *ret, struct err *err)
{
    struct repository r = {0};
    struct str rest, project = str_cut(path, '/', &rest);
    if (!rest.p)
        return err_set(err, ERR_INVALID, "name", "name: \"%.*s\" is not <project>/<image>",
                       (int)(path.n > 80 ? 80 : path.n), path.p ? path.p : "");
    if (!reference_name(project, err) || !reference_name(rest, err))
        return false;
    if (!c->user && c != &caller_system)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "sign in first: name and password, or an API token");
    if (!find_project(core, project, a, &r.project, err) || !load(core, rest, a, &r, err))
        return false;
    bool blob = right == REPOSITORY_PULL_BLOB, pull = blob || right == REPOSITORY_PULL;
    if (pull && !may_pull(c, &r, path, blob, err))
        return false;
    if (!pull) {
        const char *permission = right == REPOSITORY_DELETE ? "image.delete"
                                 : r.image                  ? "image.update"
                                                            : "image.create";
        struct err why = {0};
        if (!r.project)
            return unknown(path, err);
        if (!caller_need(c, permission, r.project, &why)) {
            *err = why;
            return why.code == ERR_NOT_FOUND && !r.public_ ? unknown(path, err)
                   : why.code == ERR_NOT_FOUND
                       ? err_set(err, ERR_FORBIDDEN, permission, "the image is public: you may only read it")
                       : false;
        }
        if (right == REPOSITORY_DELETE && !r.image)
            return unknown(path, err);
    }
    *ret = r;
    return true;
}

bool repository_of_name(struct core *core, int64_t project, struct str name, struct arena *a,
                        struct repository *ret, struct err *err)
{
    struct repository r = {.project = project};
    struct str rest, first = str_cut(name, '/', &rest);
    if (!load(core, name, a, &r, err))
        return false;
    if (!r.image && rest.p) {
        if (!find_project(core, first, a, &r.project, err) || !load(core, rest, a, &r, err))
            return false;
        if (!r.public_ && r.project != project)
            r.image = 0;
    }
    if (!r.image)
        return unknown(name, err);
    *ret = r;
    return true;
}

const char *repository_project_text(struct arena *a, int64_t project, struct str name)
{
    struct err ignored;
    if (reference_name(name, &ignored) && !memchr(name.p, '/', name.n) && !str_starts(name, "id."))
        return arena_strz(a, name);
    return arena_printf(a, "id.%" PRId64, project);
}

/* --- blobs --- */

struct blob_op {
    const struct repository *r;
    const struct digest *digest;
    int64_t size;
    bool found;
};

static bool add_write(struct db_conn *c, void *ctx, struct err *err)
{
    struct blob_op *b = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    struct db_value project = db_int(b->r->project), name = db_text(b->r->name);
    if (!conn_query_one(c, &a,
                        "UPDATE image_blobs SET touched_at = ? WHERE project = ? AND name = ? AND digest = ? "
                        "RETURNING refs",
                        db_args(db_int(clock_now()), project, name, digest_arg(b->digest)), &row, &found,
                        err))
        return false;
    if (found)
        return true;
    return store_use(c, b->r->project, b->digest, 1, err) &&
           conn_exec(c,
                     "INSERT INTO image_blobs (project, name, digest, size, refs, touched_at)"
                     " VALUES (?, ?, ?, ?, 0, ?)",
                     db_args(project, name, digest_arg(b->digest), db_int(b->size), db_int(clock_now())),
                     NULL, err);
}

/* Bytes that the project has already count once only. */
static bool admit(struct core *core, const struct repository *r, const struct digest *d, int64_t size,
                  struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, &a, "SELECT 1 FROM blob_uses WHERE project = ? AND digest = ?",
                      db_args(db_int(r->project), digest_arg(d)), &row, &found, err))
        return false;
    return found || quota_admit_storage(core, r->project, size, err);
}

bool repository_add_blob(struct core *core, const struct repository *r, const struct digest *d, int64_t size,
                         struct err *err)
{
    struct blob_op b = {.r = r, .digest = d, .size = size};
    return admit(core, r, d, size, err) && db_write(core->db, add_write, &b, err);
}

bool repository_blob(struct core *core, const struct repository *r, const struct digest *d, struct arena *a,
                     int64_t *ret_size, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(
            core->db, a,
            "SELECT size, refs, touched_at FROM image_blobs WHERE project = ? AND name = ? AND digest = ?",
            db_args(db_int(r->project), db_text(r->name), digest_arg(d)), &row, &found, err))
        return false;
    *ret_size = found ? row.v[0].i : -1;
    /* A push that is told "it is there" relies on it: so it stays for another hour, whatever is deleted. */
    if (!found || row.v[2].i > clock_now() - KEEP_US / 4)
        return true;
    struct blob_op b = {.r = r, .digest = d, .size = *ret_size};
    return db_write(core->db, add_write, &b, err);
}

static bool drop_write(struct db_conn *c, void *ctx, struct err *err)
{
    struct blob_op *b = ctx;
    int64_t n;
    if (!conn_exec(c, "DELETE FROM image_blobs WHERE project = ? AND name = ? AND digest = ? AND refs = 0",
                   db_args(db_int(b->r->project), db_text(b->r->name), digest_arg(b->digest)), &n, err))
        return false;
    b->found = n == 1;
    return !b->found || store_use(c, b->r->project, b->digest, -1, err);
}

bool repository_drop_blob(struct core *core, const struct repository *r, const struct digest *d,
                          struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct blob_op b = {.r = r, .digest = d};
    int64_t size;
    if (!db_write(core->db, drop_write, &b, err))
        return false;
    if (b.found)
        return true;
    if (!repository_blob(core, r, d, &a, &size, err))
        return false;
    if (size >= 0)
        return err_set(err, ERR_CONFLICT, "blob", "a manifest of the image still names this blob");
    return err_set(err, ERR_NOT_FOUND, "blob", "the image has no such blob");
}

bool repository_unname_blob(struct db_conn *c, int64_t project, struct str name, const struct digest *d,
                            int64_t count, struct err *err)
{
    struct db_value at[] = {db_int(project), db_text(name), digest_arg(d)};
    int64_t n;
    if (!conn_exec(c, "UPDATE image_blobs SET refs = refs - ? WHERE project = ? AND name = ? AND digest = ?",
                   db_args(db_int(count), at[0], at[1], at[2]), NULL, err) ||
        !conn_exec(c,
                   "DELETE FROM image_blobs WHERE project = ? AND name = ? AND digest = ? AND refs = 0"
                   " AND touched_at < ?",
                   db_args(at[0], at[1], at[2], db_int(clock_now() - KEEP_US)), &n, err))
        return false;
    return n == 0 || store_use(c, project, d, -1, err);
}

/* --- giving back --- */

struct sweep {
    int64_t before;
    size_t n;
};

static bool sweep_blobs(struct db_conn *c, void *ctx, struct err *err)
{
    struct sweep *s = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    if (!conn_query(c, &a,
                    "SELECT project, name, digest FROM image_blobs WHERE refs = 0 AND touched_at < ?"
                    " ORDER BY touched_at LIMIT 100",
                    db_args(db_int(s->before)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        struct digest d;
        memcpy(d.b, v[2].s.p, sizeof d.b);
        if (!conn_exec(c, "DELETE FROM image_blobs WHERE project = ? AND name = ? AND digest = ?",
                       db_args(v[0], v[1], v[2]), NULL, err) ||
            !store_use(c, v[0].i, &d, -1, err))
            return false;
    }
    s->n = rows.n;
    return true;
}

/* Versions that were pushed over: their manifests stay for a day for clients that pull by digest. */
static bool sweep_manifests(struct op *op, void *ctx, struct err *err)
{
    struct sweep *s = ctx;
    struct db_rows rows;
    if (!conn_query(
            op->conn, op->arena,
            "SELECT m.image, m.digest FROM image_manifests m WHERE m.touched_at < ? AND NOT EXISTS (SELECT 1"
            " FROM image_versions v WHERE v.image = m.image AND v.digest = m.digest) AND NOT EXISTS (SELECT "
            "1 FROM"
            " image_parts p WHERE p.image = m.image AND p.child = m.digest AND p.is_blob = 0) AND NOT EXISTS"
            " (SELECT 1 FROM image_manifests t WHERE t.image = m.image AND t.digest = m.subject) LIMIT 50",
            db_args(db_int(s->before)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct digest d;
        if (!reference_digest(rows.row[i].v[1].s, &d, err) ||
            !repository_unname(op, rows.row[i].v[0].i, &d, err))
            return false;
    }
    s->n = rows.n;
    return true;
}

bool repository_sweep(struct core *core, struct err *err)
{
    struct sweep s = {.before = clock_now() - KEEP_US};
    do {
        if (!db_write(core->db, sweep_blobs, &s, err))
            return false;
    } while (s.n == 100);
    s.before = clock_now() - 24 * KEEP_US;
    do {
        auto_arena struct arena a;
        arena_init(&a);
        if (!engine_write(core, &caller_system, &a, sweep_manifests, &s, err))
            return false;
    } while (s.n == 50);
    return true;
}
