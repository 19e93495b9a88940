#include "base/clock.h"
#include "base/hash.h"
#include "core/account/job_token.h"
#include "core/account/state.h"
#include "core/controllers.h"
#include "core/engine.h"

#define CACHE_MAX 20000 /* when so many are cached, all are dropped and come back as they are used */
#define MINUTE    (60 * SECOND)

static void credential_free(struct credential *e)
{
    grants_unref(e->grants);
    free(e);
}

void credentials_drop(struct accounts *acc)
{
    struct str key;
    void *value;
    for (size_t i = 0; map_next(acc->credentials, &i, &key, &value);)
        credential_free(value);
    map_free(acc->credentials);
    acc->credentials = NULL;
}

bool credential_key(struct str secret, bool is_cookie, uint8_t ret[CREDENTIAL_KEY])
{
    struct str text = secret;
    if (!is_cookie && job_token_parse(secret, ret))
        return true;
    if (!is_cookie) {
        if (!str_starts(secret, ACCOUNTS_TOKEN_PREFIX))
            return false;
        text.p += sizeof ACCOUNTS_TOKEN_PREFIX - 1;
        text.n -= sizeof ACCOUNTS_TOKEN_PREFIX - 1;
    }
    if (text.n != ACCOUNTS_SECRET_TEXT)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
              c == '_'))
            return false;
    }
    ret[0] = is_cookie ? 's' : 't';
    sha256_of(secret, ret + 1);
    return true;
}

uint64_t accounts_epoch(const struct accounts *acc)
{
    struct accounts *a = (struct accounts *)acc;
    return atomic_load(&a->generation) + atomic_load(&a->revocations);
}

void accounts_on_change(struct accounts *acc, void (*fn)(void))
{
    atomic_store(&acc->on_change, fn);
}

static void tell_change(struct accounts *acc)
{
    void (*fn)(void) = atomic_load(&acc->on_change);
    if (fn)
        fn();
}

/* epoch: counted before the credential was looked at. */
static void fill(struct caller *ret, const struct credential *e, uint64_t epoch)
{
    struct grants *g = grants_ref(e->grants);
    *ret = (struct caller){
        .user = g->user,
        .name = g->name,
        .administrator = g->administrator && !g->narrowed,
        .session = e->cookie ? e->id : 0,
        .token = e->cookie || e->job ? 0 : e->id,
        .job = e->job ? e->id : 0,
        .epoch = epoch,
        .grants = g,
    };
    memcpy(ret->credential, e->key, sizeof ret->credential);
}

static bool is_over(const struct credential *e, int64_t now)
{
    if (e->expires && e->expires <= now)
        return true;
    return e->cookie && atomic_load_explicit(&((struct credential *)e)->used, memory_order_relaxed) +
                                ACCOUNTS_SESSION_IDLE * SECOND <=
                            now;
}

static enum auth peek(struct accounts *acc, const uint8_t key[CREDENTIAL_KEY], bool use, struct caller *ret)
{
    int64_t now = clock_now();
    uint64_t epoch = accounts_epoch(acc);
    enum auth result = AUTH_UNKNOWN;
    pthread_rwlock_rdlock(&acc->lock);
    struct credential *e = map_get(acc->credentials, (struct str){(const char *)key, CREDENTIAL_KEY});
    if (e && is_over(e, now)) {
        result = AUTH_NONE;
    } else if (e && e->grants->generation == atomic_load(&acc->generation)) {
        /* A second's grain keeps the line from bouncing between loop threads. */
        if (use && now - atomic_load_explicit(&e->used, memory_order_relaxed) > SECOND)
            atomic_store_explicit(&e->used, now, memory_order_relaxed);
        fill(ret, e, epoch);
        result = AUTH_HIT;
    }
    pthread_rwlock_unlock(&acc->lock);
    return result;
}

enum auth accounts_peek(struct accounts *acc, struct str secret, bool is_cookie, struct caller *ret)
{
    uint8_t key[CREDENTIAL_KEY];
    return credential_key(secret, is_cookie, key) ? peek(acc, key, true, ret) : AUTH_NONE;
}

enum auth accounts_peek_again(struct accounts *acc, const uint8_t credential[CALLER_CREDENTIAL], bool use,
                              struct caller *ret)
{
    return peek(acc, credential, use, ret);
}

static bool bad_credential(struct err *err)
{
    return err_set(err, ERR_UNAUTHORIZED, NULL,
                   "the session or token is unknown, was revoked or has expired");
}

