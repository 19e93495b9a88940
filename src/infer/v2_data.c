#include "infer/v2_data.h"

#include "infer/types.h"

#include <math.h>
#include <stdio.h>

#define MAX_NESTING (TENSOR_DIMS + 1)

/* --- reading --- */

struct filling {
    struct tensor *t;
    char *at;
    uint64_t left;
    struct arena *a;
    struct buf *bytes; /* BYTES */
    struct err *err;
};

static const struct range {
    int64_t min;
    uint64_t max;
} ranges[TYPES_COUNT] = {
    [TENSOR_BOOL] = {0, 1},
    [TENSOR_UINT8] = {0, UINT8_MAX},
    [TENSOR_UINT16] = {0, UINT16_MAX},
    [TENSOR_UINT32] = {0, UINT32_MAX},
    [TENSOR_UINT64] = {0, UINT64_MAX},
    [TENSOR_INT8] = {INT8_MIN, INT8_MAX},
    [TENSOR_INT16] = {INT16_MIN, INT16_MAX},
    [TENSOR_INT32] = {INT32_MIN, INT32_MAX},
    [TENSOR_INT64] = {INT64_MIN, INT64_MAX},
};

static bool wrong(struct filling *f, const char *why)
{
    return err_set(f->err, ERR_INVALID, "data", "the data of %s %s", f->t->name, why);
}

/* Whole numbers: little-endian, so the low bytes are the number in any size. */
static bool put_whole(struct filling *f, yyjson_val *v)
{
    const struct range *range = &ranges[f->t->type];
    uint64_t bits;
    if (f->t->type == TENSOR_BOOL && yyjson_is_bool(v))
        bits = yyjson_get_bool(v);
    else if (yyjson_is_uint(v) && yyjson_get_uint(v) <= range->max)
        bits = yyjson_get_uint(v);
    else if (yyjson_is_sint(v) && yyjson_get_sint(v) >= range->min)
        bits = (uint64_t)yyjson_get_sint(v);
    else
        return wrong(f, "has an element that is not of its type");
    memcpy(f->at, &bits, types[f->t->type].size);
    return true;
}

static bool put_real(struct filling *f, yyjson_val *v)
{
    if (!yyjson_is_num(v))
        return wrong(f, "has an element that is no number");
    double d = yyjson_get_num(v);
    float single = (float)d;
    uint16_t half = f->t->type == TENSOR_FP16 ? types_to_half(d) : types_to_bfloat(d);
    if (f->t->type == TENSOR_FP64)
        memcpy(f->at, &d, sizeof d);
    else if (f->t->type == TENSOR_FP32)
        memcpy(f->at, &single, sizeof single);
    else
        memcpy(f->at, &half, sizeof half);
    if (isinf(f->t->type == TENSOR_FP64   ? d
              : f->t->type == TENSOR_FP32 ? (double)single
              : f->t->type == TENSOR_FP16 ? types_from_half(half)
                                          : types_from_bfloat(half)))
        return wrong(f, "has a number beyond its type");
    return true;
}

static bool put_text(struct filling *f, yyjson_val *v)
{
    struct str text = json_str(v);
    if (!text.p)
        return wrong(f, "has an element that is no text");
    uint32_t n = (uint32_t)text.n; /* the body is far below 4 GiB */
    buf_add(f->bytes, &n, sizeof n);
    buf_str(f->bytes, text);
    return true;
}

static bool put(struct filling *f, yyjson_val *v)
{
    if (f->left == 0)
        return wrong(f, "has more elements than its shape");
    bool real = f->t->type >= TENSOR_FP16 && f->t->type <= TENSOR_FP64;
    bool ok = f->t->type == TENSOR_BYTES ? put_text(f, v) : real ? put_real(f, v) : put_whole(f, v);
    f->at += types[f->t->type].size;
    f->left--;
    return ok;
}

static bool fill(struct filling *f, yyjson_val *list, unsigned depth)
{
    size_t i, n;
    yyjson_val *v;
    if (depth > MAX_NESTING)
        return wrong(f, "is nested too deep");
    yyjson_arr_foreach(list, i, n, v)
    {
        if (yyjson_is_arr(v) ? !fill(f, v, depth + 1) : !put(f, v))
            return false;
    }
    return true;
}

