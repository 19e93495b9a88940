#include "cli/sending.h"

#include "base/fs.h"
#include "cli/interrupt.h"
#include "cli/remote.h"

#define CHUNK (16 << 20)
#define TRIES 8 /* in a row without a byte taken */

struct sending {
    struct cli *cli;
    struct bundle *b;
    struct progress *progress;
    int64_t project, offset;
    const char *id;
    const char *kept; /* the file that remembers id; NULL: none */
    struct buf answer;
};

/* --- what is remembered between runs --- */

static const char *kept_path(struct cli *cli, const struct bundle *b, int64_t project)
{
    struct arena *a = &cli->arena;
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    uint8_t sum[SHA256_SIZE];
    char name[SHA256_HEX + 1];
    if (!(cache && *cache) && !(home && *home))
        return NULL;
    sha256_of(str_of(arena_printf(a, "%s %lld %s", cli->config.url, (long long)project, b->key)), sum);
    hex_encode(sum, sizeof sum, name);
    return cache && *cache ? arena_printf(a, "%s/ingot/uploads/%s", cache, name)
                           : arena_printf(a, "%s/.cache/ingot/uploads/%s", home, name);
}

/* Without this memory an upload begins again in the next run: nothing worth failing for. */
static void remember(struct sending *s)
{
    struct err ignored = {0};
    if (!s->kept)
        return;
    char *folder = arena_strdup(&s->cli->arena, s->kept);
    *strrchr(folder, '/') = 0;
    if (fs_mkdirs(folder, 0700, &ignored))
        fs_write_atomic(s->kept, str_of(s->id), 0600, &ignored);
}

static bool well_formed(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", id.p[i]))
            return false;
    return id.n > 0;
}

static void recall(struct sending *s)
{
    struct str id;
    struct err ignored = {0};
    if (s->kept && access(s->kept, R_OK) == 0 && fs_read(&s->cli->arena, s->kept, 200, &id, &ignored) &&
        well_formed(id))
        s->id = arena_strz(&s->cli->arena, id);
}

void sending_forget(struct cli *cli, const struct bundle *b, int64_t project)
{
    const char *path = kept_path(cli, b, project);
    if (path)
        unlink(path);
}

/* --- requests --- */

static bool take(void *ctx, struct str piece)
{
    struct sending *s = ctx;
    if (s->answer.n < 1 << 16)
        buf_str(&s->answer, piece);
    return true;
}

static bool tick(void *ctx, int64_t sent, int64_t received)
{
    (void)received;
    struct sending *s = ctx;
    progress_show(s->progress, s->offset + sent, s->b->size);
    return !interrupt_wanted();
}

/* Any answer of tus; a refusal becomes err. */
static bool ask(struct sending *s, const char *method, const char *path, const struct client_header *more,
                size_t n, struct str body, struct client_answer *ret, struct err *err)
{
    struct client_request q;
    struct client_header headers[10];
    if (!remote_prepare(s->cli, method, path, &q, headers, err))
        return false;
    headers[q.header_count++] = (struct client_header){"Tus-Resumable", "1.0.0"};
    for (size_t i = 0; i < n; i++)
        headers[q.header_count++] = more[i];
    buf_clear(&s->answer);
    q.body = body;
    q.sink = take;
    q.sink_ctx = s;
    if (body.n) {
        q.tick = tick;
        q.tick_ctx = s;
    }
    if (!client_do(&s->cli->arena, &q, ret, err))
        return false;
    return ret->status < 400 || remote_refused(s->cli, ret->status, buf_view(&s->answer), err);
}

static bool create(struct sending *s, struct err *err)
{
    struct arena *a = &s->cli->arena;
    struct client_answer answer;
    const struct client_header headers[] = {
        {"Upload-Length", arena_printf(a, "%lld", (long long)s->b->size)}};
    if (!ask(s, "POST", arena_printf(a, "/uploads?project=%lld", (long long)s->project), headers, 1, STR_NULL,
             &answer, err))
        return false;
    struct str at = answer.location;
    while (at.n && memchr(at.p, '/', at.n))
        str_cut(at, '/', &at);
    if (!well_formed(at))
        return err_set(err, ERR_UPSTREAM, NULL, "%s answered without the upload's place", s->cli->config.url);
    s->id = arena_strz(a, at);
    s->offset = 0;
    remember(s);
    return true;
}

