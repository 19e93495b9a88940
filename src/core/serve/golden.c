#include "core/serve/golden.h"

#include "base/messages.h"
#include "core/controllers.h"
#include "core/data/sample.h"
#include "core/evaluate/compare.h"
#include "core/serve/canary.h"
#include "core/serve/rules.h"
#include "core/serve/serve.h"

#include <math.h>

enum { PRODUCTION, CANARY, SIDES };

struct holding {
    struct core *core;
    struct arena *a;
    struct object service, version[SIDES], evaluation[SIDES];
    bool evaluated[SIDES]; /* the evaluation is known */
    struct golden_rules rules;
    bool rollback;
};

bool golden_check(struct op *op, const struct object *service, struct err *err)
{
    struct object version;
    struct sample_set set;
    bool found;
    int64_t id = object_int(service, "golden");
    if (!id)
        return true;
    if (!engine_load_row(op, &kind_dataset_version, id, &version, &found, err))
        return false;
    if (!found)
        return true; /* the reference itself is refused */
    return sample_set_of(op, &version, &set, err) &&
           (set.published || err_message(err, ERR_INVALID, "golden", MESSAGE_GOLDEN_OPEN));
}

/* --- what came of it --- */

static void begin_result(const struct holding *h, const char *state, struct json_out *o)
{
    static const char *const names[] = {"production", "canary"};
    json_object(o);
    json_kz(o, "state", state);
    for (int i = 0; i < SIDES; i++)
        json_kint(o, names[i], h->version[i].id);
    for (int i = 0; i < SIDES; i++) {
        json_key(o, arena_printf(h->a, "%s_evaluation", names[i]));
        if (h->evaluated[i])
            json_int(o, h->evaluation[i].id);
        else
            json_null(o);
    }
}

/* Without the field that a form would show it at. */
static const char *without_field(const char *text, const char *field, const char *colon)
{
    size_t n = field ? strlen(field) : 0, m = strlen(colon);
    return n && strncmp(text, field, n) == 0 && strncmp(text + n, colon, m) == 0 ? text + n + m : text;
}

static struct words words_of(const struct err *why)
{
    return (struct words){without_field(why->message, why->field, ": "),
                          without_field(err_zh(why), why->field, "：")};
}

static void say_why(struct words why, struct json_out *o)
{
    json_kz(o, "reason", why.en);
    json_kz(o, "reason_zh", why.zh);
}

static bool keep_result(const struct holding *h, struct buf *text, const char *key, struct err *err)
{
    if (str_eq(buf_view(text), object_text(&h->service, "golden_result")))
        return true;
    return engine_write_status(h->core, &kind_service, h->service.id,
                               ENGINE_STATUSES(status_set("golden_result", db_text(buf_view(text))),
                                               status_set("golden_key", db_textz(key))),
                               err);
}

/* Not judged: why, if there is something to say. */
static bool tell(const struct holding *h, const char *state, struct words why, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    begin_result(h, state, &o);
    if (why.en)
        say_why(why, &o);
    json_object_end(&o);
    return keep_result(h, &text, "", err);
}

static void real(struct json_out *o, const char *key, double v)
{
    json_key(o, key);
    json_real(o, v); /* null when it is not known */
}

/* --- the rules --- */

/* Both rules look at the end of the interval that is best for the canary. */
static bool is_broken(const struct golden_rules *rules, const struct evaluation_beside *b, struct err *ret)
{
    const struct evaluation_difference *d = &b->difference;
    double least = b->less ? d->low : -d->high, most = b->less ? d->high : -d->low; /* so much worse */
    const struct agreement_counts *n = &b->agreement;
    if (rules->drop >= 0 && least > rules->drop) {
        err_message(ret, ERR_CONFLICT, NULL, MESSAGE_CANARY_GOLDEN, STR_ARG(b->figure), d->value, d->other,
                    least, most, rules->drop);
        return true;
    }
    if (rules->agreement < 0 || !n->samples || n->high >= rules->agreement)
        return false;
    err_message(ret, ERR_CONFLICT, NULL, MESSAGE_CANARY_AGREEMENT, (unsigned long long)n->agree,
                (unsigned long long)n->samples, 100 * (double)n->agree / (double)n->samples,
                100 * rules->agreement);
    return true;
}