bool v2_data_read(struct arena *a, yyjson_val *list, uint64_t elements, struct tensor *t, struct err *err)
{
    auto_buf struct buf bytes = {0};
    if (!yyjson_is_arr(list))
        return err_set(err, ERR_INVALID, "data", "the input %s needs data, a list, or binary_data_size",
                       t->name);
    /* The elements are no more than the body has bytes, so this is at most eight times the body. */
    size_t size = elements * types[t->type].size;
    char *to = arena_alloc(a, size + 1);
    struct filling f = {t, to, elements, a, &bytes, err};
    if (!fill(&f, list, 0))
        return false;
    if (f.left)
        return wrong(&f, "has fewer elements than its shape");
    t->data = t->type == TENSOR_BYTES ? arena_str(a, buf_view(&bytes)) : (struct str){to, size};
    if (!t->data.p)
        t->data = STR("");
    return true;
}

/* --- writing --- */

static double real_at(const struct tensor *t, uint64_t i)
{
    const char *at = t->data.p + i * types[t->type].size;
    double d;
    float f;
    uint16_t h;
    switch (t->type) {
    case TENSOR_FP64:
        memcpy(&d, at, sizeof d);
        return d;
    case TENSOR_FP32:
        memcpy(&f, at, sizeof f);
        return (double)f;
    default:
        memcpy(&h, at, sizeof h);
        return t->type == TENSOR_FP16 ? types_from_half(h) : types_from_bfloat(h);
    }
}

/* The shortest text that reads back as the same number of the type. */
static void add_real(struct buf *out, const struct tensor *t, double v)
{
    static const int digits[TYPES_COUNT][2] = {
        [TENSOR_FP16] = {4, 5}, [TENSOR_BF16] = {3, 4}, [TENSOR_FP32] = {6, 9}, [TENSOR_FP64] = {15, 17}};
    char text[40];
    if (v == floor(v) && fabs(v) < 1e6) {
        snprintf(text, sizeof text, "%.1f", v);
        buf_z(out, text);
        return;
    }
    for (int n = digits[t->type][0]; n <= digits[t->type][1]; n++) {
        snprintf(text, sizeof text, "%.*g", n, v);
        double back = strtod(text, NULL);
        if (t->type == TENSOR_FP64   ? back == v
            : t->type == TENSOR_FP32 ? (float)back == (float)v
            : t->type == TENSOR_FP16 ? types_to_half(back) == types_to_half(v)
                                     : types_to_bfloat(back) == types_to_bfloat(v))
            break;
    }
    buf_z(out, text);
}

static void add_whole(struct buf *out, const struct tensor *t, uint64_t i)
{
    size_t size = types[t->type].size;
    uint64_t bits = 0;
    memcpy(&bits, t->data.p + i * size, size);
    unsigned unused = 64 - 8 * (unsigned)size;
    if (t->type == TENSOR_BOOL)
        buf_z(out, bits ? "true" : "false");
    else if (t->type >= TENSOR_INT8)
        buf_printf(out, "%lld", (long long)((int64_t)(bits << unused) >> unused));
    else
        buf_printf(out, "%llu", (unsigned long long)bits);
}

static bool write_bytes(struct json_out *out, const struct tensor *t, struct err *err)
{
    struct str one;
    json_array(out);
    for (size_t at = 0; types_next_bytes(t->data, &at, &one);) {
        if (!utf8_valid(one))
            return err_set(
                err, ERR_INVALID, t->name,
                "the output %s has bytes that are no UTF-8, so it has no JSON: ask for binary data", t->name);
        json_string(out, one.n ? one : STR(""));
    }
    json_array_end(out);
    return true;
}

bool v2_data_write(struct json_out *out, const struct tensor *t, struct err *err)
{
    if (t->type == TENSOR_BYTES)
        return write_bytes(out, t, err);
    bool real = t->type >= TENSOR_FP16 && t->type <= TENSOR_FP64;
    uint64_t n = t->data.n / types[t->type].size;
    json_array(out);
    struct buf *b = out->buf;
    for (uint64_t i = 0; i < n; i++) {
        double v = real ? real_at(t, i) : 0;
        if (!isfinite(v))
            return err_set(err, ERR_INVALID, t->name,
                           "element %llu of the output %s is %s, which JSON lacks: ask for binary data",
                           (unsigned long long)i, t->name, isnan(v) ? "NaN" : "infinite");
        if (i)
            buf_char(b, ',');
        if (real)
            add_real(b, t, v);
        else
            add_whole(b, t, i);
    }
    json_array_end(out);
    return true;
}
