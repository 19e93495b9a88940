#include "api/backup.h"

#include "api/pump.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "core/backup/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define MAX_UNSENT (1024 * 1024) /* bytes that wait for a slow client */

/* One backup or restore at a time: each holds a thread and much of the disk. */
static atomic_bool busy;

static bool begin(struct api_call *call)
{
    bool idle = false;
    struct err err = {0};
    if (!atomic_compare_exchange_strong(&busy, &idle, true)) {
        err_set(&err, ERR_CONFLICT, NULL, "another backup or restore is running");
    } else {
        if (backup_sweep(call->core, &err))
            return true;
        atomic_store(&busy, false);
    }
    api_problem(call, &err, NULL, 0);
    return false;
}

/* --- backup: the pool thread packs, the stream carries it away --- */
struct sending {
    struct api_call *call;
    struct stream *stream; /* NULL before the first byte */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed;
    size_t unsent;
};

static void on_drained(unused_ok struct stream *s, void *ctx)
{
    struct sending *d = ctx;
    pthread_mutex_lock(&d->lock);
    d->unsent = 0;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static void on_closed(unused_ok struct stream *s, void *ctx)
{
    struct sending *d = ctx;
    pthread_mutex_lock(&d->lock);
    d->closed = true;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static void start_stream(struct sending *d)
{
    static const struct stream_events events = {on_drained, on_closed};
    char name[96], when[CLOCK_TEXT_MAX];
    clock_format(clock_now(), when);
    snprintf(name, sizeof name, "attachment; filename=\"ingot-%.10s.tar.zst\"", when);
    const struct header headers[] = {
        {STR("Content-Type"), STR("application/zstd")},
        {STR("Content-Disposition"), str_of(name)},
        {STR("Cache-Control"), STR("no-store")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    d->stream = respond_stream(d->call->request, 200, headers, countof(headers), &events, d);
}

static bool send_piece(void *ctx, struct str piece, struct err *err)
{
    struct sending *d = ctx;
    if (!d->stream)
        start_stream(d);
    pthread_mutex_lock(&d->lock);
    while (!d->closed && d->unsent > MAX_UNSENT)
        pthread_cond_wait(&d->changed, &d->lock);
    bool gone = d->closed;
    if (!gone)
        d->unsent = stream_write(d->stream, piece);
    pthread_mutex_unlock(&d->lock);
    return !gone || err_set(err, ERR_UPSTREAM, NULL, "the client went away");
}

static void finish_stream(struct sending *d)
{
    pthread_mutex_lock(&d->lock);
    if (!d->closed)
        stream_end(d->stream);
    while (!d->closed)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

static void run_backup(struct api_call *call)
{
    struct sending d = {.call = call};
    struct err err = {0};
    if (!begin(call))
        return;
    pthread_mutex_init(&d.lock, NULL);
    pthread_cond_init(&d.changed, NULL);
    struct backup_sink sink = {send_piece, &d};
    bool ok = backup_write(call->core, &sink, &err);
    /* Without its manifest at the end the client knows that the archive is not whole. */
    if (!ok && d.stream)
        log_error("backup: %s", err.message);
    if (d.stream)
        finish_stream(&d);
    else
        api_problem(call, &err, NULL, 0);
    pthread_mutex_destroy(&d.lock);
    pthread_cond_destroy(&d.changed);
    atomic_store(&busy, false);
}

/* --- restore: the body goes to a file without a name, then everything is checked, then replaced --- */
struct receiving {
    struct core *core;
    struct caller caller; /* without its grants: for the audit */
    int fd;
};

static bool take_piece(void *ctx, struct str data, struct err *err)
{
    const struct receiving *d = ctx;
    return fs_write_all(d->fd, data.p, data.n, err);
}

static void take_done(struct request *r, void *ctx, bool complete, struct err *err)
{
    struct receiving *d = ctx;
    struct api_call call = {.core = d->core, .request = r, .arena = r->arena};
    struct backup_info info;
    bool ok = complete && (lseek(d->fd, 0, SEEK_SET) == 0 || err_errno(err, errno, "the uploaded backup"));
    ok = ok && backup_restore_running(d->core, &d->caller, d->fd, r->arena, &info, err);
    close(d->fd);
    free(d);
    atomic_store(&busy, false);
    if (!ok) {
        api_problem(&call, err, NULL, 0);
        return;
    }
    log_info("restored the backup of %s", info.created_at);
    api_answer(&call, 204, NULL, 0, STR_NULL);
}

static void run_restore(struct api_call *call)
{
    static const struct pump_ops ops = {take_piece, take_done};
    struct err err = {0};
    if (!begin(call))
        return;
    int fd = open(call->core->data, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        err_errno(&err, errno, "%s", call->core->data);
        atomic_store(&busy, false);
        api_problem(call, &err, NULL, 0);
        return;
    }
    struct receiving *d = base_zalloc(sizeof *d);
    *d = (struct receiving){.core = call->core, .fd = fd, .caller = call->caller};
    d->caller.grants = NULL;
    d->caller.name = arena_strdup(call->arena, call->caller.name);
    pump_start(call->request, call->core->pool, &ops, d);
}

const struct route backup_routes[] = {
    {"GET", "/api/v1/backup", "platform.backup", run_backup,
     .summary = "A backup of the whole platform, made while it runs",
     .answer = "{\"type\":\"string\",\"format\":"
               "\"binary\"}",
     .type = "application/zstd"},
    {"POST", "/api/v1/restore", "platform.restore", run_restore,
     .summary = "Replaces everything by a backup, once all of it was checked", .streams = true},
    {0},
};
