/* Starts and drains replicas, slot by slot, as plan.h says. */
#include "base/clock.h"
#include "base/messages.h"
#include "core/serve/event.h"
#include "core/serve/look.h"
#include "core/serve/plan.h"
#include "core/serve/version.h"

#define STEPS 200 /* in one write */

struct rolling {
    struct look *l;
    const struct object *service;
    const struct look_slot *slot;
    enum slot name;
    const struct replica **drain;
    size_t n_drain;
    int64_t starts;
};

static bool start_some(struct op *op, const struct rolling *r, struct err *err)
{
    struct object service, version;
    bool found, there;
    if (!r->starts)
        return true;
    if (!engine_load_row(op, &kind_service, r->service->id, &service, &found, err) ||
        !engine_load_row(op, &kind_service_version, r->slot->target->id, &version, &there, err))
        return false;
    /* Somebody changed it meanwhile: the next look sees it. */
    if (!found || !there || version.revision != r->slot->target->revision ||
        service.revision != r->service->revision)
        return true;
    for (int64_t i = 0; i < r->starts; i++)
        if (!replica_start(op, &service, &version, r->name, err))
            return false;
    return true;
}

static bool roll_write(struct op *op, void *ctx, struct err *err)
{
    const struct rolling *r = ctx;
    int64_t drain = object_int(r->service, "drain_s") * 1000000;
    for (size_t i = 0; i < r->n_drain; i++) {
        const struct replica *one = r->drain[i];
        const struct object *version = look_version(r->l, one->version);
        struct str name = version ? object_text(version, "name") : STR("?");
        /* One that never answered has nothing to finish. */
        int64_t at = r->l->now + (one->state == REPLICA_READY ? drain : 0);
        if (!replica_set(op, one, REPLICA_DRAINING, at, err) ||
            !event_add(op, (struct event_of){one->service, one->version, one->job}, err,
                       MESSAGE_EVENT_REPLICA_DRAINS, STR_ARG(name), (long long)one->job))
            return false;
    }
    return start_some(op, r, err);
}

/* Follows the plan in memory to its end. */
static void follow(struct rolling *r, struct plan_replica *state, const struct replica **of, size_t n)
{
    const struct object *target = r->slot->target;
    struct plan_want want = {.wanted = target ? r->slot->wanted : 0};
    want.may_start = target && (!version_failures(target) || object_int(target, "not_before") <= r->l->now);
    for (int i = 0; i < STEPS; i++) {
        struct plan_step s = plan_next(&want, state, n);
        if (s.what == PLAN_NOTHING)
            return;
        if (s.what == PLAN_DRAIN) {
            /* What was only planned a moment ago has no job yet: there is one less to start. */
            if (of[s.replica])
                r->drain[r->n_drain++] = of[s.replica];
            else
                r->starts--;
            state[s.replica].state = REPLICA_DRAINING;
        } else {
            of[n] = NULL;
            state[n++] = (struct plan_replica){true, REPLICA_STARTING};
            r->starts++;
        }
    }
}

static bool roll_slot(struct look *l, const struct look_service *s, enum slot slot, struct err *err)
{
    const struct look_slot *at = &s->slot[slot];
    if (at->alive == at->current && at->current == at->wanted)
        return true;
    size_t most = l->n_replicas + STEPS + 1, n = 0;
    struct plan_replica *state = arena_array(l->arena, struct plan_replica, most);
    const struct replica **of = arena_array(l->arena, const struct replica *, most);
    struct rolling r = {.l = l,
                        .service = s->service,
                        .slot = at,
                        .name = slot,
                        .drain = arena_array(l->arena, const struct replica *, most)};
    const struct object *target = r.slot->target;
    for (size_t i = 0; i < l->n_replicas; i++) {
        const struct replica *one = &l->replica[i];
        if (one->service != s->service->id || one->slot != slot || one->state >= REPLICA_DRAINING)
            continue;
        bool current =
            target && one->version == target->id && one->generation == object_int(target, "generation");
        /* A job that ends was ready a moment ago. */
        enum replica_state now =
            one->state == REPLICA_READY && !replica_answers(one) ? REPLICA_STARTING : one->state;
        of[n] = one;
        state[n++] = (struct plan_replica){current, now};
    }
    follow(&r, state, of, n);
    if (!r.starts && !r.n_drain)
        return true;
    l->changed = true;
    if (!engine_write(l->core, &caller_system, l->arena, roll_write, &r, err))
        return false;
    jobs_wake(l->core->jobs);
    return true;
}

bool look_roll(struct look *l, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < l->n_services; i++)
        for (int k = 0; k < SLOTS; k++) {
            struct err one = {0};
            if (!roll_slot(l, &l->of[i], (enum slot)k, &one))
                ok = err_keep(err, &one);
        }
    return ok;
}
