/* What the page of a node says: its load, the jobs on it, those that ended there, how its state changed. */
#include "core/home/home_own.h"
#include "core/job/overview.h"
#include "core/job/sentence.h"
#include "core/show.h"

#define SHOWN     50
#define LOOKED_AT 5000 /* newest jobs: what ended before these is not told */
#define CHANGES   20
#define LINES     200 /* newest lines of audit among which changes are */

/* The field `placement` of a job has the node's name in it (plan_input_placement); as a pattern of LIKE, with
 * ! before what would mean something there. */
static struct str placed_here(struct arena *a, struct str name)
{
    auto_buf struct buf json = {0}, text = {0};
    struct json_out o;
    json_begin(&o, &json);
    json_string(&o, name);
    struct str quoted = buf_view(&json);
    buf_z(&text, "%\"node\":");
    for (size_t i = 0; i < quoted.n; i++) {
        if (strchr("!%_", quoted.p[i]))
            buf_char(&text, '!');
        buf_char(&text, quoted.p[i]);
    }
    buf_char(&text, '%');
    return arena_str(a, buf_view(&text));
}

#define COLUMNS "id, project, owner_kind, owner, created_by, started_at, ended_at, state, reason, reason_zh"

static bool read_jobs(struct home *h, struct sql *s, struct home_thing **ret, size_t *n, struct err *err)
{
    struct db_rows rows;
    if (!home_query(h, s, &rows, err))
        return false;
    struct home_thing *t = *ret = arena_array(h->arena, struct home_thing, rows.n + 1);
    *n = rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        t[i] = (struct home_thing){.by = v[4].type == DB_INT ? v[4].i : 0,
                                   .at = v[6].type == DB_INT   ? v[6].i
                                         : v[5].type == DB_INT ? v[5].i
                                                               : 0,
                                   .state = v[7].s,
                                   .en = home_text(&v[8]),
                                   .zh = home_text(&v[9])};
        home_job_object(h, v[0].i, v[1].i, home_text(&v[2]), v[3].type == DB_INT ? v[3].i : 0, &t[i]);
    }
    return true;
}

static bool write_running(struct home *h, struct str here, struct err *err)
{
    auto_sql struct sql s;
    struct home_thing *t;
    size_t n;
    sql_init(&s);
    sql_add(&s, "SELECT " COLUMNS " FROM jobs WHERE ");
    home_scope_of(h, "job.read", "+project", &s);
    sql_add(&s, " AND state IN ('starting', 'running', 'stopping') AND placement LIKE ");
    sql_arg(&s, db_text(here));
    buf_printf(&s.text, " ESCAPE '!' ORDER BY started_at DESC LIMIT %d", SHOWN);
    return read_jobs(h, &s, &t, &n, err) && home_things_write(h, t, n, err);
}

static bool write_ended(struct home *h, struct str here, struct err *err)
{
    auto_sql struct sql s;
    struct home_thing *t;
    size_t n;
    sql_init(&s);
    sql_add(&s, "SELECT " COLUMNS " FROM (SELECT * FROM jobs WHERE ");
    home_scope(h, "job.read", &s);
    buf_printf(&s.text, " ORDER BY id DESC LIMIT %d) AS newest", LOOKED_AT);
    sql_add(&s, " WHERE state IN ('completed', 'failed', 'stopped') AND placement LIKE ");
    sql_arg(&s, db_text(here));
    buf_printf(&s.text, " ESCAPE '!' ORDER BY ended_at DESC LIMIT %d", SHOWN);
    if (!read_jobs(h, &s, &t, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (str_is(t[i].state, "failed") && !home_tell_job(h, &t[i], err))
            return false;
    return home_things_write(h, t, n, err);
}

/* --- changes: the lines of audit that tell of another state --- */

struct change {
    int64_t at, by;
    struct str from, to, reason;
};

static bool take_change(struct arena *a, const struct db_value *v, struct change *ret)
{
    struct err ignored = {0};
    yyjson_val *detail;
    if (v[2].type != DB_TEXT || !(detail = json_parse(a, v[2].s, &ignored)))
        return false;
    yyjson_val *state = yyjson_obj_get(detail, "state"), *reason = yyjson_obj_get(detail, "reason");
    *ret = (struct change){.at = v[0].i,
                           .by = v[1].type == DB_INT ? v[1].i : 0,
                           .from = json_str(yyjson_obj_get(state, "old")),
                           .to = json_str(yyjson_obj_get(state, "new")),
                           .reason = json_str(yyjson_obj_get(reason, "new"))};
    return ret->to.n > 0;
}

static bool write_changes(struct home *h, int64_t node, struct err *err)
{
    struct change list[CHANGES];
    struct db_rows rows;
    struct names names;
    size_t n = 0;
    const struct kind *user = kind_by_name(STR("user"));
    const char *sql = arena_printf(h->arena,
                                   "SELECT at, \"user\", detail FROM audit WHERE kind = 'node' AND object = ?"
                                   " ORDER BY id DESC LIMIT %d",
                                   LINES);
    if (!db_query(h->core->db, h->arena, sql, db_args(db_int(node)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && n < CHANGES; i++)
        n += take_change(h->arena, rows.row[i].v, &list[n]);
    names_init(&names, h->arena, n + 1);
    for (size_t i = 0; i < n; i++)
        names_want(&names, user, list[i].by);
    if (!names_load(&names, h->core->db, err))
        return false;
    json_array(h->out);
    for (size_t i = 0; i < n; i++) {
        const struct change *c = &list[i];
        json_object(h->out);
        home_time(h->out, "at", c->at);
        json_key(h->out, "by");
        show_ref(&names, user, c->by && names_get(&names, user, c->by)->name.p ? c->by : 0, h->out);
        json_kstr(h->out, "from", c->from.n ? c->from : STR_NULL);
        json_kstr(h->out, "to", c->to);
        home_words(h->out, "reason", c->reason,
                   c->reason.n ? str_of(sentence_zh(h->arena, arena_strz(h->arena, c->reason))) : STR_NULL);
        json_object_end(h->out);
    }
    json_array_end(h->out);
    return true;
}

bool home_node_write(struct op *op, const struct object *node, struct json_out *out, struct err *err)
{
    struct home h = {
        .core = op->core, .caller = op->caller, .arena = op->arena, .now = clock_now(), .out = out};
    struct str here = placed_here(op->arena, object_text(node, "name"));
    json_object(out);
    json_key(out, "load");
    if (!resources_node_write(op->core, op->arena, node->id, out, err))
        return false;
    json_key(out, "running");
    if (!write_running(&h, here, err))
        return false;
    json_key(out, "ended");
    if (!write_ended(&h, here, err))
        return false;
    json_key(out, "changes");
    if (!write_changes(&h, node->id, err))
        return false;
    json_object_end(out);
    return true;
}
