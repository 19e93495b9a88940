/* What the files about labelling tasks share. */
#ifndef INGOT_CORE_LABEL_LABEL_OWN_H
#define INGOT_CORE_LABEL_LABEL_OWN_H

#include "base/clock.h"
#include "base/json.h"
#include "base/messages.h"
#include "core/data/sample.h"
#include "core/label/label.h"

/* The tables; kind_label_task's extra_sql. */
extern const char label_sql[];
extern const struct action label_actions[];

bool label_query(struct op *op, const char *sql, struct db_args args, struct db_rows *ret, struct err *err);
bool label_query_one(struct op *op, const char *sql, struct db_args args, struct db_row *ret, bool *found,
                     struct err *err);

/* --- a sample of a task --- */

enum item_state { ITEM_WAITING, ITEM_LABELLED, ITEM_REVIEWING, ITEM_ACCEPTED, ITEM_REJECTED };

struct label_item {
    int64_t task, sample, place;
    int64_t seats, given, done; /* given: held by somebody; done: of them, submitted */
    enum item_state state;
    bool in_review; /* leased to a reviewer */
    int64_t skips;
};
/* Inside a write. ERR_NOT_FOUND when the sample is none of the task. */
bool item_load(struct op *op, int64_t task, int64_t sample, struct label_item *ret, struct err *err);
/* Writes it, and the task's counters with it. */
bool item_save(struct op *op, const struct label_item *old, const struct label_item *now, struct err *err);

/* --- assignments --- */

enum label_stage { STAGE_LABEL, STAGE_REVIEW };
extern const char *const stage_names[]; /* "label", "review" */
bool stage_of(struct str name, enum label_stage *ret);

enum assignment_state {
    ASSIGNMENT_LEASED,
    ASSIGNMENT_SUBMITTED,
    ASSIGNMENT_SKIPPED,
    ASSIGNMENT_ACCEPTED,
    ASSIGNMENT_REJECTED,
    ASSIGNMENT_RETURNED,
    ASSIGNMENT_STATES,
};
extern const char *const assignment_states[];

struct assignment {
    int64_t id, task, version, sample, seat, worker, until, begun, ended;
    int64_t rounds; /* how often it was rejected */
    int64_t layer;  /* 0: the work is the sample's own annotation */
    int64_t base;   /* revision of the sample when it was leased first */
    int64_t active; /* seconds */
    enum label_stage stage;
    enum assignment_state state;
    bool leased, holds, live; /* holds: its seat; live: counts against a second seat of the sample */
    struct str reason;        /* why it was skipped */
};
#define ASSIGNMENT_COLUMNS                                                                                   \
    "a.id, a.task, a.version, a.sample, a.seat, a.worker, a.until, a.begun, a.ended, a.rounds, a.layer, "    \
    "a.base, a.active, a.stage, a.state, a.leased, a.holds, a.live, a.reason"
struct assignment assignment_row(const struct db_row *row);
bool assignment_load(struct op *op, int64_t task, int64_t id, struct assignment *ret, struct err *err);
/* Inside a write: all but id, task, version, sample, seat, stage. */
bool assignment_save(struct op *op, const struct assignment *a, struct err *err);
/* The caller's own, that they hold: ERR_CONFLICT when the lease was lost or it is not theirs. */
bool assignment_held(struct op *op, int64_t task, int64_t id, enum label_stage stage, struct assignment *ret,
                     struct err *err);
/* {"items":[...],"left":n} of ids, or one; outside of writes. */
bool assignments_write(struct op *op, const struct object *task, const int64_t *ids, size_t n, int64_t left,
                       struct json_out *out, struct err *err);
bool assignment_write(struct op *op, const struct object *task, int64_t id, struct json_out *out,
                      struct err *err);

/* Ends a lease without work: the seat (or the review) is free again. What was rejected waits for its maker
 * again. */
bool lease_return(struct op *op, struct assignment *a, struct err *err);
/* Gives back at most so many leases that ended. */
bool lease_expire(struct op *op, int64_t most, int64_t *ret_n, struct err *err);

/* --- the task --- */

/* The row as it is now; ERR_CONFLICT unless its state is in `states` ("open paused"). */
bool label_task_now(struct op *op, const struct object *task, const char *states, struct object *ret,
                    struct err *err);
/* The version, and the set of its samples, inside a write. */
bool label_set_of(struct op *op, const struct object *task, struct object *ret_version,
                  struct sample_set *ret, struct err *err);
/* Of 0 to 1, the same for ever: a draw by task, sample and user. */
double label_draw(int64_t task, int64_t sample, int64_t user);
/* How many percent of what the user makes are reviewed. */
int64_t label_ratio(struct arena *a, const struct object *task, int64_t user);

/* Lists samples of the selection behind *at, as many as a write may; *ret_left false when that was all. */
struct fill {
    int64_t at; /* position, or number in the order of names; 0: from the first */
    struct str name;
    int64_t added;
    bool left;
};
bool fill_step(struct op *op, const struct object *task, struct fill *f, struct err *err);
bool selection_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err);
#define SELECTION_SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"states\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"  \
    "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"splits\":{\"type\":\"array\","        \
    "\"items\":{\"type\":\"string\"}},\"q\":{\"type\":\"string\"},\"share\":{\"type\":\"number\","           \
    "\"minimum\":0,\"maximum\":1},\"order\":{\"type\":\"string\",\"enum\":[\"position\",\"name\","           \
    "\"random\"]}}}"

/* --- figures per member and hour --- */

enum day_count { DAY_SUBMITTED, DAY_SKIPPED, DAY_ACCEPTED, DAY_REJECTED, DAY_ACTIVE, DAY_COUNTS };
struct day {
    int64_t task, version, worker;
    enum label_stage stage;
    int64_t n[DAY_COUNTS];
};
/* Adds to the figures of this hour; inside a write. */
bool day_add(struct op *op, const struct day *d, struct err *err);
#define HOUR_US     INT64_C(3600000000)
#define ACTIVE_MOST 7200 /* seconds that one call may report */

/* Hooks of the actions' table. */
typedef bool label_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err);
label_run run_open, run_pause, run_resume, run_close, run_cancel, run_hand, run_raise; /* course.c */
label_run run_next, run_heartbeat, run_release;                                        /* deal.c */
label_run run_submit, run_skip, run_reopen;                                            /* submit.c */
label_run run_decide;                                                                  /* review.c */
label_run run_progress, run_work, run_samples, run_bench; /* progress.c, work.c */

#endif
