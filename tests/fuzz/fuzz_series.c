/* Chunks of points: whatever bytes come, what they say is bounded, and points that were read are written and
 * read again the same; points that are made of the bytes come back from their chunk. */
#include "series/fold.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct series_point *p, const struct series_point *q, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].at != q[i].at || memcmp(&p[i].value, &q[i].value, sizeof p->value) != 0 ||
            (memcmp(&p[i].step, &q[i].step, sizeof p->step) != 0 && !(isnan(p[i].step) && isnan(q[i].step))))
            abort();
}

static void check_again(struct arena *a, const struct series_point *p, size_t n)
{
    auto_buf struct buf out = {0};
    struct series_point *again;
    struct err err = {0};
    size_t got;
    if (n == 0 || n > SERIES_CHUNK_POINTS)
        return;
    series_encode(p, n, &out);
    if (!series_decode_all(a, buf_view(&out), &again, &got, &err) || got != n)
        abort();
    check_same(p, again, n);
}

static void check_thin(struct arena *a, const struct series_point *p, size_t n)
{
    struct series_thin t;
    series_thin_begin(&t, n, 16, arena_array(a, struct series_point, 16));
    t.mean = arena_array(a, struct series_stretch, 8);
    for (size_t i = 0; i < n; i++)
        series_thin_add(&t, &p[i]);
    series_thin_end(&t);
    if (t.n > 16 || t.n_mean > 8 || (n > 0 && t.n == 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a;
    struct series_point *p, *made;
    struct err err = {0};
    size_t n;
    arena_init(&a);
    if (series_decode_all(&a, (struct str){(const char *)data, size}, &p, &n, &err)) {
        check_again(&a, p, n);
        check_thin(&a, p, n);
    }
    n = size / sizeof *made;
    made = arena_array(&a, struct series_point, n + 1);
    if (n)
        memcpy(made, data, n * sizeof *made);
    check_again(&a, made, n);
    return 0;
}
