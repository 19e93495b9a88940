#include "sched/play.h"

enum { STEPS_MIN = 8, STEPS_MAX = 256, WORK = 1500000 };

static const int64_t COARSE = INT64_C(60000000);

struct play {
    struct sched_snapshot s;
    struct arena *arena; /* of what has to last */
    struct sched_running *running;
    struct sched_waiting *waiting;
    int32_t *original; /* by waiting job of the play */
    int64_t begin, grace;
    int64_t *starts;
    int32_t only;
};

static void move_started(struct play *y, const struct sched_start *starts, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        struct sched_waiting *w = &y->waiting[starts[i].job];
        y->running[y->s.n_running++] = (struct sched_running){
            .id = w->id,
            .project = w->project,
            .user = w->user,
            .priority = w->priority,
            .request = w->request,
            .ranks = fit_keep(starts[i].ranks, starts[i].n_ranks, y->arena),
            .n_ranks = starts[i].n_ranks,
            .started_at = y->s.now,
            .expected_end = w->duration ? y->s.now + w->duration : 0,
        };
        if (y->s.now > y->begin)
            y->starts[y->original[starts[i].job]] = y->s.now;
        w->n_ranks = 0; /* gone; removed below */
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < y->s.n_waiting; i++) {
        if (!y->waiting[i].n_ranks)
            continue;
        y->original[kept] = y->original[i];
        y->waiting[kept++] = y->waiting[i];
    }
    y->s.n_waiting = kept;
}

static void apply(struct play *y, const struct pass *p)
{
    for (int32_t i = 0; i < p->n_evictions; i++) {
        struct sched_running *r = &y->running[p->evictions[i].victim];
        r->stopping = true;
        r->expected_end = y->s.now + y->grace;
    }
    for (int32_t i = 0; i < p->n_promises; i++) {
        struct sched_waiting *w = &y->waiting[p->promises[i].job];
        w->promised = fit_keep(p->promises[i].ranks, p->promises[i].n_ranks, y->arena);
        w->promised_at = y->s.now;
    }
    move_started(y, p->starts, p->n_starts);
}

/* To the next time at which something changes; in large steps, so that the far future is reached too, once
 * half of the steps are spent. */
static bool advance(struct play *y, bool coarsely)
{
    int64_t next = SCHED_NEVER, now = y->s.now;
    for (int32_t i = 0; i < y->s.n_running; i++)
        if (y->running[i].expected_end && y->running[i].expected_end < next)
            next = y->running[i].expected_end;
    for (int32_t i = 0; i < y->s.n_waiting; i++)
        if (y->waiting[i].not_before > now && y->waiting[i].not_before < next)
            next = y->waiting[i].not_before;
    if (next == SCHED_NEVER)
        return false;
    int64_t step = (now - y->begin) / 8 > COARSE ? (now - y->begin) / 8 : COARSE;
    y->s.now = coarsely && next < now + step ? now + step : next;
    int32_t kept = 0;
    for (int32_t i = 0; i < y->s.n_running; i++)
        if (!y->running[i].expected_end || y->running[i].expected_end > y->s.now)
            y->running[kept++] = y->running[i];
    y->s.n_running = kept;
    return true;
}

static bool done(const struct play *y)
{
    return y->only == SCHED_NONE ? y->s.n_waiting == 0 : y->starts[y->only] != 0;
}

static void play_init(struct play *y, const struct pass *p, int32_t n_jobs)
{
    const struct sched_snapshot *s = p->s;
    y->s = *s;
    y->s.options.estimates = 0;
    y->s.n_waiting = 0;
    y->begin = s->now;
    y->grace = p->grace;
    y->running = arena_array(y->arena, struct sched_running, (size_t)s->n_running + (size_t)n_jobs + 1);
    y->waiting = arena_array(y->arena, struct sched_waiting, (size_t)s->n_waiting + 1);
    y->original = arena_array(y->arena, int32_t, (size_t)s->n_waiting + 1);
    for (int32_t i = 0; i < s->n_running; i++) {
        y->running[i] = s->running[i];
        if (s->running[i].stopping)
            y->running[i].expected_end = s->now + p->grace;
        else if (s->running[i].expected_end)
            y->running[i].expected_end = backfill_end(p, &s->running[i]);
    }
    for (int32_t i = 0; i < p->n_order && y->s.n_waiting < n_jobs; i++) {
        int32_t job = p->order[i];
        if (sched_reason_is_final(p->waits[job].reason))
            continue;
        y->original[y->s.n_waiting] = job;
        y->waiting[y->s.n_waiting++] = s->waiting[job];
    }
    y->s.running = y->running;
    y->s.waiting = y->waiting;
}

void play_forward(const struct pass *p, int32_t n_jobs, int32_t only, int64_t *starts)
{
    struct play y = {.arena = p->arena, .starts = starts, .only = only};
    play_init(&y, p, n_jobs);
    int32_t steps = WORK / (4 * y.s.n_nodes + y.s.n_running + y.s.n_waiting + 1);
    steps = steps < STEPS_MIN ? STEPS_MIN : steps > STEPS_MAX ? STEPS_MAX : steps;
    struct arena step;
    arena_init(&step);
    for (int32_t i = 0; i < steps && !done(&y); i++) {
        struct pass *next = arena_new(&step, struct pass);
        pass_init(next, &y.s, &step);
        pass_run(next);
        apply(&y, next);
        arena_release(&step);
        if (!advance(&y, i >= steps / 2))
            break;
    }
    arena_release(&step);
}

void play_estimates(struct pass *p)
{
    int64_t *starts = arena_array(p->arena, int64_t, (size_t)p->s->n_waiting + 1);
    play_forward(p, p->n_starts + p->s->options.estimates, SCHED_NONE, starts);
    for (int32_t i = 0; i < p->s->n_waiting; i++)
        if (starts[i] && !p->waits[i].estimate)
            p->waits[i].estimate = starts[i];
}
