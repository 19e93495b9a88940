#include "core/job/usage.h"

#include "base/clock.h"

bool usage_input(struct core *core, struct arena *a, struct plan_input *ret, struct err *err)
{
    struct object *jobs;
    *ret = (struct plan_input){.core = core, .arena = a, .snapshot = {.now = clock_now()}};
    if (!plan_input_jobs(core, a, &jobs, &ret->n, err))
        return false;
    ret->job = jobs;
    return plan_input_build(ret, NULL, err);
}

static void add_rank(struct usage *u, const struct sched_demand *r)
{
    u->cpu += r->cpu;
    u->memory += r->memory;
    for (int i = 0; i < SCHED_WANTS; i++)
        if (r->wants[i].thousandths)
            u->cards[r->wants[i].kind] += r->wants[i].thousandths;
}

struct usage usage_of(const struct plan_input *s, struct usage_filter f)
{
    struct usage u = {.storage = -1};
    for (int32_t i = 0; i < s->snapshot.n_running; i++) {
        const struct sched_running *r = &s->snapshot.running[i];
        if ((f.project && s->snapshot.projects[r->project].id != f.project) || (f.user && r->user != f.user))
            continue;
        bool here = false;
        for (int32_t k = 0; k < r->n_ranks; k++) {
            if (f.node && r->ranks[k].node != f.node - 1)
                continue;
            add_rank(&u, &r->request);
            here = true;
        }
        u.jobs += here;
    }
    return u;
}

void usage_write(const struct plan_input *s, const struct usage *u, struct json_out *out)
{
    json_object(out);
    json_key(out, "cpu");
    json_real(out, (double)u->cpu / 1000);
    json_kint(out, "memory", u->memory);
    if (u->storage >= 0)
        json_kint(out, "storage", u->storage);
    if (u->disk)
        json_kint(out, "disk", u->disk);
    json_key(out, "accelerators");
    json_object(out);
    for (int32_t k = 0; k < s->snapshot.n_kinds; k++)
        if (u->cards[k]) {
            json_key(out, s->snapshot.kinds[k].name);
            json_real(out, (double)u->cards[k] / SCHED_WHOLE);
        }
    json_object_end(out);
    json_object_end(out);
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
