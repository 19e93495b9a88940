#include "core/image/actions.h"

const struct action image_actions[] = {{0}};
