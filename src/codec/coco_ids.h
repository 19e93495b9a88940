/* Ids of COCO files: whole numbers or texts, in any order, sparse, possibly 0 or negative. */
#ifndef INGOT_CODEC_COCO_IDS_H
#define INGOT_CODEC_COCO_IDS_H

#include "base/base.h"

#include <yyjson.h>

/* An id as a number; texts are hashed. False when it is neither a whole number nor a text. */
bool coco_id_key(yyjson_val *v, uint64_t *ret);

/* From the key of an id to a number, by open addressing; {0} is empty, `slots` is freed by the owner. */
struct coco_ids {
    struct coco_id_slot {
        uint64_t key;
        uint32_t number; /* + 1; 0: free */
    } * slots;
    size_t size, count;
};
uint32_t coco_ids_get(const struct coco_ids *t, uint64_t key); /* the number, or UINT32_MAX */
void coco_ids_add(struct coco_ids *t, uint64_t key, uint32_t number);

#endif
