/* record.c: reading records against a bare memcpy loop over the same mapping.
 *     record FOLDER [MEGABYTES]
 * For each size it writes a set, and copies every record to a buffer: once knowing addresses and lengths
 * beforehand (the bare loop: an array in the order of reading, no index, no checks), once through the
 * library. The rounds of both alternate; the median of the ratios is printed (1 = as fast, more is faster
 * than the bare loop). */
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 31
#define BATCH  32

struct place {
    const uint8_t *data;
    size_t size;
};

/* Processor time: nothing here waits, and other programs must not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const struct record_err *err)
{
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void write_set(const char *prefix, size_t size, size_t n)
{
    struct record_err err;
    struct record_writer_options o = {.schema = "{\"fields\":[{\"name\":\"label\",\"type\":\"int64\"},"
                                                "{\"name\":\"image\",\"type\":\"bytes\"}]}",
                                      .overwrite = true,
                                      .no_sync = true};
    uint8_t *image = malloc(size);
    struct record_writer *w = record_writer_new(prefix, &o, &err);
    if (!w || !image)
        die(&err);
    for (size_t i = 0; i < size; i++)
        image[i] = (uint8_t)(i * 2654435761u >> 7);
    for (size_t i = 0; i < n; i++) {
        int64_t label = (int64_t)i;
        struct record_value v[] = {{&label, 8}, {image, size}};
        memcpy(image, &i, sizeof i);
        if (!record_writer_add(w, v, 2, &err))
            die(&err);
    }
    if (!record_writer_finish(w, NULL, &err))
        die(&err);
    record_writer_free(w);
    free(image);
}

static double copy_bare(const struct place *places, size_t n, uint8_t *to)
{
    double start = now();
    for (size_t i = 0; i < n; i++) {
        memcpy(to, places[i].data, places[i].size);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    return now() - start;
}

static void get_batch(struct record_reader *r, const uint64_t *order, bool random, size_t n,
                      struct record *ret)
{
    struct record_err err;
    if (n && !(random ? record_reader_get_many(r, order, n, ret, &err)
                      : record_reader_get_range(r, order[0], n, ret, &err)))
        die(&err);
}

/* The next batch is asked for before the last one is used, as a loader would. */
static double copy_records(struct record_reader *r, const uint64_t *order, bool random, size_t n, uint8_t *to)
{
    struct record_err err;
    struct record many[2][BATCH];
    struct record_value v;
    size_t count = n < BATCH ? n : BATCH;
    double start = now();
    get_batch(r, order, random, count, many[0]);
    for (size_t i = 0, side = 0; i < n; side ^= 1) {
        size_t left = n - i - count, next = left < BATCH ? left : BATCH;
        get_batch(r, order + i + count, random, next, many[side ^ 1]);
        for (size_t b = 0; b < count; b++) {
            if (!record_get(&many[side][b], 1, &v, &err))
                die(&err);
            memcpy(to, v.data, v.size);
            __asm__ volatile("" : : "r"(to) : "memory");
        }
        i += count;
        count = next;
    }
    return now() - start;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(struct record_reader *r, size_t size, size_t n, const uint64_t *order, bool random)
{
    struct place *places = malloc(n * sizeof *places);
    uint8_t *to = malloc(size);
    double ratios[ROUNDS], bare[ROUNDS], ours[ROUNDS];
    struct record_err err;
    if (!places || !to)
        exit(1);
    for (size_t i = 0; i < n; i++) {
        struct record rec;
        struct record_value v;
        if (!record_reader_get(r, order[i], &rec, &err) || !record_get(&rec, 1, &v, &err))
            die(&err);
        places[i] = (struct place){v.data, v.size};
    }
    copy_bare(places, n, to);
    copy_records(r, order, random, n, to);
    for (int k = 0; k < ROUNDS; k++) {
        bare[k] = copy_bare(places, n, to);
        ours[k] = copy_records(r, order, random, n, to);
        ratios[k] = bare[k] / ours[k];
    }
    qsort(ratios, ROUNDS, sizeof *ratios, compare);
    qsort(bare, ROUNDS, sizeof *bare, compare);
    qsort(ours, ROUNDS, sizeof *ours, compare);
    double gb = (double)size * (double)n / 1e9;
    printf("%7zu bytes  %-10s  memcpy %5.2f GB/s  records %5.2f GB/s  ratio %.2f\n", size,
           random ? "random" : "sequential", gb / bare[ROUNDS / 2], gb / ours[ROUNDS / 2],
           ratios[ROUNDS / 2]);
    free(places);
    free(to);
}

static void shuffle(uint64_t *order, size_t n)
{
    uint64_t x = 88172645463325252u;
    for (size_t i = n; i-- > 1;) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        size_t k = (size_t)(x % (i + 1));
        uint64_t t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1024, 110 * 1024, 600 * 1024};
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [MEGABYTES]\n", argv[0]);
        return 2;
    }
    size_t bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 128) << 20;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct record_err err;
        char prefix[4000];
        size_t n = bytes / sizes[k];
        snprintf(prefix, sizeof prefix, "%s/bench-%zu", argv[1], sizes[k]);
        write_set(prefix, sizes[k], n);
        struct record_reader *r = record_reader_open(prefix, RECORD_VERIFY, &err);
        uint64_t *order = malloc(n * sizeof *order);
        if (!r || !order)
            die(&err);
        for (size_t i = 0; i < n; i++)
            order[i] = i;
        measure(r, sizes[k], n, order, false);
        shuffle(order, n);
        measure(r, sizes[k], n, order, true);
        free(order);
        record_reader_free(r);
    }
    return 0;
}
