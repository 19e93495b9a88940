/* The samples of a task: its selection, walked once in the order of positions or names. */
#include "core/label/label_own.h"
#include "core/search_text.h"
#include "core/sql.h"

#define FILL_ROWS  60  /* of one INSERT */
#define FILL_STEP  600 /* of one part of a write */
#define TEXTS_MOST 100

static const char *const orders[] = {"position", "name", "random"};
enum order { ORDER_POSITION, ORDER_NAME, ORDER_RANDOM };

/* --- the selection --- */

struct selection {
    yyjson_val *states, *labels, *splits;
    struct search_words words; /* of the name */
    double share;
    enum order order;
};

static bool known_state(struct str s)
{
    enum sample_state state;
    return sample_state_of(s, &state) && state != SAMPLE_CLEANED;
}

static bool known_split(struct str s)
{
    for (int i = CODEC_SPLIT_NONE + 1; i < CODEC_SPLIT_COUNT; i++)
        if (str_is(s, codec_split_names[i]))
            return true;
    return false;
}

static bool known_label(struct str s)
{
    return s.n > 0 && utf8_count(s) <= ANNOTATION_MAX_LABEL;
}

static bool known_order(struct str s, enum order *ret)
{
    for (int i = 0; i < (int)countof(orders); i++)
        if (str_is(s, orders[i])) {
            *ret = (enum order)i;
            return true;
        }
    return false;
}

/* choices: all that there are, NULL: any text that is known will do. */
static bool no_text(const char *key, struct str s, const char *choices, struct err *err)
{
    char place[32], shown[96];
    int n = (int)(s.n > 80 ? 80 : s.n);
    snprintf(place, sizeof place, "selection.%s", key);
    snprintf(shown, sizeof shown, "\"%.*s\"", n, s.p ? s.p : "");
    if (choices)
        return err_message(err, ERR_INVALID, "selection", MESSAGE_NO_CHOICE, place, shown, choices);
    return err_message(err, ERR_INVALID, "selection", MESSAGE_SELECTION_VALUE, key, n, s.p ? s.p : "");
}

static bool texts(yyjson_val *all, const char *key, bool (*known)(struct str), const char *choices,
                  yyjson_val **ret, struct err *err)
{
    yyjson_val *list = yyjson_obj_get(all, key), *v;
    size_t i, n;
    *ret = list;
    if (!list)
        return true;
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) > TEXTS_MOST)
        return err_message(err, ERR_INVALID, "selection", MESSAGE_SELECTION_LIST, key, TEXTS_MOST);
    yyjson_arr_foreach(list, i, n, v)
    {
        struct str s = json_str(v);
        if (!s.p || !known(s))
            return no_text(key, s, choices, err);
    }
    return true;
}

static bool read_rest(struct arena *a, yyjson_val *all, struct selection *s, struct err *err)
{
    yyjson_val *share = yyjson_obj_get(all, "share"), *order = yyjson_obj_get(all, "order"),
               *q = yyjson_obj_get(all, "q");
    if (share && (!yyjson_is_num(share) || !(yyjson_get_num(share) > 0 && yyjson_get_num(share) <= 1)))
        return err_message(err, ERR_INVALID, "selection", MESSAGE_SELECTION_SHARE);
    if (order && !known_order(json_str(order), &s->order))
        return err_message(err, ERR_INVALID, "selection", MESSAGE_SELECTION_ORDER);
    if (q && (!yyjson_is_str(q) || yyjson_get_len(q) > 1000))
        return err_message(err, ERR_INVALID, "selection", MESSAGE_SELECTION_NAME, SEARCH_WORDS_MAX);
    if (share)
        s->share = yyjson_get_num(share);
    s->words = search_words_of(a, json_str(q));
    if (s->words.too_many)
        return err_message(err, ERR_INVALID, "selection", MESSAGE_SELECTION_NAME, SEARCH_WORDS_MAX);
    return true;
}

