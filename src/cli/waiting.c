#include "cli/waiting.h"

#include "base/clock.h"
#include "base/fs.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/running.h"

#include <errno.h>
#include <sys/stat.h>

#define PATIENCE_NS (UINT64_C(120) * 1000000000) /* for a server that is away: it may be starting */
#define TRIES       8

static bool away(const struct err *err)
{
    return err->code == ERR_UPSTREAM || err->code == ERR_UNAVAILABLE || err->code == ERR_TOO_MANY;
}

/* One look at the task; what is read lives in the given arena. */
static bool look(struct cli *cli, int64_t task, struct arena *page, yyjson_val **ret, struct err *err)
{
    struct arena own = cli->arena;
    cli->arena = *page;
    const char *path = arena_printf(&cli->arena, "/tasks/%lld", (long long)task);
    bool ok = remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, ret, err);
    *page = cli->arena;
    cli->arena = own;
    cli->problem = NULL;
    return ok;
}

static bool cancel(struct cli *cli, int64_t task, struct err *err)
{
    yyjson_val *v;
    const char *path = arena_printf(&cli->arena, "/tasks/%lld/cancel", (long long)task);
    fputs(isatty(STDERR_FILENO) ? "\nCancelling ...\n" : "Cancelling ...\n", stderr);
    struct remote_call call = {.method = "POST", .path = path, .body = STR("{}")};
    if (remote_json(cli, &call, &v, err) || err->code == ERR_CONFLICT) { /* conflict: it just ended */
        cli->problem = NULL;
        return true;
    }
    return false;
}

static bool ended(struct cli *cli, yyjson_val *task, yyjson_val **ret, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    struct str state = json_str(yyjson_obj_get(task, "state"));
    struct str message = json_str(yyjson_obj_get(task, "message"));
    if (str_is(state, "cancelled"))
        return err_set(err, ERR_CONFLICT, NULL, "the task was cancelled");
    if (!str_is(state, "done"))
        return err_set(err, ERR_INTERNAL, NULL, "the task failed: " STR_FMT, STR_ARG(message));
    json_begin(&o, &text);
    json_value(&o, task);
    *ret = json_parse(&cli->arena, arena_str(&cli->arena, buf_view(&text)), err);
    return *ret != NULL;
}

struct wait {
    struct progress progress;
    uint64_t heard; /* when the server last answered */
    bool cancelled;
};

/* One turn; *ret_over when there is nothing more to wait for. */
static bool turn(struct cli *cli, int64_t id, struct wait *w, yyjson_val **ret, bool *ret_over,
                 struct err *err)
{
    auto_arena struct arena page;
    yyjson_val *task;
    arena_init(&page);
    if (!look(cli, id, &page, &task, err))
        return away(err) && clock_mono() - w->heard < PATIENCE_NS;
    w->heard = clock_mono();
    progress_show(&w->progress, yyjson_get_sint(yyjson_obj_get(task, "done")),
                  yyjson_get_sint(yyjson_obj_get(task, "total")));
    struct str state = json_str(yyjson_obj_get(task, "state"));
    if (str_is(state, "waiting") || str_is(state, "running"))
        return true;
    *ret_over = true;
    progress_end(&w->progress);
    return ended(cli, task, ret, err);
}

bool waiting_task(struct cli *cli, int64_t task, const char *what, bool quiet, yyjson_val **ret,
                  struct err *err)
{
    struct wait w = {.heard = clock_mono()};
    bool over = false;
    progress_begin(&w.progress, what, false, quiet);
    for (unsigned i = 0;; i++) {
        if (!turn(cli, task, &w, ret, &over, err))
            return false;
        if (over)
            return true;
        interrupt_sleep(i < 10 ? 50 : i < 50 ? 200 : 1000);
        if (interrupt_wanted() && !w.cancelled) {
            if (!cancel(cli, task, err))
                return false;
            w.cancelled = true;
        } else if (w.cancelled) { /* sleeping returns at once now */
            usleep(100 * 1000);
        }
    }
}

/* --- a state --- */

static bool either(struct str state, const char *one, const char *other)
{
    return (one && str_is(state, one)) || (other && str_is(state, other));
}

/* One look; *ret_over when there is nothing more to wait for. told: the reason that was told last. */
static bool look_at_state(struct cli *cli, const char *path, const struct waiting_states *states,
                          char told[static 512], bool *ret_over, struct err *err)
{
    yyjson_val *now;
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &now, err))
        return false;
    struct str state = json_str(yyjson_obj_get(now, "state")),
               reason = json_str(yyjson_obj_get(now, "reason"));
    if (either(state, states->bad, states->bad_too))
        return err_set(err, ERR_CONFLICT, NULL, "%s" STR_FMT, states->sentence, STR_ARG(reason));
    *ret_over = either(state, states->good, states->will_do);
    if (reason.n && !str_is(reason, told)) {
        snprintf(told, 512, STR_FMT, STR_ARG(reason));
        fprintf(stderr, STR_FMT ": %s\n", STR_ARG(state), told);
    }
    return true;
}

