/* The protobuf wire format: one field after the other out of bytes that may be hostile. Nothing is copied. */
#ifndef INGOT_MODEL_WIRE_H
#define INGOT_MODEL_WIRE_H

#include "base/str.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire {
    const uint8_t *at, *end;
};

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;   /* of varint and fixed */
    struct str bytes; /* of bytes */
};

static inline struct wire wire_of(struct str bytes)
{
    const uint8_t *p = (const uint8_t *)bytes.p;
    return (struct wire){p, p ? p + bytes.n : p};
}

/* False when it is more than 64 bits or cut off. */
bool wire_varint(struct wire *w, uint64_t *ret);

/* The next field. False at the end (*ret_why stays) and for what is no field (*ret_why says what). */
bool wire_next(struct wire *w, struct wire_field *ret, const char **ret_why);

/* The next number of a repeated field of varints, packed or not: call with *w = {0} first. False when there
 * is none left or it is cut off. */
bool wire_repeated(const struct wire_field *f, struct wire *w, bool *started, uint64_t *ret);

#endif
