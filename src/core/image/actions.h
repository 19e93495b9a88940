/* What can be done to an image beside the registry's protocol. */
#ifndef INGOT_CORE_IMAGE_ACTIONS_H
#define INGOT_CORE_IMAGE_ACTIONS_H

#include "core/kind.h"

extern const struct action image_actions[];

#endif
