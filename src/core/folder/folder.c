#include "core/folder/folder.h"
#include "core/growth.h"

#include "base/fs.h"
#include "base/map.h"
#include "base/messages.h"
#include "base/messages_learn.h"
#include "model/algorithm.h"
#include "model/manifest.h"

#include <errno.h>
#include <sys/mman.h>

bool folder_manifest(struct core *core, const struct object *version, struct arena *a, struct manifest *ret,
                     struct err *err)
{
    struct digest d;
    if (digest_parse(object_text(version, "digest"), &d))
        return manifest_load(core->store, a, &d, ret, err);
    *ret = (struct manifest){0};
    return true;
}

bool folder_map(struct core *core, const struct manifest *m, struct str path, struct str *ret,
                struct err *err)
{
    const struct manifest_entry *e = manifest_find(m, path);
    int64_t size;
    if (!e)
        return err_set(err, ERR_NOT_FOUND, "path", "the version has no file \"" STR_FMT "\"", STR_ARG(path));
    auto_fd int fd = blob_open(core->store, &e->blob, &size, err);
    if (fd < 0)
        return false;
    void *p = size ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (p == MAP_FAILED)
        return err_errno(err, errno, "cannot map " STR_FMT, STR_ARG(path));
    *ret = (struct str){p, (size_t)size};
    return true;
}

void folder_unmap(struct str bytes)
{
    if (bytes.n)
        munmap((void *)bytes.p, bytes.n);
}

/* The files while changes are applied: by path, so that each change costs what it touches. */
struct draft {
    struct arena *arena;
    struct map *files; /* path -> struct manifest_entry */
};

static void draft_put(struct draft *d, struct str path, const struct manifest_entry *e)
{
    struct manifest_entry *copy = arena_copy(d->arena, e, sizeof *e);
    copy->path = path;
    map_set(d->files, path, copy);
}

static bool is_below(struct str path, struct str folder)
{
    return path.n > folder.n && path.p[folder.n] == '/' && memcmp(path.p, folder.p, folder.n) == 0;
}

/* The files that a path means: itself, or all below it when it is a folder. */
static size_t draft_find(struct draft *d, struct str path, const struct manifest_entry ***ret)
{
    struct manifest_entry *one = map_get(d->files, path);
    const struct manifest_entry **found =
        arena_array(d->arena, const struct manifest_entry *, map_count(d->files) + 1);
    size_t n = 0;
    struct str key;
    void *value;
    if (one)
        found[n++] = one;
    else
        for (size_t i = 0; map_next(d->files, &i, &key, &value);)
            if (is_below(key, path))
                found[n++] = value;
    *ret = found;
    return n;
}

static bool draft_move(struct draft *d, const struct folder_change *c, struct err *err)
{
    const struct manifest_entry **found;
    size_t n = draft_find(d, c->path, &found);
    if (n == 0)
        return err_set(err, ERR_NOT_FOUND, "path", "there is no file or folder \"" STR_FMT "\"",
                       STR_ARG(c->path));
    for (size_t i = 0; i < n; i++)
        map_remove(d->files, found[i]->path);
    for (size_t i = 0; c->what == FOLDER_MOVE && i < n; i++) {
        struct str rest = {found[i]->path.p + c->path.n, found[i]->path.n - c->path.n};
        struct str to = str_of(arena_printf(d->arena, STR_FMT STR_FMT, STR_ARG(c->to), STR_ARG(rest)));
        if (!manifest_check_path(to, err))
            return false;
        draft_put(d, to, found[i]);
    }
    return true;
}

static bool draft_apply(struct draft *d, const struct folder_change *c, struct err *err)
{
    if (!manifest_check_path(c->path, err))
        return false;
    if (c->what != FOLDER_PUT)
        return draft_move(d, c, err);
    draft_put(d, c->path,
              &(struct manifest_entry){.blob = c->blob, .size = c->size, .executable = c->executable});
    return true;
}

static bool draft_build(struct draft *d, struct manifest *ret, struct err *err)
{
    struct manifest_entry *all = arena_array(d->arena, struct manifest_entry, map_count(d->files) + 1);
    size_t n = 0;
    struct str key;
    void *value;
    for (size_t i = 0; map_next(d->files, &i, &key, &value);)
        all[n++] = *(struct manifest_entry *)value;
    return manifest_build(d->arena, all, n, ret, err);
}

static bool changed_manifest(struct core *core, const struct object *version,
                             const struct folder_change *changes, size_t n, struct arena *a,
                             struct manifest *before, struct manifest *ret, struct err *err)
{
    if (!folder_manifest(core, version, a, before, err))
        return false;
    struct draft d = {a, map_new()};
    for (size_t i = 0; i < before->n; i++)
        map_set(d.files, before->entry[i].path, &before->entry[i]);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = draft_apply(&d, &changes[i], err);
    ok = ok && draft_build(&d, ret, err);
    map_free(d.files);
    return ok;
}

struct apply {
    const struct object *before;
    struct object *after;
    struct manifest was, manifest;
    struct digest digest, old;
    bool held; /* the project holds the new manifest: else it is tried without */
    bool had;  /* `old` is what it had */
    bool done;
    char *hex; /* in the caller's arena: it stays in the object */
};

