/* The least that could evaluate a classifier of pictures: threads that read a JPEG each, decode it by
 * libjpeg, shrink it (every pixel of the input is the mean of those it covers), call OrtRun and count how
 * often the greatest output is the one wanted. Knows no manifest, no annotation and no report.
 *
 *     bench_evaluate_bare MODEL LIST THREADS     LIST: lines of "NUMBER PATH", from this folder
 *
 * The graph takes [1,3,S,S] floats of (value - 127) / 128. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/thread.h"
#include "infer/ort.h"
#include "infer/session.h"

#include <stdatomic.h>
#include <stdio.h>

#include <jpeglib.h> /* it wants stdio before it */

#define MAX_FILE   ((size_t)64 << 20)
#define MAX_LIST   ((size_t)64 << 20)
#define MAX_THREAD 64

struct row {
    const char *path;
    int wanted;
};

static struct session *session;
static struct row *rows;
static int n_rows, side;
static atomic_int next_row, right;

static void must(OrtStatus *s)
{
    struct err err = {0};
    if (ort_ok(s, ERR_INTERNAL, &err))
        return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

static unsigned char *decode(struct arena *a, struct str file, int *ret_w, int *ret_h)
{
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct j = {.err = jpeg_std_error(&errors)};
    jpeg_create_decompress(&j);
    jpeg_mem_src(&j, (const unsigned char *)file.p, file.n);
    jpeg_read_header(&j, TRUE);
    j.out_color_space = JCS_RGB;
    jpeg_start_decompress(&j);
    size_t line = (size_t)j.output_width * 3;
    unsigned char *pixels = arena_alloc(a, line * j.output_height);
    while (j.output_scanline < j.output_height) {
        JSAMPROW at = pixels + line * j.output_scanline;
        jpeg_read_scanlines(&j, &at, 1);
    }
    *ret_w = (int)j.output_width;
    *ret_h = (int)j.output_height;
    jpeg_finish_decompress(&j);
    jpeg_destroy_decompress(&j);
    return pixels;
}

static void shrink(const unsigned char *pixels, int w, int h, float *to)
{
    size_t plane = (size_t)side * (size_t)side;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            int x0 = x * w / side, x1 = (x + 1) * w / side, y0 = y * h / side, y1 = (y + 1) * h / side;
            int sum[3] = {0}, n = 0;
            for (int v = y0; v < y1 || v == y0; v++)
                for (int u = x0; u < x1 || u == x0; u++, n++)
                    for (int c = 0; c < 3; c++)
                        sum[c] += pixels[((size_t)v * (size_t)w + (size_t)u) * 3 + (size_t)c];
            for (size_t c = 0; c < 3; c++)
                to[c * plane + (size_t)(y * side + x)] = ((float)sum[c] / (float)n - 127) / 128;
        }
}

static int greatest(float *data)
{
    const OrtApi *api = ort_api();
    const int64_t dims[] = {1, 3, side, side};
    OrtValue *in = NULL, *out = NULL;
    OrtTensorTypeAndShapeInfo *shape = NULL;
    size_t n;
    void *scores;
    int best = 0;
    must(api->CreateTensorWithDataAsOrtValue(ort_memory(), data, 3 * sizeof *data * (size_t)(side * side),
                                             dims, 4, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &in));
    must(api->Run(session->ort, NULL, &session->inputs[0].name, (const OrtValue *const *)&in, 1,
                  &session->outputs[0].name, 1, &out));
    must(api->GetTensorTypeAndShape(out, &shape));
    must(api->GetTensorShapeElementCount(shape, &n));
    must(api->GetTensorMutableData(out, &scores));
    for (size_t i = 1; i < n; i++)
        if (((float *)scores)[i] > ((float *)scores)[best])
            best = (int)i;
    api->ReleaseTensorTypeAndShapeInfo(shape);
    api->ReleaseValue(out);
    api->ReleaseValue(in);
    return best;
}

static void *work(unused_ok void *arg)
{
    struct err err = {0};
    float *data = base_zalloc(3 * sizeof *data * (size_t)(side * side));
    for (int i; (i = atomic_fetch_add(&next_row, 1)) < n_rows;) {
        auto_arena struct arena a;
        struct str file;
        int w = 0, h = 0;
        arena_init(&a);
        if (!fs_read(&a, rows[i].path, MAX_FILE, &file, &err)) {
            fprintf(stderr, "%s\n", err.message);
            exit(1);
        }
        const unsigned char *pixels = decode(&a, file, &w, &h);
        shrink(pixels, w, h, data);
        if (greatest(data) == rows[i].wanted)
            atomic_fetch_add(&right, 1);
    }
    free(data);
    return NULL;
}

static void read_rows(struct arena *a, struct str text)
{
    int cap = 0;
    for (struct str left = text; left.n;) {
        struct str line = str_cut(left, '\n', &left), path, number = str_cut(line, ' ', &path);
        if (!path.n)
            continue;
        if (n_rows == cap) {
            struct row *more = arena_array(a, struct row, cap = cap ? 2 * cap : 1024);
            for (int i = 0; i < n_rows; i++)
                more[i] = rows[i];
            rows = more;
        }
        rows[n_rows++] = (struct row){arena_printf(a, STR_FMT, STR_ARG(path)), atoi(number.p)};
    }
}

int main(int argc, char **argv)
{
    auto_arena struct arena a;
    struct err err = {0};
    struct str model, list;
    pthread_t threads[MAX_THREAD];
    int n_threads = argc > 3 ? atoi(argv[3]) : 0;
    arena_init(&a);
    if (n_threads < 1 || n_threads > MAX_THREAD || !ort_start(NULL, 1, &err) ||
        !fs_read(&a, argv[1], (size_t)1 << 31, &model, &err) ||
        !fs_read(&a, argv[2], MAX_LIST, &list, &err) || !(session = session_new(model, &err))) {
        fprintf(stderr, "bench_evaluate_bare MODEL LIST THREADS: %s\n", err.message);
        return 2;
    }
    side = (int)session->inputs[0].dims[3];
    read_rows(&a, list);
    for (int i = 0; i < n_threads; i++)
        threads[i] = thread_start("work", work, NULL);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    printf("%d of %d right\n", right, n_rows);
    session_free(session);
    ort_stop();
    return 0;
}