/* The row behind a credential; e is filled but for its grants. */
static bool read_row(struct core *core, struct arena *a, struct credential *e, struct str hash,
                     struct str *ret_scopes, struct err *err)
{
    struct db_row row;
    bool found;
    const char *sql =
        e->cookie ? "SELECT id, created_by, expires_at, last_used_at, NULL FROM sessions WHERE hash = ?"
                  : "SELECT id, created_by, expires_at, last_used_at, scopes FROM tokens WHERE hash = ?";
    if (!db_query_one(core->db, a, sql, db_args(db_text(hash)), &row, &found, err))
        return false;
    if (!found)
        return bad_credential(err);
    e->id = row.v[0].i;
    e->user = row.v[1].i;
    e->expires = row.v[2].type == DB_INT ? row.v[2].i : 0;
    atomic_init(&e->used, row.v[3].type == DB_INT ? row.v[3].i : 0);
    atomic_init(&e->stored, row.v[3].type == DB_INT ? row.v[3].i : 0);
    *ret_scopes = row.v[4].type == DB_TEXT ? row.v[4].s : STR_NULL;
    return true;
}

static void remember(struct accounts *acc, struct credential *e, uint64_t revocations)
{
    struct credential *old = NULL;
    pthread_rwlock_wrlock(&acc->lock);
    if (atomic_load(&acc->revocations) != revocations) {
        old = e;
    } else {
        if (map_count(acc->credentials) >= CACHE_MAX) {
            credentials_drop(acc);
            acc->credentials = map_new();
        }
        old = map_set(acc->credentials, (struct str){(char *)e->key, sizeof e->key}, e);
    }
    if (old && old != e && atomic_load(&old->used) > atomic_load(&e->used))
        atomic_store(&e->used, atomic_load(&old->used));
    if (old)
        credential_free(old);
    pthread_rwlock_unlock(&acc->lock);
}

static bool load_job(struct accounts *acc, struct arena *a, struct credential *e, uint64_t generation,
                     struct err *err)
{
    struct job_token t;
    if (!job_token_read(acc->core, a, e->key, &t, err))
        return false;
    e->id = t.job;
    e->user = t.user;
    return grants_load_job(acc->core, t.user, t.project, generation, &e->grants, err);
}

static bool load_credential(struct accounts *acc, struct credential *e, struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    char hash[SHA256_HEX + 1];
    hex_encode(e->key + 1, SHA256_SIZE, hash);
    uint64_t generation = atomic_load(&acc->generation);
    struct str scopes;
    if (e->job)
        return load_job(acc, &a, e, generation, err);
    if (!read_row(acc->core, &a, e, str_of(hash), &scopes, err))
        return false;
    if (is_over(e, clock_now()))
        return bad_credential(err);
    return grants_load(acc->core, e->user, scopes, generation, &e->grants, err);
}

static bool resolve(struct accounts *acc, const uint8_t key[CREDENTIAL_KEY], bool use, struct caller *ret,
                    struct err *err)
{
    uint64_t revocations = atomic_load(&acc->revocations), epoch = accounts_epoch(acc);
    struct credential *e = base_zalloc(sizeof *e);
    e->cookie = key[0] == 's';
    e->job = key[0] == 'j';
    memcpy(e->key, key, CREDENTIAL_KEY);
    if (!load_credential(acc, e, err)) {
        free(e);
        return false;
    }
    int64_t now = clock_now();
    bool due = use && !e->job && now - atomic_load(&e->stored) > MINUTE;
    if (use)
        atomic_store(&e->used, now);
    fill(ret, e, epoch);
    remember(acc, e, revocations);
    if (due)
        controller_wake(acc->core, &controller_accounts);
    return true;
}

bool accounts_resolve(struct accounts *acc, struct str secret, bool is_cookie, struct caller *ret,
                      struct err *err)
{
    uint8_t key[CREDENTIAL_KEY];
    if (!credential_key(secret, is_cookie, key))
        return bad_credential(err);
    return resolve(acc, key, true, ret, err);
}

bool accounts_resolve_again(struct accounts *acc, const uint8_t credential[CALLER_CREDENTIAL], bool use,
                            struct caller *ret, struct err *err)
{
    return resolve(acc, credential, use, ret, err);
}

void accounts_caller_release(struct accounts *acc, struct caller *c)
{
    (void)acc;
    if (c->grants && c->grants != caller_system.grants)
        grants_unref((struct grants *)c->grants);
    *c = (struct caller){0};
}

struct caller accounts_caller_ref(const struct caller *c)
{
    if (c->grants && c->grants != caller_system.grants)
        grants_ref((struct grants *)c->grants);
    return *c;
}

