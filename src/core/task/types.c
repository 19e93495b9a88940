/* Every type of long work that the platform knows. */
#include "core/task/task.h"

const struct task_type *const task_types[] = {NULL};
const size_t task_type_count = 0;
