/* The least that answers an inference request: one libuv loop that reads requests of a known form, calls
 * OrtRun on the last bytes of each, and writes the same bytes back. Knows no HTTP beyond Content-Length.
 *
 *     bench_infer_bare PORT MODEL     serves
 *     bench_infer_bare time MODEL N   seconds per run of N rows, the median of many */
#include "base/clock.h"
#include "base/fs.h"
#include "infer/ort.h"
#include "infer/session.h"
#include "infer/types.h"

#include <stdio.h>
#include <uv.h>

#define BYTES  1024
#define RUNS   101
#define BUFFER 65536

static OrtSession *session;
static const char *input_name, *output_name;

struct client {
    uv_tcp_t tcp;
    char in[BUFFER], out[BUFFER];
    size_t n;
    uv_write_t write;
};

static void must(OrtStatus *s)
{
    struct err err = {0};
    if (ort_ok(s, ERR_INTERNAL, &err))
        return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

static const void *run(void *data, size_t size, const int64_t *dims, size_t n_dims, OrtValue **ret)
{
    const OrtApi *api = ort_api();
    OrtValue *in = NULL;
    void *out;
    must(api->CreateTensorWithDataAsOrtValue(ort_memory(), data, size, dims, n_dims,
                                             ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &in));
    must(api->Run(session, NULL, &input_name, (const OrtValue *const *)&in, 1, &output_name, 1, ret));
    must(api->GetTensorMutableData(*ret, &out));
    api->ReleaseValue(in);
    return out;
}

static void answer(struct client *c, char *body)
{
    static const int64_t dims[] = {1, BYTES / 4};
    static const char head[] =
        "{\"model_name\":\"id\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"y\",\"datatype\":"
        "\"FP32\",\"shape\":[1,256],\"parameters\":{\"binary_data_size\":1024}}]}";
    OrtValue *value = NULL;
    const void *result = run(body, BYTES, dims, 2, &value);
    int n = snprintf(c->out, BUFFER,
                     "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                     "Inference-Header-Content-Length: %zu\r\nContent-Length: %zu\r\n\r\n%s",
                     sizeof head - 1, sizeof head - 1 + BYTES, head);
    memcpy(c->out + n, result, BYTES);
    ort_api()->ReleaseValue(value);
    uv_buf_t buf = uv_buf_init(c->out, (unsigned)n + BYTES);
    uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);
}

static void closed(uv_handle_t *h)
{
    free(h->data);
}

static void reserve(uv_handle_t *h, unused_ok size_t wanted, uv_buf_t *ret)
{
    struct client *c = h->data;
    *ret = uv_buf_init(c->in + c->n, (unsigned)(BUFFER - 1 - c->n));
}

static void got(uv_stream_t *s, ssize_t n, unused_ok const uv_buf_t *buf)
{
    struct client *c = s->data;
    if (n < 0) {
        uv_close((uv_handle_t *)s, closed);
        return;
    }
    c->n += (size_t)n;
    c->in[c->n] = 0;
    char *end = strstr(c->in, "\r\n\r\n"), *length = strcasestr(c->in, "content-length:");
    if (!end || !length)
        return;
    /* "Inference-Header-Content-Length" may come first. */
    while (length && (length == c->in || length[-1] != '\n'))
        length = strcasestr(length + 1, "content-length:");
    size_t size = length ? strtoul(length + 15, NULL, 10) : 0;
    if (size < BYTES || c->n < (size_t)(end + 4 - c->in) + size)
        return;
    char body[BYTES] __attribute__((aligned(64)));
    memcpy(body, end + 4 + size - BYTES, BYTES);
    c->n = 0;
    answer(c, body);
}

static void connected(uv_stream_t *listener, unused_ok int status)
{
    struct client *c = base_zalloc(sizeof *c);
    uv_tcp_init(listener->loop, &c->tcp);
    c->tcp.data = c;
    uv_accept(listener, (uv_stream_t *)&c->tcp);
    uv_tcp_nodelay(&c->tcp, 1);
    uv_read_start((uv_stream_t *)&c->tcp, reserve, got);
}

static int serve(const char *port)
{
    uv_tcp_t tcp;
    struct sockaddr_in at;
    uv_tcp_init(uv_default_loop(), &tcp);
    uv_ip4_addr("127.0.0.1", atoi(port), &at);
    if (uv_tcp_bind(&tcp, (struct sockaddr *)&at, 0) || uv_listen((uv_stream_t *)&tcp, 128, connected))
        return 1;
    puts("ready");
    fflush(stdout);
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

static int by_size(const void *a, const void *b)
{
    return *(const double *)a < *(const double *)b ? -1 : 1;
}

static int measure(const struct session_value *v, long rows)
{
    double took[RUNS];
    int64_t dims[TENSOR_DIMS];
    uint64_t n = 1;
    for (size_t i = 0; i < v->n_dims; i++)
        n *= (uint64_t)(dims[i] = i ? v->dims[i] : rows);
    float *data = base_zalloc(n * sizeof *data);
    for (size_t i = 0; i < RUNS; i++) {
        OrtValue *value = NULL;
        uint64_t began = clock_mono();
        run(data, n * sizeof *data, dims, v->n_dims, &value);
        took[i] = (double)(clock_mono() - began) / 1e9;
        ort_api()->ReleaseValue(value);
    }
    free(data);
    qsort(took, RUNS, sizeof *took, by_size);
    printf("%.9f\n", took[RUNS / 2]);
    return 0;
}

int main(int argc, char **argv)
{
    auto_arena struct arena a;
    struct err err = {0};
    struct str file;
    arena_init(&a);
    if (argc < 3 || !ort_start(NULL, 1, &err) || !fs_read(&a, argv[2], (size_t)1 << 31, &file, &err)) {
        fprintf(stderr, "bench_infer_bare: %s\n", err.message);
        return 2;
    }
    struct session *s = session_new(file, &err);
    if (!s) {
        fprintf(stderr, "bench_infer_bare: %s\n", err.message);
        return 1;
    }
    arena_release(&a);
    session = s->ort;
    input_name = s->inputs[0].name;
    output_name = s->outputs[0].name;
    return strcmp(argv[1], "time") == 0 ? measure(&s->inputs[0], argc > 3 ? atol(argv[3]) : 1)
                                        : serve(argv[1]);
}
