/* Services and how they are, how far labelling is, and what waits for the caller. */
#include "base/json.h"
#include "core/data/publish_review.h"
#include "core/home/home_own.h"
#include "core/serve/serve.h"
#include "core/serve/traffic.h"
#include "core/show.h"

#define TRAFFIC_US (INT64_C(3600) * 1000000) /* requests are told of the last hour */

/* --- services --- */

/* Of all its versions: how many, and how many of them the service failed. */
static bool read_traffic(struct home *h, int64_t service, int64_t *requests, int64_t *errors, struct err *err)
{
    static const char *const failed[] = {"error", "failed", "timeout"};
    auto_buf struct buf text = {0};
    yyjson_val *version, *point;
    size_t i, j, n, m;
    *requests = *errors = 0;
    if (!serve_traffic_write(h->core, service, h->now - TRAFFIC_US, h->now, 1, h->arena, &text, err))
        return false;
    yyjson_val *all = json_parse(h->arena, buf_view(&text), err);
    if (!all)
        return false;
    yyjson_arr_foreach(yyjson_obj_get(all, "versions"), i, n, version)
    {
        yyjson_arr_foreach(yyjson_obj_get(version, "points"), j, m, point)
        {
            *requests += yyjson_get_sint(yyjson_obj_get(point, "requests"));
            for (size_t k = 0; k < countof(failed); k++)
                *errors += yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(point, "classes"), failed[k]));
        }
    }
    return true;
}

static bool write_service(struct home *h, int64_t id, struct err *err)
{
    struct object o;
    struct err gone = {0};
    int64_t requests, errors;
    if (!engine_get(h->core, h->caller, &kind_service, 0, id, h->arena, &o, &gone))
        return gone.code == ERR_NOT_FOUND || (*err = gone, false);
    if (!read_traffic(h, id, &requests, &errors, err))
        return false;
    json_object(h->out);
    json_key(h->out, "service");
    if (!show_objects(h->core, h->caller, &o, 1, h->arena, h->out, err))
        return false;
    json_kint(h->out, "requests", requests);
    json_kint(h->out, "errors", errors);
    json_object_end(h->out);
    return true;
}

/* What is in trouble first, then what serves. */
bool home_services(struct home *h, struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    sql_add(&s, "SELECT id FROM services WHERE ");
    home_scope(h, "service.read", &s);
    buf_printf(&s.text,
               " ORDER BY CASE state WHEN 'failed' THEN 0 WHEN 'degraded' THEN 1 WHEN 'starting' THEN 2"
               " WHEN 'serving' THEN 3 ELSE 4 END, id DESC LIMIT %d",
               HOME_SHOWN);
    if (!home_query(h, &s, &rows, err))
        return false;
    json_array(h->out);
    for (size_t i = 0; i < rows.n; i++)
        if (!write_service(h, rows.row[i].v[0].i, err))
            return false;
    json_array_end(h->out);
    return true;
}

/* --- labelling --- */

/* Those of one's teams only, for whoever sees no others. */
static void tasks_seen(struct home *h, struct sql *s)
{
    struct op op = {.core = h->core, .caller = h->caller, .arena = h->arena};
    const struct kind *k = kind_by_name(STR("label_task"));
    struct db_value arg = db_null();
    const char *extra = k->visible(&op, &arg);
    home_scope(h, "label_task.read", s);
    if (!extra)
        return;
    buf_printf(&s->text, " AND (%s)", extra);
    s->args[s->n++] = arg;
}

