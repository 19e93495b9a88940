/* A sample as JSON: what every answer that has samples in it says of one. */
#ifndef INGOT_CORE_DATA_SAMPLE_SHOW_H
#define INGOT_CORE_DATA_SAMPLE_SHOW_H

#include "core/data/sample.h"

void sample_show(struct json_out *o, const struct sample *s);

#endif
