#include "infer/served.h"

#include "base/fs.h"

#include <errno.h>
#include <sys/stat.h>

struct folder {
    int fd;
    const char *path;
};

static bool read_open(int fd, struct str path, size_t max, struct arena *a, struct str *ret, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "file", STR_FMT " is no file", STR_ARG(path));
    if ((uint64_t)st.st_size > max)
        return err_set(err, ERR_TOO_LARGE, "file", STR_FMT " has %lld bytes; at most %zu are taken",
                       STR_ARG(path), (long long)st.st_size, max);
    char *to = arena_alloc(a, (size_t)st.st_size + 1);
    size_t n = 0;
    for (ssize_t got; n < (size_t)st.st_size; n += (size_t)got)
        if ((got = read(fd, to + n, (size_t)st.st_size - n)) <= 0)
            return err_errno(err, got ? errno : EIO, STR_FMT, STR_ARG(path));
    to[n] = 0;
    *ret = (struct str){to, n};
    return true;
}

/* A file that the manifest names: never outside of the model's folder, whatever links are there. */
static bool read_beneath(void *ctx, struct str path, size_t max, struct arena *a, struct str *ret,
                         struct err *err)
{
    const struct folder *f = ctx;
    auto_fd int fd = fs_open_beneath(f->fd, arena_strz(a, path), O_RDONLY | O_CLOEXEC, 0, err);
    return fd >= 0 && read_open(fd, path, max, a, ret, err);
}

static bool run(void *ctx, const struct tensor *inputs, size_t n_inputs, const char *const *names,
                struct tensor *ret, size_t n_names, struct arena *a, struct err *err)
{
    return session_run(ctx, inputs, n_inputs, names, ret, n_names, a, err);
}

static bool start_part(struct served *s, struct served_part *p, struct str file,
                       const struct served_options *o, struct err *err)
{
    p->served = s;
    p->model = s->n_parts > 1 ? arena_printf(&s->arena, "%s.%s", s->name, p->name) : s->name;
    p->session = session_new(file, err);
    if (!p->session)
        return false;
    session_warm(p->session);
    p->batch = o->batch;
    if (!p->session->rows)
        p->batch.max_rows = 1;
    if (!p->batch.instances)
        p->batch.instances = p->batch.max_rows > 1 ? 1 : o->cpus;
    p->batcher = batcher_new("run", &p->batch, run, p->session);
    return true;
}

/* Files are read one after the other, for a model's memory is to be its sessions' and not twice that.
 * summary: may be NULL; in its arena. */
static bool load_file(struct served *s, struct served_part *p, int fd, struct str name,
                      const struct served_options *o, struct arena *summary_arena,
                      struct onnx_summary *summary, struct err *err)
{
    auto_arena struct arena a;
    struct str file;
    arena_init(&a);
    if (!read_open(fd, name, o->max_file, &a, &file, err) ||
        (summary && !onnx_summarize(summary_arena, file, summary, err)) || !start_part(s, p, file, o, err)) {
        struct err why = *err;
        return err_set(err, why.code, "file", STR_FMT ": %s", STR_ARG(name), why.message);
    }
    return true;
}

static bool load_parts(struct served *s, struct folder *f, const struct served_options *o, struct err *err)
{
    const struct model_manifest *m = s->manifest;
    auto_arena struct arena a;
    arena_init(&a);
    struct onnx_summary *summaries = arena_array(&a, struct onnx_summary, m->n_parts);
    const struct onnx_summary **list = arena_array(&a, const struct onnx_summary *, m->n_parts);
    s->n_parts = m->n_parts;
    s->parts = arena_array(&s->arena, struct served_part, m->n_parts);
    for (size_t i = 0; i < m->n_parts; i++) {
        s->parts[i].name = arena_strz(&s->arena, m->parts[i].name);
        auto_fd int fd =
            fs_open_beneath(f->fd, arena_strz(&s->arena, m->parts[i].file), O_RDONLY | O_CLOEXEC, 0, err);
        list[i] = &summaries[i];
        if (fd < 0 || !load_file(s, &s->parts[i], fd, m->parts[i].file, o, &a, &summaries[i], err))
            return false;
    }
    return model_manifest_fits(m, list, err);
}

