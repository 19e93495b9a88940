/* Visits that go on for long end with what allowed them. */
#include "api/gateway/visit.h"
#include "api/lasting.h"
#include "base/clock.h"

void visit_allow(struct visit *v, const struct caller *c)
{
    struct visit_right *right = &v->right;
    *right = (struct visit_right){.core = v->core,
                                  .service = v->route->service,
                                  .project = v->route->project,
                                  .key = v->key ? v->key->id : 0};
    if (!c)
        return;
    right->caller.user = c->user;
    right->caller.epoch = c->epoch;
    memcpy(right->caller.credential, c->credential, sizeof right->caller.credential);
}

static bool key_holds(const struct serve_route *r, int64_t key)
{
    for (size_t i = 0; i < r->n_keys; i++)
        if (r->keys[i].id == key)
            return !r->keys[i].expires_at || r->keys[i].expires_at > clock_now();
    return false;
}

/* On the thread of what lasts, by the routes of now: those of the visit are of its beginning. */
static bool may(void *ctx, const struct caller *now)
{
    const struct visit_right *right = ctx;
    struct serve_routes *routes = serve_routes_acquire(right->core);
    const struct serve_route *r = serve_routes_service(routes, right->service);
    bool ok =
        r && (right->key ? key_holds(r, right->key) : caller_may(now, "service.invoke", right->project));
    serve_routes_release(routes);
    return ok;
}

void visit_watch(struct visit *v)
{
    struct visit_right *right = &v->right;
    if (right->watched || (!right->key && !right->caller.user))
        return;
    right->watched = true;
    lasting_add(v->r, &right->caller, &(struct lasting_terms){.may = may, .beyond = true, .ctx = right});
}
