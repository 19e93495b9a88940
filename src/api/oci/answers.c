/* Kept by the Authorization header and the path. An answer depends on the caller's credential and rights and
 * on what the version names. So it is exact while no right has changed and nothing was committed to the
 * tables it was read from, with SQLite, where this process is the only writer; only the end of a credential
 * is looked at beside it. */
#include "api/oci/own.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>

#define SETS     64
#define WAYS     8
#define MAX_BODY (64 << 10)
#define MAX_KEY  4096
#define LIFE_US  INT64_C(5000000)

struct kept {
    atomic_uint refs;
    const struct core *core;
    uint64_t commits, epoch;
    struct db_tables reads;
    int64_t until;
    struct str auth, path;
    const char *user;
    struct oci_kept answer;
    char bytes[]; /* of all texts */
};

static struct set {
    pthread_mutex_t lock;
    struct kept *way[WAYS];
    unsigned next;
} sets[SETS] = {[0 ... SETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static void unref(struct kept *k)
{
    if (k && atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) == 1)
        free(k);
}

static struct set *set_of(struct str auth, struct str path)
{
    return &sets[(hash64(auth) * 31 ^ hash64(path)) % SETS];
}

static bool is_for(const struct kept *k, const struct core *core, struct str auth, struct str path)
{
    return k && k->core == core && str_eq(k->path, path) && str_eq(k->auth, auth);
}

static struct kept *find(struct core *core, struct str auth, struct str path)
{
    struct set *s = set_of(auth, path);
    struct kept *found = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < WAYS && !found; i++)
        if (is_for(s->way[i], core, auth, path))
            found = s->way[i];
    if (found && (found->epoch != accounts_epoch(core->accounts) || found->until < clock_now() ||
                  !db_unchanged(core->db, found->commits, &found->reads)))
        found = NULL;
    if (found)
        atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
    pthread_mutex_unlock(&s->lock);
    return found;
}

bool oci_give(struct core *core, struct request *r)
{
    struct str auth = request_header(r, "authorization");
    bool get = str_is(r->method, "GET");
    if (!(get || str_is(r->method, "HEAD")) || !auth.n || r->content_length != 0 ||
        db_is_postgres(core->db) || str_find(r->path, STR("/manifests/")) < 0)
        return false;
    struct kept *k = find(core, auth, r->path);
    if (!k)
        return false;
    r->log_user = arena_strdup(r->arena, k->user);
    if (get && k->answer.version)
        images_pulled(core->images, k->answer.version);
    oci_answer_manifest(r, &k->answer);
    unref(k);
    return true;
}

static struct str put(char **to, struct str s)
{
    struct str copy = {*to, s.n};
    memcpy(*to, s.p, s.n);
    (*to)[s.n] = 0;
    *to += s.n + 1;
    return copy;
}

void oci_keep(const struct oci_call *call, const struct oci_kept *answer)
{
    struct str auth = request_header(call->request, "authorization"), path = call->request->path,
               user = str_of(call->caller.name);
    if (answer->body.n > MAX_BODY || auth.n + path.n > MAX_KEY || !auth.n || !user.p ||
        !db_unchanged(call->core->db, call->commits, &call->reads))
        return;
    size_t n = auth.n + path.n + user.n + answer->media_type.n + answer->digest.n + answer->body.n + 6;
    struct kept *k = base_alloc(sizeof *k + n);
    char *at = k->bytes;
    int64_t until = clock_now() + LIFE_US;
    *k = (struct kept){.core = call->core,
                       .commits = call->commits,
                       .epoch = call->caller.epoch,
                       .reads = call->reads,
                       .until = until < call->until ? until : call->until,
                       .auth = put(&at, auth),
                       .path = put(&at, path)};
    k->user = put(&at, user).p;
    k->answer = (struct oci_kept){.version = answer->version,
                                  .media_type = put(&at, answer->media_type),
                                  .digest = put(&at, answer->digest),
                                  .body = put(&at, answer->body)};
    atomic_init(&k->refs, 1);
    struct set *s = set_of(auth, path);
    pthread_mutex_lock(&s->lock);
    struct kept **way = &s->way[s->next++ % WAYS];
    for (size_t i = 0; i < WAYS; i++)
        if (is_for(s->way[i], call->core, auth, path))
            way = &s->way[i];
    struct kept *old = *way;
    *way = k;
    pthread_mutex_unlock(&s->lock);
    unref(old);
}
