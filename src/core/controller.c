#include "core/controller.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/ticker.h"

#include <stdatomic.h>

#define PURGE_PAGE 100

struct lane;

/* A row, and what is known of it. */
struct run {
    const struct controller *row;
    struct lane *lane;
    atomic_bool wanted;            /* controller_wake was called */
    uint64_t due;                  /* clock_mono; the thread's own */
    struct controller_state state; /* under the lock */
};

/* A thread and its rows. */
struct lane {
    struct controllers *all;
    struct ticker ticker;
    struct ticker_work work;
    bool begun; /* the main thread's own */
};

struct controllers {
    struct core *core;
    atomic_bool ending;
    size_t started; /* rows */
    size_t n_lanes;
    struct lane *lanes;
    struct run *runs; /* as the rows */
    pthread_mutex_t lock;
};

/* --- one run --- */

/* The same failure again and again is one line of the log. */
static void tell(const struct run *r, const struct controller_state *before, bool ok, const struct err *err)
{
    if (!ok && (before->ok || !before->failures || strcmp(before->err.message, err->message) != 0))
        log_warn("%s failed, which is tried again: %s", r->row->name, err->message);
    else if (ok && before->failures && !before->ok)
        log_info("%s works again", r->row->name);
}

static void note_begin(struct controllers *all, struct run *r)
{
    pthread_mutex_lock(&all->lock);
    r->state.running = true;
    r->state.last_at = clock_now();
    r->state.next_at = 0;
    pthread_mutex_unlock(&all->lock);
}

static void note_end(struct controllers *all, struct run *r, bool ok, const struct err *err, uint64_t took)
{
    struct controller_state *s = &r->state;
    unsigned in_s = !ok && r->row->retry_s ? r->row->retry_s : r->row->every_s;
    r->due = thread_in(in_s);
    tell(r, s, ok, err); /* only this thread writes it */
    pthread_mutex_lock(&all->lock);
    s->running = false;
    s->runs++;
    s->took_us = (int64_t)(took / 1000);
    s->sum_us += s->took_us;
    s->next_at = clock_now() + in_s * INT64_C(1000000);
    s->ok = ok;
    if (!ok) {
        s->failures++;
        s->failed_at = clock_now();
        s->err = *err;
    }
    pthread_mutex_unlock(&all->lock);
}

static void run_row(struct controllers *all, struct run *r)
{
    struct err err = {0};
    note_begin(all, r);
    uint64_t begun = clock_mono();
    /* Without the hold on the database all is left alone: the rows may be another server's by now. */
    bool ok = db_may_write(all->core->db, &err) && r->row->tick(all->core, &err);
    /* What fails while the server stops is no failure of the row. */
    note_end(all, r, ok || controller_ending(all->core), &err, clock_mono() - begun);
}

static unsigned run_lane(void *arg)
{
    struct lane *lane = arg;
    uint64_t soonest = UINT64_MAX, now;
    if (lane->work.gives_way)
        db_background();
    for (size_t i = 0; i < controller_count; i++) {
        struct run *r = &lane->all->runs[i];
        if (r->lane != lane)
            continue;
        bool wanted = atomic_exchange(&r->wanted, false);
        if ((wanted || clock_mono() >= r->due) && !ticker_ending(&lane->ticker))
            run_row(lane->all, r);
        soonest = r->due < soonest ? r->due : soonest;
    }
    now = clock_mono();
    return soonest <= now ? 0 : (unsigned)((soonest - now + 999999999) / 1000000000);
}

/* --- start and end --- */

static bool is_needed(const struct core *core, const struct controller *row)
{
    return !row->needed || row->needed(core);
}

static struct lane *lane_of(struct controllers *all, const struct controller *row)
{
    for (size_t i = 0; i < all->n_lanes; i++)
        if (strcmp(all->lanes[i].work.name, row->thread) == 0)
            return &all->lanes[i];
    struct lane *lane = &all->lanes[all->n_lanes++];
    lane->all = all;
    lane->work = (struct ticker_work){.name = row->thread, .run = run_lane, .gives_way = row->gives_way};
    ticker_init(&lane->ticker, &lane->work, lane);
    return lane;
}

