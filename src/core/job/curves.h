/* Curves of what containers use. A controller looks at every running container once a second. The last ten
 * minutes are in memory; means of each minute are appended to a small file per container, and the sums of a
 * project's containers to one per project (data/curves), so that 24 hours survive a restart. */
#ifndef INGOT_CORE_JOB_CURVES_H
#define INGOT_CORE_JOB_CURVES_H

#include "base/json.h"
#include "core/core.h"
#include "exec/exec.h"

#define CURVES_SECONDS 600
#define CURVES_MINUTES 1440

struct curve_point {
    int64_t at;                       /* microseconds */
    int64_t cpu;                      /* millionths of a core */
    int64_t memory;                   /* bytes */
    int64_t rx, tx;                   /* bytes per second */
    int64_t disk;                     /* bytes; -1: not known */
    int64_t cards_busy, cards_memory; /* as exec_stats has them */
};

struct curves;
struct curves *curves_new(struct core *core, struct jobs *jobs);
void curves_free(struct curves *c); /* NULL allowed */

/* The points of a container, oldest first; by minutes, or by seconds (only of the last ten minutes, none
 * after a restart). */
bool curves_read(struct core *core, struct exec_id id, bool minutes, struct arena *a,
                 struct curve_point **ret, size_t *ret_n, struct err *err);
/* The mean of its last seconds (up to so many), in millionths of a core; 0 while nothing is known. */
int64_t curves_cpu(struct core *core, struct exec_id id, size_t seconds);
/* Writes the array of the project's last 24 hours: {"at","cpu","memory","accelerators":{}}; minutes in which
 * nothing ran are left out, with a zero at each end of the gap. */
bool curves_write_project(struct core *core, int64_t project, struct json_out *out, struct err *err);
/* The files of a container that is gone. */
void curves_forget(struct core *core, struct exec_id id);

#endif
