#include "api/rest/thumbnails.h"

#include "api/problem.h"
#include "media/media.h"
#include "store/store.h"

#include <stdatomic.h>
#include <stdio.h>

static const struct header headers[] = {
    {STR("Content-Type"), STR("image/jpeg")},
    {STR("X-Content-Type-Options"), STR("nosniff")},
    {STR("Cache-Control"), STR("private, max-age=604800, immutable")},
};

/* One that is being made. The request's end and the job's each let go of it. */
struct thumbnail {
    struct media_job job;
    atomic_uint refs;
    struct core *core;
    struct request *request;
    char name[SHA256_HEX + 16]; /* in the cache */
};

static void unref(struct thumbnail *t)
{
    if (atomic_fetch_sub(&t->refs, 1) == 1)
        free(t);
}

/* The client has left, or has its answer. */
static void over(void *ctx)
{
    struct thumbnail *t = ctx;
    media_cancel(t->core->media, &t->job);
    unref(t);
}

static void done(struct media_job *j, struct str jpeg, const struct err *failed)
{
    struct thumbnail *t = container_of(j, struct thumbnail, job);
    if (failed) {
        problem_respond(t->request, failed, STR_NULL, NULL, 0);
    } else {
        struct err ignored = {0}; /* a cache that cannot be written costs time, nothing else */
        store_cache_put(t->core->store, t->name, jpeg, &ignored);
        respond(t->request, 200, headers, countof(headers), jpeg);
    }
    unref(t);
}

static void make(struct api_call *call, int fd, int64_t project, unsigned side, const char *name)
{
    struct thumbnail *t = base_zalloc(sizeof *t);
    t->job = (struct media_job){
        .whose = {.project = project, .user = call->caller.user}, .fd = fd, .side = side, .done = done};
    atomic_init(&t->refs, 2);
    t->core = call->core;
    t->request = call->request;
    snprintf(t->name, sizeof t->name, "%s", name);
    request_watch(call->request, true, over, t);
    media_begin(call->core->media, &t->job);
}

void thumbnail_run(struct api_call *call, const struct sample *s, int64_t project, unsigned side)
{
    struct err err = {0};
    char hex[SHA256_HEX + 1], name[SHA256_HEX + 16];
    uint64_t size;
    digest_hex(&s->blob, hex);
    snprintf(name, sizeof name, "%s.%u.jpg", hex, side);
    int fd = store_cache_open(call->core->store, name, &size);
    if (fd >= 0) {
        respond_file(call->request, 200, headers, countof(headers), fd, 0, size);
        return;
    }
    fd = blob_open(call->core->store, &s->blob, NULL, &err);
    if (fd >= 0)
        make(call, fd, project, side, name);
    else
        api_problem(call, &err, NULL, 0);
}
