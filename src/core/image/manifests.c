/* Manifests of repositories: pushing, finding, deleting. */
#include "base/clock.h"
#include "core/image/repository.h"
#include "core/row.h"

/* --- finding --- */

bool repository_manifest(struct core *core, const struct repository *r, const struct reference *at,
                         struct arena *a, struct repository_manifest *ret, struct err *err)
{
    struct db_row row;
    bool found;
    char text[REFERENCE_DIGEST];
    struct repository_manifest m = {0};
    bool ok = at->tag.p
                  ? db_query_one(core->db, a,
                                 "SELECT m.digest, m.media_type, m.size, v.id FROM image_versions v,"
                                 " image_manifests m WHERE v.image = ? AND v.name = ? AND m.image = v.image"
                                 " AND m.digest = v.digest",
                                 db_args(db_int(r->image), db_text(at->tag)), &row, &found, err)
                  : db_query_one(core->db, a,
                                 "SELECT digest, media_type, size, 0 FROM image_manifests WHERE image = ?"
                                 " AND digest = ?",
                                 db_args(db_int(r->image), db_textz(reference_text(&at->digest, text))), &row,
                                 &found, err);
    if (!ok)
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "manifest", "the image has no version \"%.*s\"",
                       at->tag.p ? (int)at->tag.n : REFERENCE_DIGEST - 1,
                       at->tag.p ? at->tag.p : reference_text(&at->digest, text));
    if (!reference_digest(row.v[0].s, &m.digest, err))
        return false;
    m.media_type = row.v[1].s;
    m.size = row.v[2].i;
    m.version = row.v[3].i;
    *ret = m;
    return true;
}

/* --- pushing --- */

struct push {
    const struct repository *r;
    const struct repository_push *p;
    const struct oci_manifest *m;
    const char *digest; /* text */
    struct digest raw;
    struct str arch, os, annotations;
    int64_t image, version;
};

static bool missing_part(const struct digest *d, struct err *err)
{
    char text[REFERENCE_DIGEST];
    return err_set(err, ERR_INVALID, "blob", "%s is not in the repository: push it first",
                   reference_text(d, text));
}

static bool name_part(struct op *op, const struct push *p, const char *child, bool is_blob, struct err *err)
{
    return conn_exec(
        op->conn,
        "INSERT INTO image_parts (image, parent, child, is_blob, count) VALUES (?, ?, ?, ?, 1)"
        " ON CONFLICT (image, parent, child, is_blob) DO UPDATE SET count = image_parts.count + 1",
        db_args(db_int(p->image), db_textz(p->digest), db_textz(child), db_int(is_blob)), NULL, err);
}

static bool name_blob(struct op *op, const struct push *p, const struct oci_descriptor *d, struct err *err)
{
    struct db_row row;
    bool found;
    char text[REFERENCE_DIGEST];
    reference_text(&d->digest, text);
    if (!conn_query_one(
            op->conn, op->arena,
            "UPDATE image_blobs SET refs = refs + 1, touched_at = 0 WHERE project = ? AND name = ?"
            " AND digest = ? RETURNING size",
            db_args(db_int(p->r->project), db_text(p->r->name), digest_arg(&d->digest)), &row, &found, err))
        return false;
    if (!found)
        return missing_part(&d->digest, err);
    if (row.v[0].i != d->size)
        return err_set(err, ERR_INVALID, "manifest", "manifest: %s has %lld bytes, not %lld", text,
                       (long long)row.v[0].i, (long long)d->size);
    return name_part(op, p, text, true, err);
}

static bool name_child(struct op *op, const struct push *p, const struct oci_descriptor *d, struct err *err)
{
    struct db_row row;
    bool found;
    char text[REFERENCE_DIGEST];
    reference_text(&d->digest, text);
    if (!conn_query_one(op->conn, op->arena, "SELECT 1 FROM image_manifests WHERE image = ? AND digest = ?",
                        db_args(db_int(p->image), db_textz(text)), &row, &found, err))
        return false;
    return found ? name_part(op, p, text, false, err) : missing_part(&d->digest, err);
}

