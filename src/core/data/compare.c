#include "core/data/compare.h"

#include "base/messages.h"
#include "core/data/version.h"

enum { PAGE = 500, ITEMS_MAX = 1000 };
enum { WITH, AFTER, FROM, LIMIT, CHANGE }; /* of the input */

/* What a sample counts as: the first of these that is true of it. */
enum change { ADDED, REMOVED, CHANGED, ANNOTATED, SPLIT, CHANGE_COUNT };
static const char *const change_names[] = {"added", "removed", "changed", "annotated", "split"};

struct side {
    int64_t id;
    struct str name;
    uint8_t blob[32],
        annotation[32]; /* a hash of the annotation without ids is enough to see that it differs */
    enum codec_split split;
};

/* One version in the order of its names. */
struct stream {
    struct db_conn *conn;
    int64_t version;
    struct arena arena; /* of the page */
    struct side *page;
    size_t n, at;
    struct str last; /* of the page before; not in the arena */
    bool with_last;  /* the page begins with it, not after it */
    struct buf last_text;
    bool ended;
};

static bool take_row(void *ctx, const struct db_row *row, struct err *err)
{
    struct stream *s = ctx;
    struct side *side = &s->page[s->n];
    auto_arena struct arena scratch = {0};
    struct str said;
    if (!annotation_without_ids(&scratch, row->v[2].s, &said, err))
        return false;
    side->name = arena_str(&s->arena, row->v[0].s);
    memcpy(side->blob, row->v[1].s.p, sizeof side->blob);
    sha256_of(said, side->annotation);
    side->id = row->v[3].i;
    side->split = (enum codec_split)row->v[4].i;
    s->n++;
    return true;
}

#define PAGE_SQL(after)                                                                                      \
    "SELECT name, digest, annotation, id, split FROM samples WHERE version = ? AND name " after              \
    " ? AND state <> ? ORDER BY name LIMIT ?"

/* The next page, when all of this one was taken. */
static bool fill(struct stream *s, struct err *err)
{
    if (s->at < s->n || s->ended)
        return true;
    buf_clear(&s->last_text);
    buf_str(&s->last_text, s->n ? s->page[s->n - 1].name : s->last);
    s->last = buf_view(&s->last_text);
    arena_release(&s->arena);
    s->page = arena_array(&s->arena, struct side, PAGE);
    s->n = s->at = 0;
    bool ok = conn_each(s->conn, s->with_last ? PAGE_SQL(">=") : PAGE_SQL(">"),
                        db_args(db_int(s->version), db_text(s->last), db_int(SAMPLE_CLEANED), db_int(PAGE)),
                        take_row, s, err);
    s->with_last = false;
    s->ended = s->n < PAGE;
    return ok;
}

static const struct side *current(const struct stream *s)
{
    return s->at < s->n ? &s->page[s->at] : NULL;
}