static bool selection_read(struct arena *a, struct str json, struct selection *ret, struct err *err)
{
    static const char *const known[] = {"states", "labels", "splits", "q", "share", "order"};
    struct selection s = {.share = 1};
    yyjson_val *all = json_parse(a, json.n ? json : STR("{}"), err), *k, *v;
    size_t i, n;
    if (!all)
        return false;
    if (!yyjson_is_obj(all))
        return err_message(err, ERR_INVALID, "selection", MESSAGE_RULES_OBJECT, "selection");
    yyjson_obj_foreach(all, i, n, k, v)
    {
        bool found = false;
        for (size_t j = 0; j < countof(known); j++)
            found = found || str_is(json_str(k), known[j]);
        if (!found)
            return err_message(err, ERR_INVALID, "selection", MESSAGE_UNKNOWN_FIELD,
                               arena_printf(a, "selection.%.40s", yyjson_get_str(k)));
    }
    if (!texts(all, "states", known_state, "unannotated, annotated, machine, review, accepted, rejected",
               &s.states, err) ||
        !texts(all, "labels", known_label, NULL, &s.labels, err) ||
        !texts(all, "splits", known_split, "train, val, test", &s.splits, err) || !read_rest(a, all, &s, err))
        return false;
    *ret = s;
    return true;
}

bool selection_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    (void)f;
    struct selection s;
    return value->type == DB_NULL || selection_read(a, value->s, &s, err);
}

/* --- the walk --- */

static struct db_value state_value(struct str s)
{
    enum sample_state state = SAMPLE_UNANNOTATED;
    (void)sample_state_of(s, &state);
    return db_int(state);
}

static struct db_value split_value(struct str s)
{
    int i = CODEC_SPLIT_NONE;
    while (i < CODEC_SPLIT_COUNT && !str_is(s, codec_split_names[i] ? codec_split_names[i] : ""))
        i++;
    return db_int(i);
}

static struct db_value label_value(struct str s)
{
    return db_text(s);
}

static void one_of(struct sql *q, const char *before, yyjson_val *list, struct db_value (*value)(struct str),
                   const char *after)
{
    size_t i, n;
    yyjson_val *v;
    if (!yyjson_arr_size(list))
        return;
    sql_add(q, before);
    sql_add(q, " IN (");
    yyjson_arr_foreach(list, i, n, v)
    {
        if (i)
            sql_add(q, ", ");
        sql_arg(q, value(json_str(v)));
    }
    sql_add(q, ")");
    sql_add(q, after);
}

static void write_walk(struct sql *q, int64_t version, const struct selection *s, const struct fill *f)
{
    bool by_name = s->order == ORDER_NAME;
    sql_add(q, "SELECT s.id, s.position, s.name FROM samples s WHERE s.version = ");
    sql_arg(q, db_int(version));
    sql_add(q, by_name ? " AND s.name > " : " AND s.position > ");
    sql_arg(q, by_name ? db_text(f->name.p ? f->name : STR("")) : db_int(f->at));
    sql_add(q, " AND s.state <> ");
    sql_arg(q, db_int(SAMPLE_CLEANED));
    one_of(q, " AND s.state", s->states, state_value, "");
    one_of(q, " AND s.split", s->splits, split_value, "");
    one_of(q, " AND EXISTS (SELECT 1 FROM sample_labels l WHERE l.sample = s.id AND l.label", s->labels,
           label_value, ")");
    sql_add(q, by_name ? " ORDER BY s.name LIMIT " : " ORDER BY s.position LIMIT ");
    sql_arg(q, db_int(FILL_STEP));
}

static int64_t place_of(const struct selection *s, const struct db_value *v, int64_t task, int64_t number)
{
    switch (s->order) {
    case ORDER_NAME:
        return number;
    case ORDER_RANDOM:
        return 1 + (int64_t)(label_draw(task, v[0].i, -1) * (double)(INT64_C(1) << 52));
    default:
        return v[1].i;
    }
}

/* Whether the selection takes a sample that the walk found. */
static bool is_chosen(const struct selection *s, const struct object *task, const struct db_value *v)
{
    auto_arena struct arena a;
    arena_init(&a);
    return (s->share >= 1 || label_draw(task->id, v[0].i, 0) < s->share) &&
           (!s->words.n || search_matches(&a, &s->words, &v[2].s, 1));
}