static bool judge(const struct holding *h, const char *key, struct err *err)
{
    struct evaluation_beside b;
    struct err why = {0};
    auto_buf struct buf text = {0};
    struct json_out o;
    if (!evaluation_beside(h->core, &h->evaluation[CANARY], &h->evaluation[PRODUCTION], h->a, &b, &why)) {
        if (why.code == ERR_CONFLICT)
            return tell(h, "failed", words_of(&why), err);
        *err = why;
        return false;
    }
    bool broken = is_broken(&h->rules, &b, &why);
    json_begin(&o, &text);
    begin_result(h, broken ? "broken" : "kept", &o);
    json_kstr(&o, "figure", b.figure);
    real(&o, "production_value", b.difference.other);
    real(&o, "canary_value", b.difference.value);
    real(&o, "low", b.difference.low);
    real(&o, "high", b.difference.high);
    json_kint(&o, "samples", (int64_t)b.agreement.samples);
    json_kint(&o, "agree", (int64_t)b.agreement.agree);
    real(&o, "agree_low", b.agreement.low);
    real(&o, "agree_high", b.agreement.high);
    if (broken)
        say_why(words_of(&why), &o);
    json_object_end(&o);
    /* The canary first: until it has ended nothing says that it was judged. */
    bool ended = true;
    if (broken && !canary_end(h->core, h->a, &h->version[CANARY], h->rollback, &why, &ended, err))
        return false;
    if (!ended) /* changed meanwhile: the next look sees what it is now */
        return true;
    services_wake(h->core);
    return keep_result(h, &text, key, err);
}

/* --- evaluations --- */

static struct evaluation_new wanted(const struct holding *h, int side)
{
    return (struct evaluation_new){.project = h->service.project,
                                   .created_by = h->version[side].created_by,
                                   .model_version = object_int(&h->version[side], "model_version"),
                                   .dataset_version = object_int(&h->service, "golden"),
                                   .part = "all"};
}

/* The newest of that model on all of the golden version, whoever asked for it, if it has intervals. */
static bool find(struct db *db, struct arena *a, const struct evaluation_new *n, int64_t *ret,
                 struct err *err)
{
    struct db_row row;
    bool found;
    *ret = 0;
    if (!db_query_one(
            db, a,
            "SELECT id FROM evaluations WHERE project = ? AND model_version = ? AND dataset_version = ?"
            " AND part = ? AND score IS NULL AND draws >= 100 ORDER BY id DESC LIMIT 1",
            db_args(db_int(n->project), db_int(n->model_version), db_int(n->dataset_version),
                    db_textz(n->part)),
            &row, &found, err))
        return false;
    if (found)
        *ret = row.v[0].i;
    return true;
}

static bool create_write(struct op *op, void *ctx, struct err *err)
{
    int64_t id;
    return evaluation_create(op, ctx, &id, err);
}

/* *ret_state: of the evaluation, which is begun where there is none; STR_NULL: only just. */
static bool evaluated(struct holding *h, int side, struct str *ret_state, struct err *err)
{
    struct evaluation_new n = wanted(h, side);
    struct op op = {.core = h->core, .caller = &caller_system, .arena = h->a};
    int64_t id;
    *ret_state = STR_NULL;
    if (!find(h->core->db, h->a, &n, &id, err))
        return false;
    if (!id) {
        if (!evaluation_check(&op, &n, err) ||
            !engine_write(h->core, &caller_system, h->a, create_write, &n, err))
            return false;
        jobs_wake(h->core->jobs);
        return true;
    }
    if (!engine_get(h->core, &caller_system, &kind_evaluation, 0, id, h->a, &h->evaluation[side], err))
        return false;
    h->evaluated[side] = true;
    *ret_state = object_text(&h->evaluation[side], "state");
    return true;
}

