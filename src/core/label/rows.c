/* The tables of labelling tasks, and their rows. */
#include "base/hash.h"
#include "core/data/publish_review.h"
#include "core/label/label_own.h"

#include <stdio.h>

const char label_sql[] =
    "CREATE TABLE label_items (task BIGINT NOT NULL, sample BIGINT NOT NULL, place BIGINT NOT NULL,"
    " seats BIGINT NOT NULL, given BIGINT NOT NULL, done BIGINT NOT NULL, state BIGINT NOT NULL,"
    " in_review BIGINT NOT NULL, skips BIGINT NOT NULL, free BIGINT NOT NULL, PRIMARY KEY (task, sample));\n"
    /* free: 1 a seat waits to be given, 2 a review does, 0 neither. */
    "CREATE INDEX label_items_free ON label_items (task, free, place) WHERE free > 0;\n"
    "CREATE TABLE label_assignments (id {id}, task BIGINT NOT NULL, version BIGINT NOT NULL,"
    " sample BIGINT NOT NULL, seat BIGINT NOT NULL, stage BIGINT NOT NULL, worker BIGINT NOT NULL,"
    " state BIGINT NOT NULL, leased BIGINT NOT NULL, holds BIGINT NOT NULL, live BIGINT NOT NULL,"
    " lease_s BIGINT NOT NULL, until BIGINT NOT NULL, begun BIGINT NOT NULL, ended BIGINT NOT NULL,"
    " rounds BIGINT NOT NULL, layer BIGINT NOT NULL, base BIGINT NOT NULL, active BIGINT NOT NULL,"
    " reason {text});\n"
    "CREATE UNIQUE INDEX label_assignments_lease ON label_assignments (sample, stage, seat)"
    " WHERE leased = 1;\n"
    "CREATE UNIQUE INDEX label_assignments_once ON label_assignments (sample, worker)"
    " WHERE live = 1 AND stage = 0;\n"
    "CREATE UNIQUE INDEX label_assignments_seat ON label_assignments (task, sample, stage, seat)"
    " WHERE holds = 1;\n"
    "CREATE INDEX label_assignments_sample ON label_assignments (sample);\n"
    "CREATE INDEX label_assignments_task ON label_assignments (task, id);\n"
    "CREATE INDEX label_assignments_worker ON label_assignments (task, worker, stage, state);\n"
    "CREATE INDEX label_assignments_due ON label_assignments (until) WHERE leased = 1;\n"
    "CREATE TABLE label_cursors (task BIGINT NOT NULL, worker BIGINT NOT NULL, place BIGINT NOT NULL,"
    " PRIMARY KEY (task, worker));\n"
    "CREATE TABLE label_decisions (id {id}, task BIGINT NOT NULL, version BIGINT NOT NULL,"
    " sample BIGINT NOT NULL, by_user BIGINT NOT NULL, at BIGINT NOT NULL, accepted BIGINT NOT NULL,"
    " reason {text}, shapes {text} NOT NULL);\n"
    "CREATE INDEX label_decisions_sample ON label_decisions (task, sample);\n"
    "CREATE TABLE label_notes (id {id}, task BIGINT NOT NULL, version BIGINT NOT NULL,"
    " sample BIGINT NOT NULL, by_user BIGINT NOT NULL, at BIGINT NOT NULL, text {text} NOT NULL,"
    " shape {text}, x DOUBLE PRECISION, y DOUBLE PRECISION, done_by BIGINT, done_at BIGINT);\n"
    "CREATE INDEX label_notes_sample ON label_notes (task, sample);\n"
    "CREATE TABLE label_hours (task BIGINT NOT NULL, version BIGINT NOT NULL, worker BIGINT NOT NULL,"
    " stage BIGINT NOT NULL, hour BIGINT NOT NULL, submitted BIGINT NOT NULL, skipped BIGINT NOT NULL,"
    " accepted BIGINT NOT NULL, rejected BIGINT NOT NULL, active BIGINT NOT NULL,"
    " PRIMARY KEY (task, worker, stage, hour));\n"
    "CREATE INDEX label_hours_version ON label_hours (version);\n"
    "CREATE TABLE label_purges (task BIGINT PRIMARY KEY);\n" PUBLISH_REVIEW_SQL;

const char *const stage_names[] = {"label", "review"};
const char *const assignment_states[] = {"leased",   "submitted", "skipped",
                                         "accepted", "rejected",  "returned"};

bool stage_of(struct str name, enum label_stage *ret)
{
    for (int i = 0; i < (int)countof(stage_names); i++)
        if (str_is(name, stage_names[i])) {
            *ret = (enum label_stage)i;
            return true;
        }
    return false;
}

