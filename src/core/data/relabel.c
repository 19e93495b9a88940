#include "core/data/relabel.h"

#include "base/messages.h"
#include "core/data/classes.h"
#include "core/data/operate.h"
#include "core/data/version.h"

#define PAGE 50 /* samples that are looked for at once */

struct work {
    struct task *task;
    int64_t version;
    int64_t done, total; /* samples, for progress */
    int64_t samples, layer_samples, versions;
};

/* What is done in one write: samples that bear a name, or that a layer says something about. */
struct step {
    struct work *work;
    int64_t layer;
    struct str name; /* layer 0 */
    int64_t after;   /* position, or sample of the layer; moves on */
    int64_t seen, changed;
    int64_t last;
    bool left, closed;
    struct refused {
        int64_t sample;
        struct err why;
    } refused[PAGE];
    size_t refused_count;
};

static bool load(struct op *op, int64_t version, struct sample_set *set, struct label_rules *rules,
                 bool *ret_open, struct err *err)
{
    struct object o;
    struct err closed = {0};
    bool found;
    *ret_open = false;
    if (!engine_load_row(op, &kind_dataset_version, version, &o, &found, err))
        return false;
    if (!found)
        return true;
    *ret_open = true;
    if (!sample_set_of(op, &o, set, err) ||
        !label_rules_of(NULL, op->conn, op->arena, set->dataset, rules, err))
        return false;
    *ret_open = sample_set_open(set, &closed);
    return true;
}

/* --- samples --- */

static struct str operation_text(struct arena *a, const struct label_rules *rules)
{
    auto_buf struct buf text = {0};
    struct operation op = {.kind = OPERATION_RELABEL,
                           .id = STR("platform.1"),
                           .names = rules->former,
                           .name_count = rules->former_count};
    operation_write(&text, &op);
    return arena_str(a, buf_view(&text));
}

/* Only the names that the annotation bears are worth telling in its history. */
static bool bears(struct str annotation, struct str label)
{
    auto_buf struct buf quoted = {0};
    model_write_string(&quoted, label);
    return str_find(annotation, buf_view(&quoted)) >= 0;
}

static struct label_rules narrowed(struct arena *a, const struct label_rules *rules, struct str annotation)
{
    struct label_rules r = *rules;
    r.former = arena_array(a, struct relabel, rules->former_count + 1);
    r.former_count = 0;
    for (size_t i = 0; i < rules->former_count; i++)
        if (bears(annotation, rules->former[i].from))
            r.former[r.former_count++] = rules->former[i];
    return r;
}

static bool relabel_one(struct op *op, struct step *s, const struct sample_set *set,
                        const struct label_rules *rules, int64_t sample, struct str annotation,
                        struct err *err)
{
    struct label_rules r = narrowed(op->arena, rules, annotation);
    struct operation operation;
    struct operate_result result;
    if (!r.former_count)
        return true;
    struct operate_item item = {
        .sample = sample, .layer = s->layer, .json = operation_text(op->arena, &r), .platform = true};
    yyjson_val *v = json_parse(op->arena, item.json, err);
    if (!v || !operation_read(op->arena, set->type, v, &operation, err))
        return false;
    item.op = &operation;
    if (!operate(op, set, &item, &result, err))
        return false;
    s->changed += result.state == OPERATE_APPLIED;
    if (result.state == OPERATE_REFUSED && s->refused_count < PAGE)
        s->refused[s->refused_count++] = (struct refused){sample, result.problem};
    return true;
}

static bool next_page(struct op *op, const struct step *s, struct db_rows *rows, struct err *err)
{
    if (s->layer)
        return conn_query(op->conn, op->arena,
                          "SELECT sample, sample, annotation FROM layer_samples WHERE layer = ?"
                          " AND sample > ? ORDER BY sample LIMIT ?",
                          db_args(db_int(s->layer), db_int(s->after), db_int(PAGE)), rows, err);
    return conn_query(op->conn, op->arena,
                      "SELECT l.sample, l.position, s.annotation FROM sample_labels l JOIN samples s ON"
                      " s.id = l.sample WHERE l.version = ? AND l.label = ? AND l.position > ?"
                      " ORDER BY l.position LIMIT ?",
                      db_args(db_int(s->work->version), db_text(s->name), db_int(s->after), db_int(PAGE)),
                      rows, err);
}

