/* Numbers out of lines of a training's log. metric_parse is a pure function over one line; a gathering has
 * the points of the lines that were read together, by name. What counts, so that ordinary text does not:
 *
 *   {"step": 12, "loss": 0.31}            a JSON object: its numbers
 *   step=12 loss=0.31 acc: 0.9            a step, and names with = or :
 *   epoch 3/10: acc 0.98                  with a space only names that are known (METRIC words: loss, acc
 * ...) loss: 0.31 - accuracy: 0.98           without a step: known names with = or : count to the last step
 * seen
 *
 * The step is the first of step (global_step), iteration (iter), epoch that the line has. NaN and infinity
 * are no points; they are counted. docs/training.md says the same to people. */
#ifndef INGOT_CORE_TRAINING_METRIC_H
#define INGOT_CORE_TRAINING_METRIC_H

#include "base/map.h"
#include "core/series/series.h"

#define METRIC_LINE   256               /* values of one line that count */
#define METRIC_NAME   SERIES_NAME_MAX   /* bytes of a name */
#define METRIC_SERIES 10000             /* names of one training */
#define METRIC_POINTS INT64_C(10000000) /* of all its names together */

struct metric_value {
    struct str name; /* in the line, or in the arena */
    double value;
};

struct metric_line {
    bool has_step;
    double step;
    unsigned not_finite, long_names; /* values that do not count */
    struct metric_value value[METRIC_LINE];
    size_t n;
};

/* false when the line says nothing. */
bool metric_parse(struct arena *a, struct str line, struct metric_line *ret);

struct metric_series {
    char *name;
    int64_t before; /* points that it had */
    struct series_point *point;
    size_t n, room;
};

/* What of a log does not count as it stands, by how often it was met. */
enum metric_left {
    METRIC_NOT_FINITE, /* NaN, infinity: left out */
    METRIC_LONG_NAME,  /* left out */
    METRIC_TOO_MANY,   /* names or points beyond the limits: left out */
    METRIC_STEP_BACK,  /* a step before the one of the last line: kept */
    METRIC_PARAMETERS, /* of ingot.params, too many or with names that cannot be: left out */
    METRIC_LEFT_COUNT,
};

struct metric_gathering {
    struct map *by_name; /* NULL: nothing yet */
    struct metric_series **series;
    size_t n, room;
    int64_t points; /* those before and those that came */
    size_t fresh;   /* points that came since metric_gathering_clear */
    bool has_step;
    double step;                     /* of the last line that had one */
    int64_t left[METRIC_LEFT_COUNT]; /* since metric_gathering_clear */
};

void metric_gathering_release(struct metric_gathering *g);
/* A series that is there already, with its points. */
void metric_gathering_know(struct metric_gathering *g, struct str name, int64_t points);
/* What is too much (METRIC_SERIES, METRIC_POINTS) is left out. */
void metric_gathering_add(struct metric_gathering *g, const struct metric_line *line, int64_t at);
/* What came is kept elsewhere now. */
void metric_gathering_clear(struct metric_gathering *g);

#endif
