/* Canaries that break the rules of their services. */
#include "core/serve/canary.h"

#include "base/messages.h"
#include "core/serve/event.h"
#include "core/serve/look.h"
#include "core/serve/rules.h"
#include "core/serve/traffic.h"
#include "core/serve/version.h"

struct sentence {
    const struct object *canary;
    bool rollback;
    const struct err *why;
    bool ended;
};

static struct words words_of(struct arena *a, const struct sentence *s)
{
    struct str name = object_text(s->canary, "name");
    const char *zh = s->why->id ? s->why->zh : s->why->message;
    if (s->rollback)
        return (struct words){event_words(a, MESSAGE_EVENT_CANARY_BACK, STR_ARG(name), s->why->message).en,
                              event_words(a, MESSAGE_EVENT_CANARY_BACK, STR_ARG(name), zh).zh};
    return (struct words){event_words(a, MESSAGE_EVENT_CANARY_STOPPED, STR_ARG(name), s->why->message).en,
                          event_words(a, MESSAGE_EVENT_CANARY_STOPPED, STR_ARG(name), zh).zh};
}

static bool act_write(struct op *op, void *ctx, struct err *err)
{
    struct sentence *s = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_service_version, s->canary->id, &now, &found, err))
        return false;
    /* Somebody changed it: its figures begin anew. */
    s->ended = false;
    if (!found || now.revision != s->canary->revision)
        return true;
    if (s->rollback)
        *object_value(&now, "role") = db_textz("retired");
    else
        *object_value(&now, "stopped") = db_int(1);
    version_unsettle(&now);
    s->ended = true;
    return engine_update_row(op, &now, err) &&
           event_say(op, (struct event_of){now.parent, now.id, 0},
                     s->rollback ? "canary-rolled-back" : "canary-stopped", words_of(op->arena, s), err);
}

bool canary_end(struct core *core, struct arena *a, const struct object *canary, bool rollback,
                const struct err *why, bool *ret_ended, struct err *err)
{
    struct sentence s = {.canary = canary, .rollback = rollback, .why = why};
    if (!engine_write(core, &caller_system, a, act_write, &s, err))
        return false;
    *ret_ended = s.ended;
    return true;
}

static bool judge_one(struct look *l, const struct look_service *s, struct err *err)
{
    const struct look_slot *c = &s->slot[SLOT_CANARY];
    struct judge_rules rules;
    struct err why = {0};
    bool rollback, ended;
    if (!c->target || !c->wanted ||
        !rules_read(l->arena, object_text(s->service, "rules"), &rules, &rollback))
        return true;
    struct serve_trial *t = arena_new(l->arena, struct serve_trial);
    if (!serve_traffic_trial(l->core, s->service->id, t) ||
        judge_canary(&rules, &t->side[0], &t->side[1], &why) != JUDGE_BAD)
        return true;
    l->changed = true;
    return canary_end(l->core, l->arena, c->target, rollback, &why, &ended, err);
}

bool look_judge(struct look *l, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < l->n_services; i++) {
        struct err one = {0};
        if (!judge_one(l, &l->of[i], &one))
            ok = err_keep(err, &one);
    }
    return ok;
}
