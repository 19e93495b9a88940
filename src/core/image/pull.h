/* Where an image outside is: "host/name:version" of a registry that the configuration allows. */
#ifndef INGOT_CORE_IMAGE_PULL_H
#define INGOT_CORE_IMAGE_PULL_H

#include "core/core.h"

struct pull_source {
    const char *base; /* "https://host" */
    const char *name, *reference;
};
/* ERR_INVALID, field from. */
bool pull_parse(struct core *core, struct str from, struct arena *a, struct pull_source *ret,
                struct err *err);

#endif
