#include "core/data/compare.h"

#include "core/data/sample.h"

enum { PAGE = 500, ITEMS_MAX = 1000 };
enum { WITH, AFTER, FROM, LIMIT, CHANGE }; /* of the input */

/* What a sample counts as: the first of these that is true of it. */
enum change { ADDED, REMOVED, CHANGED, ANNOTATED, SPLIT, CHANGE_COUNT };
static const char *const change_names[] = {"added", "removed", "changed", "annotated", "split"};

struct side {
    int64_t id;
    struct str name;
    uint8_t blob[32], annotation[32]; /* a hash of the annotation is enough to see that it differs */
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
    (void)err;
    side->name = arena_str(&s->arena, row->v[0].s);
    memcpy(side->blob, row->v[1].s.p, sizeof side->blob);
    sha256_of(row->v[2].s, side->annotation);
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
    struct json_out *out;
    bool counting; /* to the end, whatever is listed */
    int only;      /* the one change that is listed; -1: all */
    int64_t limit, listed;
    int64_t counts[CHANGE_COUNT];
    struct str next; /* the last name listed, when there are more */
    struct arena *arena;
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
static void note(struct comparing *c, struct str name, const struct side *x, const struct side *y,
                 enum change change)
{
    c->counts[change]++;
    if (c->only >= 0 && c->only != (int)change)
        return;
    if (c->listed == c->limit) {
        c->more = true;
        return;
    }
    json_object(c->out);
    json_kstr(c->out, "name", name);
    json_kz(c->out, "change", change_names[change]);
    write_id(c->out, "before", x);
    write_id(c->out, "after", y);
    write_split(c->out, "split_before", x);
    write_split(c->out, "split_after", y);
    json_object_end(c->out);
    if (++c->listed == c->limit)
        c->next = arena_str(c->arena, name);
}

static bool merge(struct comparing *c, struct err *err)
{
    while (c->counting || !c->more) {
        if (!fill(&c->before, err) || !fill(&c->after, err))
            return false;
        const struct side *x = current(&c->before), *y = current(&c->after);
        if (!x && !y)
            return true;
        int order = !x ? 1 : !y ? -1 : by_name(x, y);
        if (order < 0)
            note(c, x->name, x, NULL, REMOVED);
        else if (order > 0)
            note(c, y->name, NULL, y, ADDED);
        else if (memcmp(x->blob, y->blob, sizeof x->blob) != 0)
            note(c, y->name, x, y, CHANGED);
        else if (memcmp(x->annotation, y->annotation, sizeof x->annotation) != 0)
            note(c, y->name, x, y, ANNOTATED);
        else if (x->split != y->split)
            note(c, y->name, x, y, SPLIT);
        c->before.at += order <= 0;
        c->after.at += order >= 0;
    }
    return true;
}

static void stream_release(struct stream *s)
{
    arena_release(&s->arena);
    buf_release(&s->last_text);
}

static bool write_answer(struct comparing *c, struct err *err)
{
    struct json_out *out = c->out;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    bool ok = merge(c, err);
    json_array_end(out);
    for (int i = 0; c->counting && i < CHANGE_COUNT; i++)
        json_kint(out, change_names[i], c->counts[i]);
    json_kstr(out, "next", c->more ? c->next : STR_NULL);
    json_object_end(out);
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

bool compare_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)status;
    struct object other;
    if (!engine_get(op->core, op->caller, op->kind, 0, input[WITH].i, op->arena, &other, err))
        return false;
    if (other.parent != o->parent)
        return err_set(err, ERR_INVALID, "with", "with: must be a version of the same dataset");
    bool from = input[FROM].type == DB_TEXT;
    if (from && input[AFTER].type == DB_TEXT)
        return err_set(err, ERR_INVALID, "from", "from: give from or after, not both");
    struct str after = from ? input[FROM].s : input[AFTER].type == DB_TEXT ? input[AFTER].s : STR("");
    struct db_conn *conn = db_read_begin(op->core->db, err);
    if (!conn)
        return false;
    struct comparing c = {
        .before = {.conn = conn, .version = other.id, .last = after, .with_last = from},
        .after = {.conn = conn, .version = o->id, .last = after, .with_last = from},
        .out = out,
        .counting = !after.n,
        .only = change_of(input[CHANGE]),
        .limit = input[LIMIT].i,
        .arena = op->arena,
    };
    bool ok = write_answer(&c, err);
    db_read_end(op->core->db, conn);
    stream_release(&c.before);
    stream_release(&c.after);
    return ok;
}

static const struct choice changes[] = {{"added", {"Added", "新增"}},
                                        {"removed", {"Removed", "删除"}},
                                        {"changed", {"Changed", "修改"}},
                                        {"annotated", {"Annotated anew", "标注有变"}},
                                        {"split", {"Moved between parts of the split", "划分有变"}},
                                        {NULL, {NULL, NULL}}};

const struct field compare_fields[] = {
    {.name = "with",
     .type = FIELD_REF,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .ref = "dataset_version",
     .title = {"Compare with", "比较对象"}},
    {.name = "after",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 1024,
     .title = {"After", "起点"},
     .help = {"The `next` of the page before; the counts come with the first page only.",
              "上一页的 next；计数仅在第一页给出。"}},
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
     .help = {"Changes of one page, at most 1000.", "每页的变化数，最多 1000。"}},
    {.name = "change",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE,
     .choices = changes,
     .title = {"Change", "变化"},
     .help = {"Only changes of this kind are listed; all are counted.", "仅列出此类变化；计数仍包括全部。"}},
    {0},
};
