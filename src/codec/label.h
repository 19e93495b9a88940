/* A label's definition as JSON, the same in ingot.jsonl and where the platform keeps it:
 *     {"name":"person","parent":"animal","keypoints":["nose","neck"],"edges":[[0,1]],"retired":true,
 *      "attributes":[{"name":"age","type":"choice","choices":["child","adult"],"required":true}]} */
#ifndef INGOT_CODEC_LABEL_H
#define INGOT_CODEC_LABEL_H

#include "base/json.h"
#include "codec/codec.h"

void label_write(struct json_out *o, const struct codec_label *l);
/* False when it has no name of 1 to 200 characters. Edges between points that are not there are left out,
 * attributes that are no list of at most 64 KiB too; what they say is checked where label sets are. Lists are
 * in the arena, texts where v has them. */
bool label_read(struct arena *a, yyjson_val *v, struct codec_label *ret);

#endif
