/* The series of an instance: read from the log of rank 0 as far as it goes, kept in the database. */
#include "base/clock.h"
#include "core/training/metric.h"
#include "core/training/training.h"

#include <pthread.h>
#include <stdio.h>

#define PIECE   (256 << 10)
#define AT_ONCE 256 /* pieces per call */

/* One reader of an instance's log at a time. */
static pthread_mutex_t locks[16] = {[0 ... 15] = PTHREAD_MUTEX_INITIALIZER};

struct reading {
    struct core *core;
    int64_t instance;
    struct arena *arena;
    struct metric_book book;
    int64_t attempt, position; /* of what was read */
    bool known, moved, more;
};

/* --- the table --- */

static bool load_marks(struct reading *r, struct err *err)
{
    struct db_row row;
    if (!db_query_one(r->core->db, r->arena,
                      "SELECT attempt, position, step FROM training_marks WHERE instance = ?",
                      db_args(db_int(r->instance)), &row, &r->known, err))
        return false;
    if (!r->known)
        return true;
    r->attempt = row.v[0].i;
    r->position = row.v[1].i;
    r->book.has_step = row.v[2].type == DB_TEXT && str_to_real(row.v[2].s, &r->book.step);
    return true;
}

static bool load_series(struct reading *r, struct err *err)
{
    struct db_rows rows;
    if (!db_query(r->core->db, r->arena,
                  "SELECT name, data FROM training_metrics WHERE instance = ? ORDER BY name",
                  db_args(db_int(r->instance)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!metric_series_read(&r->book, r->arena, rows.row[i].v[0].s, rows.row[i].v[1].s, err))
            return false;
    return true;
}

static bool keep_series(struct db_conn *c, const struct reading *r, const struct metric_series *s,
                        struct err *err)
{
    auto_buf struct buf text = {0};
    metric_series_write(s, &text);
    return conn_exec(c,
                     "INSERT INTO training_metrics (instance, name, data) VALUES (?, ?, ?)"
                     " ON CONFLICT (instance, name) DO UPDATE SET data = excluded.data",
                     db_args(db_int(r->instance), db_textz(s->name), db_text(buf_view(&text))), NULL, err);
}

static bool keep_write(struct db_conn *c, void *ctx, struct err *err)
{
    const struct reading *r = ctx;
    struct db_row row;
    bool found;
    char step[40];
    snprintf(step, sizeof step, "%.17g", r->book.step);
    /* An instance that was deleted meanwhile leaves nothing. */
    if (!conn_query_one(c, r->arena, "SELECT id FROM training_instances WHERE id = ?",
                        db_args(db_int(r->instance)), &row, &found, err))
        return false;
    if (!found)
        return true;
    for (size_t i = 0; i < r->book.n; i++)
        if (r->book.series[i]->changed && !keep_series(c, r, r->book.series[i], err))
            return false;
    return conn_exec(c,
                     "INSERT INTO training_marks (instance, attempt, position, step) VALUES (?, ?, ?, ?)"
                     " ON CONFLICT (instance) DO UPDATE SET attempt = excluded.attempt,"
                     " position = excluded.position, step = excluded.step",
                     db_args(db_int(r->instance), db_int(r->attempt), db_int(r->position),
                             r->book.has_step ? db_textz(step) : db_null()),
                     NULL, err);
}

bool training_metrics_delete(struct db_conn *c, int64_t instance, struct err *err)
{
    return conn_exec(c, "DELETE FROM training_marks WHERE instance = ?", db_args(db_int(instance)), NULL,
                     err) &&
           conn_exec(c, "DELETE FROM training_metrics WHERE instance = ?", db_args(db_int(instance)), NULL,
                     err);
}

/* --- the log --- */

static void take_line(struct reading *r, struct str line)
{
    struct metric_line values;
    int64_t at;
    if (line.n <= EXEC_LOG_HEAD || line.p[28] == 'i' || line.p[29] != ' ' ||
        !clock_parse((struct str){line.p, 27}, &at))
        return;
    auto_arena struct arena a;
    arena_init(&a);
    if (metric_parse(&a, (struct str){line.p + EXEC_LOG_HEAD, line.n - EXEC_LOG_HEAD}, &values))
        metric_book_add(&r->book, &values, at);
}

/* Whole lines; returns the bytes they take. */
static size_t take_lines(struct reading *r, const char *p, size_t n)
{
    size_t done = 0;
    for (const char *end; (end = memchr(p + done, '\n', n - done)); done = (size_t)(end - p) + 1)
        take_line(r, (struct str){p + done, (size_t)(end - p) - done});
    return done;
}

static bool read_attempt(struct reading *r, struct exec *x, struct exec_id id, int *left, struct err *err)
{
    auto_free char *space = base_alloc(PIECE);
    while ((*left)-- > 0) {
        int64_t at = r->position;
        size_t n;
        if (!x->ops->log_read(x, id, &at, space, PIECE, &n, err))
            return false;
        size_t done = take_lines(r, space, n);
        if (done == 0)
            return true;
        r->position = at - (int64_t)n + (int64_t)done;
        r->moved = true;
    }
    r->more = true;
    return true;
}

/* Attempt by attempt: a retry goes on with the same series. */
static bool read_log(struct reading *r, const struct object *job, struct err *err)
{
    struct exec *x = jobs_exec(r->core->jobs);
    int64_t last = object_int(job, "attempt");
    int left = AT_ONCE;
    if (!x || last == 0)
        return true;
    if (r->attempt == 0)
        r->attempt = 1;
    for (;;) {
        struct err gone = {0};
        struct exec_id id = {job->id, (int32_t)r->attempt, 0};
        if (!read_attempt(r, x, id, &left, &gone) && gone.code != ERR_NOT_FOUND) {
            *err = gone;
            return false;
        }
        if (r->more || r->attempt >= last)
            return true;
        r->attempt++;
        r->position = 0;
        r->moved = true;
    }
}

static bool catch_up(struct reading *r, int64_t job_id, struct err *err)
{
    struct object job;
    struct err gone = {0};
    if (!job_id || !engine_get(r->core, &caller_system, &kind_job, 0, job_id, r->arena, &job, &gone))
        return !gone.code || gone.code == ERR_NOT_FOUND || (*err = gone, false);
    return read_log(r, &job, err) && (!r->moved || db_write(r->core->db, keep_write, r, err));
}

bool training_metrics(struct core *core, const struct object *instance, struct arena *a, struct buf *out,
                      bool *ret_more, struct err *err)
{
    struct reading r = {.core = core, .instance = instance->id, .arena = a};
    pthread_mutex_t *lock = &locks[(uint64_t)instance->id % countof(locks)];
    pthread_mutex_lock(lock);
    bool ok = load_marks(&r, err) && load_series(&r, err) && catch_up(&r, object_int(instance, "job"), err);
    pthread_mutex_unlock(lock);
    if (ok && out)
        metric_book_write(&r.book, out);
    if (ok && ret_more)
        *ret_more = r.more;
    metric_book_release(&r.book);
    return ok;
}
