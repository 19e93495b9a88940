#include "core/job/usage.h"

#include "base/clock.h"

bool usage_input(struct core *core, struct arena *a, struct plan_input *ret, struct err *err)
{
    struct object *jobs;
    *ret = (struct plan_input){.core = core, .arena = a, .snapshot = {.now = clock_now()}};
    if (!plan_input_jobs(core, a, &jobs, &ret->n, err))
        return false;
    ret->job = jobs;
    ret->n_used = curves_now(core, a, &ret->used);
    return plan_input_build(ret, NULL, err);
}

static void add_card(struct amounts *a, int32_t kind, int64_t thousandths)
{
    a->cards[kind] += thousandths;
    a->kinds |= UINT64_C(1) << kind;
}

static int by_rank(const void *key, const void *element)
{
    const struct exec_id *k = key, *e = &((const struct curves_use *)element)->id;
    return k->job != e->job ? (k->job > e->job) - (k->job < e->job)
                            : (k->rank > e->rank) - (k->rank < e->rank);
}

static void add_measured(const struct plan_input *s, struct usage *u, const struct sched_running *r,
                         int32_t rank)
{
    struct exec_id id = {.job = r->id, .rank = rank};
    const struct curves_use *now =
        s->n_used ? bsearch(&id, s->used, s->n_used, sizeof *s->used, by_rank) : NULL;
    if (!now)
        return;
    u->used.cpu += (int64_t)(now->cpus * 1000);
    u->used.memory += now->memory;
    u->used.disk += now->disk > 0 ? now->disk : 0;
    u->reserved.disk += now->disk_limit;
    if (now->cards_busy >= 0 && r->request.wants[0].thousandths)
        add_card(&u->used, r->request.wants[0].kind, now->cards_busy);
}

static void add_rank(const struct plan_input *s, struct usage *u, const struct sched_running *r, int32_t rank)
{
    u->reserved.cpu += r->request.cpu;
    u->reserved.memory += r->request.memory;
    for (int i = 0; i < SCHED_WANTS; i++)
        if (r->request.wants[i].thousandths)
            add_card(&u->reserved, r->request.wants[i].kind, r->request.wants[i].thousandths);
    add_measured(s, u, r, rank);
}

struct usage usage_of(const struct plan_input *s, struct usage_filter f)
{
    struct usage u = {.reserved.storage = -1, .used.storage = -1};
    for (int32_t i = 0; i < s->snapshot.n_running; i++) {
        const struct sched_running *r = &s->snapshot.running[i];
        if ((f.project && s->snapshot.projects[r->project].id != f.project) || (f.user && r->user != f.user))
            continue;
        bool here = false;
        for (int32_t k = 0; k < r->n_ranks; k++) {
            if (f.node && r->ranks[k].node != f.node - 1)
                continue;
            add_rank(s, &u, r, k);
            here = true;
        }
        u.jobs += here;
    }
    return u;
}

static void write_known(struct json_out *out, const char *key, int64_t v)
{
    json_key(out, key);
    v < 0 ? json_null(out) : json_int(out, v);
}

static void write_cpus(struct json_out *out, const char *key, int64_t thousandths)
{
    json_key(out, key);
    thousandths < 0 ? json_null(out) : json_real(out, (double)thousandths / 1000);
}

void amounts_write(const struct plan_input *s, const struct amounts *a, struct json_out *out)
{
    json_object(out);
    write_cpus(out, "cpus", a->cpu);
    write_cpus(out, "cpu", a->cpu);
    write_known(out, "memory", a->memory);
    if (a->storage >= 0)
        json_kint(out, "storage", a->storage);
    write_known(out, "disk", a->disk);
    json_key(out, "accelerators");
    json_object(out);
    for (int32_t k = 0; k < s->snapshot.n_kinds; k++)
        if (a->kinds & UINT64_C(1) << k) {
            json_key(out, s->snapshot.kinds[k].name);
            json_real(out, (double)a->cards[k] / SCHED_WHOLE);
        }
    json_object_end(out);
    json_object_end(out);
}

void usage_write(const struct plan_input *s, const struct usage *u, struct json_out *out)
{
    struct amounts both = u->reserved;
    both.storage = u->used.storage;
    json_key(out, "reserved");
    amounts_write(s, &u->reserved, out);
    json_key(out, "used");
    amounts_write(s, &u->used, out);
    json_key(out, "use");
    amounts_write(s, &both, out);
}

static void write_limit(struct json_out *out, const char *key, yyjson_val *v)
{
    json_key(out, key);
    if (yyjson_is_num(v))
        json_value(out, v);
    else
        json_null(out);
}

void usage_write_quota(struct arena *a, struct str quota, struct json_out *out)
{
    struct err ignored = {0};
    yyjson_val *doc = quota.n ? json_parse(a, quota, &ignored) : NULL;
    yyjson_val *cards = yyjson_obj_get(doc, "accelerators"), *key, *v;
    size_t i, max;
    json_object(out);
    write_limit(out, "cpus", yyjson_obj_get(doc, "cpu"));
    write_limit(out, "cpu", yyjson_obj_get(doc, "cpu"));
    write_limit(out, "memory", yyjson_obj_get(doc, "memory"));
    write_limit(out, "storage", yyjson_obj_get(doc, "storage"));
    json_key(out, "accelerators");
    json_object(out);
    if (yyjson_obj_size(cards))
        yyjson_obj_foreach(cards, i, max, key, v) write_limit(out, yyjson_get_str(key), v);
    json_object_end(out);
    json_object_end(out);
}
