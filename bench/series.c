/* Points over time: durable points per second in batches of 100, and how long it takes to draw a day of 100
 * series that got a point a second.
 *   bench_series [URL [SECONDS]]   URL: sqlite:/path (default: a new file in the current folder) or
 * postgresql://... of an empty database */
#include "core/series/series.h"
#include "base/clock.h"
#include "base/thread.h"
#include "core/controllers.h"
#include "core/schema.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 64, BATCH = 100, SERIES = 100, HOURS = 24 };
#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

struct client {
    struct core *core;
    uint64_t until;
    int number;
    int64_t points;
    struct err err;
};

/* Values as a measured one has them: a slow wave with some noise in it. */
static double wave(int64_t i)
{
    return round((sin((double)i / 300) + (double)((uint64_t)i * 2654435761U % 1000) / 1e4) * 1e3) / 1e3;
}

static void *append(void *arg)
{
    struct client *k = arg;
    struct series_point p[BATCH];
    int64_t from = clock_now();
    while (clock_mono() < k->until && !k->err.code) {
        for (int64_t i = 0; i < BATCH; i++)
            p[i] = (struct series_point){from + (k->points + i) * SECOND, (double)(k->points + i),
                                         wave(k->points + i)};
        struct series_batch b = {
            .kind = "training_instance", .owner = k->number, .name = STR("loss"), .point = p, .n = BATCH};
        if (series_append(k->core, &b, 1, &k->err))
            k->points += BATCH;
    }
    return NULL;
}

static double append_rate(struct core *core, int clients, double seconds, int first)
{
    static struct client k[CLIENTS];
    pthread_t threads[CLIENTS];
    uint64_t from = clock_mono(), until = from + (uint64_t)(seconds * 1e9);
    int64_t points = 0;
    for (int i = 0; i < clients; i++) {
        k[i] = (struct client){.core = core, .until = until, .number = first + i};
        threads[i] = thread_start("client", append, &k[i]);
    }
    for (int i = 0; i < clients; i++) {
        pthread_join(threads[i], NULL);
        points += k[i].points;
        if (k[i].err.code)
            fprintf(stderr, "%s\n", k[i].err.message);
    }
    return (double)points / ((double)(clock_mono() - from) / 1e9);
}

/* A day of 100 feeds, hour by hour, with what the controllers make of it. */
static bool make_day(struct core *core, int64_t from, struct err *err)
{
    static const char *const name = "cpu";
    for (int64_t hour = 0; hour < HOURS; hour++) {
        for (int64_t s = 0; s < SERIES; s++) {
            struct series_feed *f = series_feed_open(core, "job", 1 + s, "1-0", &name, 1);
            for (int64_t i = hour * 3600; i < (hour + 1) * 3600; i++) {
                double v = wave(i + s * 1000);
                series_feed_add(f, from + i * SECOND + (i * 7919) % 2000, &v);
            }
            series_feed_close(f);
        }
        if (!series_flush(core, err) || !db_script(core->db, "UPDATE series SET due = 1;", err) ||
            !controller_compact_series.tick(core, err))
            return false;
    }
    return true;
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool draw_day(struct core *core, int64_t from, size_t *ret_points, double *ret_ms, double *ret_cpu,
                     struct err *err)
{
    uint64_t begin = clock_mono();
    double cpu = cpu_ms();
    *ret_points = 0;
    for (int64_t s = 0; s < SERIES; s++) {
        auto_arena struct arena a;
        struct series_buckets *b;
        size_t n;
        arena_init(&a);
        struct series_query q = {.kind = "job", .owner = 1 + s, .from = from, .to = from + HOURS * HOUR};
        if (!series_draw(core, &q, MINUTE, &a, &b, &n, err))
            return false;
        for (size_t i = 0; i < n; i++)
            *ret_points += b[i].n;
    }
    *ret_ms = (double)(clock_mono() - begin) / 1e6;
    *ret_cpu = cpu_ms() - cpu;
    return true;
}

static bool run(struct core *core, double seconds, struct err *err)
{
    struct series_sizes sizes;
    int64_t now = clock_now(), from = now - now % HOUR - HOURS * HOUR;
    size_t points;
    printf("append, batches of %d, durable: 1 client %.0f points/s, %d clients %.0f points/s\n", BATCH,
           append_rate(core, 1, seconds, 1000), CLIENTS, append_rate(core, CLIENTS, seconds, 2000));
    if (!make_day(core, from, err))
        return false;
    series_sizes(core, &sizes);
    for (int i = 0; i < 3; i++) {
        double ms, cpu;
        if (!draw_day(core, from, &points, &ms, &cpu, err))
            return false;
        printf("draw %d h of %d series by the minute: %.1f ms, of it %.1f ms of CPU; %zu points\n", HOURS,
               SERIES, ms, cpu, points);
    }
    printf("kept: %lld series, %lld points, %.2f bytes each, %lld rows\n", (long long)sizes.series,
           (long long)sizes.points, (double)sizes.bytes / (double)sizes.points, (long long)sizes.rows);
    return true;
}

int main(int argc, char **argv)
{
    auto_arena struct arena a;
    struct err err = {0};
    struct core core = {.series_limits = {2, 30, 30}};
    char file[64];
    arena_init(&a);
    snprintf(file, sizeof file, "bench-series-%d.db", (int)getpid());
    const char *url = argc > 1 ? argv[1] : arena_printf(&a, "sqlite:%s", file);
    core.db = db_open(&(struct db_options){.url = url}, &err);
    bool ok = core.db && schema_update(core.db, &a, &err) && controller_write_series.start(&core, NULL, &err);
    ok = ok && run(&core, argc > 2 ? atof(argv[2]) : 5, &err);
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    if (core.series)
        controller_write_series.free(&core);
    if (core.db)
        db_close(core.db);
    if (argc < 2)
        for (int i = 0; i < 3; i++)
            unlink(arena_printf(&a, "%s%s", file, (const char *[]){"", "-wal", "-shm"}[i]));
    return ok ? 0 : 1;
}
