/* What became of replicas: their jobs, and what their health checks say. */
#include "base/clock.h"
#include "base/messages.h"
#include "core/serve/event.h"
#include "core/serve/gate.h"
#include "core/serve/health.h"
#include "core/serve/look.h"
#include "core/serve/version.h"

#define IDLE_US      INT64_C(1000000)
#define ASK_US       INT64_C(5000000)   /* between two checks of one that is well */
#define FAILS        3                  /* in a row: it gets no requests */
#define SICK_US      INT64_C(30000000)  /* after which one that stays sick is replaced */
#define START_US     INT64_C(600000000) /* so long it may take to answer first */
#define STEADY_US    INT64_C(60000000)  /* one that answered so long is not looping */
#define BACKOFF_US   INT64_C(1000000)
#define DOUBLINGS    6
#define ROUNDS       8 /* of waiting for answers in one look, */
#define WAIT_MS      5 /* each at most so long */
#define OVER_KEPT    3 /* jobs of each version, for their logs */
#define REASON_BYTES 300

/* --- one that failed --- */

struct failing {
    struct look *l;
    const struct replica *r;
    enum replica_state to; /* over, or draining when its job still runs */
    struct words reason;
};

static bool tell_failure(struct op *op, const struct failing *f, const struct object *version, int64_t wait_s,
                         struct err *err)
{
    struct str name = object_text(version, "name");
    long long job = f->r->job, s = wait_s;
    struct words en =
        event_words(op->arena, MESSAGE_EVENT_REPLICA_FAILED, STR_ARG(name), job, f->reason.en, s);
    struct words zh =
        event_words(op->arena, MESSAGE_EVENT_REPLICA_FAILED, STR_ARG(name), job, f->reason.zh, s);
    return event_say(op, (struct event_of){version->parent, version->id, f->r->job}, "replica-failed",
                     (struct words){en.en, zh.zh}, err);
}

/* Failures within a back-off are one: many replicas may die of the same. */
static bool count_failure(struct op *op, const struct failing *f, const struct object *version,
                          struct err *err)
{
    int64_t before = version_failures(version), now = f->l->now;
    if (f->r->generation != object_int(version, "generation") ||
        (before && object_int(version, "not_before") > now))
        return true;
    bool steady = f->r->state == REPLICA_READY && now - f->r->since > STEADY_US;
    int64_t n = steady ? 1 : before + 1;
    int64_t wait = BACKOFF_US << (n > DOUBLINGS ? DOUBLINGS : n - 1);
    return engine_set_status(
               op, &kind_service_version, version->id,
               ENGINE_STATUSES(status_set("failures", db_int(n)),
                               status_set("failed_generation", db_int(object_int(version, "generation"))),
                               status_set("not_before", db_int(now + wait)),
                               status_set("failed_reason", db_textz(f->reason.en)),
                               status_set("failed_reason_zh", db_textz(f->reason.zh))),
               err) &&
           tell_failure(op, f, version, wait / 1000000, err);
}

static bool fail_write(struct op *op, void *ctx, struct err *err)
{
    const struct failing *f = ctx;
    struct object version;
    bool found;
    if (!engine_load_row(op, &kind_service_version, f->r->version, &version, &found, err) ||
        (found && !count_failure(op, f, &version, err)))
        return false;
    return replica_set(op, f->r, f->to, f->to == REPLICA_OVER ? 0 : f->l->now, err);
}

static bool fail(struct look *l, const struct replica *r, enum replica_state to, struct words reason,
                 struct err *err)
{
    struct failing f = {l, r, to, reason};
    l->changed = true;
    return engine_write(l->core, &caller_system, l->arena, fail_write, &f, err);
}

/* --- what became of the jobs --- */

static bool forget_write(struct op *op, void *ctx, struct err *err)
{
    return replica_forget(op, *(const int64_t *)ctx, err);
}

static bool stop_write(struct op *op, void *ctx, struct err *err)
{
    return job_stop(op, *(const int64_t *)ctx, "it is not needed any more", err);
}

struct setting {
    const struct replica *r;
    enum replica_state to;
    int64_t drain_at;
};

