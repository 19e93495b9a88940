/* Curves: points over time of whatever has an id. One engine for what jobs use, what trainings log and what
 * services answer.
 *
 * A series is named by its owner (kind and id: "job", 7), a part of it (a text: "1-0" is a container, "" is
 * all of it) and a name ("cpu", "val/loss"). Its points are kept in the table series_chunks, compressed
 * (series/chunk.h), one row per batch; a controller joins small rows to large ones. There are two ways to
 * keep a series:
 *
 *   SERIES_WHOLE  every point, until the owner is deleted: what a training logs. A point may have a step.
 *   SERIES_LIVE   a point a second or so: as it came for 2 hours, then least, greatest and mean of each
 *                 minute for 30 days (core->series_limits, "series" in config.json, docs/operating.md).
 *
 * What a killed server loses: of series_append and series_put nothing that was answered. Of a feed the
 * seconds that were not written yet: at most `write_s` (30) and the 5 until the controller looks, for a sync
 * each second is worth more than they are. The orderly end writes them, and so does a backup.
 *
 * With its owner a series is gone: the controller `collect-series` removes those whose owner's row is not
 * there any more. No kind needs a hook for it, and an owner must be a row of a kind. */
#ifndef INGOT_CORE_SERIES_SERIES_H
#define INGOT_CORE_SERIES_SERIES_H

#include "core/core.h"
#include "series/fold.h"

#define SERIES_NAME_MAX 200 /* bytes */
#define SERIES_PART_MAX 100
#define SERIES_FEED_MAX 64 /* names of a feed */

enum series_keep { SERIES_WHOLE, SERIES_LIVE };

struct series_engine; /* core->series */

/* --- feeds: a point a second of several names ---
 *
 * For what is measured again and again at the same times: what a container uses, or the counters of a version
 * of a service (kind "service_version", its id, part "", names "requests", "errors_5xx", "p95_ms"...). Adding
 * takes no disk, no database and no more than the copying of its numbers; the points are in memory at first,
 * where queries find them, and those of all feeds are written together every write_s seconds. Any thread. */
struct series_feed;
/* 1 to SERIES_FEED_MAX names, of which nothing is kept by reference. Two that have the same kind, owner and
 * part open are one and must have the same names. It must be closed before the server ends. */
struct series_feed *series_feed_open(struct core *core, const char *kind, int64_t owner, const char *part,
                                     const char *const *names, size_t n);
/* One value per name, in their order; NaN: there is none. Times should grow. */
void series_feed_add(struct series_feed *f, int64_t at, const double *values);
/* What it has is written by and by; NULL allowed. */
void series_feed_close(struct series_feed *f);
/* Writes what all feeds have now; returns when it is durable. */
bool series_flush(struct core *core, struct err *err);

/* --- batches --- */

struct series_batch {
    const char *kind;
    int64_t owner;
    struct str part, name; /* part.p NULL: "" */
    enum series_keep keep;
    const struct series_point *point; /* 1 to SERIES_CHUNK_POINTS, in the order they came */
    size_t n;
    struct str data; /* out of series_pack */
};
/* ERR_INVALID: no name, too long, not UTF-8; no points or too many. Compresses into the arena, which is the
 * work of an append: do it outside of the write. */
bool series_pack(struct arena *a, struct series_batch *b, size_t n, struct err *err);
/* Inside a write: one row for each batch that series_pack has prepared, together with whatever else the
 * caller writes. */
bool series_put(struct db_conn *c, const struct series_batch *b, size_t n, struct err *err);
/* Both; returns when they are durable. */
bool series_append(struct core *core, struct series_batch *b, size_t n, struct err *err);

/* --- reading --- */

struct series_query {
    const char *kind;
    int64_t owner;
    struct str part;  /* p NULL: all parts */
    struct str name;  /* p NULL: all names */
    int64_t from, to; /* microseconds, both included; 0, 0: all there is */
    bool by_step;     /* only points whose step is in step_from to step_to, both included */
    double step_from, step_to;
};

struct series_info {
    int64_t id;
    struct str part, name;
    enum series_keep keep;
    int64_t points; /* that ever came, as far as they are written */
    int64_t rolled; /* a live one's minutes before this time are kept */
};
/* The series of the owner, by part and name; those of feeds as soon as they were written once. */
bool series_list(struct core *core, const struct series_query *q, struct arena *a, struct series_info **ret,
                 size_t *ret_n, struct err *err);
/* The time of the newest point, written or not; 0: there is none. */
bool series_newest(struct core *core, const struct series_query *q, struct arena *a, int64_t *ret,
                   struct err *err);

struct series_points {
    struct str part, name;
    struct series_point *point;
    size_t n;
    int64_t total;               /* those in the range, of which n are here */
    struct series_stretch *mean; /* where they are thinned: least, greatest and mean of each stretch */
    size_t n_mean;
};
/* The points as they came, of all series of the query, by part and name, in the arena. most: of each, at
 * least 4 (thinned so that peaks stay, series/fold.h); 0: all of them. Memory is taken for what is answered,
 * not for what is read. */
bool series_read(struct core *core, const struct series_query *q, size_t most, struct arena *a,
                 struct series_points **ret, size_t *ret_n, struct err *err);

struct series_buckets {
    struct str part, name;
    struct series_bucket *bucket; /* in order; those without points are left out */
    size_t n;
};
/* The same as least, greatest and mean of each `width` microseconds: of whole minutes (a multiple of
 * 60,000,000) with everything that is kept by the minute, of less with what is kept as it came. */
bool series_draw(struct core *core, const struct series_query *q, int64_t width, struct arena *a,
                 struct series_buckets **ret, size_t *ret_n, struct err *err);

/* --- for the platform --- */

/* Puts minutes that something else has kept (curves of programs from before) into a live series, unless it
 * has minutes of that time. */
bool series_put_minutes(struct db_conn *c, const struct series_batch *b, struct err *err);

/* What there is, as of the last run of `compact-series`. */
struct series_sizes {
    int64_t series, points, bytes, rows; /* bytes: of compressed points; rows: of series_chunks */
    int64_t waiting;                     /* points in memory */
};
void series_sizes(struct core *core, struct series_sizes *ret);

#endif
