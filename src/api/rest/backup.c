#include "api/rest/backup.h"

#include "api/lasting.h"
#include "api/outflow.h"
#include "api/pump.h"
#include "api/range.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "core/backup/backup.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>

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

/* --- backup: the pool thread packs, at the pace of the client --- */
struct sending {
    struct core *core;
    struct request *request;
    struct outflow *flow; /* NULL before the first byte: then an error is still an answer */
};

static bool send_piece(void *ctx, struct str piece, struct err *err)
{
    struct sending *d = ctx;
    store_hold(d->core->store, BACKUP_HOLD_S);
    if (!d->flow) {
        char name[96], when[CLOCK_TEXT_MAX];
        clock_format(clock_now(), when);
        snprintf(name, sizeof name, "attachment; filename=\"ingot-%.10s.tar.zst\"", when);
        const struct header headers[] = {
            {STR("Content-Type"), STR("application/zstd")},
            {STR("Content-Disposition"), str_of(name)},
            {STR("Cache-Control"), STR("no-store")},
            {STR("X-Content-Type-Options"), STR("nosniff")},
        };
        d->flow = outflow_begin(d->request, 200, headers, countof(headers));
    }
    return outflow_write(d->flow, piece) || err_set(err, ERR_UPSTREAM, NULL, "the client went away");
}

static bool read_blobs(struct api_call *call, enum backup_blobs *ret, struct err *err)
{
    struct str text = STR_NULL;
    *ret = BACKUP_BLOBS_WHOLE;
    if (!request_param(call->request, "blobs", &text, err))
        return !err->code;
    *ret = BACKUP_BLOBS_LISTED;
    return str_is(text, "list") || err_set(err, ERR_INVALID, "blobs",
                                           "blobs: \"" STR_FMT "\" must be list, or absent", STR_ARG(text));
}

static void run_backup(struct api_call *call)
{
    struct sending d = {.core = call->core, .request = call->request};
    struct err err = {0};
    enum backup_blobs blobs;
    if (!read_blobs(call, &blobs, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    if (!begin(call))
        return;
    lasting_add(call->request, &call->caller, &(struct lasting_terms){.permission = "platform.backup"});
    bool ok = backup_write(call->core, blobs, &(struct backup_sink){send_piece, &d}, &err);
    atomic_store(&busy, false);
    if (!ok && d.flow)
        log_error("backup: %s", err.message);
    if (d.flow)
        outflow_end(d.flow, ok);
    else
        api_problem(call, &err, NULL, 0);
}

/* --- one of the blobs that a backup lists --- */
static void run_blob(struct api_call *call)
{
    struct digest d;
    struct err err = {0};
    char etag[SHA256_HEX + 3];
    const struct header headers[] = {{STR("Content-Type"), STR("application/octet-stream")},
                                     {STR("Content-Disposition"), STR("attachment")},
                                     {STR("Cache-Control"), STR("no-store")},
                                     {STR("X-Content-Type-Options"), STR("nosniff")}};
    store_hold(call->core->store, BACKUP_HOLD_S);
    lasting_add(call->request, &call->caller, &(struct lasting_terms){.permission = "platform.backup"});
    bool ok =
        digest_parse(call->params[0], &d) ||
        err_set(&err, ERR_NOT_FOUND, NULL, "a blob is named by the 64 lower-case digits of its SHA-256");
    snprintf(etag, sizeof etag, "\"" STR_FMT "\"", STR_ARG(ok ? call->params[0] : STR("")));
    ok =
        ok && range_respond_blob(call->request, call->core->store, &d, etag, headers, countof(headers), &err);
    if (!ok)
        api_problem(call, &err, NULL, 0);
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
     .summary =
         "A backup of the whole platform, made while it runs; with blobs=list it names the blobs (blobs.txt) "
         "instead of holding them",
     .query = "blobs", .answer = ROUTE_BINARY, .type = "application/zstd"},
    {"GET", "/api/v1/backup/blobs/{sha256}", "platform.backup", run_blob,
     .summary = "A blob that a backup lists; none is removed within an hour of such a request",
     .answer = ROUTE_BINARY, .type = "application/octet-stream", .parts = true},
    {"POST", "/api/v1/restore", "platform.restore", run_restore,
     .summary = "Replaces everything by a backup, once all of it was checked", .streams = true,
     .takes = "application/octet-stream"},
    {0},
};