static bool name_parts(struct op *op, const struct push *p, struct err *err)
{
    const struct oci_manifest *m = p->m;
    if (!m->index && !name_blob(op, p, &m->config, err))
        return false;
    for (size_t i = 0; i < m->n; i++)
        if (m->index ? !name_child(op, p, &m->items[i], err) : !name_blob(op, p, &m->items[i], err))
            return false;
    return true;
}

/* The push of what was there already is over, too: no client is about to name its blobs any more. */
static bool settle_blobs(struct op *op, const struct push *p, struct err *err)
{
    const struct oci_manifest *m = p->m;
    for (size_t i = 0; !m->index && i <= m->n; i++) {
        const struct oci_descriptor *d = i < m->n ? &m->items[i] : &m->config;
        if (!conn_exec(op->conn,
                       "UPDATE image_blobs SET touched_at = 0 WHERE project = ? AND name = ? AND digest = ?",
                       db_args(db_int(p->r->project), db_text(p->r->name), digest_arg(&d->digest)), NULL,
                       err))
            return false;
    }
    return true;
}

static bool write_manifest(struct op *op, const struct push *p, struct err *err)
{
    const struct oci_manifest *m = p->m;
    char subject[REFERENCE_DIGEST];
    struct db_row row;
    bool found;
    if (!conn_query_one(
            op->conn, op->arena,
            "UPDATE image_manifests SET touched_at = ? WHERE image = ? AND digest = ? RETURNING size",
            db_args(db_int(clock_now()), db_int(p->image), db_textz(p->digest)), &row, &found, err))
        return false;
    if (found)
        return settle_blobs(op, p, err);
    return store_use(op->conn, p->r->project, &p->raw, 1, err) && name_parts(op, p, err) &&
           conn_exec(
               op->conn,
               "INSERT INTO image_manifests (image, project, digest, media_type, artifact_type, size,"
               " subject, annotations, touched_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
               db_args(db_int(p->image), db_int(p->r->project), db_textz(p->digest), db_text(m->media_type),
                       m->artifact_type.n ? db_text(m->artifact_type) : db_null(),
                       db_int((int64_t)p->p->text.n),
                       m->has_subject ? db_textz(reference_text(&m->subject.digest, subject)) : db_null(),
                       p->annotations.n ? db_text(p->annotations) : db_null(), db_int(clock_now())),
               NULL, err);
}