/* Of evaluations and rules: while it is the same nothing is judged again, so that a person may go on with a
 * canary that the rules have stopped. */
static const char *key_of(const struct holding *h)
{
    const struct object *p = &h->evaluation[PRODUCTION], *c = &h->evaluation[CANARY];
    return arena_printf(h->a, "%lld %lld %lld %lld %lld %g %g", (long long)h->version[CANARY].id,
                        (long long)p->id, (long long)object_int(p, "ended_at"), (long long)c->id,
                        (long long)object_int(c, "ended_at"), h->rules.drop, h->rules.agreement);
}

static struct words note_of(struct arena *a, const struct object *evaluation)
{
    struct str en = object_text(evaluation, "note"), zh = object_text(evaluation, "note_zh");
    return (struct words){arena_strz(a, en), arena_strz(a, zh.n ? zh : en)};
}

static bool hold(struct holding *h, struct err *err)
{
    bool ready = true;
    for (int i = 0; i < SIDES; i++) {
        struct str state;
        struct err bad = {0};
        if (!evaluated(h, i, &state, &bad)) {
            if (bad.code != ERR_INVALID && bad.code != ERR_CONFLICT) {
                *err = bad;
                return false;
            }
            return tell(h, "failed", words_of(&bad), err);
        }
        if (str_is(state, "failed") || str_is(state, "stopped"))
            return tell(h, "failed", note_of(h->a, &h->evaluation[i]), err);
        ready = ready && str_is(state, "completed");
    }
    if (!ready)
        return tell(h, "evaluating", (struct words){NULL, NULL}, err);
    const char *key = key_of(h);
    return str_is(object_text(&h->service, "golden_key"), key) || judge(h, key, err);
}

/* --- which --- */

/* Whether both versions are there to be compared. */
static bool load_versions(struct holding *h, bool *ret_both, struct err *err)
{
    static const char *const roles[] = {"production", "canary"};
    *ret_both = false;
    for (int i = 0; i < SIDES; i++) {
        struct db_row row;
        bool found;
        if (!db_query_one(h->core->db, h->a,
                          "SELECT id FROM service_versions WHERE service = ? AND role = ? AND stopped = 0 AND"
                          " model_version IS NOT NULL",
                          db_args(db_int(h->service.id), db_textz(roles[i])), &row, &found, err))
            return false;
        if (!found)
            return true;
        if (!engine_get(h->core, &caller_system, &kind_service_version, 0, row.v[0].i, h->a, &h->version[i],
                        err))
            return false;
    }
    *ret_both = true;
    return true;
}

static bool look_at(struct core *core, int64_t service, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct holding h = {.core = core, .a = &a};
    bool both;
    struct err one = {0};
    bool ok = engine_get(core, &caller_system, &kind_service, 0, service, &a, &h.service, &one);
    if (ok && (object_int(&h.service, "stopped") ||
               !rules_read_golden(&a, object_text(&h.service, "rules"), &h.rules, &h.rollback)))
        return true;
    ok = ok && load_versions(&h, &both, &one) && (!both || hold(&h, &one));
    return ok || one.code == ERR_NOT_FOUND /* deleted meanwhile */ || err_keep(err, &one);
}

static bool tick(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    bool ok = true;
    arena_init(&a);
    if (!db_query(core->db, &a, "SELECT id FROM services WHERE golden IS NOT NULL ORDER BY id", db_args(),
                  &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && !controller_ending(core); i++)
        ok &= look_at(core, rows.row[i].v[0].i, err);
    return ok;
}

const struct controller controller_golden = {
    .name = "golden",
    .title = {"Holds canaries against production on the golden versions of their services",
              "在黄金数据集版本上对比灰度版本与生产版本"},
    .thread = "golden",
    .gives_way = true,
    .first_s = 2,
    .every_s = 5,
    .woken_by = {{"evaluation", "update"}, {"service", "update"}, {"service_version", "create"}},
    .tick = tick,
};
