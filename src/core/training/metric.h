/* Numbers out of lines of a training's log. metric_parse is a pure function over one line; a book keeps the
 * series that come of it, bounded in names and points. What counts, so that ordinary text does not:
 *
 *   {"step": 12, "loss": 0.31}            a JSON object: its numbers
 *   step=12 loss=0.31 acc: 0.9            a step, and names with = or :
 *   epoch 3/10: acc 0.98                  with a space only names that are known (METRIC words: loss, acc
 * ...) loss: 0.31 - accuracy: 0.98           without a step: known names with = or : count to the last step
 * seen
 *
 * The step is the first of step (global_step), iteration (iter), epoch that the line has. NaN and infinity
 * are no points. docs/training.md says the same to people. */
#ifndef INGOT_CORE_TRAINING_METRIC_H
#define INGOT_CORE_TRAINING_METRIC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define METRIC_LINE   32   /* values of one line that count */
#define METRIC_NAME   60   /* bytes of a name */
#define METRIC_SERIES 64   /* names of one training */
#define METRIC_POINTS 1000 /* kept of each: when full, every second one goes */

struct metric_value {
    struct str name; /* in the line, or in the arena */
    double value;
};

struct metric_line {
    bool has_step;
    double step;
    struct metric_value value[METRIC_LINE];
    size_t n;
};

/* false when the line says nothing. */
bool metric_parse(struct arena *a, struct str line, struct metric_line *ret);

struct metric_point {
    double step;
    int64_t at; /* microseconds */
    double value;
};

struct metric_series {
    char name[METRIC_NAME + 1];
    struct metric_point point[METRIC_POINTS + 1];
    size_t n;
    int64_t seen;   /* points that came */
    int64_t stride; /* one of so many is kept; the newest is always there */
    bool changed;   /* since it was read */
};

struct metric_book {
    struct metric_series *series[METRIC_SERIES];
    size_t n;
    bool has_step;
    double step; /* of the last line that had one */
};

void metric_book_release(struct metric_book *b);
void metric_book_add(struct metric_book *b, const struct metric_line *line, int64_t at);
/* {"stride":1,"seen":2,"points":[[step,at,value],...]}, and back (ERR_MALFORMED). */
void metric_series_write(const struct metric_series *s, struct buf *out);
bool metric_series_read(struct metric_book *b, struct arena *a, struct str name, struct str json,
                        struct err *err);
/* {"series":[{"name","points":[...]}]}, by name. */
void metric_book_write(const struct metric_book *b, struct buf *out);

#endif
