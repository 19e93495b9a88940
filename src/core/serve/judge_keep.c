#include "core/serve/judge_keep.h"

#include "base/json.h"
#include "core/engine.h"
#include "core/serve/gate_own.h"
#include "core/serve/serve.h"

/* --- as text --- */

static void write_side(const struct judge_side *s, struct json_out *o)
{
    json_array(o);
    json_int(o, (int64_t)s->requests);
    json_int(o, (int64_t)s->errors);
    json_array(o);
    for (size_t i = 0; i < JUDGE_BUCKETS; i++) {
        if (!s->times[i])
            continue;
        json_int(o, (int64_t)i);
        json_int(o, (int64_t)s->times[i]);
    }
    json_array_end(o);
    json_array_end(o);
}

void judge_keep_write(const struct serve_trial *t, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_kint(&o, "production", t->production);
    json_kint(&o, "canary", t->canary);
    json_kint(&o, "generation", t->generation);
    json_key(&o, "sides");
    json_array(&o);
    write_side(&t->side[0], &o);
    write_side(&t->side[1], &o);
    json_array_end(&o);
    json_object_end(&o);
}

static bool read_side(yyjson_val *v, struct judge_side *ret)
{
    yyjson_val *times = yyjson_arr_get(v, 2), *one;
    size_t i, max;
    uint64_t bucket = 0;
    if (!yyjson_is_arr(times))
        return false;
    *ret = (struct judge_side){.requests = yyjson_get_uint(yyjson_arr_get(v, 0)),
                               .errors = yyjson_get_uint(yyjson_arr_get(v, 1))};
    yyjson_arr_foreach(times, i, max, one)
    {
        uint64_t n = yyjson_get_uint(one);
        if (i % 2 == 0)
            bucket = n;
        else if (bucket < JUDGE_BUCKETS)
            ret->times[bucket] = n;
    }
    return true;
}

bool judge_keep_read(struct arena *a, struct str text, struct serve_trial *ret)
{
    struct err ignored = {0};
    yyjson_val *doc = text.n ? json_parse(a, text, &ignored) : NULL;
    if (!doc)
        return false;
    yyjson_val *sides = yyjson_obj_get(doc, "sides");
    ret->production = yyjson_get_sint(yyjson_obj_get(doc, "production"));
    ret->canary = yyjson_get_sint(yyjson_obj_get(doc, "canary"));
    ret->generation = yyjson_get_sint(yyjson_obj_get(doc, "generation"));
    return read_side(yyjson_arr_get(sides, 0), &ret->side[0]) &&
           read_side(yyjson_arr_get(sides, 1), &ret->side[1]);
}

/* --- which --- */

struct kept {
    int64_t service;
    bool awaits;
    struct serve_trial trial;
};

static uint64_t requests_of(const struct serve_trial *t)
{
    return t->side[0].requests + t->side[1].requests;
}

/* Those that are to be read or written. */
static size_t list(struct serve_gate *g, struct arena *a, struct kept **ret)
{
    struct str name;
    void *value;
    size_t n = 0;
    int64_t service;
    pthread_mutex_lock(&g->lock);
    struct kept *all = arena_array(a, struct kept, map_count(g->marks) + 1);
    for (size_t i = 0; map_next(g->marks, &i, &name, &value);) {
        const struct trial *t = name.p[0] == 's' ? ((struct service_mark *)value)->trial : NULL;
        struct kept *k = &all[n];
        if (!t || !str_to_i64((struct str){name.p + 1, name.n - 1}, &service) ||
            !traffic_trial_now(g, service, &k->trial) || (!t->awaits && requests_of(&k->trial) == t->kept))
            continue;
        k->service = service;
        k->awaits = t->awaits;
        n++;
    }
    pthread_mutex_unlock(&g->lock);
    *ret = all;
    return n;
}

/* The trial of the service, while it is that one; with the lock. */
static struct trial *same_trial(struct serve_gate *g, const struct kept *k)
{
    const struct service_mark *m = gate_mark_find(g, 's', (uint64_t)k->service);
    struct trial *t = m ? m->trial : NULL;
    const struct serve_trial *seen = &k->trial;
    return t && t->production == seen->production && t->canary == seen->canary &&
                   t->generation == seen->generation
               ? t
               : NULL;
}

/* --- reading --- */

/* A trial that the row does not have is a new one, which nobody had the time to write. */
static bool resume(struct core *core, const struct kept *k, struct arena *a, struct err *err)
{
    struct serve_gate *g = core->gate;
    struct serve_trial *was = arena_new(a, struct serve_trial);
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, a, "SELECT trial FROM services WHERE id = ?", db_args(db_int(k->service)),
                      &row, &found, err))
        return false;
    bool known = found && row.v[0].type == DB_TEXT && judge_keep_read(a, row.v[0].s, was);
    pthread_mutex_lock(&g->lock);
    struct trial *t = same_trial(g, k);
    if (t) {
        t->awaits = false;
        if (known && was->production == t->production && was->canary == t->canary &&
            was->generation == t->generation)
            memcpy(t->earlier, was->side, sizeof t->earlier);
    }
    pthread_mutex_unlock(&g->lock);
    return true;
}

/* --- writing --- */

struct writing {
    const struct kept *kept;
    size_t n;
};

static bool write_all(struct op *op, void *ctx, struct err *err)
{
    const struct writing *w = ctx;
    for (size_t i = 0; i < w->n; i++) {
        auto_buf struct buf text = {0};
        judge_keep_write(&w->kept[i].trial, &text);
        if (!engine_set_status(op, &kind_service, w->kept[i].service,
                               ENGINE_STATUSES(status_set("trial", db_text(buf_view(&text)))), err))
            return false;
    }
    return true;
}

bool judge_keep(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct kept *all;
    arena_init(&a);
    size_t n = list(core->gate, &a, &all), waiting = 0;
    for (size_t i = 0; i < n; i++) {
        waiting += all[i].awaits;
        if (all[i].awaits && !resume(core, &all[i], &a, err))
            return false;
    }
    if (waiting) /* with what was read they are written next time */
        return true;
    if (n && !engine_write(core, &caller_system, &a, write_all, &(struct writing){all, n}, err))
        return false;
    pthread_mutex_lock(&core->gate->lock);
    for (size_t i = 0; i < n; i++) {
        struct trial *t = same_trial(core->gate, &all[i]);
        if (t)
            t->kept = requests_of(&all[i].trial);
    }
    pthread_mutex_unlock(&core->gate->lock);
    return true;
}
