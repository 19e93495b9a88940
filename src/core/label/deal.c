/* Giving out work: leases, their extension, their end. */
#include "core/controllers.h"
#include "core/data/room.h"
#include "core/label/label_own.h"
#include "core/label/lease.h"
#include "core/pending.h"

#define EXPIRE_AT_ONCE 200 /* of one write */

/* --- the end of a lease --- */

static bool return_review(struct op *op, struct assignment *a, struct err *err)
{
    struct label_item old, now;
    if (!item_load(op, a->task, a->sample, &old, err))
        return false;
    now = old;
    now.in_review = false;
    a->state = ASSIGNMENT_RETURNED;
    a->leased = a->holds = a->live = false;
    a->ended = clock_now();
    return assignment_save(op, a, err) && item_save(op, &old, &now, err);
}

bool lease_return(struct op *op, struct assignment *a, struct err *err)
{
    struct label_item old, now;
    pending_note(op->pending,
                 &(struct room_note){
                     .sample = a->sample, .layer = a->layer, .version = a->version, .leaves = a->worker});
    if (a->stage == STAGE_REVIEW)
        return return_review(op, a, err);
    a->leased = false;
    if (a->rounds > 0) { /* it is theirs to mend */
        a->state = ASSIGNMENT_REJECTED;
        return assignment_save(op, a, err);
    }
    if (!item_load(op, a->task, a->sample, &old, err))
        return false;
    now = old;
    now.given--;
    a->state = ASSIGNMENT_RETURNED;
    a->holds = a->live = false;
    a->ended = clock_now();
    return assignment_save(op, a, err) && item_save(op, &old, &now, err);
}

bool lease_expire(struct op *op, int64_t most, int64_t *ret_n, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    "SELECT " ASSIGNMENT_COLUMNS
                    " FROM label_assignments a WHERE a.leased = 1 AND a.until < ?"
                    " ORDER BY a.until LIMIT ?",
                    db_args(db_int(clock_now()), db_int(most)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct assignment a = assignment_row(&rows.row[i]);
        if (!lease_return(op, &a, err))
            return false;
    }
    *ret_n = (int64_t)rows.n;
    return true;
}

static bool expire_write(struct op *op, void *ctx, struct err *err)
{
    return lease_expire(op, EXPIRE_AT_ONCE, ctx, err);
}

static bool expire_tick(struct core *core, struct err *err)
{
    struct db_row row;
    int64_t n;
    do {
        auto_arena struct arena a;
        arena_init(&a);
        bool found;
        /* Most runs find nothing, and then write nothing. */
        if (!db_query_one(core->db, &a,
                          "SELECT 1 FROM label_assignments WHERE leased = 1 AND until < ? LIMIT 1",
                          db_args(db_int(clock_now())), &row, &found, err))
            return false;
        if (!found)
            return true;
        if (!engine_write(core, &caller_system, &a, expire_write, &n, err))
            return false;
    } while (n == EXPIRE_AT_ONCE && !controller_ending(core));
    return true;
}