static bool load_one(struct served *s, int fd, const char *path, const struct served_options *o,
                     struct err *err)
{
    s->n_parts = 1;
    s->parts = arena_array(&s->arena, struct served_part, 1);
    s->parts[0].name = s->name;
    return load_file(s, &s->parts[0], fd, str_of(path), o, NULL, NULL, err);
}

static bool load_manifest(struct served *s, struct folder *f, struct str text, const struct served_options *o,
                          struct err *err)
{
    s->manifest = arena_new(&s->arena, struct model_manifest);
    return model_manifest_parse(&s->arena, text, s->manifest, err) &&
           model_manifest_assets(s->manifest, &s->arena, read_beneath, f, err) && load_parts(s, f, o, err);
}

static bool load_folder(struct served *s, const char *path, int at, const struct served_options *o,
                        struct err *err)
{
    struct folder f = {at, path};
    struct str text;
    auto_fd int manifest = openat(at, MODEL_MANIFEST_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (manifest < 0) {
        auto_fd int fd = openat(at, SERVED_FILE, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return err_set(err, ERR_NOT_FOUND, "file",
                           "%s has neither " MODEL_MANIFEST_FILE " nor " SERVED_FILE, path);
        return load_one(s, fd, arena_printf(&s->arena, "%s/" SERVED_FILE, path), o, err);
    }
    return read_open(manifest, STR(MODEL_MANIFEST_FILE), MODEL_MANIFEST_MAX_BYTES, &s->arena, &text, err) &&
           load_manifest(s, &f, text, o, err);
}

static struct served *served_new(const char *name, const char *version)
{
    struct served *s = base_zalloc(sizeof *s);
    arena_init(&s->arena);
    atomic_init(&s->refs, 1);
    s->name = arena_strdup(&s->arena, name);
    s->version = arena_strdup(&s->arena, version);
    return s;
}

struct served *served_load(const char *name, const char *version, const char *path,
                           const struct served_options *o, struct err *err)
{
    struct stat st;
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_errno(err, errno, "%s", path);
        return NULL;
    }
    struct served *s = served_new(name, version);
    if (S_ISDIR(st.st_mode) ? !load_folder(s, path, fd, o, err) : !load_one(s, fd, path, o, err)) {
        served_free(s);
        return NULL;
    }
    return s;
}

struct served *served_load_as(const char *name, const char *version, const char *path, struct str manifest,
                              const struct served_options *o, struct err *err)
{
    auto_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct folder f = {fd, path};
    if (fd < 0) {
        err_errno(err, errno, "%s", path);
        return NULL;
    }
    if (manifest.n > MODEL_MANIFEST_MAX_BYTES) {
        err_set(err, ERR_TOO_LARGE, "manifest", "the manifest has %zu bytes; at most %u are taken",
                manifest.n, MODEL_MANIFEST_MAX_BYTES);
        return NULL;
    }
    struct served *s = served_new(name, version);
    if (!load_manifest(s, &f, manifest, o, err)) {
        served_free(s);
        return NULL;
    }
    return s;
}

bool served_run(struct served *s, size_t part, const struct tensor *inputs, size_t n_inputs,
                const char *const *names, struct tensor *ret, size_t n_names, struct arena *a,
                uint64_t *queue_ns, struct err *err)
{
    if (part >= s->n_parts)
        return err_set(err, ERR_INTERNAL, NULL, "the model has no part %zu", part);
    const struct session *session = s->parts[part].session;
    for (size_t i = 0; i < n_names; i++)
        if (!session_output(session, str_of(names[i])))
            return err_set(err, ERR_INVALID, "outputs", "the graph has no output %s", names[i]);
    if (!session_fits(session, inputs, n_inputs, a, err))
        return false;
    struct batcher_job job = {.inputs = inputs,
                              .n_inputs = n_inputs,
                              .names = names,
                              .n_names = n_names,
                              .outputs = ret,
                              .arena = a};
    bool ok = batcher_wait(s->parts[part].batcher, &job, err);
    if (queue_ns)
        *queue_ns += job.queue_ns;
    return ok;
}

void served_free(struct served *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_parts; i++) {
        batcher_free(s->parts[i].batcher);
        session_free(s->parts[i].session);
    }
    arena_release(&s->arena);
    free(s);
}
