/* Teams, labelling tasks, and the review of what they make.
 *
 * A task gives the samples of a version to the people of a team. Opening it walks its selection once and
 * keeps one row per sample (label_items) in the chosen order: after that the next samples are the first free
 * rows of an index, however many samples there are, the order may be random, and the figures are exact. A
 * lazy walk would have to skip all that is done at every question, and could not tell how much is left. The
 * first samples are listed while the request waits, the rest by a background task; people can begin
 * meanwhile. Resuming a paused task lists what came since.
 *
 * A row of label_assignments is one person's hold on one seat of one sample (or on its review). Unique
 * indexes say what may never be, whatever the code does: a seat leased twice at once, over all tasks, and a
 * person with two seats of one sample. A lease ends after a while unless a heartbeat or an operation extends
 * it; a controller, and every question for work, gives back those that ended. */
#ifndef INGOT_CORE_LABEL_LABEL_H
#define INGOT_CORE_LABEL_LABEL_H

#include "core/data/work_giver.h"
#include "core/task/task.h"

extern const struct kind kind_team, kind_label_task;
extern const struct task_type task_label_fill, task_label_close;
extern const struct work_giver label_work_giver;

/* Who is in a team; inside a write or outside. */
bool team_has(struct op *op, int64_t team, int64_t user, bool *ret, struct err *err);

/* Figures of GET /metrics. */
double label_open_leases(struct core *core);
double label_submitted(struct core *core);

/* Notes of people on a sample of a task: questions, answers, what is to be mended. */
struct label_note {
    int64_t task, sample;
    struct str text, shape; /* shape: its id, or STR_NULL */
    double x, y;            /* a place; only with has_place */
    bool has_place;
};
#define LABEL_NOTE_MAX 4000 /* characters */
/* Writes {"items":[...]}: the notes of one sample, or of the task when sample is 0 (owners), oldest first. */
bool label_notes_write(struct op *op, const struct object *task, int64_t sample, struct json_out *out,
                       struct err *err);
/* Whether the caller may write one on the sample. */
bool label_note_may(struct op *op, const struct object *task, int64_t sample, struct err *err);
bool label_note_add(struct op *op, const struct object *task, const struct label_note *n,
                    struct json_out *out, struct err *err);
bool label_note_done(struct op *op, const struct object *task, int64_t note, struct json_out *out,
                     struct err *err);

/* The figures of `progress` as CSV; from and to in microseconds. */
bool label_progress_csv(struct op *op, const struct object *task, int64_t from, int64_t to, struct buf *out,
                        struct err *err);

#endif
