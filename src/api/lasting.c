#include "api/lasting.h"

#include "base/thread.h"
#include "base/ticker.h"
#include "core/account/accounts.h"
#include "core/kinds.h"
#include "core/serve/route.h"

#include <pthread.h>
#include <stdatomic.h>

#define EVERY_S   1 /* sessions and tokens also end by themselves */
#define NEVER_S   3600
#define TRIES_MAX 10 /* rounds without an answer of the database; then it counts as no */

struct lasting {
    struct lasting *next, *prev;
    struct request *request; /* NULL: over, only kept for the round that holds it */
    struct lasting_terms terms;
    int64_t user;
    uint8_t credential[CALLER_CREDENTIAL];
    uint64_t epoch; /* of accounts, for which it was allowed */
    unsigned tries;
    bool ended, held;
};

static struct {
    pthread_mutex_t lock;
    struct core *core;
    struct ticker ticker;
    struct lasting *first;
    size_t count;

    pthread_cond_t last; /* of the threads */
    unsigned threads;
    atomic_bool ending;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = PTHREAD_COND_INITIALIZER};

static void on_change(void)
{
    ticker_wake(&table.ticker);
}

/* --- the table --- */

static void over(void *ctx)
{
    struct lasting *l = ctx;
    pthread_mutex_lock(&table.lock);
    *(l->prev ? &l->prev->next : &table.first) = l->next;
    if (l->next)
        l->next->prev = l->prev;
    table.count--;
    l->request = NULL;
    bool held = l->held;
    struct lasting_terms terms = l->terms;
    pthread_mutex_unlock(&table.lock);
    if (terms.over)
        terms.over(terms.ctx);
    if (!held)
        free(l);
}

void lasting_add(struct request *r, const struct caller *c, const struct lasting_terms *t)
{
    if (!c->user && !t->beyond)
        return;
    struct lasting *l = base_zalloc(sizeof *l);
    *l = (struct lasting){.request = r, .terms = *t, .user = c->user, .epoch = c->epoch};
    memcpy(l->credential, c->credential, sizeof l->credential);
    if (t->permission && !caller_may(c, t->permission, t->project))
        l->terms.permission = NULL;
    pthread_mutex_lock(&table.lock);
    l->next = table.first;
    if (l->next)
        l->next->prev = l;
    table.first = l;
    bool due = table.count++ == 0 || accounts_epoch(table.core->accounts) != l->epoch;
    pthread_mutex_unlock(&table.lock);
    request_watch(r, false, over, l);
    if (due)
        ticker_wake(&table.ticker);
}

void lasting_show(struct api_call *call, const struct object *o)
{
    lasting_add(call->request, &call->caller,
                &(struct lasting_terms){.permission = kind_permission(call->arena, o->kind, "read"),
                                        .project = o->project});
}

/* --- asking again --- */

/* The caller as accounts know them now. The registry's own tokens name a user and no credential, keys of
 * services neither. */
static bool look_up(const struct lasting *l, struct caller *ret, struct err *err)
{
    struct accounts *accounts = table.core->accounts;
    if (!l->user)
        return true;
    if (!l->credential[0])
        return accounts_caller_of(accounts, l->user, ret, err);
    switch (accounts_peek_again(accounts, l->credential, l->terms.uses, ret)) {
    case AUTH_HIT:
        return true;
    case AUTH_NONE:
        return err_set(err, ERR_UNAUTHORIZED, NULL, "the session or token has expired");
    default:
        return accounts_resolve_again(accounts, l->credential, l->terms.uses, ret, err);
    }
}

static bool allowed(const struct lasting *l, const struct caller *now)
{
    const struct lasting_terms *t = &l->terms;
    return now->user == l->user && (!t->permission || caller_may(now, t->permission, t->project)) &&
           (!t->may || t->may(t->ctx, now));
}

static void end(struct lasting *l)
{
    l->ended = true;
    if (l->terms.end)
        l->terms.end(l->terms.ctx);
    else
        request_abort(l->request);
}

/* Looks up outside of the lock, since that may ask the database. */
static void ask(struct lasting *l)
{
    struct caller now = {0};
    struct err err = {0};
    bool known = look_up(l, &now, &err);
    bool gone = err.code == ERR_UNAUTHORIZED || err.code == ERR_NOT_FOUND;
    pthread_mutex_lock(&table.lock);
    if (l->request && !l->ended) {
        if (known ? (now.epoch != l->epoch || l->terms.beyond) && !allowed(l, &now)
                  : gone || ++l->tries > TRIES_MAX)
            end(l);
        else if (known) {
            l->epoch = now.epoch;
            l->tries = 0;
        }
    }
    l->held = false;
    bool last = !l->request;
    pthread_mutex_unlock(&table.lock);
    accounts_caller_release(table.core->accounts, &now);
    if (last)
        free(l);
}

/* Those whose credential or key can expire, and all after a change. */
static bool is_due(const struct lasting *l, uint64_t epoch)
{
    return !l->ended && (l->credential[0] || l->terms.beyond || l->epoch != epoch);
}

static unsigned ask_all(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&table.lock);
    uint64_t epoch = accounts_epoch(table.core->accounts);
    size_t n = 0, count = table.count;
    auto_free struct lasting **due = base_alloc((table.count + 1) * sizeof *due);
    for (struct lasting *l = table.first; l; l = l->next) {
        if (!is_due(l, epoch))
            continue;
        l->held = true;
        due[n++] = l;
    }
    pthread_mutex_unlock(&table.lock);
    for (size_t i = 0; i < n; i++)
        ask(due[i]);
    return count ? EVERY_S : NEVER_S;
}

/* --- threads --- */

struct work {
    void (*fn)(void *);
    void *arg;
};

static void *run(void *arg)
{
    struct work w = *(struct work *)arg;
    free(arg);
    w.fn(w.arg);
    pthread_mutex_lock(&table.lock);
    table.threads--;
    pthread_cond_signal(&table.last);
    pthread_mutex_unlock(&table.lock);
    return NULL;
}

void lasting_thread(const char *name, void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&table.lock);
    bool late = table.ending;
    table.threads += !late;
    pthread_mutex_unlock(&table.lock);
    if (late) {
        fn(arg);
        return;
    }
    struct work *w = base_alloc(sizeof *w);
    *w = (struct work){fn, arg};
    pthread_detach(thread_start(name, run, w));
}

bool lasting_ending(void)
{
    return table.ending;
}

/* --- the server's life --- */

void lasting_start(struct core *core)
{
    static const struct ticker_work work = {.name = "lasting", .run = ask_all, .first_s = NEVER_S};
    table.core = core;
    ticker_start(&table.ticker, &work, NULL);
    accounts_on_change(core->accounts, on_change);
    serve_routes_on_publish(core, on_change);
}

void lasting_stop(void)
{
    pthread_mutex_lock(&table.lock);
    table.ending = true;
    while (table.threads)
        pthread_cond_wait(&table.last, &table.lock);
    pthread_mutex_unlock(&table.lock);
    accounts_on_change(table.core->accounts, NULL);
    serve_routes_on_publish(table.core, NULL);
    ticker_stop(&table.ticker);
}