const struct controller controller_label_leases = {
    .name = "label-leases",
    .title = {"Gives back samples that nobody works on any more", "收回无人处理的标注样本"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 10,
    .every_s = 10,
    .tick = expire_tick,
};

/* --- giving out --- */

struct deal {
    const struct object *task;
    struct object now;
    struct object version; /* of several seats: what their layers lie over */
    enum label_stage stage;
    int64_t sample; /* only this one; 0: the next */
    int64_t *ids;
    size_t n, most;
    int64_t until;
};

static bool in_team(struct op *op, const struct deal *d, struct err *err)
{
    bool found;
    const char *field = d->stage == STAGE_REVIEW ? "review_team" : "labelling_team";
    if (!team_has(op, object_int(&d->now, field), op->caller->user, &found, err))
        return false;
    return found || err_message(err, ERR_FORBIDDEN, NULL, MESSAGE_LABEL_NOT_IN_TEAM);
}

/* What the caller holds already goes on. */
static bool take_held(struct op *op, struct deal *d, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    "UPDATE label_assignments SET until = ? WHERE task = ? AND worker = ? AND stage = ?"
                    " AND state = ? AND leased = 1 RETURNING id, sample",
                    db_args(db_int(d->until), db_int(d->task->id), db_int(op->caller->user), db_int(d->stage),
                            db_int(ASSIGNMENT_LEASED)),
                    &rows, err))
        return false;
    if (d->sample) /* one that is asked for may come on top, up to a second batch */
        d->most = rows.n < 2 * d->most ? 1 : 0;
    for (size_t i = 0; i < rows.n && (d->sample || d->n < d->most); i++)
        if (!d->sample || d->sample == rows.row[i].v[1].i)
            d->ids[d->n++] = rows.row[i].v[0].i;
    return true;
}

