#include "core/data/database_in.h"

#include "base/map.h"
#include "base/messages.h"
#include "core/data/database_query.h"
#include "core/data/database_rows.h"
#include "core/data/folder_in.h"
#include "store/manifest.h"

#include <stdio.h>

#define FIELD "database"

enum column { NAME, CONTENT, FILE_PATH, LABEL, ANNOTATION, COLUMNS };
static const char *const column_names[COLUMNS] = {"name", "content", "file", "label", "annotation"};

static const struct source_member members[] = {
    {.name = "host", .required = true},
    {.name = "port", .number = true},
    {.name = "user", .required = true},
    {.name = "database", .required = true},
    {.name = "query"},
    {.name = "table"},
    {.name = "name", .required = true},
    {.name = "content"},
    {.name = "file"},
    {.name = "label"},
    {.name = "annotation"},
    {.name = "tls"},
    {.name = "ca"},
    {.name = NULL},
};

static bool has(yyjson_val *v, const char *name)
{
    return json_str(yyjson_obj_get(v, name)).n > 0;
}

/* "tls" is "off" (or not there), or "required": an encrypted connection to a server with a trusted
 * certificate.
 */
static bool check_tls(yyjson_val *v, struct err *err)
{
    struct str tls = json_str(yyjson_obj_get(v, "tls"));
    if (tls.n && !str_is(tls, "off") && !str_is(tls, "required"))
        return err_set(err, ERR_INVALID, FIELD, "database.tls: \"" STR_FMT "\" must be off or required",
                       STR_ARG(tls));
    if (has(v, "ca") && !str_is(tls, "required"))
        return err_set(err, ERR_INVALID, FIELD, "database.ca: needs \"tls\": \"required\"");
    return sources_check_ca(FIELD, v, err);
}

bool database_in_check(struct op *op, yyjson_val *v, struct err *err)
{
    if (!sources_check(FIELD, members, v, err) || !check_tls(v, err))
        return false;
    int64_t port = yyjson_get_sint(yyjson_obj_get(v, "port"));
    struct str host = json_str(yyjson_obj_get(v, "host"));
    if (port < 0 || port > 65535)
        return err_set(err, ERR_INVALID, FIELD, "database.port: must be 1 to 65535");
    for (size_t i = 0; i < host.n; i++)
        if ((unsigned char)host.p[i] <= ' ' || strchr("/@\\,", host.p[i]) || host.n > 255)
            return err_set(err, ERR_INVALID, FIELD, "database.host: \"" STR_FMT "\" is no host",
                           STR_ARG(host));
    if (has(v, "query") == has(v, "table"))
        return err_message(err, ERR_INVALID, FIELD, MESSAGE_DATABASE_TABLE);
    if (has(v, "query") && !database_query_check(op->arena, json_str(yyjson_obj_get(v, "query")), err))
        return false;
    if (has(v, "content") && has(v, "file"))
        return err_message(err, ERR_INVALID, FIELD, MESSAGE_DATABASE_CONTENT);
    if (has(v, "label") && has(v, "annotation"))
        return err_message(err, ERR_INVALID, FIELD, MESSAGE_DATABASE_LABEL);
    const char *name = sources_text(op->arena, v, "host");
    if (strchr(name, ':')) /* an address of IPv6 */
        name = arena_printf(op->arena, "[%s]", name);
    return sources_allow(op->core, FIELD ".host", name, port ? (int)port : 3306, err);
}

/* --- the query --- */

static void add_name(struct buf *b, const char *name)
{
    buf_char(b, '`');
    for (; *name; name++) {
        if (*name == '`')
            buf_char(b, '`');
        buf_char(b, *name);
    }
    buf_char(b, '`');
}

/* A table's columns in the order of names, so that the same rows give the same import. */
static void write_query(struct arena *a, yyjson_val *v, struct buf *b)
{
    if (has(v, "query")) {
        buf_str(b, json_str(yyjson_obj_get(v, "query")));
        return;
    }
    buf_z(b, "SELECT ");
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!has(v, column_names[i]))
            continue;
        if (i != NAME)
            buf_z(b, ", ");
        add_name(b, sources_text(a, v, column_names[i]));
    }
    buf_z(b, " FROM ");
    add_name(b, sources_text(a, v, "table"));
    buf_z(b, " ORDER BY ");
    add_name(b, sources_text(a, v, "name"));
}

/* --- rows --- */