static bool count_held(struct op *op, struct apply *p, int64_t project, struct err *err)
{
    p->done = (!p->had || manifest_count(op->conn, project, &p->old, -1, err)) &&
              manifest_count(op->conn, project, &p->digest, 1, err);
    return p->done;
}

static bool replace(struct op *op, struct apply *p, int64_t project, struct err *err)
{
    const struct manifest_swap x = {&p->was, &p->manifest, &p->old, &p->digest};
    p->done = false;
    return !p->had || manifest_replace(op->conn, op->core->store, project, &x, &p->done, err);
}

static bool apply_write(struct op *op, void *ctx, struct err *err)
{
    struct apply *p = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, p->before->kind, p->before->id, &now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    if (now.revision != p->before->revision)
        return err_set(err, ERR_STALE, NULL, "the version was changed meanwhile: read it again");
    p->had = digest_parse(object_text(&now, "digest"), &p->old);
    if (!(p->held ? count_held(op, p, now.project, err) : replace(op, p, now.project, err)))
        return false;
    if (!p->done)
        return true;
    if (now.kind == &kind_model_version && object_int(&now, "files") == 0 && p->manifest.n &&
        !growth_add(op->conn, GROWTH_MODELS, now.project, 1, err))
        return false;
    *object_value(&now, "digest") = db_textz(p->hex);
    *object_value(&now, "files") = db_int((int64_t)p->manifest.n);
    *object_value(&now, "bytes") = db_int(p->manifest.bytes);
    if (!engine_update_row(op, &now, err))
        return false;
    *p->after = now;
    return true;
}

/* The write, with all files of the new manifest held before it. */
static bool apply_held(struct core *core, const struct caller *c, struct apply *p, struct arena *a,
                       struct err *err)
{
    int64_t project = p->before->project;
    p->held = true;
    if (!manifest_hold(core->store, project, &p->manifest, &p->digest, err))
        return false;
    bool ok = engine_write(core, c, a, apply_write, p, err);
    manifest_settle(core->store, project, &p->digest);
    if (ok && p->had)
        manifest_drop(core->store, project, &p->old);
    return ok;
}

static bool check_model(struct core *core, const struct manifest_entry *e, struct arena *a, struct err *err)
{
    struct model_manifest m;
    struct str text;
    if (e->size > (int64_t)MODEL_MANIFEST_MAX_BYTES)
        return err_message(err, ERR_INVALID, MODEL_MANIFEST_FILE, MESSAGE_MODEL_MANIFEST_LARGE,
                           (long long)e->size, (long long)MODEL_MANIFEST_MAX_BYTES);
    return blob_read(core->store, a, &e->blob, MODEL_MANIFEST_MAX_BYTES, &text, err) &&
           model_manifest_parse(a, text, &m, err);
}

static bool check_algorithm(struct core *core, const struct manifest_entry *e, struct arena *a,
                            struct err *err)
{
    struct algorithm m;
    struct str text;
    if (e->size > (int64_t)ALGORITHM_MAX_BYTES)
        return err_message(err, ERR_INVALID, ALGORITHM_FILE, MESSAGE_ALGORITHM_LARGE, (long long)e->size,
                           (long long)ALGORITHM_MAX_BYTES);
    return blob_read(core->store, a, &e->blob, ALGORITHM_MAX_BYTES, &text, err) &&
           algorithm_parse(a, text, &m, err);
}

/* A manifest that cannot be used is refused when it comes, with the field and the rule. */
static bool check_manifest(struct core *core, const struct object *version, const struct manifest *before,
                           const struct manifest *after, struct arena *a, struct err *err)
{
    static const struct {
        const struct kind *kind;
        struct str file;
        bool (*check)(struct core *, const struct manifest_entry *, struct arena *, struct err *);
    } manifests[] = {
        {&kind_model_version, {MODEL_MANIFEST_FILE, sizeof MODEL_MANIFEST_FILE - 1}, check_model},
        {&kind_algorithm_version, {ALGORITHM_FILE, sizeof ALGORITHM_FILE - 1}, check_algorithm},
    };
    for (size_t i = 0; i < countof(manifests); i++) {
        const struct manifest_entry *new_ = manifest_find(after, manifests[i].file),
                                    *old = manifest_find(before, manifests[i].file);
        if (version->kind == manifests[i].kind && new_ &&
            (!old || memcmp(&old->blob, &new_->blob, sizeof old->blob) != 0))
            return manifests[i].check(core, new_, a, err);
    }
    return true;
}

bool folder_apply(struct core *core, const struct caller *c, struct object *version,
                  const struct folder_change *changes, size_t n, struct arena *a, struct err *err)
{
    struct apply p = {.after = version};
    if (object_int(version, "published"))
        return err_set(err, ERR_CONFLICT, "published",
                       "version " STR_FMT " is published and cannot be changed any more",
                       STR_ARG(object_text(version, "name")));
    if (!changed_manifest(core, version, changes, n, a, &p.was, &p.manifest, err) ||
        !check_manifest(core, version, &p.was, &p.manifest, a, err) ||
        !manifest_save(core->store, &p.manifest, &p.digest, err))
        return false;
    p.hex = arena_alloc(a, SHA256_HEX + 1);
    digest_hex(&p.digest, p.hex);
    struct object before = *version;
    p.before = &before;
    return engine_write(core, c, a, apply_write, &p, err) && (p.done || apply_held(core, c, &p, a, err));
}