static int by_name(const struct side *x, const struct side *y)
{
    int c = memcmp(x->name.p, y->name.p, x->name.n < y->name.n ? x->name.n : y->name.n);
    return c ? c : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

struct comparing {
    struct stream before, after;
    struct arena *arena;
    struct json_out *out;       /* the answer's list; NULL: lines go to the writer */
    struct blob_writer *writer; /* of the task */
    struct task *task;
    bool counting; /* to the end, whatever is listed */
    int only;      /* the one change that is listed; -1: all */
    int64_t limit, listed, walked;
    int64_t counts[CHANGE_COUNT];
    struct str passed; /* the last name looked at; in a page */
    struct str next;   /* where the next page goes on, when there are more */
    bool more;
};

static void write_id(struct json_out *out, const char *key, const struct side *side)
{
    json_key(out, key);
    side ? json_int(out, side->id) : json_null(out);
}

static void write_split(struct json_out *out, const char *key, const struct side *side)
{
    json_key(out, key);
    side && side->split ? json_string(out, str_of(codec_split_names[side->split])) : json_null(out);
}

/* x or y is NULL where the sample is in one of the two only. */
static void write_change(struct json_out *out, const struct side *x, const struct side *y, enum change change)
{
    json_object(out);
    json_kstr(out, "name", y ? y->name : x->name);
    json_kz(out, "change", change_names[change]);
    write_id(out, "before", x);
    write_id(out, "after", y);
    write_split(out, "split_before", x);
    write_split(out, "split_after", y);
    json_object_end(out);
}

static bool write_line(struct comparing *c, const struct side *x, const struct side *y, enum change change,
                       struct err *err)
{
    auto_buf struct buf line = {0};
    struct json_out o;
    json_begin(&o, &line);
    write_change(&o, x, y, change);
    buf_char(&line, '\n');
    return blob_writer_add(c->writer, buf_view(&line), err);
}

static bool note(struct comparing *c, const struct side *x, const struct side *y, enum change change,
                 struct err *err)
{
    c->counts[change]++;
    if (c->writer)
        return write_line(c, x, y, change, err);
    if (c->only >= 0 && c->only != (int)change)
        return true;
    if (c->listed == c->limit) {
        c->more = true;
        return true;
    }
    write_change(c->out, x, y, change);
    if (++c->listed == c->limit)
        c->next = arena_str(c->arena, y ? y->name : x->name);
    return true;
}

/* What the sample that both are at counts as; CHANGE_COUNT: nothing. */
static enum change change_between(const struct side *x, const struct side *y)
{
    if (memcmp(x->blob, y->blob, sizeof x->blob) != 0)
        return CHANGED;
    if (memcmp(x->annotation, y->annotation, sizeof x->annotation) != 0)
        return ANNOTATED;
    return x->split != y->split ? SPLIT : CHANGE_COUNT;
}

/* A request has looked at enough. */
static bool is_enough(struct comparing *c)
{
    if (c->counting)
        return false;
    if (!c->more && c->walked >= COMPARE_AT_ONCE) {
        c->more = true;
        c->next = arena_str(c->arena, c->passed);
    }
    return c->more;
}

static bool step(struct comparing *c, const struct side *x, const struct side *y, struct err *err)
{
    int order = !x ? 1 : !y ? -1 : by_name(x, y);
    enum change change = order < 0 ? REMOVED : order > 0 ? ADDED : change_between(x, y);
    if (change != CHANGE_COUNT && !note(c, order <= 0 ? x : NULL, order >= 0 ? y : NULL, change, err))
        return false;
    c->passed = order <= 0 ? x->name : y->name;
    c->before.at += order <= 0;
    c->after.at += order >= 0;
    int64_t before = c->walked;
    c->walked += order == 0 ? 2 : 1;
    return !c->task || before / PAGE == c->walked / PAGE || task_progress(c->task, c->walked, c->limit, err);
}

static bool merge(struct comparing *c, struct err *err)
{
    while (!is_enough(c)) {
        if (!fill(&c->before, err) || !fill(&c->after, err))
            return false;
        const struct side *x = current(&c->before), *y = current(&c->after);
        if (!x && !y)
            return true;
        if (!step(c, x, y, err))
            return false;
    }
    return true;
}

static void stream_release(struct stream *s)
{
    arena_release(&s->arena);
    buf_release(&s->last_text);
}

static void write_counts(struct json_out *out, const struct comparing *c)
{
    for (int i = 0; i < CHANGE_COUNT; i++)
        json_kint(out, change_names[i], c->counts[i]);
}

static bool write_answer(struct comparing *c, struct err *err)
{
    struct json_out *out = c->out;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    bool ok = merge(c, err);
    json_array_end(out);
    if (c->counting)
        write_counts(out, c);
    json_kstr(out, "next", c->more ? c->next : STR_NULL);
    json_object_end(out);
    return ok;
}

/* From the names `after` on (with: that one too), on one snapshot. */
static bool compare(struct comparing *c, struct core *core, const struct object *before,
                    const struct object *now, struct str after, bool with,
                    bool (*run)(struct comparing *c, struct err *err), struct err *err)
{
    struct db_conn *conn = db_read_begin(core->db, err);
    if (!conn)
        return false;
    c->before = (struct stream){.conn = conn, .version = before->id, .last = after, .with_last = with};
    c->after = (struct stream){.conn = conn, .version = now->id, .last = after, .with_last = with};
    bool ok = run(c, err);
    db_read_end(core->db, conn);
    stream_release(&c->before);
    stream_release(&c->after);
    return ok;
}

/* -1 when none is named. */
static int change_of(struct db_value name)
{
    for (int i = 0; name.type == DB_TEXT && i < CHANGE_COUNT; i++)
        if (str_is(name.s, change_names[i]))
            return i;
    return -1;
}

static bool load_other(struct op *op, const struct object *o, int64_t id, struct object *ret, struct err *err)
{
    if (!engine_get(op->core, op->caller, &kind_dataset_version, 0, id, op->arena, ret, err))
        return false;
    return ret->parent == o->parent ||
           err_set(err, ERR_INVALID, "with", "with: must be a version of the same dataset");
}

static int64_t samples_of_both(const struct object *x, const struct object *y)
{
    return object_int(x, "samples") + object_int(y, "samples");
}

bool compare_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)status;
    struct object other;
    if (!load_other(op, o, input[WITH].i, &other, err))
        return false;
    bool from = input[FROM].type == DB_TEXT;
    if (from && input[AFTER].type == DB_TEXT)
        return err_set(err, ERR_INVALID, "from", "from: give from or after, not both");
    struct str after = from ? input[FROM].s : input[AFTER].type == DB_TEXT ? input[AFTER].s : STR("");
    struct comparing c = {
        .out = out,
        .counting = !after.n && samples_of_both(o, &other) <= COMPARE_AT_ONCE,
        .only = change_of(input[CHANGE]),
        .limit = input[LIMIT].i,
        .arena = op->arena,
    };
    return compare(&c, op->core, &other, o, after, from, write_answer, err);
}

