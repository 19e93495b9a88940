/* The files of curves: fixed records for containers, a line of JSON per minute for projects. A file that has
 * grown to twice what is kept is written again with the newest half. */
#ifndef INGOT_CORE_JOB_CURVES_FILE_H
#define INGOT_CORE_JOB_CURVES_FILE_H

#include "core/job/curves.h"

bool curves_file_add(struct core *core, struct exec_id id, const struct curve_point *p, struct err *err);
bool curves_file_read(struct core *core, struct exec_id id, struct arena *a, struct curve_point **ret,
                      size_t *ret_n, struct err *err);

struct curves_cards {
    char kind[52];
    double count;
};
bool curves_file_add_project(struct core *core, int64_t project, const struct curve_point *p,
                             const struct curves_cards *cards, size_t n, struct err *err);

#endif