static bool find_row(struct op *op, const char *sql, int64_t place, struct str name, int64_t *ret,
                     struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, sql, db_args(db_int(place), db_text(name)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

static bool write_image(struct op *op, struct push *p, struct err *err)
{
    if (!find_row(op, "SELECT id FROM images WHERE project = ? AND name = ?", p->r->project, p->r->name,
                  &p->image, err))
        return false;
    if (p->image)
        return true;
    if (op->caller->user && !caller_need(op->caller, "image.create", p->r->project, err))
        return false;
    struct object o = engine_object(op->arena, &kind_image);
    o.project = p->r->project;
    o.created_by = op->caller->user;
    *object_value(&o, "name") = db_text(p->r->name);
    *object_value(&o, "public") = db_int(0);
    *object_value(&o, "description") = p->p->description.n ? db_text(p->p->description) : db_null();
    if (!engine_insert_row(op, &o, err))
        return false;
    p->image = o.id;
    return true;
}

static void fill_version(struct object *o, const struct push *p)
{
    const struct oci_manifest *m = p->m;
    *object_value(o, "digest") = db_textz(p->digest);
    *object_value(o, "media_type") = db_text(m->media_type);
    *object_value(o, "size") = db_int(oci_bytes(m));
    *object_value(o, "layers") = db_int(m->index ? 0 : (int64_t)m->n);
    *object_value(o, "arch") = p->arch.n ? db_text(p->arch) : db_null();
    *object_value(o, "base") = m->host ? db_textz("host") : db_null();
    *object_value(o, "pushed_at") = db_int(clock_now());
}

static bool touch_old(struct op *op, const struct push *p, struct str digest, struct err *err)
{
    return conn_exec(op->conn, "UPDATE image_manifests SET touched_at = ? WHERE image = ? AND digest = ?",
                     db_args(db_int(clock_now()), db_int(p->image), db_text(digest)), NULL, err);
}

static bool write_version(struct op *op, struct push *p, struct err *err)
{
    struct object o;
    bool found = false;
    if (!find_row(op, "SELECT id FROM image_versions WHERE image = ? AND name = ?", p->image, p->p->at.tag,
                  &p->version, err))
        return false;
    if (p->version && !engine_load_row(op, &kind_image_version, p->version, &o, &found, err))
        return false;
    if (found) {
        if (str_is(object_text(&o, "digest"), p->digest))
            return true;
        if (!touch_old(op, p, object_text(&o, "digest"), err))
            return false;
        fill_version(&o, p);
        return engine_update_row(op, &o, err);
    }
    o = engine_object(op->arena, &kind_image_version);
    o.project = p->r->project;
    o.parent = p->image;
    o.created_by = op->caller->user;
    *object_value(&o, "name") = db_text(p->p->at.tag);
    *object_value(&o, "pulls") = db_int(0);
    fill_version(&o, p);
    if (!engine_insert_row(op, &o, err))
        return false;
    p->version = o.id;
    return true;
}

static bool push_write(struct op *op, void *ctx, struct err *err)
{
    struct push *p = ctx;
    return write_image(op, p, err) && write_manifest(op, p, err) &&
           (!p->p->at.tag.p || write_version(op, p, err));
}

/* The architecture: of the configuration, or all of an index. */
static bool find_arch(struct core *core, struct push *p, struct arena *a, struct err *err)
{
    struct oci_config config;
    struct str text;
    if (p->m->index) {
        auto_buf struct buf all = {0};
        for (size_t i = 0; i < p->m->n && all.n < 100; i++)
            if (p->m->items[i].arch.n && p->m->items[i].arch.n < 20 &&
                !str_is(p->m->items[i].arch, "unknown"))
                buf_printf(&all, "%s" STR_FMT, all.n ? ", " : "", STR_ARG(p->m->items[i].arch));
        p->arch = arena_str(a, buf_view(&all));
        return true;
    }
    if (!str_is(p->m->config.media_type, OCI_CONFIG) &&
        !str_is(p->m->config.media_type, "application/vnd.docker.container.image.v1+json"))
        return true; /* an artefact, not an image */
    struct err why = {0};
    if (!blob_read(core->store, a, &p->m->config.digest, OCI_CONFIG_MAX, &text, &why))
        return why.code == ERR_NOT_FOUND ? missing_part(&p->m->config.digest, err) : (*err = why, false);
    if (!oci_config_parse(a, text, &config, err))
        return false;
    if (config.arch.n <= 20)
        p->arch = config.arch;
    return true;
}

bool repository_push(struct core *core, const struct caller *c, const struct repository *r,
                     const struct repository_push *p, struct arena *a, struct repository_pushed *ret,
                     struct err *err)
{
    struct oci_manifest m;
    struct push x = {.r = r, .p = p, .m = &m};
    auto_buf struct buf annotations = {0};
    int64_t size;
    if (!oci_parse(a, p->media_type, p->text, &m, err))
        return false;
    sha256_of(p->text, x.raw.b);
    if (!p->at.tag.p && memcmp(x.raw.b, p->at.digest.b, sizeof x.raw.b) != 0)
        return err_set(err, ERR_INVALID, "digest", "digest: the manifest's bytes have another digest");
    /* The configuration must be the repository's own before it is read. */
    if (!m.index && !repository_blob(core, r, &m.config.digest, a, &size, err))
        return false;
    if (!m.index && size < 0)
        return missing_part(&m.config.digest, err);
    if (!find_arch(core, &x, a, err) || !blob_put(core->store, p->text, &x.raw, err))
        return false;
    if (m.annotations) {
        struct json_out o;
        json_begin(&o, &annotations);
        json_value(&o, m.annotations);
        x.annotations = buf_view(&annotations);
    }
    char text[REFERENCE_DIGEST];
    x.digest = arena_strdup(a, reference_text(&x.raw, text));
    if (!engine_write(core, c, a, push_write, &x, err))
        return false;
    *ret = (struct repository_pushed){
        .digest = x.raw, .has_subject = m.has_subject, .image = x.image, .version = x.version};
    if (m.has_subject)
        ret->subject = m.subject.digest;
    return true;
}

/* --- deleting --- */

#define DEPTH 4 /* of indexes in indexes that go at once; the rest goes with the next sweep */

static bool unname(struct op *op, int64_t image, const struct digest *d, int depth, struct err *err);

static bool unname_parts(struct op *op, int64_t image, int64_t project, struct str name, const char *digest,
                         int depth, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    "DELETE FROM image_parts WHERE image = ? AND parent = ? RETURNING child, is_blob, count",
                    db_args(db_int(image), db_textz(digest)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        struct digest d;
        if (!reference_digest(v[0].s, &d, err))
            return false;
        if (!v[1].i) {
            if (depth < DEPTH && !unname(op, image, &d, depth + 1, err))
                return false;
            continue;
        }
        if (!repository_unname_blob(op->conn, project, name, &d, v[2].i, err))
            return false;
    }
    return true;
}

/* Whatever names it. What refers to it as its subject goes with the next sweep. */
static bool drop(struct op *op, int64_t image, const struct digest *d, int depth, struct err *err)
{
    struct db_row row, place;
    bool found;
    char text[REFERENCE_DIGEST];
    reference_text(d, text);
    if (!conn_query_one(op->conn, op->arena,
                        "DELETE FROM image_manifests WHERE image = ? AND digest = ? RETURNING project",
                        db_args(db_int(image), db_textz(text)), &row, &found, err))
        return false;
    if (!found)
        return true;
    if (!conn_query_one(op->conn, op->arena, "SELECT name FROM images WHERE id = ?", db_args(db_int(image)),
                        &place, &found, err))
        return false;
    return store_use(op->conn, row.v[0].i, d, -1, err) &&
           unname_parts(op, image, row.v[0].i, found ? place.v[0].s : STR(""), text, depth, err);
}

static bool unname(struct op *op, int64_t image, const struct digest *d, int depth, struct err *err)
{
    struct db_row row;
    bool found;
    char text[REFERENCE_DIGEST];
    struct db_value id = db_int(image), digest = db_textz(reference_text(d, text));
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT 1 FROM image_versions WHERE image = ? AND digest = ? UNION ALL SELECT 1 FROM"
                        " image_parts WHERE image = ? AND child = ? AND is_blob = 0 LIMIT 1",
                        db_args(id, digest, id, digest), &row, &found, err))
        return false;
    return found || drop(op, image, d, depth, err);
}

