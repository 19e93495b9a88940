/* What is told about services and versions, derived from what is there. */
#include "base/messages.h"
#include "core/serve/event.h"
#include "core/serve/look.h"
#include "core/serve/version.h"

struct told {
    const char *state;
    struct words reason;
    int64_t ready;
};

static struct words nothing(void)
{
    return (struct words){NULL, NULL};
}

static struct words failing(struct look *l, const struct object *version)
{
    struct arena *a = l->arena;
    long long n = version_failures(version);
    const char *en = arena_strz(a, object_text(version, "failed_reason")),
               *zh = arena_strz(a, object_text(version, "failed_reason_zh"));
    return (struct words){event_words(a, MESSAGE_WHY_FAILING, n, en).en,
                          event_words(a, MESSAGE_WHY_FAILING, n, zh).zh};
}

/* A version that has a slot. ready: of its own replicas. */
static struct told tell_target(struct look *l, const struct look_slot *s, int64_t ready)
{
    const struct object *v = s->target;
    struct told t = {.ready = ready};
    if (s->wanted == 0) {
        t.state = ready || s->alive ? "stopping" : "stopped";
    } else if (s->current_ready >= s->wanted) {
        t.state = "serving";
    } else if (version_failures(v) >= VERSION_LOOP) {
        t.state = ready ? "degraded" : "failed";
        t.reason = failing(l, v);
    } else if (s->ready >= s->wanted && s->current < s->alive) {
        t.state = "starting";
        t.reason =
            event_words(l->arena, MESSAGE_WHY_ROLLING, (long long)s->current_ready, (long long)s->wanted);
    } else {
        t.state = ready ? "degraded" : s->current && s->queued == s->current ? "pending" : "starting";
        if (s->waits.en)
            t.reason = s->waits;
        else if (version_failures(v))
            t.reason = failing(l, v);
        else if (ready)
            t.reason = event_words(l->arena, MESSAGE_WHY_MISSING, (long long)ready, (long long)s->wanted);
    }
    return t;
}

static struct told tell_version(struct look *l, const struct object *v)
{
    const struct object *s = look_service_of(l, v->parent);
    enum slot slot = slot_of(object_text(v, "role"));
    int64_t ready = 0, left = 0;
    for (size_t i = 0; i < l->n_replicas; i++)
        if (l->replica[i].version == v->id) {
            ready += replica_answers(&l->replica[i]);
            left += l->replica[i].state != REPLICA_OVER;
        }
    if (s && slot != SLOTS) {
        struct told t = tell_target(l, &l->of[s - l->service].slot[slot], ready);
        if (strcmp(t.state, "stopped") == 0 && left)
            t.state = "stopping";
        return t;
    }
    return (struct told){left ? "stopping" : "stopped", nothing(), ready};
}

/* --- services --- */

static struct words of_version(struct look *l, const struct object *v, enum slot slot, struct words reason)
{
    struct str name = object_text(v, "name");
    const char *role = slot_names[slot];
    if (!reason.en)
        return reason;
    return (struct words){event_words(l->arena, MESSAGE_WHY_OF_VERSION, STR_ARG(name), role, reason.en).en,
                          event_words(l->arena, MESSAGE_WHY_OF_VERSION, STR_ARG(name), role, reason.zh).zh};
}