static void begin_lanes(struct controllers *all)
{
    for (size_t i = 0; i < controller_count; i++) {
        struct run *r = &all->runs[i];
        r->due = thread_in(r->row->first_s);
        r->state.next_at = clock_now() + r->row->first_s * INT64_C(1000000);
    }
    for (size_t i = 0; i < all->n_lanes; i++) {
        struct lane *lane = &all->lanes[i];
        ticker_begin(&lane->ticker);
        lane->begun = true;
    }
}

bool controllers_start(struct core *core, const struct core_options *o, struct err *err)
{
    struct controllers *all = base_zalloc(sizeof *all);
    pthread_mutex_init(&all->lock, NULL);
    all->core = core;
    all->runs = base_zalloc(controller_count * sizeof *all->runs);
    all->lanes = base_zalloc(controller_count * sizeof *all->lanes);
    for (size_t i = 0; i < controller_count; i++) {
        all->runs[i].row = controllers[i];
        all->runs[i].lane = is_needed(core, controllers[i]) ? lane_of(all, controllers[i]) : NULL;
    }
    core->controllers = all;
    for (; all->started < controller_count; all->started++) {
        const struct controller *row = controllers[all->started];
        if (all->runs[all->started].lane && row->start && !row->start(core, o, err))
            return false;
    }
    begin_lanes(all);
    return true;
}

/* In the reverse order of the start, the rows of this half that were started. */
static void each_back(struct core *core, bool after_requests, void (*visit)(struct core *core, size_t i))
{
    for (size_t i = core->controllers ? core->controllers->started : 0; i-- > 0;)
        if (core->controllers->runs[i].lane && controllers[i]->after_requests == after_requests)
            visit(core, i);
}

static void ask_to_end(struct core *core, size_t i)
{
    struct lane *lane = core->controllers->runs[i].lane;
    ticker_end(&lane->ticker);
    if (controllers[i]->end)
        controllers[i]->end(core);
}

static void end_row(struct core *core, size_t i)
{
    struct lane *lane = core->controllers->runs[i].lane;
    if (lane->begun)
        ticker_stop(&lane->ticker);
    lane->begun = false;
    if (controllers[i]->stop)
        controllers[i]->stop(core);
}

static void free_row(struct core *core, size_t i)
{
    if (controllers[i]->free)
        controllers[i]->free(core);
}

void controllers_stop(struct core *core, bool after_requests)
{
    if (core->controllers)
        atomic_store(&core->controllers->ending, true);
    each_back(core, after_requests, ask_to_end);
    each_back(core, after_requests, end_row);
}

void controllers_free(struct core *core)
{
    struct controllers *all = core->controllers;
    if (!all)
        return;
    each_back(core, true, free_row);
    each_back(core, false, free_row);
    pthread_mutex_destroy(&all->lock);
    free(all->runs);
    free(all->lanes);
    free(all);
    core->controllers = NULL;
}

/* --- waking --- */

static struct run *run_of(const struct core *core, const struct controller *row)
{
    for (size_t i = 0; core->controllers && i < controller_count; i++)
        if (controllers[i] == row)
            return &core->controllers->runs[i];
    return NULL;
}

static void wake(struct run *r)
{
    if (!r->lane)
        return;
    atomic_store(&r->wanted, true);
    ticker_wake(&r->lane->ticker);
}

void controller_wake(struct core *core, const struct controller *row)
{
    struct run *r = run_of(core, row);
    if (r)
        wake(r);
}

bool controller_wake_named(struct core *core, struct str name, struct err *err)
{
    for (size_t i = 0; core->controllers && i < controller_count; i++) {
        if (!str_is(name, controllers[i]->name) || !core->controllers->runs[i].lane)
            continue;
        wake(&core->controllers->runs[i]);
        return true;
    }
    return err_set(err, ERR_NOT_FOUND, NULL, "there is no controller \"" STR_FMT "\"", STR_ARG(name));
}

