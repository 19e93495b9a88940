/* The logs of all replicas of a service as one, by time. A reader goes on with what `next` says: where it is
 * in each of them. */
#include "core/serve/replica.h"

#include <stdio.h>

#define LINES_MOST   2000
#define PAGE         (128 << 10) /* of each replica in one answer */
#define REPLICAS_MAX 200

enum { AFTER, LINES, VERSION };

const struct field service_log_fields[] = {
    [AFTER] = {.name = "after",
               .type = FIELD_TEXT,
               .flags = FIELD_CREATE,
               .max = 8000,
               .title = {"After", "起点"},
               .help = {"`next` of the answer before; else the newest lines.",
                        "上次返回的 next；否则为最新的行。"}},
    [LINES] = {.name = "lines",
               .type = FIELD_INT,
               .flags = FIELD_CREATE,
               .min = 1,
               .max = LINES_MOST,
               .fallback = "200",
               .title = {"Lines", "行数"},
               .help = {"Without `after`: so many of each replica.", "未给出 after 时每个副本的行数。"}},
    [VERSION] = {.name = "version",
                 .type = FIELD_TEXT,
                 .flags = FIELD_CREATE,
                 .max = 50,
                 .title = {"Version", "版本"},
                 .help = {"Only of this one, as v3.", "仅此版本，如 v3。"}},
    {0},
};

struct line {
    struct str text;
    int64_t job;
    struct str version;
};

struct merging {
    struct op *op;
    struct exec *exec;
    struct line *list;
    size_t n, cap;
};

static void add_line(struct merging *m, struct line line)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 256;
        m->list = arena_grow(m->op->arena, m->list, m->cap * sizeof line, cap * sizeof line);
        m->cap = cap;
    }
    m->list[m->n++] = line;
}

/* "17.1:4096 18.1:0": job, attempt and offset of each. -1: it is not in there. */
static int64_t find_offset(struct str after, int64_t job, int64_t attempt)
{
    char name[64];
    snprintf(name, sizeof name, "%lld.%lld:", (long long)job, (long long)attempt);
    while (after.n) {
        struct str word = str_cut(after, ' ', &after);
        int64_t offset;
        if (str_starts(word, name) &&
            str_to_i64((struct str){word.p + strlen(name), word.n - strlen(name)}, &offset) && offset >= 0)
            return offset;
    }
    return -1;
}

/* Text of programs may be anything; JSON is UTF-8. */
static void make_utf8(char *p, size_t n)
{
    for (size_t i = 0; !utf8_valid((struct str){p, n}) && i < n; i++)
        if ((unsigned char)p[i] >= 0x80)
            p[i] = '?';
}

/* Whole lines from the offset on; returns where the next begins. */
static int64_t read_lines(struct merging *m, struct exec_id id, int64_t offset, struct str version)
{
    struct err ignored = {0};
    char *space = arena_alloc(m->op->arena, PAGE);
    size_t n = 0, done = 0;
    int64_t at = offset;
    if (!m->exec->ops->log_read(m->exec, id, &at, space, PAGE, &n, &ignored))
        return offset;
    for (char *end; n && (end = memchr(space + done, '\n', n - done)); done = (size_t)(end - space) + 1) {
        size_t length = (size_t)(end - (space + done));
        if (length < EXEC_LOG_HEAD)
            continue;
        make_utf8(space + done, length);
        add_line(m, (struct line){{space + done, length}, id.job, version});
    }
    return at - (int64_t)n + (int64_t)done;
}

static void read_one(struct merging *m, const struct db_value *v, const struct db_value *input,
                     struct buf *next)
{
    struct exec_id id = {v[0].i, (int32_t)v[1].i, 0};
    struct err ignored = {0};
    struct exec_log log;
    struct str after = input[AFTER].type == DB_TEXT ? input[AFTER].s : STR_NULL;
    int64_t offset = find_offset(after, v[0].i, v[1].i);
    if (!v[1].i || !m->exec->ops->log(m->exec, id, &log, &ignored))
        return;
    if (offset < 0) {
        int64_t line = log.end_line - input[LINES].i;
        offset = log.first;
        /* One that began since then is read from its beginning. */
        if (!after.n && line > log.first_line &&
            !m->exec->ops->log_line(m->exec, id, line, &offset, &ignored))
            return;
    }
    offset = read_lines(m, id, offset, v[2].type == DB_TEXT ? v[2].s : STR_NULL);
    buf_printf(next, "%s%lld.%lld:%lld", next->n ? " " : "", (long long)v[0].i, (long long)v[1].i,
               (long long)offset);
}

static int by_time(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = memcmp(x->text.p, y->text.p, 27);
    return order ? order : x->job != y->job ? (x->job < y->job ? -1 : 1) : x->text.p < y->text.p ? -1 : 1;
}

static void write_line(const struct line *l, struct json_out *out)
{
    char stream = l->text.p[28];
    json_object(out);
    json_kstr(out, "at", (struct str){l->text.p, 27});
    json_kint(out, "job", l->job);
    json_kstr(out, "version", l->version);
    json_kz(out, "stream", stream == 'e' ? "error" : stream == 'i' ? "platform" : "output");
    json_kstr(out, "text", (struct str){l->text.p + EXEC_LOG_HEAD, l->text.n - EXEC_LOG_HEAD});
    json_object_end(out);
}

bool service_log(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    struct merging m = {.op = op, .exec = jobs_exec_wait(op->core->jobs)};
    struct db_rows rows;
    auto_buf struct buf next = {0};
    (void)status;
    if (!m.exec)
        return err_set(err, ERR_UNAVAILABLE, NULL, "this server runs no containers");
    struct str version = input[VERSION].type == DB_TEXT ? input[VERSION].s : STR("");
    if (!db_query(op->core->db, op->arena,
                  "SELECT r.job, j.attempt, v.name FROM replicas r JOIN jobs j ON j.id = r.job LEFT JOIN"
                  " service_versions v ON v.id = r.version WHERE r.service = ? AND (? = '' OR v.name = ?)"
                  " ORDER BY r.job DESC LIMIT ?",
                  db_args(db_int(o->id), db_text(version), db_text(version), db_int(REPLICAS_MAX)), &rows,
                  err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        read_one(&m, rows.row[i].v, input, &next);
    if (m.n)
        qsort(m.list, m.n, sizeof *m.list, by_time);
    json_object(out);
    json_key(out, "lines");
    json_array(out);
    for (size_t i = 0; i < m.n; i++)
        write_line(&m.list[i], out);
    json_array_end(out);
    json_kz(out, "next", next.n ? arena_strz(op->arena, buf_view(&next)) : "");
    json_object_end(out);
    return true;
}