/* --- all of them, by a task --- */

bool changes_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)status;
    struct object other;
    if (!load_other(op, o, input[WITH].i, &other, err))
        return false;
    const char *params = arena_printf(op->arena, "{\"with\":%lld}", (long long)other.id);
    const struct words name =
        task_name(op->arena, MESSAGE_NAME_CHANGES, STR_ARG(object_text(&other, "name")));
    return version_start_task(op, o, task_changes.name, name, str_of(params), out, err);
}

static void say_counts(const struct comparing *c)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    write_counts(&o, c);
    json_object_end(&o);
    task_result(c->task, buf_view(&text));
}

static bool list_changes(struct comparing *c, const struct object *before, const struct object *now,
                         struct err *err)
{
    struct task *t = c->task;
    struct digest digest;
    c->writer = blob_writer_new(t->core->store, err);
    if (!c->writer)
        return false;
    if (!compare(c, t->core, before, now, STR(""), false, merge, err)) {
        blob_writer_abort(c->writer);
        return false;
    }
    if (!blob_writer_finish(c->writer, &digest, NULL, err))
        return false;
    task_output(
        t, &digest,
        str_of(arena_printf(t->arena, "%lld-" STR_FMT "-" STR_FMT "-changes.jsonl", (long long)now->parent,
                            STR_ARG(object_text(before, "name")), STR_ARG(object_text(now, "name")))));
    say_counts(c);
    return task_progress(t, c->limit, c->limit, err);
}

static bool run_changes(struct task *t, struct err *err)
{
    struct op op = {.core = t->core, .caller = &caller_system, .arena = t->arena};
    struct object now, before;
    if (!engine_get(t->core, &caller_system, &kind_dataset_version, 0, t->subject, t->arena, &now, err) ||
        !load_other(&op, &now, yyjson_get_sint(yyjson_obj_get(t->params, "with")), &before, err))
        return false;
    struct comparing c = {
        .arena = t->arena, .task = t, .counting = true, .only = -1, .limit = samples_of_both(&now, &before)};
    return list_changes(&c, &before, &now, err);
}

const struct task_type task_changes = {
    .name = "changes", .title = {"List all changes", "列出全部变化"}, .run = run_changes};

static const struct choice changes[] = {{"added", {"Added", "新增"}},
                                        {"removed", {"Removed", "删除"}},
                                        {"changed", {"Changed", "修改"}},
                                        {"annotated", {"Annotated anew", "标注有变"}},
                                        {"split", {"Moved between parts of the split", "划分有变"}},
                                        {NULL, {NULL, NULL}}};

#define FIELD_WITH                                                                                           \
    {                                                                                                        \
        .name = "with", .type = FIELD_REF, .flags = FIELD_REQUIRED | FIELD_CREATE, .ref = "dataset_version", \
        .title = {                                                                                           \
            "Compare with",                                                                                  \
            "比较对象"                                                                                   \
        }                                                                                                    \
    }

const struct field changes_fields[] = {FIELD_WITH, {0}};

const struct field compare_fields[] = {
    FIELD_WITH,
    {.name = "after",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 1024,
     .title = {"After", "起点"},
     .help = {"The `next` of the page before; the counts come with the first page only, and not with large "
              "versions: `changes` counts those.",
              "上一页的 next；计数仅在第一页给出，样本很多时请用 changes 统计。"}},
    {.name = "from",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 1024,
     .title = {"From", "起始名称"},
     .help = {"The first name to list, instead of `after`.", "从此名称（含）开始列出，代替 after。"}},
    {.name = "limit",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1,
     .max = ITEMS_MAX,
     .fallback = "1000",
     .title = {"Limit", "数量"},
     .help = {"Changes of one page, at most 1000. Of large versions a page may have fewer, even none, with "
              "more behind it.",
              "每页的变化数，最多 1000。样本很多时一页可能较少甚至为空，其后仍有更多。"}},
    {.name = "change",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE,
     .choices = changes,
     .title = {"Change", "变化"},
     .help = {"Only changes of this kind are listed; all are counted.", "仅列出此类变化；计数仍包括全部。"}},
    {0},
};