struct reading {
    struct task *task;
    struct unpacked *out;
    int at[COLUMNS]; /* -1: not wanted */
    int64_t row;
    struct map *labelled; /* name -> struct labels */
    struct labels *first, **last;
};

/* Rows of one name may each give a label. */
struct labels {
    struct str name, annotation;
    struct str *label;
    size_t n;
    struct labels *next;
};

static bool find_columns(struct reading *r, const struct database_rows *rows, yyjson_val *v, struct err *err)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        struct str wanted = json_str(yyjson_obj_get(v, column_names[i]));
        r->at[i] = -1;
        for (size_t k = 0; wanted.n && k < database_rows_columns(rows); k++)
            if (str_ieq(wanted, str_of(database_rows_name(rows, k))))
                r->at[i] = (int)k;
        if (wanted.n && r->at[i] < 0)
            return err_set(err, ERR_INVALID, FIELD, "database.%s: the query has no column \"" STR_FMT "\"",
                           column_names[i], STR_ARG(wanted));
    }
    return true;
}

/* Names such as "17" get an ending, as that is what formats go by. */
static const char *ending_of(struct str content)
{
    static const struct {
        const char *start, *ending;
        size_t n;
    } known[] = {{"\xff\xd8\xff", ".jpg", 3}, {"\x89PNG", ".png", 4}, {"GIF8", ".gif", 4},
                 {"BM", ".bmp", 2},           {"II*", ".tif", 3},     {"MM\0*", ".tif", 4},
                 {"fLaC", ".flac", 4},        {"OggS", ".ogg", 4}};
    for (size_t i = 0; i < countof(known); i++)
        if (content.n >= known[i].n && memcmp(content.p, known[i].start, known[i].n) == 0)
            return known[i].ending;
    if (content.n > 12 && memcmp(content.p, "RIFF", 4) == 0)
        return memcmp(content.p + 8, "WEBP", 4) == 0 ? ".webp" : ".wav";
    return utf8_valid(content) ? ".txt" : "";
}

static struct labels *labels_of(struct reading *r, struct str name)
{
    struct labels *l = map_get(r->labelled, name);
    if (l)
        return l;
    l = arena_new(r->task->arena, struct labels);
    l->name = arena_str(r->task->arena, name);
    map_set(r->labelled, l->name, l);
    *r->last = l;
    r->last = &l->next;
    return l;
}

static void keep_label(struct reading *r, struct str name, struct str label, const char *position)
{
    struct labels *l = labels_of(r, name);
    label = str_trim(label);
    if (!label.n)
        return;
    if (!utf8_valid(label)) {
        task_note(r->task, name, position, MESSAGE_LABEL_NOT_UTF8);
        return;
    }
    l->label = arena_grow(r->task->arena, l->label, l->n * sizeof *l->label, (l->n + 1) * sizeof *l->label);
    l->label[l->n++] = arena_str(r->task->arena, label);
}

static void keep_annotation(struct reading *r, struct str name, struct str text, const char *position)
{
    struct err why = {0};
    auto_arena struct arena a;
    arena_init(&a);
    if (!text.n)
        return;
    if (!yyjson_is_obj(json_parse(&a, text, &why)))
        task_note(r->task, name, position, MESSAGE_ANNOTATION_NO_OBJECT);
    else
        labels_of(r, name)->annotation = arena_str(r->task->arena, text);
}

/* The bytes of a row, if it has any. *left_out: reported. */
static bool take_bytes(struct reading *r, struct str name, const struct str *row, const char *position,
                       bool *left_out, struct err *err)
{
    struct err why = {0};
    int column = r->at[CONTENT] >= 0 ? r->at[CONTENT] : r->at[FILE_PATH];
    *left_out = false;
    if (column < 0)
        return true;
    if (!row[column].p) {
        err_message(&why, ERR_INVALID, NULL, MESSAGE_COLUMN_NULL, r->at[CONTENT] >= 0 ? "content" : "file");
        unpack_left_out(r->task, name, position, &why);
        *left_out = true;
        return true;
    }
    if (r->at[CONTENT] >= 0)
        return unpack_piece(r->out, row[column], err) && unpack_file(r->out, name, err);
    if (folder_in_file(r->task, row[column], name, r->out, r->row, &why))
        return true;
    if (why.code != ERR_FORBIDDEN && why.code != ERR_INVALID && why.code != ERR_NOT_FOUND) {
        *err = why;
        return false;
    }
    unpack_left_out(r->task, name, position, &why);
    *left_out = true;
    return true;
}