static bool set_write(struct op *op, void *ctx, struct err *err)
{
    const struct setting *s = ctx;
    return replica_set(op, s->r, s->to, s->drain_at, err);
}

static bool set(struct look *l, const struct replica *r, enum replica_state to, int64_t drain_at,
                struct err *err)
{
    struct setting s = {r, to, drain_at};
    l->changed = true;
    return engine_write(l->core, &caller_system, l->arena, set_write, &s, err);
}

static struct words job_reason(struct look *l, const struct replica *r)
{
    struct str en = r->reason.n ? r->reason : STR("its program ended"), zh = r->reason_zh.n ? r->reason_zh
                                                                             : r->reason.n
                                                                                 ? r->reason
                                                                                 : STR("程序已结束");
    en.n = en.n < REASON_BYTES ? en.n : REASON_BYTES;
    return (struct words){arena_strz(l->arena, en), arena_strz(l->arena, zh)};
}

/* Ended ones that are older than the newest few of their version, or whose version is gone. */
static bool is_forgotten(const struct look *l, size_t at)
{
    const struct replica *r = &l->replica[at];
    size_t newer = 0;
    for (size_t i = at + 1; i < l->n_replicas; i++)
        newer += l->replica[i].version == r->version && l->replica[i].state == REPLICA_OVER;
    return !r->there || !look_version(l, r->version) || newer >= OVER_KEPT;
}

/* Nothing is in hand any more, also of requests that found it in the routes a moment ago. */
static bool is_drained(const struct look *l, const struct replica *r)
{
    struct serve_replica known;
    return l->now >= r->drain_at || (l->now - r->since > IDLE_US &&
                                     (!serve_replica(l->core, replica_key(r), &known) || !known.in_hand));
}

static bool settle_one(struct look *l, size_t at, struct err *err)
{
    const struct replica *r = &l->replica[at];
    int64_t job = r->job;
    bool over = !r->there || job_is_over(r->job_state);
    if (r->state == REPLICA_OVER)
        return !is_forgotten(l, at) ||
               engine_write(l->core, &caller_system, l->arena, forget_write, &job, err);
    if (over)
        return r->state == REPLICA_DRAINING ? set(l, r, REPLICA_OVER, 0, err)
                                            : fail(l, r, REPLICA_OVER, job_reason(l, r), err);
    if (!look_version(l, r->version) && r->state != REPLICA_DRAINING)
        return set(l, r, REPLICA_DRAINING, l->now, err);
    if (r->state == REPLICA_DRAINING && is_drained(l, r) && r->job_state != JOB_STOPPING) {
        if (!engine_write(l->core, &caller_system, l->arena, stop_write, &job, err))
            return false;
        jobs_wake(l->core->jobs);
        return true;
    }
    /* Its container was lost, and the job runs again: it is to be asked anew. */
    bool again = (r->state == REPLICA_READY || r->state == REPLICA_SICK) && r->job_attempt != r->attempt;
    return !again || set(l, r, REPLICA_STARTING, 0, err);
}

bool look_settle(struct look *l, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < l->n_replicas; i++) {
        struct err one = {0};
        if (!settle_one(l, i, &one))
            ok = err_keep(err, &one);
    }
    return ok;
}

/* --- checks --- */

struct check {
    int64_t job, asked_at, fails;
    int64_t attempt; /* of the job, which is asked */
    struct health_talk *talk;
    bool seen;
};

struct checks {
    struct check *list;
    size_t n, cap;
};

struct checks *checks_new(void)
{
    return base_zalloc(sizeof(struct checks));
}

void checks_free(struct checks *c)
{
    for (size_t i = 0; i < c->n; i++)
        health_end(c->list[i].talk);
    free(c->list);
    free(c);
}

static struct check *find_check(struct checks *c, int64_t job)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].job == job)
            return &c->list[i];
    return NULL;
}

static struct check *check_of(struct checks *c, int64_t job)
{
    struct check *found = find_check(c, job);
    if (found)
        return found;
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 16;
        c->list = base_realloc(c->list, c->cap * sizeof *c->list);
    }
    c->list[c->n] = (struct check){.job = job};
    return &c->list[c->n++];
}

static void drop_unseen(struct checks *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].seen) {
            c->list[n] = c->list[i];
            c->list[n++].seen = false;
        } else {
            health_end(c->list[i].talk);
        }
    c->n = n;
}

