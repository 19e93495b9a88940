#include "infer/types.h"

#include "base/buf.h"
#include "model/onnx.h"

#include <math.h>

const struct type_info types[TYPES_COUNT] = {
    [TENSOR_BOOL] = {"BOOL", "TYPE_BOOL", 1, ONNX_BOOL},
    [TENSOR_UINT8] = {"UINT8", "TYPE_UINT8", 1, ONNX_UINT8},
    [TENSOR_UINT16] = {"UINT16", "TYPE_UINT16", 2, ONNX_UINT16},
    [TENSOR_UINT32] = {"UINT32", "TYPE_UINT32", 4, ONNX_UINT32},
    [TENSOR_UINT64] = {"UINT64", "TYPE_UINT64", 8, ONNX_UINT64},
    [TENSOR_INT8] = {"INT8", "TYPE_INT8", 1, ONNX_INT8},
    [TENSOR_INT16] = {"INT16", "TYPE_INT16", 2, ONNX_INT16},
    [TENSOR_INT32] = {"INT32", "TYPE_INT32", 4, ONNX_INT32},
    [TENSOR_INT64] = {"INT64", "TYPE_INT64", 8, ONNX_INT64},
    [TENSOR_FP16] = {"FP16", "TYPE_FP16", 2, ONNX_FLOAT16},
    [TENSOR_BF16] = {"BF16", "TYPE_BF16", 2, ONNX_BFLOAT16},
    [TENSOR_FP32] = {"FP32", "TYPE_FP32", 4, ONNX_FLOAT},
    [TENSOR_FP64] = {"FP64", "TYPE_FP64", 8, ONNX_DOUBLE},
    [TENSOR_BYTES] = {"BYTES", "TYPE_STRING", 0, ONNX_STRING},
};

bool types_of(struct str name, enum tensor_type *ret)
{
    for (size_t i = 0; i < countof(types); i++)
        if (str_is(name, types[i].name)) {
            *ret = (enum tensor_type)i;
            return true;
        }
    return false;
}

bool types_of_onnx(int onnx, enum tensor_type *ret)
{
    for (size_t i = 0; i < countof(types); i++)
        if (types[i].onnx == onnx) {
            *ret = (enum tensor_type)i;
            return true;
        }
    return false;
}

bool types_elements(const int64_t *dims, size_t n_dims, uint64_t max, uint64_t *ret)
{
    uint64_t n = 1;
    bool none = false, over = false;
    for (size_t i = 0; i < n_dims; i++) {
        if (dims[i] < 0 || dims[i] > TYPES_MAX_DIM)
            return false;
        none |= dims[i] == 0;
        over |= __builtin_mul_overflow(n, (uint64_t)(dims[i] ? dims[i] : 1), &n) || n > max;
    }
    if (over && !none)
        return false;
    *ret = none ? 0 : n;
    return *ret <= max;
}

const char *types_shape(struct arena *a, const int64_t *dims, size_t n_dims)
{
    auto_buf struct buf text = {0};
    buf_char(&text, '[');
    for (size_t i = 0; i < n_dims; i++)
        buf_printf(&text, "%s%lld", i ? "," : "", (long long)dims[i]);
    buf_char(&text, ']');
    return arena_strz(a, buf_view(&text));
}

bool types_next_bytes(struct str data, size_t *at, struct str *ret)
{
    uint32_t n;
    if (data.n < *at || data.n - *at < sizeof n)
        return false;
    memcpy(&n, data.p + *at, sizeof n);
    if (data.n - *at - sizeof n < n)
        return false;
    *ret = (struct str){data.p + *at + sizeof n, n};
    *at += sizeof n + n;
    return true;
}

bool types_count_bytes(struct str data, uint64_t elements)
{
    size_t at = 0;
    struct str one;
    while (elements && types_next_bytes(data, &at, &one))
        elements--;
    return elements == 0 && at == data.n;
}

/* --- halves, as IEEE 754 and as the upper half of a float; to the nearest, ties to even --- */

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

double types_from_half(uint16_t bits)
{
    unsigned exponent = (bits >> 10) & 31, fraction = bits & 1023;
    double v = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                              : ldexp(fraction, -24);
    return bits & 0x8000 ? -v : v;
}

uint16_t types_to_half(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double size = fabs(v);
    if (isnan(v))
        return 0x7e00;
    if (size >= 65520) /* half way from the greatest to the next */
        return sign | 0x7c00;
    if (size < 0x1p-14)
        return sign | (uint16_t)lrint(ldexp(size, 24)); /* 1024 of these are the least normal one */
    int exponent;
    frexp(size, &exponent);
    long fraction = lrint(ldexp(size, 11 - exponent)); /* 1024 to 2048; 2048 carries into the exponent */
    return sign | (uint16_t)(((exponent + 14) << 10) + (fraction - 1024));
}

double types_from_bfloat(uint16_t bits)
{
    return (double)float_of((uint32_t)bits << 16);
}

uint16_t types_to_bfloat(double v)
{
    uint32_t bits = bits_of(v);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