bool waiting_state(struct cli *cli, const char *path, const struct waiting_states *states, struct err *err)
{
    char told[512] = "";
    for (bool over = false;; running_nap()) {
        struct arena kept = cli->arena;
        arena_init(&cli->arena);
        bool ok = look_at_state(cli, path, states, told, &over, err);
        cli->problem = NULL;
        arena_release(&cli->arena);
        cli->arena = kept;
        if (!ok || over)
            return ok;
    }
}

/* --- download --- */

struct download {
    int fd;
    int64_t have, total; /* bytes in the file; of all, 0: not known */
    struct progress progress;
    struct err err;
};

static bool on_piece(void *ctx, struct str piece)
{
    struct download *d = ctx;
    if (!fs_write_all(d->fd, piece.p, piece.n, &d->err))
        return false;
    d->have += (int64_t)piece.n;
    progress_show(&d->progress, d->have, d->total);
    return !interrupt_wanted();
}

static bool on_tick(void *ctx, int64_t sent, int64_t received)
{
    (void)ctx;
    (void)sent;
    (void)received;
    return !interrupt_wanted();
}

/* The size and the name of the content, so that a part of something else is never appended. */
static bool ask_size(struct cli *cli, const char *path, struct download *d, const char **ret_etag,
                     struct err *err)
{
    struct client_answer answer;
    if (!remote_do(cli, &(struct remote_call){.method = "HEAD", .path = path}, &answer, err))
        return false;
    if (!str_to_i64(client_header_value(&answer, "content-length"), &d->total) || !answer.etag.n)
        return err_set(err, ERR_UPSTREAM, NULL, "%s does not say how large the file is", cli->config.url);
    *ret_etag = arena_strz(&cli->arena, answer.etag);
    return true;
}

static bool fetch_rest(struct cli *cli, const char *path, const char *etag, struct download *d,
                       struct err *err)
{
    struct client_request q;
    struct client_header headers[8];
    struct client_answer answer;
    if (!remote_prepare(cli, "GET", path, &q, headers, err))
        return false;
    if (d->have) {
        headers[q.header_count++] =
            (struct client_header){"Range", arena_printf(&cli->arena, "bytes=%lld-", (long long)d->have)};
        headers[q.header_count++] = (struct client_header){"If-Range", etag};
    }
    q.sink = on_piece;
    q.sink_ctx = d;
    q.tick = on_tick;
    int64_t before = d->have;
    bool got = client_do(&cli->arena, &q, &answer, err);
    if (d->err.code) {
        *err = d->err;
        return false;
    }
    if (got && answer.status != (before ? 206 : 200))
        return err_set(err, err_from_status(answer.status), NULL, "%s answered with status %d",
                       cli->config.url, answer.status);
    return got;
}

static bool fetch_all(struct cli *cli, const char *path, struct download *d, struct err *err)
{
    const char *etag;
    unsigned tries = 0;
    if (!ask_size(cli, path, d, &etag, err))
        return false;
    while (d->have < d->total) {
        int64_t before = d->have;
        bool ok = fetch_rest(cli, path, etag, d, err);
        if (interrupt_wanted())
            return err_set(err, ERR_UNAVAILABLE, NULL, "interrupted");
        tries = d->have > before ? 0 : tries + 1;
        if (!ok && (!away(err) || tries > TRIES))
            return false;
        if (!ok && !interrupt_sleep(250u << (tries < 4 ? tries : 4)))
            return err_set(err, ERR_UNAVAILABLE, NULL, "interrupted");
    }
    *err = (struct err){0};
    return true;
}

static bool to_file(struct cli *cli, const char *path, const char *to, struct download *d, struct err *err)
{
    const char *part = arena_printf(&cli->arena, "%s.partial", to);
    auto_fd int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_errno(err, errno, "%s", part);
    d->fd = fd;
    bool ok = fetch_all(cli, path, d, err);
    if (ok && (fsync(fd) != 0 || rename(part, to) != 0))
        ok = err_errno(err, errno, "%s", to);
    if (!ok)
        unlink(part);
    return ok;
}

bool waiting_download(struct cli *cli, const char *path, const char *to, bool quiet, struct err *err)
{
    struct download d = {.fd = STDOUT_FILENO};
    progress_begin(&d.progress, "Loading", true, quiet);
    bool ok = strcmp(to, "-") == 0 ? fetch_all(cli, path, &d, err) : to_file(cli, path, to, &d, err);
    progress_end(&d.progress);
    return ok;
}