static void tell_service(struct look *l, struct look_service *s, const struct told *told)
{
    const struct look_slot *p = &s->slot[SLOT_PRODUCTION], *c = &s->slot[SLOT_CANARY];
    struct told of_p = p->target ? told[p->target - l->version] : (struct told){0};
    struct told of_c = c->target ? told[c->target - l->version] : (struct told){0};
    s->reason = nothing();
    if (p->wanted + c->wanted == 0 || (!p->target && !p->ready)) {
        s->state = "stopped";
        s->reason = p->target ? event_words(l->arena, MESSAGE_WHY_STOPPED)
                              : event_words(l->arena, MESSAGE_WHY_NO_PRODUCTION);
        return;
    }
    if (p->ready == 0) {
        s->state = of_p.state && strcmp(of_p.state, "failed") == 0 ? "failed" : "starting";
        s->reason = of_p.reason.en ? of_version(l, p->target, SLOT_PRODUCTION, of_p.reason)
                                   : event_words(l->arena, MESSAGE_WHY_STARTING);
        return;
    }
    bool whole = p->ready >= p->wanted && c->ready >= c->wanted;
    s->state = whole ? "serving" : "degraded";
    if (p->target && of_p.reason.en)
        s->reason = of_version(l, p->target, SLOT_PRODUCTION, of_p.reason);
    else if (c->target && of_c.reason.en)
        s->reason = of_version(l, c->target, SLOT_CANARY, of_c.reason);
}

/* --- writing what is new --- */

static bool same_text(const struct object *o, const char *field, const char *text)
{
    return str_is(object_text(o, field), text ? text : "");
}

static bool same(const struct object *o, const char *state, struct words reason)
{
    return same_text(o, "state", state) && same_text(o, "reason", reason.en) &&
           same_text(o, "reason_zh", reason.zh);
}

struct telling {
    struct look *l;
    const struct told *told;
};

/* What was changed since the look is told by the next one. */
static bool is_as_seen(struct op *op, const struct object *o, bool *ret, struct err *err)
{
    struct object now;
    bool found;
    if (!engine_load_row(op, o->kind, o->id, &now, &found, err))
        return false;
    *ret = found && now.revision == o->revision;
    return true;
}

static bool write_version(struct op *op, const struct object *v, const struct told *w, struct err *err)
{
    bool seen;
    if (!is_as_seen(op, v, &seen, err))
        return false;
    return !seen || engine_set_status(op, &kind_service_version, v->id,
                                      ENGINE_STATUSES(status_set("state", db_textz(w->state)),
                                                      status_set("reason", db_textz(w->reason.en)),
                                                      status_set("reason_zh", db_textz(w->reason.zh)),
                                                      status_set("ready", db_int(w->ready))),
                                      err);
}

static bool write_service(struct op *op, const struct look_service *s, struct err *err)
{
    bool seen;
    if (!is_as_seen(op, s->service, &seen, err))
        return false;
    return !seen || engine_set_status(op, &kind_service, s->service->id,
                                      ENGINE_STATUSES(status_set("state", db_textz(s->state)),
                                                      status_set("reason", db_textz(s->reason.en)),
                                                      status_set("reason_zh", db_textz(s->reason.zh))),
                                      err);
}

static bool is_new(const struct object *v, const struct told *w)
{
    return !same(v, w->state, w->reason) || object_int(v, "ready") != w->ready;
}

static bool tell_write(struct op *op, void *ctx, struct err *err)
{
    const struct telling *t = ctx;
    struct look *l = t->l;
    for (size_t i = 0; i < l->n_versions; i++)
        if (is_new(&l->version[i], &t->told[i]) && !write_version(op, &l->version[i], &t->told[i], err))
            return false;
    for (size_t i = 0; i < l->n_services; i++) {
        const struct look_service *s = &l->of[i];
        if (!same(s->service, s->state, s->reason) && !write_service(op, s, err))
            return false;
    }
    return true;
}

bool look_tell(struct look *l, struct err *err)
{
    struct told *told = arena_array(l->arena, struct told, l->n_versions + 1);
    bool new_ = false;
    for (size_t i = 0; i < l->n_versions; i++) {
        told[i] = tell_version(l, &l->version[i]);
        new_ = new_ || is_new(&l->version[i], &told[i]);
    }
    for (size_t i = 0; i < l->n_services; i++) {
        struct look_service *s = &l->of[i];
        tell_service(l, s, told);
        new_ = new_ || !same(s->service, s->state, s->reason);
    }
    return !new_ ||
           engine_write(l->core, &caller_system, l->arena, tell_write, &(struct telling){l, told}, err);
}