/* Rows of the walk from *at on into one INSERT; those that are there already stay as they are. */
static bool insert_some(struct op *op, const struct object *task, const struct selection *s,
                        const struct db_rows *rows, size_t *at, struct fill *f, struct err *err)
{
    auto_sql struct sql q;
    int64_t added = 0;
    size_t n = 0;
    sql_init(&q);
    sql_add(&q, "INSERT INTO label_items (task, sample, place, seats, given, done, state, in_review, skips,"
                " free) VALUES ");
    for (; *at < rows->n && n < FILL_ROWS; (*at)++) {
        const struct db_value *v = rows->row[*at].v;
        f->name = v[2].s;
        f->at = s->order == ORDER_NAME ? f->at + 1 : v[1].i;
        if (!is_chosen(s, task, v))
            continue;
        sql_add(&q, n++ ? ", (" : "(");
        sql_arg(&q, db_int(task->id));
        sql_add(&q, ", ");
        sql_arg(&q, db_int(v[0].i));
        sql_add(&q, ", ");
        sql_arg(&q, db_int(place_of(s, v, task->id, f->at)));
        sql_add(&q, ", ");
        sql_arg(&q, db_int(object_int(task, "seats")));
        sql_add(&q, ", 0, 0, 0, 0, 0, 1)");
    }
    sql_add(&q, " ON CONFLICT (task, sample) DO NOTHING");
    if (n && !conn_exec(op->conn, q.text.p, sql_args(&q), &added, err))
        return false;
    f->added += added;
    return true;
}

bool fill_step(struct op *op, const struct object *task, struct fill *f, struct err *err)
{
    struct selection s;
    int64_t before = f->added;
    if (!selection_read(op->arena, object_text(task, "selection"), &s, err))
        return false;
    do {
        auto_sql struct sql q;
        struct db_rows rows;
        sql_init(&q);
        write_walk(&q, object_int(task, "version"), &s, f);
        if (!conn_query(op->conn, op->arena, q.text.p, sql_args(&q), &rows, err))
            return false;
        for (size_t at = 0; at < rows.n;)
            if (!insert_some(op, task, &s, &rows, &at, f, err))
                return false;
        f->left = rows.n == FILL_STEP;
    } while (f->left && conn_goes_on(op->conn));
    return f->added == before ||
           engine_set_status(op, &kind_label_task, task->id,
                             ENGINE_STATUSES(status_add("samples", f->added - before)), err);
}

/* --- the rest, by a background task --- */

struct filling {
    struct task *task;
    struct fill from, fill; /* before and after the write, which may be run twice */
};

/* From the beginning after a crash: what is there already stays. A task that was closed, cancelled or
 * deleted meanwhile needs no more. */
static bool fill_write(struct op *op, void *ctx, struct err *err)
{
    struct filling *w = ctx;
    struct object task;
    bool found;
    struct fill f = w->from;
    f.added = 0;
    f.left = false;
    if (!engine_load_row(op, &kind_label_task, w->task->subject, &task, &found, err))
        return false;
    struct str state = found ? object_text(&task, "state") : STR("");
    if ((str_is(state, "open") || str_is(state, "paused")) && !fill_step(op, &task, &f, err))
        return false;
    f.name = arena_str(w->task->arena, f.name);
    w->fill = f;
    return true;
}

static bool run_fill(struct task *t, struct err *err)
{
    struct filling w = {.task = t};
    int64_t done = 0;
    do {
        auto_arena struct arena a;
        arena_init(&a);
        if (!engine_write(t->core, &t->caller, &a, fill_write, &w, err))
            return false;
        done += w.fill.added;
        w.from = w.fill;
        if (!task_progress(t, done, done, err))
            return false;
    } while (w.fill.left);
    return true;
}

const struct task_type task_label_fill = {
    .name = "fill-label-task",
    .title = {"List the samples of a labelling task", "列出标注任务的样本"},
    .run = run_fill};
