#include "api/tools/pages.h"

#include "api/range.h"
#include "core/folder/folder.h"
#include "net/url.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_MAX (1 << 20)

/* The pages may run their own scripts and ask for files of this origin, and nothing else: Netron would tell
 * others of its use. */
#define POLICY                                                                                               \
    "default-src 'none'; script-src 'self'; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; "     \
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; "                    \
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

static const struct {
    const char *end, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
};

static const char *type_of(struct str name)
{
    for (size_t i = 0; i < countof(types); i++)
        if (str_ends(name, types[i].end))
            return types[i].type;
    return NULL;
}

/* The folder of the pages, in which only files without a further folder are asked for. */
static const char *folder_of(const struct pages_visit *v)
{
    struct arena *a = v->request->arena;
    glob_t found;
    const char *path = NULL, *pattern = arena_printf(a, "%s/%s", tools_dir(v->core->tools), v->tool->pages);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0 && found.gl_pathc == 1)
        path = arena_strdup(a, found.gl_pathv[0]);
    globfree(&found);
    return path;
}

static int open_page(const struct pages_visit *v, struct str name, struct stat *ret, struct err *err)
{
    struct arena *a = v->request->arena;
    const char *folder = folder_of(v);
    bool plain = name.n && !memchr(name.p, '/', name.n) && !memchr(name.p, 0, name.n) && name.p[0] != '.';
    int fd = folder && plain ? open(arena_printf(a, "%s/" STR_FMT, folder, STR_ARG(name)),
                                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
                             : -1;
    if (fd >= 0 && fstat(fd, ret) == 0 && S_ISREG(ret->st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    err_set(err, ERR_NOT_FOUND, NULL, "there is nothing at this path");
    return -1;
}

/* --- the first page, which is told what to show --- */

/* Each part of the path for itself, as its slashes stay. */
static void put_path(struct arena *a, struct buf *out, struct str path)
{
    while (path.p) {
        struct str part = str_cut(path, '/', &path);
        buf_z(out, url_encode(a, part));
        if (path.p)
            buf_char(out, '/');
    }
}

static void put_attribute(struct buf *out, struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (strchr("<>&\"'", value.p[i]))
            buf_printf(out, "&#%d;", value.p[i]);
        else
            buf_str(out, (struct str){value.p + i, 1});
}

/* Netron reads these from its page. A version other than 0.0.0 would make it ask for updates and report its
 * use. */
static void put_first_page(struct arena *a, struct str page, struct str file, struct buf *out)
{
    static const struct str mark = {"<meta name=\"version\"", 20};
    ptrdiff_t at = str_find(page, mark);
    size_t begin = at < 0 ? 0 : (size_t)at, end = begin;
    while (at >= 0 && end < page.n && page.p[end] != '>')
        end++;
    end += at >= 0 && end < page.n ? 1 : 0;
    buf_str(out, (struct str){page.p, begin});
    if (at >= 0) {
        buf_z(out, "<meta name=\"type\" content=\"Python\"><meta name=\"version\" content=\"0.0.0\">"
                   "<meta name=\"file\" content=\"data/");
        put_path(a, out, file);
        buf_z(out, "\"><meta name=\"identifier\" content=\"");
        put_attribute(out, file);
        buf_z(out, "\">");
    }
    buf_str(out, (struct str){page.p + end, page.n - end});
}

static bool respond_first_page(const struct pages_visit *v, struct err *err)
{
    struct request *r = v->request;
    struct stat st;
    struct str file = STR("");
    char *text = arena_alloc(r->arena, PAGE_MAX);
    auto_buf struct buf page = {0};
    auto_fd int fd = open_page(v, STR("index.html"), &st, err);
    if (fd < 0 || (!request_param(r, "file", &file, err) && err->code))
        return false;
    ssize_t n = read(fd, text, PAGE_MAX);
    if (n <= 0)
        return err_set(err, ERR_UNAVAILABLE, NULL, "the page cannot be read");
    put_first_page(r->arena, (struct str){text, (size_t)n}, file, &page);
    const char *consent =
        arena_printf(r->arena, "consent=1; Path=" STR_FMT "; SameSite=Lax", STR_ARG(r->path));
    const struct header headers[] = {
        {STR("Content-Type"), STR("text/html; charset=utf-8")},
        {STR("Content-Security-Policy"), STR(POLICY)},
        {STR("Cache-Control"), STR("no-store")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("Referrer-Policy"), STR("no-referrer")},
        {STR("Set-Cookie"), str_of(consent)}, /* else the page asks whether it may report its use */
    };
    respond(r, 200, headers, countof(headers), buf_view(&page));
    return true;
}

static bool respond_page(const struct pages_visit *v, struct str name, struct err *err)
{
    struct stat st;
    const char *type = type_of(name);
    if (!type)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is nothing at this path");
    int fd = open_page(v, name, &st, err);
    if (fd < 0)
        return false;
    const char *etag = arena_printf(v->request->arena, "\"%llx-%llx\"", (unsigned long long)st.st_mtime,
                                    (unsigned long long)st.st_size);
    const struct header headers[] = {
        {STR("Content-Type"), str_of(type)},
        {STR("Content-Security-Policy"), STR(POLICY)},
        {STR("Cache-Control"), STR("private, max-age=3600")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    range_respond_file(v->request, fd, (uint64_t)st.st_size, etag, headers, countof(headers));
    return true;
}

/* --- what they show --- */

static bool respond_data(const struct pages_visit *v, const struct object *version, struct str path,
                         struct err *err)
{
    struct request *r = v->request;
    struct manifest m;
    if (!folder_manifest(v->core, version, r->arena, &m, err))
        return false;
    const struct manifest_entry *e = manifest_find(&m, path);
    if (!e)
        return err_set(err, ERR_NOT_FOUND, NULL, "the version has no file \"" STR_FMT "\"", STR_ARG(path));
    char hex[SHA256_HEX + 1];
    digest_hex(&e->blob, hex);
    const struct header headers[] = {
        {STR("Content-Type"), STR("application/octet-stream")},
        {STR("Content-Security-Policy"), STR("sandbox")},
        {STR("Cache-Control"), STR("private, no-cache")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    return range_respond_blob(r, v->core->store, &e->blob, arena_printf(r->arena, "\"%s\"", hex), headers,
                              countof(headers), err);
}

/* The decoded path; "" of the first page. */
static bool decode_path(struct arena *a, struct str raw, struct str *ret, struct err *err)
{
    auto_buf struct buf path = {0};
    while (raw.n) {
        struct str rest, part;
        if (!url_segment(a, str_cut(raw, '/', &rest), &part, err))
            return false;
        buf_str(&path, part);
        if (rest.p)
            buf_char(&path, '/');
        raw = rest;
    }
    *ret = arena_str(a, buf_view(&path));
    return true;
}

bool pages_respond(const struct pages_visit *v, struct err *err)
{
    static const char data[] = "data/";
    struct request *r = v->request;
    struct object version;
    struct str rest;
    if (!str_is(r->method, "GET") && !str_is(r->method, "HEAD"))
        return err_set(err, ERR_METHOD, NULL, "only GET and HEAD are known here");
    if (!decode_path(r->arena, v->rest, &rest, err) ||
        !engine_get(v->core, v->caller, kind_by_name(str_of(v->tool->owner_kind)), 0, v->id, r->arena,
                    &version, err))
        return false;
    if (rest.n == 0)
        return respond_first_page(v, err);
    if (str_starts(rest, data))
        return respond_data(v, &version, (struct str){rest.p + strlen(data), rest.n - strlen(data)}, err);
    return respond_page(v, rest, err);
}