static bool take_row(struct reading *r, const struct str *row, struct err *err)
{
    char position[40];
    struct err why = {0};
    bool left_out;
    struct str name = row[r->at[NAME]];
    snprintf(position, sizeof position, "row %lld", (long long)++r->row);
    if (!name.n) {
        err_message(&why, ERR_INVALID, NULL, MESSAGE_NO_NAME);
        unpack_left_out(r->task, STR(""), position, &why);
        return true;
    }
    if (r->at[CONTENT] >= 0 && !memchr(name.p, '.', name.n))
        name =
            str_of(arena_printf(r->task->arena, STR_FMT "%s", STR_ARG(name), ending_of(row[r->at[CONTENT]])));
    if (!manifest_check_path(name, &why)) {
        unpack_left_out(r->task, utf8_valid(name) ? name : STR("?"), position, &why);
        return true;
    }
    if (!take_bytes(r, name, row, position, &left_out, err))
        return false;
    if (!left_out && r->at[LABEL] >= 0)
        keep_label(r, name, row[r->at[LABEL]], position);
    if (!left_out && r->at[ANNOTATION] >= 0)
        keep_annotation(r, name, row[r->at[ANNOTATION]], position);
    return unpack_keep(r->task, r->out, err) && task_progress(r->task, r->row, 0, err);
}

/* --- labels as a file of our own format, which the import then reads like any other --- */

static void write_line(struct buf *b, const struct labels *l)
{
    struct json_out o;
    json_begin(&o, b);
    json_object(&o);
    json_kstr(&o, "file", l->name);
    json_key(&o, "annotation");
    if (l->annotation.p) {
        json_raw(&o, l->annotation);
    } else {
        json_object(&o);
        json_key(&o, "labels");
        json_array(&o);
        for (size_t i = 0; i < l->n; i++)
            json_string(&o, l->label[i]);
        json_array_end(&o);
        json_object_end(&o);
    }
    json_object_end(&o);
    buf_char(b, '\n');
}

static bool write_labels(struct reading *r, struct err *err)
{
    bool ok = true;
    if (!r->first)
        return true;
    for (const struct labels *l = r->first; ok && l; l = l->next) {
        auto_buf struct buf line = {0};
        if (!l->annotation.p && l->n == 0)
            continue;
        write_line(&line, l);
        ok = unpack_piece(r->out, buf_view(&line), err);
    }
    if (!ok) {
        unpack_drop(r->out);
        return false;
    }
    return unpack_file(r->out, STR("ingot.jsonl"), err);
}

static bool read_rows(struct reading *r, struct database_rows *rows, yyjson_val *v, struct err *err)
{
    const struct str *row;
    bool done;
    if (!find_columns(r, rows, v, err))
        return false;
    for (;;) {
        if (!database_rows_next(rows, &row, &done, err))
            return false;
        if (done)
            return write_labels(r, err);
        if (!take_row(r, row, err))
            return false;
    }
}

static bool go_on(void *ctx, struct err *err)
{
    return task_progress(ctx, 0, 0, err);
}

bool database_in(struct task *t, yyjson_val *v, struct unpacked *out, struct err *err)
{
    struct reading r = {.task = t, .out = out};
    struct op op = {.core = t->core, .arena = t->arena};
    auto_buf struct buf query = {0};
    struct database_options o = {.host = sources_text(t->arena, v, "host"),
                                 .port = (int)yyjson_get_sint(yyjson_obj_get(v, "port")),
                                 .user = sources_text(t->arena, v, "user"),
                                 .database = sources_text(t->arena, v, "database"),
                                 .tls = str_is(json_str(yyjson_obj_get(v, "tls")), "required"),
                                 .go_on = go_on,
                                 .ctx = t};
    if (!database_in_check(&op, v, err) || !sources_secret(t, &o.password, err) ||
        !sources_ca(t, v, &o.ca_file, err))
        return false;
    write_query(t->arena, v, &query);
    struct database_rows *rows = database_rows_open(&o, buf_view(&query), err);
    sources_ca_end(t, v);
    if (!rows)
        return false;
    r.labelled = map_new();
    r.last = &r.first;
    bool ok = read_rows(&r, rows, v, err);
    map_free(r.labelled);
    database_rows_close(rows);
    return ok;
}
