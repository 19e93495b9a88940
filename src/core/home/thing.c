/* Things that are told of, as JSON: HomeThing of the API. */
#include "core/home/home_own.h"
#include "core/job/owner.h"
#include "core/show.h"

void home_time(struct json_out *out, const char *key, int64_t at)
{
    char text[CLOCK_TEXT_MAX];
    json_kz(out, key, at ? clock_format(at, text) : NULL);
}

struct str home_text(const struct db_value *v)
{
    return v->type == DB_TEXT && v->s.n ? v->s : STR_NULL;
}

void home_words(struct json_out *out, const char *key, struct str en, struct str zh)
{
    json_key(out, key);
    if (!en.n) {
        json_null(out);
        return;
    }
    json_object(out);
    json_kstr(out, "en", en);
    json_kstr(out, "zh", zh.n ? zh : en);
    json_object_end(out);
}

static void write_count(struct json_out *out, const char *key, int64_t n)
{
    json_key(out, key);
    n < 0 ? json_null(out) : json_int(out, n);
}

static void write_ref(struct json_out *out, const char *key, const struct names *names, const struct kind *k,
                      int64_t id)
{
    json_key(out, key);
    show_ref(names, k, id && names_get(names, k, id)->name.p ? id : 0, out);
}

static void write_thing(const struct home_thing *t, const struct names *names, struct json_out *out)
{
    json_object(out);
    json_kz(out, "kind", t->kind->name);
    write_ref(out, "object", names, t->kind, t->id);
    write_ref(out, "project", names, kind_by_name(STR("project")), t->project);
    write_ref(out, "by", names, kind_by_name(STR("user")), t->by);
    home_words(out, "title", t->title, t->title_zh);
    json_kstr(out, "state", t->state);
    home_time(out, "at", t->at);
    home_time(out, "estimate", t->estimate);
    write_count(out, "done", t->done);
    write_count(out, "total", t->total);
    home_words(out, "reason", t->en, t->zh);
    json_kstr(out, "line", t->line.n ? t->line : STR_NULL);
    json_key(out, "metrics");
    json_raw(out, t->metrics.n ? t->metrics : STR("[]"));
    json_object_end(out);
}

bool home_things_write(struct home *h, const struct home_thing *t, size_t n, struct err *err)
{
    struct names names;
    names_init(&names, h->arena, 3 * n + 1);
    for (size_t i = 0; i < n; i++) {
        names_want(&names, t[i].kind, t[i].id);
        names_want(&names, kind_by_name(STR("user")), t[i].by);
        names_want(&names, kind_by_name(STR("project")), t[i].project);
    }
    if (!names_load(&names, h->core->db, err))
        return false;
    json_array(h->out);
    for (size_t i = 0; i < n; i++)
        if (names_get(&names, t[i].kind, t[i].id)->name.p)
            write_thing(&t[i], &names, h->out);
    json_array_end(h->out);
    return true;
}

const char *home_jobs_listed(struct arena *a)
{
    const char *text = "'service_version'";
    for (size_t i = 0; job_owners[i]; i++)
        if (job_owners[i]->on_demand)
            text = arena_printf(a, "%s, '%s'", text, job_owners[i]->kind);
    return arena_printf(a, "owner_kind NOT IN (%s)", text);
}

void home_job_object(const struct home *h, int64_t job, int64_t project, struct str owner_kind, int64_t owner,
                     struct home_thing *ret)
{
    const struct kind *k = owner_kind.n ? kind_by_name(owner_kind) : NULL;
    bool told =
        k && caller_may(h->caller, kind_permission(h->arena, k, "read"), kind_has_project(k) ? project : 0);
    ret->kind = told ? k : &kind_job;
    ret->id = told ? owner : job;
    ret->project = project;
    ret->job = job;
    ret->done = ret->total = -1;
}
