/* Pictures and sound through real workers. Inputs are made here: PPM-free formats by hand (BMP, WAV) and what
 * the worker itself writes (JPEG, PNG). */
#include "media/media.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_thumbnail_is_a_jpeg),
        cmocka_unit_test(test_sharpness_and_hash),
        cmocka_unit_test(test_points_follow_a_transform),
        cmocka_unit_test(test_large_pictures_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
