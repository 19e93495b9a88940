/* Curves of what containers and projects use, as series (core/series/series.h). A controller looks at every
 * running container once a second and feeds
 *
 *   ("job", id, "ATTEMPT-RANK", name)       a container; names as in curve_names
 *   ("project", id, "", "cpu" or "memory")  the sums of a project's containers
 *   ("project", id, "card:KIND", "count")   its accelerators of a kind
 *
 * Programs from before kept them in files of data/curves; curves_move.c brings those in. */
#ifndef INGOT_CORE_JOB_CURVES_H
#define INGOT_CORE_JOB_CURVES_H

#include "base/json.h"
#include "core/compute/node.h"
#include "exec/exec.h"

#define CURVES_SECONDS 600 /* up to so many are answered by the second where nobody says how many points */
#define CURVES_DAY     INT64_C(86400000000)

enum curve {
    CURVE_CPU,    /* cores */
    CURVE_MEMORY, /* bytes */
    CURVE_RX,     /* bytes per second */
    CURVE_TX,
    CURVE_DISK,        /* bytes */
    CURVE_CARDS,       /* cards that are busy */
    CURVE_CARD_MEMORY, /* bytes in use on them */
    CURVE_COUNT,
};
extern const char *const curve_names[CURVE_COUNT];
extern const char *const curve_project_names[2];
#define CURVE_CARD_PART "card:"

struct curve_point {
    int64_t at;                                 /* microseconds */
    double v[CURVE_COUNT];                      /* NaN: not known */
    double low[CURVE_COUNT], high[CURVE_COUNT]; /* of a mean: what it is the mean of */
};

struct curves;
struct curves *curves_new(struct core *core);
void curves_free(struct curves *c); /* NULL allowed */

/* The part of a job that a container is. */
#define CURVE_PART_MAX 32
const char *curves_part(struct exec_id id, char ret[CURVE_PART_MAX]);
/* The points of a container's last `span` microseconds (before its newest one), oldest first; width: means of
 * so many microseconds, 0: as they came. */
bool curves_read(struct core *core, struct exec_id id, int64_t span, int64_t width, struct arena *a,
                 struct curve_point **ret, size_t *ret_n, struct err *err);
/* The mean of its last seconds (up to 16), in millionths of a core; 0 while nothing is known. */
int64_t curves_cpu(struct core *core, struct exec_id id, size_t seconds);
/* What a running container used when it was looked at last. */
struct curves_use {
    struct exec_id id;
    double cpus;
    int64_t memory, disk; /* bytes; disk -1: not known */
    int64_t disk_limit;   /* 0: none */
    int64_t cards_busy;   /* thousandths of a card; -1: not known */
};
/* All of them, by job and rank. */
size_t curves_now(struct core *core, struct arena *a, struct curves_use **ret);
/* See node_load. */
bool curves_node(struct core *core, int64_t node, struct node_load *ret);
/* Writes {"step_s","items"} of the project's last 24 hours, an item
 * {"at","cpus","memory","accelerators":{},"low":{},"high":{}} per width; those in which nothing ran are left
 * out, with a zero at each end of the gap. */
bool curves_write_project(struct core *core, int64_t project, int64_t width, struct json_out *out,
                          struct err *err);
/* A whole number of minutes, so that `span` has at most so many (0: one minute). */
int64_t curves_width(int64_t span, int64_t points, int64_t unit);

#endif
