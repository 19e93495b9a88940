/* Pictures and sound through real workers. Inputs are made here: PPM-free formats by hand (BMP, WAV) and what
 * the worker itself writes (JPEG, PNG). */
#include "media/media.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include <cmocka.h>

static void put32(char *p, uint32_t v)
{
    memcpy(p, &v, 4);
}

static void put16(char *p, uint16_t v)
{
    memcpy(p, &v, 2);
}

static int file_of(const void *p, size_t n)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, p, n), (ssize_t)n);
    return fd;
}

/* A 24-bit BMP: left half black, right half white, or a checkerboard of single pixels. */
static int bmp(int w, int h, bool checkers)
{
    size_t line = ((size_t)w * 3 + 3) / 4 * 4, size = 54 + line * (size_t)h;
    char *p = base_zalloc(size);
    memcpy(p, "BM", 2);
    put32(p + 2, (uint32_t)size);
    put32(p + 10, 54);
    put32(p + 14, 40);
    put32(p + 18, (uint32_t)w);
    put32(p + 22, (uint32_t)h);
    put16(p + 26, 1);
    put16(p + 28, 24);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (checkers ? (x + y) % 2 : x >= w / 2)
                memset(p + 54 + line * (size_t)y + (size_t)x * 3, 255, 3);
    int fd = file_of(p, size);
    free(p);
    return fd;
}

static int wav(double seconds)
{
    uint32_t rate = 8000, n = (uint32_t)(seconds * rate) * 2;
    char *p = base_zalloc(44 + n);
    memcpy(p, "RIFF", 4);
    put32(p + 4, 36 + n);
    memcpy(p + 8, "WAVEfmt ", 8);
    put32(p + 16, 16);
    put16(p + 20, 1);
    put16(p + 22, 1);
    put32(p + 24, rate);
    put32(p + 28, rate * 2);
    put16(p + 32, 2);
    put16(p + 34, 16);
    memcpy(p + 36, "data", 4);
    put32(p + 40, n);
    int fd = file_of(p, 44 + n);
    free(p);
    return fd;
}

static struct media *media;

static int begin(void **state)
{
    (void)state;
    media = media_new(&(struct media_options){.workers = 2, .max_pixels = 1000000});
    return 0;
}

static int finish(void **state)
{
    (void)state;
    media_free(media);
    return 0;
}

static void test_probe(void **state)
{
    (void)state;
    struct media_info info;
    struct err err = {0};
    auto_fd int picture = bmp(40, 30, false), sound = wav(1.5), text = file_of("hello, world", 12);
    assert_true(media_probe(media, picture, &info, &err));
    assert_string_equal(info.kind, "image");
    assert_string_equal(info.format, "bmp");
    assert_int_equal(info.width, 40);
    assert_int_equal(info.height, 30);
    assert_true(media_probe(media, sound, &info, &err));
    assert_string_equal(info.kind, "audio");
    assert_string_equal(info.format, "wav");
    assert_int_equal(info.rate, 8000);
    assert_true(info.duration > 1.49 && info.duration < 1.51);
    assert_false(media_probe(media, text, &info, &err));
    assert_int_equal(err.code, ERR_INVALID);
}

static void test_thumbnail_is_a_jpeg(void **state)
{
    (void)state;
    struct media_info info;
    struct err err = {0};
    auto_buf struct buf out = {0};
    auto_fd int picture = bmp(400, 200, false);
    assert_true(media_thumbnail(media, picture, 100, &out, &err));
    auto_fd int jpeg = file_of(out.p, out.n);
    assert_true(media_probe(media, jpeg, &info, &err));
    assert_string_equal(info.format, "jpeg");
    assert_int_equal(info.width, 100);
    assert_int_equal(info.height, 50);
}

static void test_sharpness_and_hash(void **state)
{
    (void)state;
    struct media_measures sharp, flat, again;
    struct err err = {0};
    auto_fd int a = bmp(64, 64, true), b = bmp(64, 64, false), c = bmp(128, 128, false);
    assert_true(media_measure(media, a, &sharp, &err));
    assert_true(media_measure(media, b, &flat, &err));
    assert_true(media_measure(media, c, &again, &err));
    assert_true(sharp.sharpness > 10 * flat.sharpness);
    assert_true(__builtin_popcountll(flat.phash ^ again.phash) <= 4);
}

