/* What gives people work on samples: one row each. */
#include "core/label/label.h"

const struct work_giver *const work_givers[] = {&label_work_giver, NULL};
