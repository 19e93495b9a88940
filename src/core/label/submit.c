/* What people do with a sample that they hold: submit it, skip it, take it back. */
#include "core/growth.h"
#include "core/label/label_own.h"
#include "core/label/required.h"
#include "core/pending.h"

struct work {
    const struct object *task;
    int64_t assignment, active;
    bool nothing;
    struct str reason;
    struct object now, version;
};

static int64_t limited(int64_t seconds)
{
    return seconds > ACTIVE_MOST ? ACTIVE_MOST : seconds;
}

/* The annotation that the person made. */
static bool work_of(struct op *op, const struct sample_set *set, const struct assignment *a,
                    struct sample *ret_sample, struct str *ret, struct err *err)
{
    if (!sample_get(NULL, op->conn, op->arena, set->version, a->sample, ret_sample, err))
        return false;
    struct db_row row;
    bool found = false;
    if (a->layer && !conn_query_one(op->conn, op->arena,
                                    "SELECT annotation FROM layer_samples WHERE layer = ? AND sample = ?",
                                    db_args(db_int(a->layer), db_int(a->sample)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].s : a->layer ? STR("{}") : ret_sample->annotation;
    return true;
}

static bool complete(struct op *op, const struct work *w, struct str annotation, struct err *err)
{
    struct db_row row;
    bool found;
    if (w->nothing)
        return annotation_empty(annotation) ||
               err_message(err, ERR_CONFLICT, "nothing", MESSAGE_LABEL_SOMETHING);
    if (annotation_empty(annotation))
        return err_message(err, ERR_CONFLICT, "nothing", MESSAGE_LABEL_NOTHING);
    if (!object_int(&w->now, "require_attributes"))
        return true;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT l.labels FROM datasets d JOIN label_sets l ON l.id = d.label_set"
                        " WHERE d.id = ?",
                        db_args(db_int(w->version.parent)), &row, &found, err))
        return false;
    return !found || required_there(op->arena, row.v[0].s, annotation, err);
}

/* Mended work is looked at again, and so is all work of several seats. */
static bool drawn(struct op *op, const struct object *task, const struct assignment *a, int64_t seats)
{
    if (object_value(task, "review_team")->type == DB_NULL)
        return false;
    return seats > 1 || a->rounds > 0 ||
           label_draw(task->id, a->sample, a->worker) * 100 < (double)label_ratio(op->arena, task, a->worker);
}

static bool count_day(struct op *op, const struct object *task, const struct assignment *a,
                      enum day_count what, int64_t n, int64_t active, struct err *err)
{
    struct day d = {
        .task = task->id, .version = a->version, .worker = a->worker, .stage = STAGE_LABEL, .n = {0}};
    d.n[what] = n;
    d.n[DAY_ACTIVE] += active;
    return day_add(op, &d, err) &&
           (what != DAY_SUBMITTED || n <= 0 || growth_add(op->conn, GROWTH_LABELS, task->project, n, err));
}

/* A sample that became more than its annotation says: its state changes, and whoever looks at the version is
 * told. */
static bool set_state(struct op *op, const struct sample_set *set, int64_t sample, enum sample_state state,
                      struct err *err)
{
    struct sample after;
    return sample_change(op, set, &(struct sample_edit){.id = sample, .state = state, .person = true}, &after,
                         err);
}

static bool submit_write(struct op *op, void *ctx, struct err *err)
{
    struct work *w = ctx;
    struct sample_set set;
    struct assignment a;
    struct label_item old, item;
    struct sample sample;
    struct str annotation;
    if (!label_task_now(op, w->task, "open paused", &w->now, err) ||
        !label_set_of(op, &w->now, &w->version, &set, err) ||
        !assignment_held(op, w->task->id, w->assignment, STAGE_LABEL, &a, err) ||
        !item_load(op, w->task->id, a.sample, &old, err) ||
        !work_of(op, &set, &a, &sample, &annotation, err) || !complete(op, w, annotation, err))
        return false;
    item = old;
    item.done++;
    a.state = ASSIGNMENT_SUBMITTED;
    a.leased = false;
    a.ended = clock_now();
    a.active += w->active;
    if (item.done == item.seats) {
        bool review = drawn(op, &w->now, &a, item.seats);
        item.state = review ? ITEM_REVIEWING : ITEM_LABELLED;
        if ((!set.published || item.seats == 1) &&
            !set_state(op, &set, a.sample, review ? SAMPLE_REVIEW : SAMPLE_ANNOTATED, err))
            return false;
    }
    return assignment_save(op, &a, err) && item_save(op, &old, &item, err) &&
           count_day(op, &w->now, &a, DAY_SUBMITTED, 1, w->active, err);
}

static bool answer(struct op *op, const struct work *w, bool told, struct json_out *out, struct err *err)
{
    if (told)
        pending_tell_one(op->core, &w->version, "samples");
    return assignment_write(op, &w->now, w->assignment, out, err);
}