static bool ask_offset(struct sending *s, struct err *err)
{
    struct client_answer answer;
    int64_t offset, length;
    const char *path = arena_printf(&s->cli->arena, "/uploads/%s", s->id);
    if (!ask(s, "HEAD", path, NULL, 0, STR_NULL, &answer, err))
        return false;
    if (!str_to_i64(client_header_value(&answer, "upload-offset"), &offset) ||
        !str_to_i64(client_header_value(&answer, "upload-length"), &length) || length != s->b->size)
        return err_set(err, ERR_NOT_FOUND, NULL, "the upload is not what it was");
    s->offset = offset;
    return true;
}

static bool send_chunk(struct sending *s, char *space, struct err *err)
{
    struct arena *a = &s->cli->arena;
    struct client_answer answer;
    int64_t left = s->b->size - s->offset;
    size_t n = left < CHUNK ? (size_t)left : CHUNK;
    if (!bundle_read(s->b, s->offset, space, n, err))
        return false;
    const struct client_header headers[] = {{"Upload-Offset", arena_printf(a, "%lld", (long long)s->offset)},
                                            {"Content-Type", "application/offset+octet-stream"}};
    if (!ask(s, "PATCH", arena_printf(a, "/uploads/%s", s->id), headers, 2, (struct str){space, n}, &answer,
             err))
        return false;
    if (!str_to_i64(client_header_value(&answer, "upload-offset"), &s->offset))
        return err_set(err, ERR_UPSTREAM, NULL, "%s answered without an offset", s->cli->config.url);
    progress_show(s->progress, s->offset, s->b->size);
    return true;
}

/* Worth another try: no answer, a server that is busy or starting, an offset that it knows better. */
static bool passing(const struct err *err)
{
    return err->code == ERR_UPSTREAM || err->code == ERR_UNAVAILABLE || err->code == ERR_TOO_MANY ||
           err->code == ERR_CONFLICT || err->code == ERR_INTERNAL;
}

static bool interrupted(struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, NULL, "interrupted: the same command goes on with the upload");
}

/* Asks where the upload stands until there is an answer; one that is gone begins again. */
static bool find_place(struct sending *s, struct err *err)
{
    for (unsigned i = 0;; i++) {
        *err = (struct err){0};
        if (s->id ? ask_offset(s, err) : create(s, err))
            return true;
        if (s->id && err->code == ERR_NOT_FOUND)
            s->id = NULL;
        else if (!passing(err) || i == TRIES)
            return false;
        if (!interrupt_sleep(i < 4 ? 250u << i : 4000))
            return interrupted(err);
    }
}

static bool send_all(struct sending *s, struct err *err)
{
    auto_free char *space = base_alloc(CHUNK);
    unsigned tries = 0;
    if (!find_place(s, err))
        return false;
    while (s->offset < s->b->size) {
        int64_t before = s->offset;
        if (send_chunk(s, space, err)) {
            tries = 0;
            continue;
        }
        if (interrupt_wanted())
            return interrupted(err);
        struct err why = *err;
        if (!passing(err) || ++tries > TRIES || !find_place(s, err))
            return false;
        if (s->offset > before)
            tries = 0;
        if (tries > 1 && !interrupt_sleep(250u << (tries < 5 ? tries : 5)))
            return interrupted(err);
        *err = why;
    }
    *err = (struct err){0};
    return true;
}

bool sending_run(struct cli *cli, struct bundle *b, int64_t project, struct progress *p,
                 const char **ret_upload, struct err *err)
{
    struct sending s = {
        .cli = cli, .b = b, .progress = p, .project = project, .kept = kept_path(cli, b, project)};
    recall(&s);
    bool ok = send_all(&s, err);
    buf_release(&s.answer);
    cli->problem = ok ? NULL : cli->problem;
    if (ok)
        *ret_upload = s.id;
    return ok;
}