bool label_query(struct op *op, const char *sql, struct db_args args, struct db_rows *ret, struct err *err)
{
    return op->conn ? conn_query(op->conn, op->arena, sql, args, ret, err)
                    : db_query(op->core->db, op->arena, sql, args, ret, err);
}

bool label_query_one(struct op *op, const char *sql, struct db_args args, struct db_row *ret, bool *found,
                     struct err *err)
{
    return op->conn ? conn_query_one(op->conn, op->arena, sql, args, ret, found, err)
                    : db_query_one(op->core->db, op->arena, sql, args, ret, found, err);
}

/* --- items --- */

bool item_load(struct op *op, int64_t task, int64_t sample, struct label_item *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!label_query_one(op,
                         "SELECT place, seats, given, done, state, in_review, skips FROM label_items"
                         " WHERE task = ? AND sample = ?",
                         db_args(db_int(task), db_int(sample)), &row, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, "sample", MESSAGE_LABEL_NO_SAMPLE, (long long)sample);
    *ret = (struct label_item){.task = task,
                               .sample = sample,
                               .place = row.v[0].i,
                               .seats = row.v[1].i,
                               .given = row.v[2].i,
                               .done = row.v[3].i,
                               .state = (enum item_state)row.v[4].i,
                               .in_review = row.v[5].i != 0,
                               .skips = row.v[6].i};
    return true;
}

/* What an item adds to the task's counters. `labelled` is all that was submitted and does not wait to be
 * mended. */
enum { COUNT_LABELLED, COUNT_REVIEWING, COUNT_ACCEPTED, COUNT_REJECTED, COUNT_SKIPPED, ITEM_COUNTS };
static const char *const counters[] = {"labelled", "reviewing", "accepted", "rejected", "skipped"};
static const int8_t adds[][ITEM_COUNTS] = {
    [ITEM_WAITING] = {0},
    [ITEM_LABELLED] = {[COUNT_LABELLED] = 1},
    [ITEM_REVIEWING] = {[COUNT_LABELLED] = 1, [COUNT_REVIEWING] = 1},
    [ITEM_ACCEPTED] = {[COUNT_LABELLED] = 1, [COUNT_ACCEPTED] = 1},
    [ITEM_REJECTED] = {[COUNT_REJECTED] = 1},
};

static int count_of(const struct label_item *i, int counter)
{
    if (counter == COUNT_SKIPPED)
        return i->state == ITEM_WAITING && i->skips > 0;
    return adds[i->state][counter];
}

static int free_of(const struct label_item *i)
{
    if (i->state == ITEM_REVIEWING)
        return i->in_review ? 0 : 2;
    return i->given < i->seats ? 1 : 0;
}

bool item_save(struct op *op, const struct label_item *old, const struct label_item *now, struct err *err)
{
    struct engine_status status[ITEM_COUNTS];
    size_t n = 0;
    for (int i = 0; i < ITEM_COUNTS; i++)
        if (count_of(now, i) != count_of(old, i))
            status[n++] = status_add(counters[i], count_of(now, i) - count_of(old, i));
    return conn_exec(op->conn,
                     "UPDATE label_items SET given = ?, done = ?, state = ?, in_review = ?, skips = ?,"
                     " free = ? WHERE task = ? AND sample = ?",
                     db_args(db_int(now->given), db_int(now->done), db_int(now->state),
                             db_int(now->in_review), db_int(now->skips), db_int(free_of(now)),
                             db_int(now->task), db_int(now->sample)),
                     NULL, err) &&
           (!n ||
            engine_set_status(op, &kind_label_task, now->task, (struct engine_statuses){status, n}, err));
}

/* --- assignments --- */

struct assignment assignment_row(const struct db_row *row)
{
    const struct db_value *v = row->v;
    return (struct assignment){.id = v[0].i,
                               .task = v[1].i,
                               .version = v[2].i,
                               .sample = v[3].i,
                               .seat = v[4].i,
                               .worker = v[5].i,
                               .until = v[6].i,
                               .begun = v[7].i,
                               .ended = v[8].i,
                               .rounds = v[9].i,
                               .layer = v[10].i,
                               .base = v[11].i,
                               .active = v[12].i,
                               .stage = (enum label_stage)v[13].i,
                               .state = (enum assignment_state)v[14].i,
                               .leased = v[15].i != 0,
                               .holds = v[16].i != 0,
                               .live = v[17].i != 0,
                               .reason = v[18].type == DB_TEXT ? v[18].s : STR_NULL};
}

