/* Reviewers' decisions. */
#include "core/label/label_own.h"
#include "core/pending.h"

#define SHAPES_MOST 1000

struct decision {
    const struct object *task;
    int64_t assignment, active;
    bool accept;
    struct str reason, shapes;
    struct object now, version;
};

/* [{"id","reason"}], as JSON text of its own: nothing else of what the client sent is kept. */
static bool read_shapes(struct op *op, const struct db_value *v, struct str *ret, struct err *err)
{
    yyjson_val *list = v->type == DB_TEXT ? json_parse(op->arena, v->s, err) : NULL, *one;
    size_t i, n;
    struct buf text = {0};
    struct json_out out;
    *ret = STR("[]");
    if (v->type != DB_TEXT)
        return true;
    if (!list)
        return false;
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) > SHAPES_MOST)
        return err_message(err, ERR_INVALID, "shapes", MESSAGE_LABEL_SHAPES, SHAPES_MOST);
    json_begin(&out, &text);
    json_array(&out);
    bool ok = true;
    yyjson_arr_foreach(list, i, n, one)
    {
        struct str id = json_str(yyjson_obj_get(one, "id")), why = json_str(yyjson_obj_get(one, "reason"));
        ok = ok && id.n && id.n <= 100 && why.n <= 1000;
        json_object(&out);
        json_kstr(&out, "id", id);
        json_kstr(&out, "reason", why);
        json_object_end(&out);
    }
    json_array_end(&out);
    *ret = arena_str(op->arena, buf_view(&text));
    buf_release(&text);
    return ok || err_message(err, ERR_INVALID, "shapes", MESSAGE_LABEL_SHAPES, SHAPES_MOST);
}

/* Whoever labelled the sample hears of it: their assignments, and their figures. */
static bool tell_annotators(struct op *op, const struct decision *d, int64_t sample, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    "SELECT " ASSIGNMENT_COLUMNS " FROM label_assignments a WHERE a.task = ? AND a.sample = ?"
                    " AND a.stage = 0 AND a.holds = 1",
                    db_args(db_int(d->task->id), db_int(sample)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct assignment a = assignment_row(&rows.row[i]);
        struct day day = {.task = a.task, .version = a.version, .worker = a.worker, .stage = STAGE_LABEL};
        day.n[d->accept ? DAY_ACCEPTED : DAY_REJECTED] = 1;
        a.state = d->accept ? ASSIGNMENT_ACCEPTED : ASSIGNMENT_REJECTED;
        a.rounds += !d->accept;
        if (!assignment_save(op, &a, err) || !day_add(op, &day, err))
            return false;
    }
    return true;
}

static bool keep_decision(struct op *op, const struct decision *d, struct assignment *a, struct err *err)
{
    struct day day = {.task = a->task,
                      .version = a->version,
                      .worker = a->worker,
                      .stage = STAGE_REVIEW,
                      .n = {[DAY_SUBMITTED] = 1, [DAY_ACTIVE] = d->active}};
    day.n[d->accept ? DAY_ACCEPTED : DAY_REJECTED] = 1;
    a->state = d->accept ? ASSIGNMENT_ACCEPTED : ASSIGNMENT_REJECTED;
    a->leased = a->holds = false;
    a->ended = clock_now();
    a->active += d->active;
    return assignment_save(op, a, err) && day_add(op, &day, err) &&
           conn_exec(op->conn,
                     "INSERT INTO label_decisions (task, version, sample, by_user, at, accepted, reason,"
                     " shapes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                     db_args(db_int(a->task), db_int(a->version), db_int(a->sample), db_int(a->worker),
                             db_int(a->ended), db_int(d->accept),
                             d->reason.n ? db_text(d->reason) : db_null(), db_text(d->shapes)),
                     NULL, err);
}

static bool decide_write(struct op *op, void *ctx, struct err *err)
{
    struct decision *d = ctx;
    struct sample_set set;
    struct assignment a;
    struct label_item old, item;
    struct sample after;
    if (!label_task_now(op, d->task, "open paused", &d->now, err) ||
        !label_set_of(op, &d->now, &d->version, &set, err) ||
        !assignment_held(op, d->task->id, d->assignment, STAGE_REVIEW, &a, err) ||
        !item_load(op, d->task->id, a.sample, &old, err))
        return false;
    item = old;
    item.in_review = false;
    item.state = d->accept ? ITEM_ACCEPTED : ITEM_REJECTED;
    if (!d->accept)
        item.done = 0;
    struct sample_edit edit = {
        .id = a.sample, .state = d->accept ? SAMPLE_ACCEPTED : SAMPLE_REJECTED, .person = true};
    return (set.published || sample_change(op, &set, &edit, &after, err)) && keep_decision(op, d, &a, err) &&
           tell_annotators(op, d, a.sample, err) && item_save(op, &old, &item, err);
}

bool run_decide(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    (void)status;
    struct decision d = {.task = o,
                         .assignment = input[0].i,
                         .accept = str_is(input[1].s, "accept"),
                         .reason = input[2].type == DB_TEXT ? input[2].s : STR_NULL,
                         .active = input[4].i > ACTIVE_MOST ? ACTIVE_MOST : input[4].i};
    if (!read_shapes(op, &input[3], &d.shapes, err))
        return false;
    if (!d.accept && !d.reason.n && str_is(d.shapes, "[]"))
        return err_message(err, ERR_INVALID, "reason", MESSAGE_LABEL_REASON);
    if (!engine_write(op->core, op->caller, op->arena, decide_write, &d, err))
        return false;
    pending_tell_one(op->core, &d.version, "samples");
    return assignment_write(op, &d.now, d.assignment, out, err);
}