/* Submitting again what one submitted already is no error: an answer may have been lost. */
static bool already(struct op *op, const struct work *w, bool *ret, struct err *err)
{
    struct assignment a;
    if (!assignment_load(op, w->task->id, w->assignment, &a, err))
        return false;
    *ret = a.worker == op->caller->user && a.stage == STAGE_LABEL && a.state == ASSIGNMENT_SUBMITTED;
    return true;
}

bool run_submit(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    (void)status;
    struct work w = {.task = o,
                     .assignment = input[0].i,
                     .nothing = input[1].i != 0,
                     .active = limited(input[2].i),
                     .now = *o};
    bool there;
    if (!already(op, &w, &there, err))
        return false;
    if (there)
        return answer(op, &w, false, out, err);
    return engine_write(op->core, op->caller, op->arena, submit_write, &w, err) &&
           answer(op, &w, true, out, err);
}

/* --- skip --- */

/* The seat is free for others; this person does not get the sample again. */
static bool skip_write(struct op *op, void *ctx, struct err *err)
{
    struct work *w = ctx;
    struct assignment a;
    struct label_item old, item;
    if (!label_task_now(op, w->task, "open paused", &w->now, err) ||
        !assignment_held(op, w->task->id, w->assignment, STAGE_LABEL, &a, err) ||
        !item_load(op, w->task->id, a.sample, &old, err))
        return false;
    item = old;
    item.given--;
    item.skips++;
    item.state = ITEM_WAITING; /* what was rejected is for somebody else now */
    a.state = ASSIGNMENT_SKIPPED;
    a.leased = a.holds = false;
    a.ended = clock_now();
    a.active += w->active;
    a.reason = w->reason;
    return assignment_save(op, &a, err) && item_save(op, &old, &item, err) &&
           count_day(op, &w->now, &a, DAY_SKIPPED, 1, w->active, err);
}

bool run_skip(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
              int *status, struct err *err)
{
    (void)status;
    struct work w = {
        .task = o, .assignment = input[0].i, .reason = input[1].s, .active = limited(input[2].i)};
    return engine_write(op->core, op->caller, op->arena, skip_write, &w, err) &&
           answer(op, &w, false, out, err);
}

/* --- reopen --- */

static bool may_reopen(struct op *op, const struct assignment *a, const struct label_item *item,
                       struct err *err)
{
    if (a->worker != op->caller->user || a->stage != STAGE_LABEL)
        return err_message(err, ERR_CONFLICT, "assignment", MESSAGE_LABEL_NOT_YOURS, (long long)a->id);
    return (a->state == ASSIGNMENT_SUBMITTED && !item->in_review && item->state != ITEM_ACCEPTED) ||
           err_message(err, ERR_CONFLICT, "assignment", MESSAGE_LABEL_REVIEWED);
}

static bool free_of_leases(struct op *op, const struct assignment *a, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT 1 FROM label_assignments WHERE sample = ? AND stage = 0 AND seat = ?"
                        " AND leased = 1",
                        db_args(db_int(a->sample), db_int(a->seat)), &row, &found, err))
        return false;
    return !found || err_message(err, ERR_CONFLICT, "assignment", MESSAGE_LABEL_ELSEWHERE);
}

static bool reopen_write(struct op *op, void *ctx, struct err *err)
{
    struct work *w = ctx;
    struct sample_set set;
    struct assignment a;
    struct label_item old, item;
    struct sample s;
    if (!label_task_now(op, w->task, "open paused", &w->now, err) ||
        !label_set_of(op, &w->now, &w->version, &set, err) ||
        !assignment_load(op, w->task->id, w->assignment, &a, err) ||
        !item_load(op, w->task->id, a.sample, &old, err) || !may_reopen(op, &a, &old, err) ||
        !free_of_leases(op, &a, err) ||
        !sample_get(NULL, op->conn, op->arena, set.version, a.sample, &s, err))
        return false;
    item = old;
    item.done--;
    item.state = a.rounds > 0 ? ITEM_REJECTED : ITEM_WAITING;
    a.state = ASSIGNMENT_LEASED;
    a.leased = true;
    a.until = clock_now() + object_int(&w->now, "lease") * 1000000;
    enum sample_state state = a.rounds > 0                     ? SAMPLE_REJECTED
                              : annotation_empty(s.annotation) ? SAMPLE_UNANNOTATED
                                                               : SAMPLE_ANNOTATED;
    return (set.published || set_state(op, &set, a.sample, state, err)) && assignment_save(op, &a, err) &&
           item_save(op, &old, &item, err) && count_day(op, &w->now, &a, DAY_SUBMITTED, -1, 0, err);
}

bool run_reopen(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    (void)status;
    struct work w = {.task = o, .assignment = input[0].i};
    return engine_write(op->core, op->caller, op->arena, reopen_write, &w, err) &&
           answer(op, &w, true, out, err);
}
