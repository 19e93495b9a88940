#include "model/wire.h"

bool wire_varint(struct wire *w, uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && w->at < w->end; shift += 7) {
        uint8_t byte = *w->at++;
        if (shift == 63 && byte > 1)
            return false;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = v;
            return true;
        }
    }
    return false;
}

static bool wire_fixed(struct wire *w, size_t n, uint64_t *ret)
{
    if ((size_t)(w->end - w->at) < n)
        return false;
    *ret = 0;
    for (size_t i = 0; i < n; i++)
        *ret |= (uint64_t)w->at[i] << (8 * i);
    w->at += n;
    return true;
}

static bool wire_bytes(struct wire *w, struct str *ret)
{
    uint64_t n;
    if (!wire_varint(w, &n) || n > (uint64_t)(w->end - w->at))
        return false;
    *ret = (struct str){(const char *)w->at, (size_t)n};
    w->at += n;
    return true;
}

bool wire_next(struct wire *w, struct wire_field *ret, const char **ret_why)
{
    if (w->at == w->end)
        return false;
    uint64_t key;
    *ret_why = "it is cut off or damaged";
    if (!wire_varint(w, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return false;
    struct wire_field f = {.number = (uint32_t)(key >> 3), .type = (enum wire_type)(key & 7)};
    bool read = false;
    switch (key & 7) {
    case WIRE_VARINT:
        read = wire_varint(w, &f.value);
        break;
    case WIRE_FIXED64:
        read = wire_fixed(w, 8, &f.value);
        break;
    case WIRE_FIXED32:
        read = wire_fixed(w, 4, &f.value);
        break;
    case WIRE_BYTES:
        read = wire_bytes(w, &f.bytes);
        break;
    default:
        break;
    }
    if (!read)
        return false;
    *ret_why = NULL;
    *ret = f;
    return true;
}

bool wire_repeated(const struct wire_field *f, struct wire *w, bool *started, uint64_t *ret)
{
    bool first = !*started;
    *started = true;
    if (f->type != WIRE_BYTES) {
        *ret = f->value;
        return first && f->type == WIRE_VARINT;
    }
    if (first)
        *w = wire_of(f->bytes);
    return wire_varint(w, ret);
}