bool assignment_load(struct op *op, int64_t task, int64_t id, struct assignment *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!label_query_one(
            op, "SELECT " ASSIGNMENT_COLUMNS " FROM label_assignments a WHERE a.id = ? AND a.task = ?",
            db_args(db_int(id), db_int(task)), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "assignment", "assignment: the task has no %lld", (long long)id);
    *ret = assignment_row(&row);
    return true;
}

bool assignment_save(struct op *op, const struct assignment *a, struct err *err)
{
    return conn_exec(op->conn,
                     "UPDATE label_assignments SET worker = ?, state = ?, leased = ?, holds = ?, live = ?,"
                     " until = ?, ended = ?, rounds = ?, layer = ?, active = ?, reason = ? WHERE id = ?",
                     db_args(db_int(a->worker), db_int(a->state), db_int(a->leased), db_int(a->holds),
                             db_int(a->live), db_int(a->until), db_int(a->ended), db_int(a->rounds),
                             db_int(a->layer), db_int(a->active),
                             a->reason.p ? db_text(a->reason) : db_null(), db_int(a->id)),
                     NULL, err);
}

bool assignment_held(struct op *op, int64_t task, int64_t id, enum label_stage stage, struct assignment *ret,
                     struct err *err)
{
    struct assignment a;
    if (!assignment_load(op, task, id, &a, err))
        return false;
    if (a.worker != op->caller->user || a.stage != stage)
        return err_message(err, ERR_CONFLICT, "assignment", MESSAGE_LABEL_NOT_YOURS, (long long)id);
    if (!a.leased)
        return err_message(err, ERR_CONFLICT, "assignment", MESSAGE_LABEL_LEASE_LOST, (long long)id);
    *ret = a;
    return true;
}

/* --- the task --- */

bool label_task_now(struct op *op, const struct object *task, const char *states, struct object *ret,
                    struct err *err)
{
    bool found;
    if (!engine_load_row(op, &kind_label_task, task->id, ret, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the task was deleted meanwhile");
    for (struct str rest = str_of(states); rest.n;)
        if (str_eq(str_cut(rest, ' ', &rest), object_text(ret, "state")))
            return true;
    return err_message(err, ERR_CONFLICT, "state", MESSAGE_LABEL_TASK_STATE,
                       STR_ARG(object_text(ret, "state")));
}

bool label_set_of(struct op *op, const struct object *task, struct object *ret_version,
                  struct sample_set *ret, struct err *err)
{
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, object_int(task, "version"), ret_version, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, "version", MESSAGE_VERSION_DELETED);
    return sample_set_of(op, ret_version, ret, err);
}

double label_draw(int64_t task, int64_t sample, int64_t user)
{
    char text[80];
    uint8_t hash[SHA256_SIZE];
    int n =
        snprintf(text, sizeof text, "%lld:%lld:%lld", (long long)task, (long long)sample, (long long)user);
    sha256_of((struct str){text, (size_t)n}, hash);
    uint64_t word = 0;
    for (int i = 0; i < 6; i++)
        word = word << 8 | hash[i];
    return (double)word / (double)(UINT64_C(1) << 48);
}

int64_t label_ratio(struct arena *a, const struct object *task, int64_t user)
{
    struct err ignored = {0};
    struct str text = object_text(task, "raised");
    yyjson_val *raised = text.n ? json_parse(a, text, &ignored) : NULL;
    yyjson_val *own = yyjson_obj_get(raised, arena_printf(a, "%lld", (long long)user));
    int64_t usual = object_int(task, "review_ratio");
    return yyjson_is_int(own) && yyjson_get_sint(own) > usual ? yyjson_get_sint(own) : usual;
}

/* --- figures --- */

bool day_add(struct op *op, const struct day *d, struct err *err)
{
    int64_t hour = clock_now() / HOUR_US;
    return conn_exec(op->conn,
                     "INSERT INTO label_hours (task, version, worker, stage, hour, submitted, skipped,"
                     " accepted, rejected, active) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                     " ON CONFLICT (task, worker, stage, hour) DO UPDATE SET"
                     " submitted = label_hours.submitted + excluded.submitted,"
                     " skipped = label_hours.skipped + excluded.skipped,"
                     " accepted = label_hours.accepted + excluded.accepted,"
                     " rejected = label_hours.rejected + excluded.rejected,"
                     " active = label_hours.active + excluded.active",
                     db_args(db_int(d->task), db_int(d->version), db_int(d->worker), db_int(d->stage),
                             db_int(hour), db_int(d->n[DAY_SUBMITTED]), db_int(d->n[DAY_SKIPPED]),
                             db_int(d->n[DAY_ACCEPTED]), db_int(d->n[DAY_REJECTED]),
                             db_int(d->n[DAY_ACTIVE])),
                     NULL, err);
}