bool repository_unname(struct op *op, int64_t image, const struct digest *d, struct err *err)
{
    return unname(op, image, d, 0, err);
}

bool repository_drop_all(struct op *op, int64_t image, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT digest FROM image_manifests WHERE image = ?",
                    db_args(db_int(image)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct digest d;
        if (!reference_digest(rows.row[i].v[0].s, &d, err) || !drop(op, image, &d, 0, err))
            return false;
    }
    return true;
}

struct deletion {
    const struct repository *r;
    const struct reference *at;
    struct digest digest;
};

static bool delete_write(struct op *op, void *ctx, struct err *err)
{
    const struct deletion *x = ctx;
    struct db_rows rows;
    struct object o;
    bool found;
    char text[REFERENCE_DIGEST];
    if (!conn_query(op->conn, op->arena,
                    x->at->tag.p ? "SELECT id FROM image_versions WHERE image = ? AND name = ?"
                                 : "SELECT id FROM image_versions WHERE image = ? AND digest = ?",
                    db_args(db_int(x->r->image),
                            x->at->tag.p ? db_text(x->at->tag) : db_textz(reference_text(&x->digest, text))),
                    &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        if (!engine_load_row(op, &kind_image_version, rows.row[i].v[0].i, &o, &found, err) ||
            (found && !engine_delete_row(op, &o, err)))
            return false;
    }
    return x->at->tag.p ? repository_unname(op, x->r->image, &x->digest, err)
                        : drop(op, x->r->image, &x->digest, 0, err);
}

bool repository_delete(struct core *core, const struct caller *c, const struct repository *r,
                       const struct reference *at, struct arena *a, struct err *err)
{
    struct repository_manifest m;
    if (!repository_manifest(core, r, at, a, &m, err))
        return false;
    struct deletion x = {r, at, m.digest};
    return engine_write(core, c, a, delete_write, &x, err);
}
