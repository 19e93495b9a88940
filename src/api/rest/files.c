/* The files of versions of algorithm and model sets: read one, write one, take all as an archive. */
#include "api/lasting.h"
#include "api/outflow.h"
#include "api/pump.h"
#include "api/range.h"
#include "api/rest/uploads.h"
#include "core/account/accounts.h"
#include "core/folder/folder.h"
#include "core/quota.h"
#include "net/url.h"

#include <archive.h>
#include <archive_entry.h>

#define SPACE (256 << 10)

static const struct {
    const char *suffix, *type;
} types[] = {
    {".txt", "text/plain; charset=utf-8"},
    {".md", "text/plain; charset=utf-8"},
    {".py", "text/plain; charset=utf-8"},
    {".c", "text/plain; charset=utf-8"},
    {".h", "text/plain; charset=utf-8"},
    {".sh", "text/plain; charset=utf-8"},
    {".json", "application/json"},
    {".yaml", "text/plain; charset=utf-8"},
    {".yml", "text/plain; charset=utf-8"},
    {".csv", "text/plain; charset=utf-8"},
    {".log", "text/plain; charset=utf-8"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},
    {".webp", "image/webp"},
    {".bmp", "image/bmp"},
    {".wav", "audio/wav"},
    {".mp3", "audio/mpeg"},
    {".flac", "audio/flac"},
    {".ogg", "audio/ogg"},
};

const char *uploads_type_of(struct str path)
{
    for (size_t i = 0; i < countof(types); i++)
        if (str_ends(path, types[i].suffix))
            return types[i].type;
    return "application/octet-stream";
}

static struct str base_name(struct str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return (struct str){path.p + i, path.n - i};
    return path;
}

static const struct kind *version_kind(const struct request *r)
{
    return str_starts(r->path, "/api/v1/model-sets/") ? &kind_model_version : &kind_algorithm_version;
}

/* The version that the path names, with the caller's right to it. */
static bool find_version(struct api_call *call, struct object *ret, struct err *err)
{
    int64_t set, version;
    if (!str_to_i64(call->params[0], &set) || !str_to_i64(call->params[1], &version))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such version");
    return engine_get(call->core, &call->caller, version_kind(call->request), set, version, call->arena, ret,
                      err);
}

static bool path_param(struct api_call *call, bool required, struct str *ret, struct err *err)
{
    *ret = STR("");
    if (!request_param(call->request, "path", ret, err)) {
        if (err->code)
            return false;
        return !required || err_set(err, ERR_INVALID, "path", "say which file: ?path=a/b.py");
    }
    return (!required && !ret->n) || manifest_check_path(*ret, err);
}

static bool find_file(struct api_call *call, struct str path, struct object *version,
                      const struct manifest_entry **ret, struct err *err)
{
    struct manifest m;
    if (!find_version(call, version, err) || !folder_manifest(call->core, version, call->arena, &m, err))
        return false;
    *ret = manifest_find(&m, path);
    return *ret || err_set(err, ERR_NOT_FOUND, "path", "there is no file \"" STR_FMT "\"", STR_ARG(path));
}

/* Users' files are never documents of ours: a sandbox without scripts, and a download unless it is plain text
 * or a picture. */
