/* Between the files of core/series/. */
#ifndef INGOT_CORE_SERIES_SERIES_OWN_H
#define INGOT_CORE_SERIES_SERIES_OWN_H

#include "core/series/series.h"

#include <pthread.h>
#include <stdatomic.h>

#define SECOND        INT64_C(1000000)
#define MINUTE        (60 * SECOND)
#define COMPACT_EVERY (10 * MINUTE) /* of one series that gets points */

/* series_chunks.level. A row of minutes has three chunks with the same times: mean, least, greatest. */
enum level { LEVEL_RAW, LEVEL_MINUTE };
enum minute_chunk { MINUTE_MEAN, MINUTE_LOW, MINUTE_HIGH, MINUTE_CHUNKS };

struct series_engine {
    struct core *core;
    pthread_mutex_t flushing; /* one writer of feeds at a time; taken before `lock` */
    pthread_mutex_t lock;     /* everything below */
    struct map *feeds;
    struct series_sizes sizes;
    atomic_uint_least64_t written; /* clock_mono of the last flush */
};

/* feed.c: what feeds have in memory of a query's series, in the arena. */
void feeds_read(struct core *core, const struct series_query *q, struct arena *a, struct series_points **ret,
                size_t *ret_n);
int64_t feeds_waiting(const struct series_engine *e); /* points in memory; under the lock */

/* append.c. Minutes as the data of a row. */
void minutes_encode(struct arena *a, const struct series_bucket *b, size_t n, struct buf *out);
/* And back; each minute counts as one point, whatever it had. */
bool minutes_decode(struct arena *a, struct str data, struct series_bucket **ret, size_t *ret_n,
                    struct err *err);
#define SERIES_INSERT_CHUNK                                                                                  \
    "INSERT INTO series_chunks (series, level, first, last, points, data) VALUES (?, ?, ?, ?, ?, ?)"

#endif