struct verdict {
    struct look *l;
    const struct replica *r;
    enum replica_state to;
    const char *reason;
};

static bool verdict_write(struct op *op, void *ctx, struct err *err)
{
    const struct verdict *v = ctx;
    const struct object *version = look_version(v->l, v->r->version);
    struct str name = version ? object_text(version, "name") : STR("?");
    struct event_of of = {v->r->service, v->r->version, v->r->job};
    bool told =
        v->to == REPLICA_READY
            ? event_add(op, of, err, MESSAGE_EVENT_REPLICA_READY, STR_ARG(name), (long long)of.job)
            : event_add(op, of, err, MESSAGE_EVENT_REPLICA_SICK, STR_ARG(name), (long long)of.job, v->reason);
    return told && replica_set(op, v->r, v->to, 0, err);
}

static bool turn(struct look *l, const struct replica *r, enum replica_state to, const char *reason,
                 struct err *err)
{
    struct verdict v = {l, r, to, reason};
    l->changed = true;
    return engine_write(l->core, &caller_system, l->arena, verdict_write, &v, err);
}

static bool judge(struct look *l, const struct replica *r, struct check *c, const struct health_answer *q,
                  struct err *err)
{
    c->fails = q->well ? 0 : c->fails + 1;
    if (q->well)
        return r->state == REPLICA_READY || turn(l, r, REPLICA_READY, NULL, err);
    if (r->state == REPLICA_READY)
        return c->fails < FAILS || turn(l, r, REPLICA_SICK, q->reason, err);
    int64_t since = r->state == REPLICA_STARTING && r->started_at > r->since ? r->started_at : r->since;
    int64_t most = r->state == REPLICA_STARTING ? START_US : SICK_US;
    if (l->now - since < most)
        return true;
    struct words why = event_words(l->arena, MESSAGE_WHY_NO_ANSWER, (long long)(most / 1000000), q->reason);
    return fail(l, r, REPLICA_DRAINING, why, err);
}

/* Begins what is due. A failed check is repeated soon, so that a sick one is out within seconds. */
static void ask(struct look *l, const struct replica *r, struct check *c)
{
    bool due = r->state == REPLICA_STARTING || c->fails || l->now - c->asked_at >= ASK_US;
    if (c->talk && c->attempt != r->job_attempt) {
        health_end(c->talk);
        c->talk = NULL;
    }
    if (c->talk || !due)
        return;
    c->asked_at = l->now;
    c->attempt = r->job_attempt;
    c->talk = health_ask(l->core, replica_container(r), r->port, r->health_path);
}

/* Most answer at once; those that do not are looked after at the next look. */
static void wait_a_moment(struct checks *c, struct arena *a)
{
    struct health_talk **talks = arena_array(a, struct health_talk *, c->n + 1);
    struct health_answer ignored;
    for (int round = 0; round < ROUNDS; round++) {
        bool open = false;
        for (size_t i = 0; i < c->n; i++) {
            talks[i] = c->list[i].talk;
            open = open || (talks[i] && !health_heard(talks[i], &ignored));
        }
        if (!open)
            return;
        health_wait(talks, c->n, WAIT_MS);
    }
}

bool look_check(struct look *l, struct checks *checks, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < l->n_replicas; i++) {
        const struct replica *r = &l->replica[i];
        if (r->state >= REPLICA_DRAINING || r->job_state != JOB_RUNNING)
            continue;
        struct check *c = check_of(checks, r->job);
        c->seen = true;
        ask(l, r, c);
    }
    drop_unseen(checks);
    wait_a_moment(checks, l->arena);
    for (size_t i = 0; i < l->n_replicas; i++) {
        const struct replica *r = &l->replica[i];
        struct check *c = find_check(checks, r->job);
        struct health_answer answer;
        struct err one = {0};
        l->starting = l->starting || (c && c->talk);
        if (!c || !c->talk || !health_heard(c->talk, &answer))
            continue;
        health_end(c->talk);
        c->talk = NULL;
        if (!judge(l, r, c, &answer, &one))
            ok = err_keep(err, &one);
    }
    return ok;
}