static void run_content(struct api_call *call)
{
    struct err err = {0};
    struct str path, download = STR_NULL;
    struct object version;
    const struct manifest_entry *e;
    char etag[SHA256_HEX + 3] = "\"";
    if (!path_param(call, true, &path, &err) || !find_file(call, path, &version, &e, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    request_param(call->request, "download", &download, &err);
    const char *type = uploads_type_of(path);
    bool attach = str_is(download, "true") || strcmp(type, "application/octet-stream") == 0;
    digest_hex(&e->blob, etag + 1);
    etag[SHA256_HEX + 1] = '"';
    etag[SHA256_HEX + 2] = 0;
    const char *disposition =
        arena_printf(call->arena, "%s; filename*=UTF-8''%s", attach ? "attachment" : "inline",
                     url_encode(call->arena, base_name(path)));
    const struct header headers[] = {{STR("Content-Type"), str_of(type)},
                                     {STR("Content-Disposition"), str_of(disposition)},
                                     {STR("Content-Security-Policy"), STR("sandbox; default-src 'none'")},
                                     {STR("Cache-Control"), STR("private, no-cache")}};
    lasting_show(call, &version);
    if (!range_respond_blob(call->request, call->core->store, &e->blob, etag, headers, countof(headers),
                            &err))
        api_problem(call, &err, NULL, 0);
}

/* --- writing one file --- */

struct put {
    struct core *core;
    int64_t user, set, version;
    const struct kind *kind;
    struct str path; /* in the request's arena */
    bool executable;
    struct blob_writer *writer;
    int64_t left; /* bytes that the quota still takes; -1: any */
};

static bool put_piece(void *ctx, struct str data, struct err *err)
{
    struct put *p = ctx;
    if (p->left >= 0 && (int64_t)data.n > p->left)
        return err_set(err, ERR_QUOTA, "storage", "the file is larger than what the project may still store");
    if (p->left >= 0)
        p->left -= (int64_t)data.n;
    return blob_writer_add(p->writer, data, err);
}

/* Applies the finished blob to the version as it is now; another change in between is no reason to refuse
 * this one. */
static bool put_apply(struct put *p, const struct caller *c, struct arena *a, struct buf *out,
                      struct err *err)
{
    struct folder_change change = {.what = FOLDER_PUT, .path = p->path, .executable = p->executable};
    struct blob_writer *w = p->writer;
    struct object version;
    p->writer = NULL;
    if (!blob_writer_finish(w, &change.blob, &change.size, err))
        return false;
    do {
        *err = (struct err){0};
        if (!engine_get(p->core, c, p->kind, p->set, p->version, a, &version, err))
            return false;
    } while (!folder_apply(p->core, c, &version, &change, 1, a, err) && err->code == ERR_STALE);
    return !err->code && engine_show(p->core, c, &version, a, out, err);
}

static void put_done(struct request *r, void *ctx, bool complete, struct err *err)
{
    struct put *p = ctx;
    struct caller caller = {0};
    auto_buf struct buf out = {0};
    struct api_call call = {.core = p->core, .request = r, .arena = r->arena};
    struct accounts *accounts = p->core->accounts;
    bool ok = complete && accounts_caller_of(accounts, p->user, &caller, err);
    ok = ok && put_apply(p, &caller, r->arena, &out, err);
    blob_writer_abort(p->writer);
    free(p);
    if (caller.grants)
        accounts_caller_release(accounts, &caller);
    if (ok)
        api_answer(&call, 200, NULL, 0, buf_view(&out));
    else
        api_problem(&call, err, NULL, 0);
}

static bool room_left(struct core *core, int64_t project, int64_t *ret, struct err *err)
{
    int64_t limit, used;
    if (!quota_storage(core, project, &limit, err) || !store_project_bytes(core->store, project, &used, err))
        return false;
    *ret = limit < 0 ? -1 : limit > used ? limit - used : 0;
    return true;
}

static struct put *put_begin(struct api_call *call, struct err *err)
{
    struct object version;
    struct str path, executable = STR_NULL;
    struct put p = {.core = call->core, .user = call->caller.user, .kind = version_kind(call->request)};
    if (!path_param(call, true, &path, err) || !find_version(call, &version, err) ||
        !caller_need(&call->caller, arena_printf(call->arena, "%s.update", p.kind->name), version.project,
                     err))
        return NULL;
    int64_t length = call->request->content_length > 0 ? call->request->content_length : 0;
    if (object_int(&version, "published"))
        return err_set(err, ERR_CONFLICT, "published", "a published version cannot be changed any more"),
               NULL;
    if (!quota_admit_storage(call->core, version.project, length, err) ||
        !room_left(call->core, version.project, &p.left, err))
        return NULL;
    struct err none = {0};
    request_param(call->request, "executable", &executable, &none);
    p.executable = str_is(executable, "true");
    p.set = version.parent;
    p.version = version.id;
    p.path = arena_str(call->arena, path);
    p.writer = blob_writer_new(call->core->store, err);
    if (!p.writer)
        return NULL;
    struct put *ret = base_alloc(sizeof *ret);
    *ret = p;
    return ret;
}

static void run_put(struct api_call *call)
{
    static const struct pump_ops ops = {put_piece, put_done};
    struct err err = {0};
    struct put *p = put_begin(call, &err);
    if (p)
        pump_start(call->request, call->core->pool, &ops, p);
    else
        api_problem(call, &err, NULL, 0);
}

/* --- all of a folder as a zip --- */

struct zip {
    struct outflow *flow;
    struct archive *archive;
    char *space;
    bool gone; /* the client is */
};

/* Never fails: libarchive leaks the compressor of an entry that it could not write. */
static la_ssize_t zip_write(struct archive *a, void *ctx, const void *p, size_t n)
{
    (void)a;
    struct zip *z = ctx;
    z->gone = z->gone || !outflow_write(z->flow, (struct str){p, n});
    return (la_ssize_t)n;
}

static bool zip_entry(struct zip *z, struct store *s, const struct manifest_entry *e, struct arena *a,
                      struct err *err)
{
    int64_t size;
    auto_fd int fd = blob_open(s, &e->blob, &size, err);
    if (fd < 0)
        return false;
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname_utf8(entry, arena_strz(a, e->path));
    archive_entry_set_size(entry, size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, e->executable ? 0755 : 0644);
    bool ok = archive_write_header(z->archive, entry) == ARCHIVE_OK;
    ssize_t n = 0;
    while (ok && (n = read(fd, z->space, SPACE)) > 0)
        ok = archive_write_data(z->archive, z->space, (size_t)n) == n && !z->gone;
    archive_entry_free(entry);
    return (ok && n == 0) || err_set(err, ERR_INTERNAL, NULL, "the archive cannot be written");
}

static bool zip_all(struct zip *z, struct store *s, const struct manifest *m, struct str folder,
                    struct arena *a, struct err *err)
{
    for (size_t i = 0; i < m->n; i++) {
        struct str path = m->entry[i].path;
        bool inside = !folder.n || (path.n > folder.n && memcmp(path.p, folder.p, folder.n) == 0 &&
                                    path.p[folder.n] == '/');
        if (inside && !zip_entry(z, s, &m->entry[i], a, err))
            return false;
    }
    return archive_write_close(z->archive) == ARCHIVE_OK ||
           err_set(err, ERR_INTERNAL, NULL, "the archive cannot be ended");
}

static void run_archive(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct manifest m;
    struct str folder;
    auto_arena struct arena a; /* the request's own goes when the client does */
    arena_init(&a);
    if (!path_param(call, false, &folder, &err) || !find_version(call, &version, &err) ||
        !folder_manifest(call->core, &version, &a, &m, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    folder = arena_str(&a, folder);
    struct store *store = call->core->store;
    const char *disposition = arena_printf(call->arena, "attachment; filename=\"" STR_FMT ".zip\"",
                                           STR_ARG(object_text(&version, "name")));
    const struct header headers[] = {{STR("Content-Type"), STR("application/zip")},
                                     {STR("Content-Disposition"), str_of(disposition)},
                                     {STR("Cache-Control"), STR("private, no-store")}};
    struct zip z = {.archive = archive_write_new(), .space = base_alloc(SPACE)};
    archive_write_set_format_zip(z.archive);
    archive_write_set_bytes_in_last_block(z.archive, 1);
    lasting_show(call, &version);
    z.flow = outflow_begin(call->request, 200, headers, countof(headers));
    bool ok = archive_write_open(z.archive, &z, NULL, zip_write, NULL) == ARCHIVE_OK &&
              zip_all(&z, store, &m, folder, &a, &err);
    archive_write_free(z.archive);
    outflow_end(z.flow, ok);
    free(z.space);
}

#define FILE_PATH(plural, what) "/api/v1/" plural "/{set_id}/versions/{version_id}/" what
#define FILES(plural, version)                                                                               \
    {"GET",                                                                                                  \
     FILE_PATH(plural, "content"),                                                                           \
     NULL,                                                                                                   \
     run_content,                                                                                            \
     .summary = "One file's bytes",                                                                          \
     .query = "path! download:bool",                                                                         \
     .answer = ROUTE_BINARY,                                                                                 \
     .parts = true,                                                                                          \
     .type = "application/octet-stream"},                                                                    \
        {"PUT",                                                                                              \
         FILE_PATH(plural, "content"),                                                                       \
         NULL,                                                                                               \
         run_put,                                                                                            \
         .streams = true,                                                                                    \
         .summary = "Write one file",                                                                        \
         .query = "path! executable:bool",                                                                   \
         .takes = "application/octet-stream",                                                                \
         .answer = ROUTE_ANSWER(version)},                                                                   \
    {                                                                                                        \
        "GET", FILE_PATH(plural, "archive"), NULL, run_archive, .summary = "A folder as a zip archive",      \
                                                                .query = "path", .answer = ROUTE_BINARY,     \
                                                                .type = "application/zip"                    \
    }

const struct route file_routes[] = {
    FILES("algorithm-sets", "AlgorithmVersion"), FILES("model-sets", "ModelVersion"), {0}};
