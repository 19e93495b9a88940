/* How many there are of each kind, and the way from data to a service: what of it is done follows from what
 * is there, so that nothing has to be ticked. */
#include "core/access.h"
#include "core/home/home_own.h"
#include "core/show.h"

/* --- counts --- */

static bool count_where(struct home *h, const struct kind *k, struct sql *s, struct err *err)
{
    const struct list_query q = {.project = h->project};
    if (k->scope == SCOPE_CHILD) {
        home_scope(h, kind_permission(h->arena, k, "read"), s);
        return true;
    }
    if (!access_list(h->core, h->caller, k, &q, h->arena, s, err))
        return false;
    if (k->listed) {
        sql_and(s);
        sql_add(s, k->listed(h->arena));
    }
    return true;
}

static bool write_count(struct home *h, const struct kind *k, struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    buf_printf(&s.text, "SELECT COUNT(*) FROM (SELECT 1 FROM \"%s\" WHERE ", k->table);
    if (!count_where(h, k, &s, err))
        return false;
    buf_printf(&s.text, " LIMIT %d) AS counted", HOME_COUNTED + 1);
    if (!home_query(h, &s, &rows, err))
        return false;
    json_kint(h->out, k->name, rows.row[0].v[0].i);
    return true;
}

/* Of kinds with a page of their own, and members; background work has the tray. */
bool home_counts(struct home *h, struct err *err)
{
    json_object(h->out);
    for (size_t i = 0; i < kind_count; i++) {
        const struct kind *k = kinds[i];
        bool told = (k->scope == SCOPE_PROJECT && k->menu && strcmp(k->name, "task") != 0) ||
                    strcmp(k->name, "member") == 0;
        if (told && home_may(h, kind_permission(h->arena, k, "read")) && !write_count(h, k, err))
            return false;
    }
    json_object_end(h->out);
    return true;
}

/* --- steps --- */

/* done_by: the newest object that shows that it was done; with: the step whose object it is done with. */
static const struct step {
    const char *name, *kind, *done_by;
    int with;               /* index, or -1 */
    const char *permission; /* to do it */
} steps[] = {
    {"data", "dataset_version", "samples > 0", -1, "dataset.create"},
    {"label", "dataset_version", "annotated > 0", 0, "dataset_version.update"},
    {"train", "model_version", "files > 0", 1, "training.create"},
    {"evaluate", "evaluation", "state = 'completed'", 2, "evaluation.create"},
    {"deploy", "service_version", "role <> 'retired'", 2, "service.create"},
};

static bool find_done(struct home *h, const struct step *of, int64_t *ret, struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    const struct kind *k = kind_by_name(str_of(of->kind));
    sql_init(&s);
    buf_printf(&s.text, "SELECT id FROM \"%s\" WHERE ", k->table);
    home_scope(h, kind_permission(h->arena, k, "read"), &s);
    buf_printf(&s.text, " AND %s ORDER BY id DESC LIMIT 1", of->done_by);
    if (!home_query(h, &s, &rows, err))
        return false;
    *ret = rows.n ? rows.row[0].v[0].i : 0;
    return true;
}

static bool write_step(struct home *h, size_t i, const int64_t *done, struct err *err)
{
    const struct step *of = &steps[i];
    const struct kind *with = of->with < 0 ? NULL : kind_by_name(str_of(steps[of->with].kind));
    struct op op = {.core = h->core, .caller = h->caller, .arena = h->arena};
    json_object(h->out);
    json_kz(h->out, "name", of->name);
    json_kbool(h->out, "done", done[i] != 0);
    json_kbool(h->out, "may", home_may(h, of->permission));
    json_kz(h->out, "kind", with ? with->name : NULL);
    json_key(h->out, "with");
    if (!show_reference(&op, with, with ? done[of->with] : 0, h->out, err))
        return false;
    json_object_end(h->out);
    return true;
}

bool home_steps(struct home *h, struct err *err)
{
    int64_t done[countof(steps)] = {0};
    json_array(h->out);
    for (size_t i = 0; i < countof(steps); i++)
        if (!home_may(h, arena_printf(h->arena, "%s.read", steps[i].kind)))
            continue;
        else if (!find_done(h, &steps[i], &done[i], err) || !write_step(h, i, done, err))
            return false;
    json_array_end(h->out);
    return true;
}
