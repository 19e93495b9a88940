#include "model/onnx_graph.h"

#include "model/wire.h"

static const struct {
    const char *name;
    size_t bits;
} types[ONNX_TYPE_COUNT] = {
    [ONNX_UNDEFINED] = {"unknown", 0},
    [ONNX_FLOAT] = {"float32", 32},
    [ONNX_UINT8] = {"uint8", 8},
    [ONNX_INT8] = {"int8", 8},
    [ONNX_UINT16] = {"uint16", 16},
    [ONNX_INT16] = {"int16", 16},
    [ONNX_INT32] = {"int32", 32},
    [ONNX_INT64] = {"int64", 64},
    [ONNX_STRING] = {"string", 0},
    [ONNX_BOOL] = {"bool", 8},
    [ONNX_FLOAT16] = {"float16", 16},
    [ONNX_DOUBLE] = {"float64", 64},
    [ONNX_UINT32] = {"uint32", 32},
    [ONNX_UINT64] = {"uint64", 64},
    [ONNX_COMPLEX64] = {"complex64", 64},
    [ONNX_COMPLEX128] = {"complex128", 128},
    [ONNX_BFLOAT16] = {"bfloat16", 16},
    [ONNX_FLOAT8E4M3FN] = {"float8e4m3fn", 8},
    [ONNX_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8},
    [ONNX_FLOAT8E5M2] = {"float8e5m2", 8},
    [ONNX_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8},
    [ONNX_UINT4] = {"uint4", 4},
    [ONNX_INT4] = {"int4", 4},
    [ONNX_FLOAT4E2M1] = {"float4e2m1", 4},
};

const char *onnx_type_name(int type)
{
    return type > 0 && type < ONNX_TYPE_COUNT ? types[type].name : "unknown";
}

size_t onnx_type_bits(int type)
{
    return type > 0 && type < ONNX_TYPE_COUNT ? types[type].bits : 0;
}

/* The fields of a TensorProto that are kept while it is read. */
struct reading {
    struct onnx_tensor *t;
    struct str raw, floats;
    bool has_raw;
    int64_t typed[ONNX_KNOWN_VALUES];
    size_t n_typed;
};

static bool read_dims(struct onnx_tensor *t, const struct wire_field *f, const char **ret_why)
{
    struct wire w = {0};
    bool started = false;
    uint64_t v;
    while (wire_repeated(f, &w, &started, &v)) {
        if (t->rank == ONNX_MAX_DIMS || v > (uint64_t)1 << 40) {
            *ret_why = "a tensor has too many dimensions, or a size that cannot be";
            return false;
        }
        t->dims[t->rank++] = (int64_t)v;
    }
    return true;
}

static void read_typed(struct reading *r, const struct wire_field *f)
{
    struct wire w = {0};
    bool started = false;
    uint64_t v;
    while (r->n_typed <= ONNX_KNOWN_VALUES && wire_repeated(f, &w, &started, &v)) {
        if (r->n_typed < ONNX_KNOWN_VALUES)
            r->typed[r->n_typed] = (int64_t)v;
        r->n_typed++;
    }
}

static void keep_reals(struct reading *r)
{
    struct onnx_tensor *t = r->t;
    struct str bytes = r->has_raw ? r->raw : r->floats;
    if (t->type != ONNX_FLOAT || t->elements > ONNX_KNOWN_REALS || bytes.n != t->elements * sizeof(float))
        return;
    t->n_reals = (int)t->elements;
    if (bytes.n)
        memcpy(t->reals, bytes.p, bytes.n);
}

/* Small integer tensors are shapes and axes. */
static void keep_values(struct reading *r)
{
    struct onnx_tensor *t = r->t;
    if ((t->type != ONNX_INT64 && t->type != ONNX_INT32) || t->elements > ONNX_KNOWN_VALUES)
        return;
    size_t size = onnx_type_bits(t->type) / 8;
    if (!r->has_raw && r->n_typed != t->elements)
        return;
    t->n_values = (int)t->elements;
    for (size_t i = 0; i < t->elements; i++) {
        if (!r->has_raw) {
            t->values[i] = r->typed[i];
            continue;
        }
        int32_t small;
        memcpy(size == 8 ? (void *)&t->values[i] : (void *)&small, r->raw.p + i * size, size);
        if (size == 4)
            t->values[i] = small;
    }
}

static bool count_elements(struct reading *r, const char **ret_why)
{
    struct onnx_tensor *t = r->t;
    uint64_t n = 1;
    for (int i = 0; i < t->rank; i++) {
        if (__builtin_mul_overflow(n, (uint64_t)t->dims[i], &n) || n > (uint64_t)1 << 40) {
            *ret_why = "a tensor has too many dimensions, or a size that cannot be";
            return false;
        }
    }
    t->elements = n;
    t->bytes = (n * onnx_type_bits(t->type) + 7) / 8;
    if (r->has_raw && onnx_type_bits(t->type) && r->raw.n != t->bytes) {
        *ret_why = "a tensor has other bytes than its dimensions say";
        return false;
    }
    return true;
}

bool onnx_tensor_read(struct str bytes, struct onnx_tensor *ret, const char **ret_why)
{
    *ret = (struct onnx_tensor){.weight = true, .n_values = -1, .n_reals = -1};
    struct reading r = {.t = ret};
    struct wire w = wire_of(bytes);
    struct wire_field f;
    while (wire_next(&w, &f, ret_why)) {
        switch (f.number) {
        case 1:
            if (!read_dims(ret, &f, ret_why))
                return false;
            break;
        case 2:
            ret->type = f.value < ONNX_TYPE_COUNT ? (int)f.value : ONNX_UNDEFINED;
            break;
        case 4:
            r.floats = f.bytes;
            break; /* packed; otherwise they stay unknown */
        case 5:
        case 7:
            read_typed(&r, &f);
            break;
        case 8:
            ret->name = f.bytes;
            break;
        case 9:
            r.raw = f.bytes;
            r.has_raw = true;
            break;
        default:
            break;
        }
    }
    if (!count_elements(&r, ret_why))
        return false;
    keep_values(&r);
    keep_reals(&r);
    return true;
}

bool onnx_attribute(const struct onnx_node *n, const char *name, struct str *ret)
{
    struct wire w = wire_of(n->bytes);
    struct wire_field f, inner;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        if (f.number != 5)
            continue;
        struct wire in = wire_of(f.bytes);
        while (wire_next(&in, &inner, &why)) {
            if (inner.number == 1 && str_is(inner.bytes, name)) {
                *ret = f.bytes;
                return true;
            }
        }
    }
    return false;
}

int64_t onnx_attribute_int(const struct onnx_node *n, const char *name, int64_t otherwise)
{
    struct str bytes;
    if (!onnx_attribute(n, name, &bytes))
        return otherwise;
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why))
        if (f.number == 3)
            return (int64_t)f.value;
    return otherwise;
}

int onnx_attribute_ints(const struct onnx_node *n, const char *name, int64_t *ret, int max)
{
    struct str bytes;
    if (!onnx_attribute(n, name, &bytes))
        return -1;
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    int count = 0;
    while (wire_next(&w, &f, &why)) {
        struct wire in = {0};
        bool started = false;
        uint64_t v;
        while (f.number == 8 && count < max && wire_repeated(&f, &in, &started, &v))
            ret[count++] = (int64_t)v;
    }
    return count;
}

struct str onnx_attribute_text(const struct onnx_node *n, const char *name)
{
    struct str bytes;
    if (!onnx_attribute(n, name, &bytes))
        return STR_NULL;
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why))
        if (f.number == 4)
            return f.bytes;
    return STR_NULL;
}