static bool step_write(struct op *op, void *ctx, struct err *err)
{
    struct step *s = ctx;
    struct sample_set set;
    struct label_rules rules;
    struct db_rows rows;
    bool open;
    s->seen = s->changed = 0;
    s->refused_count = 0;
    s->last = s->after;
    s->left = false;
    if (!load(op, s->work->version, &set, &rules, &open, err))
        return false;
    s->closed = !open;
    if (!open || !rules.former_count)
        return true;
    if (!next_page(op, s, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        if (!relabel_one(op, s, &set, &rules, v[0].i, v[2].s, err))
            return false;
        s->seen++;
        s->last = v[1].i;
        if (i + 1 < rows.n && !conn_goes_on(op->conn)) {
            s->left = true;
            return true;
        }
    }
    s->left = rows.n == PAGE;
    return true;
}

static void tell_refused(struct task *t, const struct step *s)
{
    for (size_t i = 0; i < s->refused_count; i++) {
        struct err why = s->refused[i].why;
        char file[40];
        snprintf(file, sizeof file, "sample %lld", (long long)s->refused[i].sample);
        err_because(&why, why.code, NULL, &why, MESSAGE_RELABEL_SAMPLE);
        task_note_err(t, str_of(file), NULL, &why);
    }
}

/* All that bear a name, or all of a layer, a few at a time. */
static bool go_through(struct work *w, int64_t layer, struct str name, bool *ret_closed, struct err *err)
{
    struct step s = {.work = w, .layer = layer, .name = name, .left = true};
    while (s.left) {
        auto_arena struct arena a;
        arena_init(&a);
        if (!engine_write(w->task->core, &w->task->caller, &a, step_write, &s, err))
            return false;
        tell_refused(w->task, &s);
        s.after = s.last;
        w->done += s.seen;
        *(layer ? &w->layer_samples : &w->samples) += s.changed;
        if (!task_progress(w->task, w->done, w->done > w->total ? w->done : w->total, err))
            return false;
    }
    *ret_closed = s.closed;
    return true;
}

/* --- what else of a version names labels --- */

static bool rename_waiting(struct op *op, const struct sample_set *set, const struct label_rules *rules,
                           struct err *err)
{
    struct db_rows rows;
    struct str after = STR("");
    do {
        if (!conn_query(op->conn, op->arena,
                        "SELECT name, annotation FROM sample_waiting WHERE version = ? AND name > ?"
                        " ORDER BY name LIMIT ?",
                        db_args(db_int(set->version), db_text(after), db_int(PAGE)), &rows, err))
            return false;
        for (size_t i = 0; i < rows.n; i++) {
            const struct db_value *v = rows.row[i].v;
            struct str now;
            after = v[0].s;
            if (!relabel_text(op->arena, set->type, v[1].s, rules->former, rules->former_count, &now, err))
                return false;
            if (!str_eq(now, v[1].s) &&
                !conn_exec(op->conn,
                           "UPDATE sample_waiting SET annotation = ? WHERE version = ? AND name = ?",
                           db_args(db_text(now), db_int(set->version), db_text(after)), NULL, err))
                return false;
        }
    } while (rows.n == PAGE);
    return true;
}

static bool rest_write(struct op *op, void *ctx, struct err *err)
{
    const struct work *w = ctx;
    struct sample_set set;
    struct label_rules rules;
    bool open;
    if (!load(op, w->version, &set, &rules, &open, err))
        return false;
    return !open || (classes_rename(op, w->version, rules.former, rules.former_count, err) &&
                     rename_waiting(op, &set, &rules, err));
}

/* --- versions --- */

static bool over_layers(struct work *w, struct err *err)
{
    struct db_rows rows;
    bool closed;
    if (!db_query(w->task->core->db, w->task->arena, "SELECT id FROM layers WHERE dataset_version = ?",
                  db_args(db_int(w->version)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!go_through(w, rows.row[i].v[0].i, STR_NULL, &closed, err))
            return false;
    return true;
}

static bool one_version(struct work *w, int64_t version, struct err *err)
{
    struct label_rules rules;
    struct db_row row;
    bool found, closed = false;
    int64_t before = w->samples + w->layer_samples;
    w->version = version;
    if (!db_query_one(w->task->core->db, w->task->arena, "SELECT dataset FROM dataset_versions WHERE id = ?",
                      db_args(db_int(version)), &row, &found, err) ||
        (found && !label_rules_of(w->task->core->db, NULL, w->task->arena, row.v[0].i, &rules, err)))
        return false;
    if (!found || !rules.former_count)
        return true;
    if (!engine_write(w->task->core, &w->task->caller, w->task->arena, rest_write, w, err))
        return false;
    for (size_t i = 0; i < rules.former_count && !closed; i++)
        if (!go_through(w, 0, rules.former[i].from, &closed, err))
            return false;
    if (closed)
        return true;
    if (!over_layers(w, err))
        return false;
    w->versions += w->samples + w->layer_samples > before;
    return true;
}

bool relabel_version(struct task *t, int64_t version, struct err *err)
{
    struct work w = {.task = t};
    return one_version(&w, version, err);
}

/* --- the task --- */

static bool of_projects(const struct task *t, int64_t project)
{
    size_t i, n;
    yyjson_val *v;
    yyjson_arr_foreach(yyjson_obj_get(t->params, "projects"), i, n, v)
    {
        if (yyjson_get_sint(v) == project)
            return true;
    }
    return false;
}

/* How much there is to look at: samples that bear former names, and those of layers. */
static bool count_work(struct work *w, const struct db_rows *versions, struct err *err)
{
    struct label_rules rules;
    struct db_row row;
    bool found;
    for (size_t i = 0; i < versions->n; i++) {
        const struct db_value *v = versions->row[i].v;
        if (!label_rules_of(w->task->core->db, NULL, w->task->arena, v[3].i, &rules, err) ||
            !db_query_one(w->task->core->db, w->task->arena,
                          "SELECT CAST(COALESCE(SUM(samples), 0) AS BIGINT) FROM layers"
                          " WHERE dataset_version = ?",
                          db_args(v[0]), &row, &found, err))
            return false;
        w->total += row.v[0].i;
        for (size_t k = 0; k < rules.former_count; k++) {
            if (!db_query_one(w->task->core->db, w->task->arena,
                              "SELECT samples FROM version_labels WHERE version = ? AND label = ?",
                              db_args(v[0], db_text(rules.former[k].from)), &row, &found, err))
                return false;
            w->total += found ? row.v[0].i : 0;
        }
    }
    return true;
}

static void tell_result(const struct work *w)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    json_kint(&o, "versions", w->versions);
    json_kint(&o, "samples", w->samples);
    json_kint(&o, "layer_samples", w->layer_samples);
    json_object_end(&o);
    task_result(w->task, buf_view(&text));
}

static bool run_relabel(struct task *t, struct err *err)
{
    struct work w = {.task = t};
    struct db_rows versions;
    bool ok = db_query(t->core->db, t->arena,
                       "SELECT v.id, v.project, v.state, d.id, d.name, v.name FROM dataset_versions v"
                       " JOIN datasets d ON d.id = v.dataset WHERE d.label_set = ? AND v.state <> 'published'"
                       " ORDER BY v.id",
                       db_args(db_int(t->subject)), &versions, err) &&
              count_work(&w, &versions, err);
    for (size_t i = 0; ok && i < versions.n; i++) {
        const struct db_value *v = versions.row[i].v;
        if (!of_projects(t, v[1].i))
            continue;
        if (str_is(v[2].s, "draft"))
            ok = one_version(&w, v[0].i, err);
        else
            task_note(t,
                      str_of(arena_printf(t->arena, STR_FMT "/" STR_FMT, STR_ARG(v[4].s), STR_ARG(v[5].s))),
                      NULL, MESSAGE_RELABEL_CLOSED);
    }
    tell_result(&w);
    return ok;
}

const struct task_type task_relabel = {
    .name = "relabel", .title = {"Rename labels", "重命名标签"}, .run = run_relabel};

bool relabel_start(struct op *op, const struct object *set, struct str projects, int64_t *ret_task,
                   struct err *err)
{
    const char *params = arena_printf(op->arena, "{\"projects\":" STR_FMT "}", STR_ARG(projects));
    return task_create(op,
                       &(struct task_new){.type = "relabel",
                                          .project = set->project,
                                          .subject_kind = "label_set",
                                          .subject = set->id,
                                          .name = task_name(op->arena, MESSAGE_NAME_RELABEL,
                                                            STR_ARG(object_text(set, "name"))),
                                          .params = str_of(params)},
                       ret_task, err);
}

bool relabel_runs(struct op *op, int64_t set, bool *ret, struct err *err)
{
    struct db_row row;
    return conn_query_one(op->conn, op->arena,
                          "SELECT 1 FROM tasks WHERE type = 'relabel' AND subject_kind = 'label_set'"
                          " AND subject = ? AND state IN ('waiting', 'running') LIMIT 1",
                          db_args(db_int(set)), &row, ret, err);
}
