#include "codec/coco_ids.h"

#include "base/hash.h"
#include "base/json.h"

#include <math.h>

bool coco_id_key(yyjson_val *v, uint64_t *ret)
{
    if (yyjson_is_uint(v)) {
        *ret = yyjson_get_uint(v);
    } else if (yyjson_is_sint(v)) {
        *ret = (uint64_t)yyjson_get_sint(v);
    } else if (yyjson_is_real(v) && fabs(yyjson_get_real(v)) < 9e15 &&
               yyjson_get_real(v) == floor(yyjson_get_real(v))) {
        *ret = (uint64_t)(int64_t)yyjson_get_real(v);
    } else if (yyjson_is_str(v)) {
        *ret = hash64(json_str(v));
    } else {
        return false;
    }
    return true;
}

static struct coco_id_slot *slot_of(const struct coco_ids *t, uint64_t key)
{
    size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (t->size - 1);
    while (t->slots[i].number && t->slots[i].key != key)
        i = (i + 1) & (t->size - 1);
    return &t->slots[i];
}

uint32_t coco_ids_get(const struct coco_ids *t, uint64_t key)
{
    return t->size ? slot_of(t, key)->number - 1 : UINT32_MAX;
}

void coco_ids_add(struct coco_ids *t, uint64_t key, uint32_t number)
{
    if (t->count * 2 >= t->size) {
        struct coco_ids bigger = {.size = t->size ? t->size * 2 : 256, .count = t->count};
        bigger.slots = base_zalloc(bigger.size * sizeof *bigger.slots);
        for (size_t i = 0; i < t->size; i++)
            if (t->slots[i].number)
                *slot_of(&bigger, t->slots[i].key) = t->slots[i];
        free(t->slots);
        *t = bigger;
    }
    *slot_of(t, key) = (struct coco_id_slot){key, number + 1};
    t->count++;
}
