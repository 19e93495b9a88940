#include "api/rest/thumbnails.h"

#include "api/problem.h"
#include "media/media.h"
#include "store/store.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define KEPT "private, max-age=604800, immutable"

static const struct header picture[] = {
    {STR("Content-Type"), STR("image/jpeg")},
    {STR("X-Content-Type-Options"), STR("nosniff")},
    {STR("Cache-Control"), STR(KEPT)},
};
static const struct header json[] = {
    {STR("Content-Type"), STR("application/json")},
    {STR("X-Content-Type-Options"), STR("nosniff")},
    {STR("Cache-Control"), STR(KEPT)},
};
_Static_assert(countof(picture) == countof(json), "both are sent with one count");

enum { NAME_MAX_BYTES = SHA256_HEX + 48, KEPT_MAX = 4 << 20 };

/* One that is being made. The request's end and the job's each let go of it. */
struct piece {
    struct media_job job;
    atomic_uint refs;
    struct core *core;
    struct request *request;
    const struct header *headers;
    char hex[SHA256_HEX + 1];  /* of the sample's bytes */
    char name[NAME_MAX_BYTES]; /* in the cache */
    unsigned level, y;         /* of a tile */
};

static void unref(struct piece *t)
{
    if (atomic_fetch_sub(&t->refs, 1) == 1)
        free(t);
}

/* The client has left, or has its answer. */
static void over(void *ctx)
{
    struct piece *t = ctx;
    media_cancel(t->core->media, &t->job);
    unref(t);
}

/* A cache that cannot be written costs time, nothing else. */
static void keep(const struct piece *t, const char *name, struct str bytes)
{
    struct err ignored = {0};
    store_cache_put(t->core->store, name, bytes, &ignored);
}

static void done(struct media_job *j, struct str bytes, const struct err *failed)
{
    struct piece *t = container_of(j, struct piece, job);
    if (failed) {
        problem_respond(t->request, failed, STR_NULL, NULL, 0);
    } else {
        keep(t, t->name, bytes);
        respond(t->request, 200, t->headers, countof(picture), bytes);
    }
    unref(t);
}

static void tile_name(char ret[NAME_MAX_BYTES], const char *hex, unsigned level, unsigned x, unsigned y)
{
    snprintf(ret, NAME_MAX_BYTES, "%s.%u.%u.%u.tile.jpg", hex, level, x, y);
}

/* The others of the row come along; whoever asked for them finds them when their turn comes. */
static void other_tile(struct media_job *j, unsigned x, struct str bytes)
{
    struct piece *t = container_of(j, struct piece, job);
    char name[NAME_MAX_BYTES];
    tile_name(name, t->hex, t->level, x, t->y);
    keep(t, name, bytes);
}

static bool made_meanwhile(struct media_job *j, struct buf *ret)
{
    struct piece *t = container_of(j, struct piece, job);
    uint64_t size;
    auto_fd int fd = store_cache_open(t->core->store, t->name, &size);
    if (fd < 0 || size > KEPT_MAX)
        return false;
    buf_reserve(ret, size + 1);
    ssize_t n = pread(fd, ret->p, size, 0);
    if (n < 0 || (uint64_t)n != size)
        return false;
    ret->n = size;
    return true;
}

static struct piece *piece_new(struct api_call *call, const struct sample *s, int64_t project)
{
    struct piece *t = base_zalloc(sizeof *t);
    t->job.whose = (struct fair_item){.project = project, .user = call->caller.user};
    t->job.done = done;
    t->job.early = made_meanwhile;
    atomic_init(&t->refs, 2);
    t->core = call->core;
    t->request = call->request;
    t->headers = picture;
    digest_hex(&s->blob, t->hex);
    return t;
}

/* Sends what is kept, else begins to make it. */
static void run(struct api_call *call, const struct sample *s, struct piece *t)
{
    struct err err = {0};
    uint64_t size;
    int fd = store_cache_open(call->core->store, t->name, &size);
    if (fd >= 0) {
        respond_file(call->request, 200, t->headers, countof(picture), fd, 0, size);
        free(t);
        return;
    }
    t->job.fd = blob_open(call->core->store, &s->blob, NULL, &err);
    if (t->job.fd < 0) {
        api_problem(call, &err, NULL, 0);
        free(t);
        return;
    }
    request_watch(call->request, true, over, t);
    media_begin(call->core->media, &t->job);
}

void thumbnail_run(struct api_call *call, const struct sample *s, int64_t project, unsigned side)
{
    struct piece *t = piece_new(call, s, project);
    snprintf(t->name, sizeof t->name, "%s.%u.jpg", t->hex, side);
    media_job_thumbnail(&t->job, side);
    run(call, s, t);
}

void tile_run(struct api_call *call, const struct sample *s, int64_t project, unsigned level, unsigned x,
              unsigned y)
{
    struct piece *t = piece_new(call, s, project);
    t->level = level;
    t->y = y;
    t->job.more = other_tile;
    tile_name(t->name, t->hex, level, x, y);
    media_job_tile(&t->job, level, x, y);
    run(call, s, t);
}

void peaks_run(struct api_call *call, const struct sample *s, int64_t project, unsigned buckets)
{
    struct piece *t = piece_new(call, s, project);
    t->headers = json;
    snprintf(t->name, sizeof t->name, "%s.%u.peaks.json", t->hex, buckets);
    media_job_peaks(&t->job, buckets);
    run(call, s, t);
}