/* What was rejected comes back first, unless another task has it just now. */
static bool take_rejected(struct op *op, struct deal *d, struct err *err)
{
    struct db_rows rows;
    if (d->stage != STAGE_LABEL || d->n >= d->most)
        return true;
    if (!conn_query(
            op->conn, op->arena,
            "UPDATE label_assignments SET leased = 1, state = 0, until = ? WHERE id IN"
            " (SELECT a.id FROM label_assignments a WHERE a.task = ? AND a.worker = ? AND a.stage = 0"
            " AND a.state = ? AND a.holds = 1 AND (a.sample = ? OR CAST(? AS BIGINT) = 0) AND NOT EXISTS"
            " (SELECT 1 FROM label_assignments o WHERE o.sample = a.sample AND o.leased = 1"
            " AND o.stage = 0 AND o.seat = a.seat) ORDER BY a.ended LIMIT ?) RETURNING id",
            db_args(db_int(d->until), db_int(d->task->id), db_int(op->caller->user),
                    db_int(ASSIGNMENT_REJECTED), db_int(d->sample), db_int(d->sample),
                    db_int((int64_t)(d->most - d->n))),
            &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        d->ids[d->n++] = rows.row[i].v[0].i;
    return true;
}

/* The lowest seat that nobody holds. */
static bool free_seat(struct op *op, int64_t task, int64_t sample, int64_t seats, int64_t *ret,
                      struct err *err)
{
    struct db_rows rows;
    *ret = 1;
    if (seats == 1)
        return true;
    if (!conn_query(op->conn, op->arena,
                    "SELECT seat FROM label_assignments WHERE task = ? AND sample = ? AND stage = 0"
                    " AND holds = 1 ORDER BY seat",
                    db_args(db_int(task), db_int(sample)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && rows.row[i].v[0].i == *ret; i++)
        (*ret)++;
    return true;
}

static bool lease(struct op *op, struct deal *d, int64_t sample, int64_t revision, struct err *err)
{
    struct label_item old, now;
    int64_t seat = 0, layer = 0, id, at = clock_now();
    if (!item_load(op, d->task->id, sample, &old, err) ||
        (d->stage == STAGE_LABEL && !free_seat(op, d->task->id, sample, old.seats, &seat, err)) ||
        (seat && old.seats > 1 && !lease_layer(op, &d->version, d->task->id, seat, &layer, err)))
        return false;
    now = old;
    if (d->stage == STAGE_LABEL)
        now.given++;
    else
        now.in_review = true;
    if (!conn_insert(op->conn,
                     "INSERT INTO label_assignments (task, version, sample, seat, stage, worker, state,"
                     " leased, holds, live, lease_s, until, begun, ended, rounds, layer, base, active)"
                     " VALUES (?, ?, ?, ?, ?, ?, 0, 1, 1, 1, ?, ?, ?, 0, 0, ?, ?, 0)",
                     db_args(db_int(d->task->id), db_int(object_int(&d->now, "version")), db_int(sample),
                             db_int(seat), db_int(d->stage), db_int(op->caller->user),
                             db_int(object_int(&d->now, "lease")), db_int(d->until), db_int(at),
                             db_int(layer), db_int(revision)),
                     &id, err))
        return false;
    d->ids[d->n++] = id;
    return item_save(op, &old, &now, err);
}

/* Free rows behind `after` in the task's order that the caller may have: not what another task has leased,
 * not what they had a seat of already, and no review of their own work. */
static bool find_free(struct op *op, const struct deal *d, int64_t after, struct db_rows *ret,
                      struct err *err)
{
    bool review = d->stage == STAGE_REVIEW;
    return conn_query(
        op->conn, op->arena,
        "SELECT i.sample, i.place, s.revision FROM label_items i JOIN samples s ON s.id = i.sample"
        " WHERE i.task = ? AND i.free = ? AND i.free > 0 AND i.place > ? AND (i.sample = ? OR CAST(? AS "
        "BIGINT) = 0)"
        " AND s.state <> ? AND NOT EXISTS (SELECT 1 FROM label_assignments a WHERE a.sample = i.sample"
        " AND ((a.worker = ? AND a.stage = 0 AND a.live = 1) OR (a.leased = 1 AND a.task <> ?)))"
        " ORDER BY i.place LIMIT ?",
        db_args(db_int(d->task->id), db_int(review ? 2 : 1), db_int(after), db_int(d->sample),
                db_int(d->sample), db_int(SAMPLE_CLEANED), db_int(op->caller->user), db_int(d->task->id),
                db_int((int64_t)(d->most - d->n))),
        ret, err);
}

static bool take_from(struct op *op, struct deal *d, int64_t after, int64_t *ret_last, struct err *err)
{
    struct db_rows rows;
    if (!find_free(op, d, after, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        if (!lease(op, d, rows.row[i].v[0].i, rows.row[i].v[2].i, err))
            return false;
        *ret_last = rows.row[i].v[1].i;
    }
    return true;
}

/* With several seats a person's own finished samples stay free for others: each person goes on where they
 * were, and looks from the beginning only when nothing is left behind that. */
static bool take_new(struct op *op, struct deal *d, struct err *err)
{
    bool remember = d->stage == STAGE_LABEL && object_int(&d->now, "seats") > 1 && !d->sample, found;
    struct db_row row;
    int64_t from = 0, last = -1;
    if (d->n >= d->most)
        return true;
    if (remember) {
        if (!conn_query_one(op->conn, op->arena,
                            "SELECT place FROM label_cursors WHERE task = ? AND worker = ?",
                            db_args(db_int(d->task->id), db_int(op->caller->user)), &row, &found, err))
            return false;
        from = found ? row.v[0].i : 0;
    }
    if (!take_from(op, d, from, &last, err) || (from && d->n < d->most && !take_from(op, d, 0, &last, err)))
        return false;
    return !remember || last < 0 ||
           conn_exec(op->conn,
                     "INSERT INTO label_cursors (task, worker, place) VALUES (?, ?, ?)"
                     " ON CONFLICT (task, worker) DO UPDATE SET place = excluded.place",
                     db_args(db_int(d->task->id), db_int(op->caller->user), db_int(last)), NULL, err);
}

static bool deal_write(struct op *op, void *ctx, struct err *err)
{
    struct deal *d = ctx;
    struct sample_set set;
    int64_t ended;
    d->n = 0;
    d->most = (size_t)object_int(d->task, "batch_size"); /* take_held lowers it */
    if (!label_task_now(op, d->task, "open", &d->now, err) || !in_team(op, d, err) ||
        !label_set_of(op, &d->now, &d->version, &set, err) || !lease_expire(op, EXPIRE_AT_ONCE, &ended, err))
        return false;
    d->until = clock_now() + object_int(&d->now, "lease") * 1000000;
    return take_held(op, d, err) && take_rejected(op, d, err) && take_new(op, d, err);
}

/* Of 1 to 500 in the table of fields. */
#define BATCH_MOST 500

bool run_next(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
              int *status, struct err *err)
{
    (void)status;
    struct deal d = {.task = o, .sample = input[1].i, .ids = arena_array(op->arena, int64_t, BATCH_MOST + 1)};
    (void)stage_of(input[0].s, &d.stage);
    const char *needs = d.stage == STAGE_REVIEW ? "review.update" : "annotation.update";
    if (!caller_need(op->caller, needs, o->project, err) ||
        !engine_write(op->core, op->caller, op->arena, deal_write, &d, err))
        return false;
    int64_t left = d.stage == STAGE_REVIEW ? object_int(&d.now, "reviewing")
                                           : object_int(&d.now, "samples") - object_int(&d.now, "labelled");
    return assignments_write(op, &d.now, d.ids, d.n, left, out, err);
}

/* --- heartbeat and release --- */

struct beat {
    const struct object *task;
    const int64_t *ids;
    size_t n;
    int64_t active, until;
    bool release;
};

static bool read_ids(struct op *op, const struct db_value *v, const int64_t **ret, size_t *ret_n,
                     struct err *err)
{
    yyjson_val *list = json_parse(op->arena, v->s, err), *id;
    size_t i, n;
    if (!list)
        return false;
    if (!yyjson_is_arr(list) || !yyjson_arr_size(list) || yyjson_arr_size(list) > BATCH_MOST)
        return err_set(err, ERR_INVALID, "assignments", "assignments: a list of 1 to %d ids", BATCH_MOST);
    int64_t *ids = arena_array(op->arena, int64_t, yyjson_arr_size(list));
    yyjson_arr_foreach(list, i, n, id)
    {
        if (!yyjson_is_int(id))
            return err_set(err, ERR_INVALID, "assignments", "assignments: each must be a whole number");
        ids[i] = yyjson_get_sint(id);
    }
    *ret = ids;
    *ret_n = yyjson_arr_size(list);
    return true;
}

/* Those of them that the caller still holds; the rest is lost, which the answer of `next` shows. */
static bool beat_write(struct op *op, void *ctx, struct err *err)
{
    struct beat *b = ctx;
    struct object now;
    enum label_stage stage = STAGE_LABEL;
    if (!label_task_now(op, b->task, "open paused", &now, err))
        return false;
    b->until = clock_now() + object_int(&now, "lease") * 1000000;
    for (size_t i = 0; i < b->n; i++) {
        struct assignment a;
        if (!assignment_load(op, b->task->id, b->ids[i], &a, err))
            return false;
        if (a.worker != op->caller->user || !a.leased)
            continue;
        stage = a.stage;
        a.until = b->until;
        if (b->release ? !lease_return(op, &a, err) : !assignment_save(op, &a, err))
            return false;
    }
    struct day d = {.task = now.id,
                    .version = object_int(&now, "version"),
                    .worker = op->caller->user,
                    .stage = stage,
                    .n = {[DAY_ACTIVE] = b->active}};
    return !b->active || day_add(op, &d, err);
}

bool run_heartbeat(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                   int *status, struct err *err)
{
    (void)status;
    struct beat b = {.task = o, .active = input[1].i};
    char at[CLOCK_TEXT_MAX];
    if (!read_ids(op, &input[0], &b.ids, &b.n, err) ||
        !engine_write(op->core, op->caller, op->arena, beat_write, &b, err))
        return false;
    json_object(out);
    json_kz(out, "until", clock_format(b.until, at));
    json_object_end(out);
    return true;
}

bool run_release(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)out;
    (void)status;
    struct beat b = {.task = o, .release = true};
    return read_ids(op, &input[0], &b.ids, &b.n, err) &&
           engine_write(op->core, op->caller, op->arena, beat_write, &b, err);
}