bool accounts_caller_current(const struct accounts *acc, const struct caller *c)
{
    const struct grants *g = grants_of(c);
    return g && g->generation == atomic_load(&((struct accounts *)acc)->generation);
}

bool accounts_caller_of(struct accounts *acc, int64_t user, struct caller *ret, struct err *err)
{
    struct grants *g;
    uint64_t epoch = accounts_epoch(acc);
    if (!grants_load(acc->core, user, STR_NULL, atomic_load(&acc->generation), &g, err)) {
        if (err->code == ERR_UNAUTHORIZED)
            err->code = ERR_NOT_FOUND;
        return false;
    }
    *ret = (struct caller){
        .user = user, .name = g->name, .administrator = g->administrator, .epoch = epoch, .grants = g};
    return true;
}

/* --- changes --- */
void accounts_grants_changed(struct core *core)
{
    if (!core->accounts)
        return;
    atomic_fetch_add(&core->accounts->generation, 1);
    tell_change(core->accounts);
}

/* Drops the cached credentials of that sort (the first byte of the key) and id, or of that user (id 0). */
static void forget(struct core *core, uint8_t sort, int64_t id, int64_t user)
{
    struct accounts *acc = core->accounts;
    if (!acc)
        return;
    struct credential *gone = NULL;
    struct str key;
    void *value;
    pthread_rwlock_wrlock(&acc->lock);
    atomic_fetch_add(&acc->revocations, 1);
    for (size_t i = 0; map_next(acc->credentials, &i, &key, &value);) {
        struct credential *e = value;
        if (id ? e->key[0] == sort && e->id == id : e->user == user) {
            e->next = gone;
            gone = e;
        }
    }
    for (struct credential *e = gone; e; e = gone) {
        gone = e->next;
        map_remove(acc->credentials, (struct str){(char *)e->key, sizeof e->key});
        credential_free(e);
    }
    pthread_rwlock_unlock(&acc->lock);
    tell_change(acc);
}

void accounts_forget_token(struct core *core, int64_t token)
{
    forget(core, 't', token, 0);
}

void accounts_forget_session(struct core *core, int64_t session)
{
    forget(core, 's', session, 0);
}

void accounts_forget_job(struct core *core, int64_t job)
{
    forget(core, 'j', job, 0);
}

void accounts_forget_user(struct core *core, int64_t user)
{
    forget(core, 0, 0, user);
}

void accounts_forget_all(struct core *core)
{
    struct accounts *acc = core->accounts;
    pthread_rwlock_wrlock(&acc->lock);
    atomic_fetch_add(&acc->revocations, 1);
    atomic_fetch_add(&acc->generation, 1);
    credentials_drop(acc);
    acc->credentials = map_new();
    pthread_rwlock_unlock(&acc->lock);
    tell_change(acc);
}

/* --- last_used_at --- */
struct use {
    bool cookie;
    int64_t id, at;
};

struct uses {
    struct use *items;
    size_t n;
};

static bool write_uses(struct op *op, void *ctx, struct err *err)
{
    const struct uses *u = ctx;
    for (size_t i = 0; i < u->n; i++) {
        const struct use *x = &u->items[i];
        if (!engine_set_status(op, x->cookie ? &kind_session : &kind_token, x->id,
                               ENGINE_STATUSES(status_set("last_used_at", db_int(x->at))), err))
            return false;
    }
    int64_t now = clock_now();
    return conn_exec(op->conn, "DELETE FROM sessions WHERE expires_at <= ? OR last_used_at <= ?",
                     db_args(db_int(now), db_int(now - ACCOUNTS_SESSION_IDLE * SECOND)), NULL, err);
}

bool credentials_store(struct accounts *acc, bool all, struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    struct uses u = {0};
    struct str key;
    void *value;
    pthread_rwlock_rdlock(&acc->lock);
    u.items = arena_array(&a, struct use, map_count(acc->credentials) + 1);
    for (size_t i = 0; map_next(acc->credentials, &i, &key, &value);) {
        struct credential *e = value;
        int64_t used = atomic_load(&e->used), stored = atomic_load(&e->stored);
        if (!e->job && used - stored >= (all ? 1 : MINUTE)) {
            u.items[u.n++] = (struct use){e->cookie, e->id, used};
            atomic_store(&e->stored, used);
        }
    }
    pthread_rwlock_unlock(&acc->lock);
    return engine_write(acc->core, &caller_system, &a, write_uses, &u, err);
}