void controllers_changed(struct core *core, const char *kind, const char *verb)
{
    for (size_t i = 0; core->controllers && i < controller_count; i++)
        for (const struct controller_cause *c = controllers[i]->woken_by;
             c < controllers[i]->woken_by + CONTROLLER_CAUSES && c->kind; c++)
            if (strcmp(c->kind, kind) == 0 && strcmp(c->verb, verb) == 0)
                wake(&core->controllers->runs[i]);
}

bool controller_ending(const struct core *core)
{
    return core->controllers && atomic_load(&core->controllers->ending);
}

void controller_rest(struct core *core, const struct controller *row, uint64_t ns)
{
    struct run *r = run_of(core, row);
    if (r && r->lane)
        ticker_rest(&r->lane->ticker, ns);
}

/* --- showing --- */

bool controller_state(const struct core *core, const struct controller *row, struct controller_state *ret)
{
    const struct run *r = run_of(core, row);
    *ret = (struct controller_state){0};
    if (!r || !r->lane)
        return false;
    pthread_mutex_lock(&core->controllers->lock);
    *ret = r->state;
    pthread_mutex_unlock(&core->controllers->lock);
    return true;
}

static void write_time(struct json_out *o, const char *key, int64_t us)
{
    char text[CLOCK_TEXT_MAX];
    json_kz(o, key, us ? clock_format(us, text) : NULL);
}

static void write_row(struct json_out *o, const struct core *core, const struct controller *row)
{
    struct controller_state s;
    if (!controller_state(core, row, &s))
        return;
    json_object(o);
    json_kz(o, "name", row->name);
    json_key(o, "title");
    json_object(o);
    json_kz(o, "en", row->title.en);
    json_kz(o, "zh", row->title.zh);
    json_object_end(o);
    json_kz(o, "thread", row->thread);
    json_kint(o, "every_s", row->every_s);
    json_kz(o, "state", s.running ? "running" : s.runs && !s.ok ? "failed" : "waiting");
    json_kint(o, "runs", s.runs);
    write_time(o, "last_at", s.last_at);
    json_kint(o, "took_us", s.took_us);
    write_time(o, "next_at", s.next_at);
    json_kint(o, "failures", s.failures);
    write_time(o, "failed_at", s.failed_at);
    json_kz(o, "error", s.failures ? s.err.message : NULL);
    json_object_end(o);
}

void controllers_write(const struct core *core, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_key(&o, "items");
    json_array(&o);
    for (size_t i = 0; i < controller_count; i++)
        write_row(&o, core, controllers[i]);
    json_array_end(&o);
    json_object_end(&o);
}

/* --- what deleted objects leave behind --- */

struct purged {
    const struct purge *purge;
    int64_t key;
};

static bool purged_write(struct db_conn *c, void *ctx, struct err *err)
{
    const struct purged *p = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    return conn_exec(c, arena_printf(&a, "DELETE FROM %s WHERE %s = ?", p->purge->table, p->purge->key),
                     db_args(db_int(p->key)), NULL, err);
}

/* The next of them after *key. */
static bool purge_page(struct core *core, const struct purge *p, int64_t *key, size_t *ret_n, bool *ok,
                       struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    const char *sql = arena_printf(&a, "SELECT %s%s FROM %s WHERE %s > ? ORDER BY %s LIMIT %d", p->key,
                                   p->more, p->table, p->key, p->key, PURGE_PAGE);
    if (!db_query(core->db, &a, sql, db_args(db_int(*key)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && !controller_ending(core); i++) {
        struct err one = {0};
        *key = rows.row[i].v[0].i;
        if (!p->remove(core, rows.row[i].v, &a, &one) ||
            !db_write(core->db, purged_write, &(struct purged){p, *key}, &one))
            *ok = err_keep(err, &one);
    }
    *ret_n = rows.n;
    return true;
}

bool purge_rows(struct core *core, const struct purge *p, struct err *err)
{
    int64_t key = INT64_MIN;
    bool ok = true;
    for (size_t n = PURGE_PAGE; n == PURGE_PAGE && !controller_ending(core);)
        if (!purge_page(core, p, &key, &n, &ok, err))
            return false;
    return ok;
}