bool home_labelling(struct home *h, struct err *err)
{
    static const char *const counters[] = {"samples",  "labelled", "reviewing",
                                           "accepted", "rejected", "skipped"};
    auto_sql struct sql s;
    struct db_rows rows;
    struct names names;
    const struct kind *task = kind_by_name(STR("label_task")), *project = kind_by_name(STR("project"));
    sql_init(&s);
    sql_add(
        &s,
        "SELECT id, project, state, COALESCE(deadline, 0), samples, labelled, reviewing, accepted, rejected,"
        " skipped FROM label_tasks WHERE ");
    tasks_seen(h, &s);
    buf_printf(&s.text, " AND state IN ('open', 'paused') ORDER BY id DESC LIMIT %d", HOME_SHOWN);
    if (!home_query(h, &s, &rows, err))
        return false;
    names_init(&names, h->arena, 2 * rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        names_want(&names, task, rows.row[i].v[0].i);
        names_want(&names, project, rows.row[i].v[1].i);
    }
    if (!names_load(&names, h->core->db, err))
        return false;
    json_array(h->out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(h->out);
        json_key(h->out, "task");
        show_ref(&names, task, v[0].i, h->out);
        json_key(h->out, "project");
        show_ref(&names, project, v[1].i, h->out);
        json_kstr(h->out, "state", v[2].s);
        home_time(h->out, "deadline", v[3].i);
        for (size_t k = 0; k < countof(counters); k++)
            json_kint(h->out, counters[k], v[4 + k].i);
        json_object_end(h->out);
    }
    json_array_end(h->out);
    return true;
}

/* --- one's own work --- */

/* Of tasks that one of the caller's teams works on: what the caller holds, what came back, what is left. */
#define HELD(stage, state)                                                                                   \
    "(SELECT COUNT(*) FROM label_assignments a WHERE a.task = t.id AND a.worker = me.id AND a.stage "        \
    "= " stage " AND a.state = " state " AND a.live = 1)"
#define IN_TEAM(team)                                                                                        \
    "CASE WHEN EXISTS (SELECT 1 FROM team_members m WHERE m.team = t." team                                  \
    " AND m.member = me.id) THEN 1 ELSE 0 END"
#define TASKS_MINE 20

static const char mine_sql[] =
    "SELECT t.id, t.name, COALESCE(t.deadline, 0), t.samples - t.labelled, "
    "t.reviewing, " IN_TEAM("labelling_team") ", " IN_TEAM("review_team") ", " HELD("0", "0") ", " HELD(
        "0", "4") ", " HELD("1", "0") " FROM label_tasks t, (SELECT CAST(? AS BIGINT) AS "
                                      "id) me WHERE t.project = ? AND t.state = 'open'"
                                      " AND EXISTS (SELECT 1 FROM team_members m WHERE "
                                      "m.member = me.id AND m.team IN (t.labelling_team,"
                                      " t.review_team)) ORDER BY t.id DESC LIMIT ?";

static void write_stage(struct json_out *out, const struct db_value *v, const char *stage, int64_t held,
                        int64_t rejected, int64_t left)
{
    json_object(out);
    json_key(out, "task");
    json_object(out);
    json_kint(out, "id", v[0].i);
    json_kstr(out, "name", v[1].s);
    json_object_end(out);
    json_kz(out, "stage", stage);
    home_time(out, "deadline", v[2].i);
    json_kint(out, "held", held);
    json_kint(out, "rejected", rejected);
    json_kint(out, "left", left);
    json_object_end(out);
}

static bool write_tasks(struct home *h, struct err *err)
{
    struct db_rows rows;
    if (!db_query(h->core->db, h->arena, mine_sql,
                  db_args(db_int(h->caller->user), db_int(h->project), db_int(TASKS_MINE)), &rows, err))
        return false;
    json_key(h->out, "tasks");
    json_array(h->out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        if (v[5].i && (v[3].i > 0 || v[7].i || v[8].i))
            write_stage(h->out, v, "label", v[7].i, v[8].i, v[3].i);
        if (v[6].i && (v[4].i > 0 || v[9].i))
            write_stage(h->out, v, "review", v[9].i, 0, v[4].i);
    }
    json_array_end(h->out);
    return true;
}

bool home_mine(struct home *h, struct err *err)
{
    struct op op = {.core = h->core, .caller = h->caller, .arena = h->arena};
    json_object(h->out);
    if (!write_tasks(h, err))
        return false;
    json_key(h->out, "reviews"); /* versions that wait for the caller's decision */
    if (!publish_reviews_write(&op, h->project, h->out, err))
        return false;
    json_object_end(h->out);
    return true;
}