static void test_points_follow_a_transform(void **state)
{
    (void)state;
    struct media_result r;
    struct err err = {0};
    auto_buf struct buf out = {0};
    auto_fd int picture = bmp(40, 30, false);
    struct media_op ops[] = {{.kind = MEDIA_CROP, .x = 10, .y = 5, .w = 100, .h = 20},
                             {.kind = MEDIA_ROTATE, .angle = 90},
                             {.kind = MEDIA_MIRROR_H}};
    assert_true(media_transform(media, picture, ops, countof(ops), &out, &r, &err));
    assert_int_equal(r.width, 20);
    assert_int_equal(r.height, 30);
    assert_string_equal(r.format, "png");
    double x = r.matrix[0] * 10 + r.matrix[1] * 5 + r.matrix[2],
           y = r.matrix[3] * 10 + r.matrix[4] * 5 + r.matrix[5];
    assert_true(x > -0.001 && x < 0.001 && y > -0.001 && y < 0.001);
    struct media_op outside = {.kind = MEDIA_CROP, .x = 100, .y = 100, .w = 5, .h = 5};
    assert_false(media_transform(media, picture, &outside, 1, &out, &r, &err));
    assert_int_equal(err.code, ERR_INVALID);
}

static void test_large_pictures_are_refused(void **state)
{
    (void)state;
    struct media_info info;
    struct err err = {0};
    auto_fd int picture = bmp(1100, 1000, false);
    assert_false(media_probe(media, picture, &info, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.message, "1100 x 1000"));
}

/* --- jobs --- */

struct one {
    struct media_job job;
    int64_t number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int64_t order[300];
static size_t made, failed;

static void done(struct media_job *j, struct str jpeg, const struct err *why)
{
    const struct one *o = container_of(j, struct one, job);
    pthread_mutex_lock(&lock);
    if (why) {
        assert_int_equal(why->code, ERR_UNAVAILABLE);
        failed++;
    } else {
        assert_memory_equal(jpeg.p, "\xff\xd8", 2);
        order[made++] = o->number;
    }
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&lock);
}

static void begin_one(struct media *m, struct one *o, int64_t number, int64_t project, int64_t user)
{
    *o = (struct one){.job = {.whose = {project, user, NULL}, .fd = bmp(900, 900, false), .done = done},
                      .number = number};
    media_job_thumbnail(&o->job, 32);
    media_begin(m, &o->job);
}

static void wait_for(size_t n)
{
    pthread_mutex_lock(&lock);
    while (made + failed < n)
        pthread_cond_wait(&told, &lock);
    pthread_mutex_unlock(&lock);
}

/* One worker: who comes with one after somebody with many is next. */
static void test_jobs_take_turns(void **state)
{
    (void)state;
    struct one jobs[8];
    struct media *m = media_new(&(struct media_options){.workers = 1});
    made = failed = 0;
    for (int i = 0; i < 6; i++)
        begin_one(m, &jobs[i], i, 1, 1);
    begin_one(m, &jobs[6], 6, 2, 2);
    begin_one(m, &jobs[7], 7, 1, 3);
    wait_for(8);
    size_t at[8];
    for (size_t i = 0; i < 8; i++)
        at[order[i]] = i;
    for (size_t i = 1; i < 6; i++)
        assert_true(at[i - 1] < at[i]);
    assert_true(at[6] < at[5] && at[7] < at[5]);
    assert_int_equal(failed, 0);
    media_free(m);
}

/* Those that wait and the one that runs; one that was never begun is not made either. */
static void test_jobs_that_nobody_wants(void **state)
{
    (void)state;
    static struct one jobs[200];
    struct one late = {.job = {.whose = {1, 1, NULL}, .done = done}};
    struct media *m = media_new(&(struct media_options){.workers = 1});
    made = failed = 0;
    for (int i = 0; i < 200; i++)
        begin_one(m, &jobs[i], i, 1, 1);
    for (int i = 0; i < 200; i++)
        media_cancel(m, &jobs[i].job);
    media_cancel(m, &late.job);
    late.job.fd = bmp(10, 10, false);
    media_job_thumbnail(&late.job, 32);
    media_begin(m, &late.job);
    wait_for(201);
    assert_true(failed >= 201 - 128 && made < 128); /* so many may wait */
    struct one last;
    begin_one(m, &last, 299, 1, 1);
    wait_for(202);
    assert_int_equal(order[made - 1], 299);
    media_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_thumbnail_is_a_jpeg),
        cmocka_unit_test(test_sharpness_and_hash),
        cmocka_unit_test(test_points_follow_a_transform),
        cmocka_unit_test(test_large_pictures_are_refused),
        cmocka_unit_test(test_jobs_take_turns),
        cmocka_unit_test(test_jobs_that_nobody_wants),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
