#include "core/image/assemble.h"

bool assemble_target(struct core *core, int64_t project, struct str name, struct arena *a,
                     struct repository *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!reference_name(name, err) ||
        !db_query_one(core->db, a, "SELECT id, public FROM images WHERE project = ? AND name = ?",
                      db_args(db_int(project), db_text(name)), &row, &found, err))
        return false;
    *ret = (struct repository){
        .project = project, .image = found ? row.v[0].i : 0, .public_ = found && row.v[1].i, .name = name};
    return true;
}

static bool add_layers(const struct assembly *x, struct oci_descriptor *layers, size_t *n, struct err *err)
{
    const struct oci_manifest *m = x->base ? &x->base->manifest : NULL;
    for (size_t i = 0; m && i < m->n; i++)
        layers[(*n)++] = m->items[i];
    if (x->layer)
        layers[(*n)++] = *x->layer;
    for (size_t i = 0; i < *n; i++)
        if (!repository_add_blob(x->core, &x->target, &layers[i].digest, layers[i].size, err))
            return false;
    return true;
}

bool assemble_push(struct assembly *x, struct arena *a, struct repository_pushed *ret, struct err *err)
{
    size_t max = (x->base ? x->base->manifest.n : 0) + 1, n = 0;
    struct oci_descriptor *layers = arena_array(a, struct oci_descriptor, max);
    auto_buf struct buf config = {0}, manifest = {0};
    struct oci_write w = {.layers = layers, .host = x->host || (x->base && x->base->manifest.host)};
    x->change.from = x->base ? &x->base->config : NULL;
    x->change.add_diff = x->layer ? x->diff : NULL;
    oci_config_write(a, &x->change, &config);
    w.config = (struct oci_descriptor){.media_type = STR(OCI_CONFIG), .size = (int64_t)config.n};
    if (!add_layers(x, layers, &n, err) ||
        !blob_put(x->core->store, buf_view(&config), &w.config.digest, err) ||
        !repository_add_blob(x->core, &x->target, &w.config.digest, w.config.size, err))
        return false;
    w.n = n;
    oci_write(&w, &manifest);
    const struct repository_push p = {
        .at = {.tag = x->version}, .text = buf_view(&manifest), .description = x->description};
    return repository_push(x->core, x->caller, &x->target, &p, a, ret, err);
}

void assemble_result(struct task *t, const struct repository *r, struct str version,
                     const struct repository_pushed *p)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    char digest[REFERENCE_DIGEST];
    json_begin(&o, &b);
    json_object(&o);
    json_kint(&o, "image", p->image);
    json_kint(&o, "version", p->version);
    json_kz(&o, "name", arena_printf(t->arena, STR_FMT ":" STR_FMT, STR_ARG(r->name), STR_ARG(version)));
    json_kz(&o, "digest", reference_text(&p->digest, digest));
    json_object_end(&o);
    task_result(t, arena_str(t->arena, buf_view(&b)));
}

/* --- copying --- */

static bool copy_blob(struct core *core, const struct repository *from, const struct repository *to,
                      const struct digest *d, struct arena *a, struct err *err)
{
    int64_t size;
    char text[REFERENCE_DIGEST];
    if (!repository_blob(core, from, d, a, &size, err))
        return false;
    if (size < 0)
        return err_set(err, ERR_CONFLICT, NULL, "%s is not in the image any more", reference_text(d, text));
    return repository_add_blob(core, to, d, size, err);
}

static bool copy_one(struct core *core, const struct caller *c, const struct repository *from,
                     const struct digest *d, const struct repository *to, const struct reference *at,
                     int depth, struct arena *a, struct repository_pushed *ret, struct err *err)
{
    struct repository_manifest found;
    const struct reference by_digest = {.digest = *d};
    struct oci_manifest m;
    struct str text;
    if (!repository_manifest(core, from, &by_digest, a, &found, err) ||
        !blob_read(core->store, a, d, OCI_MANIFEST_MAX, &text, err) ||
        !oci_parse(a, found.media_type, text, &m, err))
        return false;
    if (depth > 2)
        return err_set(err, ERR_INVALID, NULL, "indexes lie too deep in each other");
    if (!m.index && !copy_blob(core, from, to, &m.config.digest, a, err))
        return false;
    for (size_t i = 0; i < m.n; i++) {
        const struct reference child = {.digest = m.items[i].digest};
        if (m.index ? !copy_one(core, c, from, &child.digest, to, &child, depth + 1, a, ret, err)
                    : !copy_blob(core, from, to, &m.items[i].digest, a, err))
            return false;
    }
    const struct repository_push p = {.at = *at, .media_type = found.media_type, .text = text};
    return repository_push(core, c, to, &p, a, ret, err);
}

bool assemble_copy(struct core *core, const struct caller *c, const struct repository *from,
                   const struct digest *d, const struct repository *to, const struct reference *at,
                   struct arena *a, struct repository_pushed *ret, struct err *err)
{
    return copy_one(core, c, from, d, to, at, 0, a, ret, err);
}

/* --- tasks --- */

bool assemble_task(struct op *op, const struct object *image, const char *type, struct words title,
                   struct str params, struct json_out *out, struct err *err)
{
    const struct task_new t = {.type = type,
                               .project = image->project,
                               .subject_kind = "image",
                               .subject = image->id,
                               .name = title,
                               .params = params};
    int64_t id = 0;
    return task_start(op->core, op->caller, &t, op->arena, &id, err) &&
           engine_answer_id(op, &kind_task, id, out, err);
}
