#include "core/evaluate/found.h"

#include "base/json.h"
#include "base/map.h"
#include "codec/annotation.h"

#include <errno.h>

#define MAX_LABELS    100000
#define MAX_US        (int64_t)(24 * 3600 * 1000000ll)
#define MAX_PROCESSOR 100 /* bytes of its name */

static uint32_t side_of(yyjson_val *v)
{
    uint64_t n = yyjson_get_uint(v);
    return n <= ANNOTATION_MAX_SIDE ? (uint32_t)n : 0;
}

static int64_t number_of(yyjson_val *v, int64_t most)
{
    uint64_t n = yyjson_get_uint(v);
    return n <= (uint64_t)most ? (int64_t)n : 0;
}

static bool read_head(struct arena *a, yyjson_val *v, struct found_line *ret, struct err *err)
{
    size_t i, max;
    yyjson_val *item, *list = yyjson_obj_get(v, "labels");
    ret->head = true;
    if (yyjson_arr_size(list) > MAX_LABELS)
        return err_set(err, ERR_TOO_LARGE, "labels", "more than %d labels", MAX_LABELS);
    ret->labels = arena_array(a, struct str, yyjson_arr_size(list) + 1);
    yyjson_arr_foreach(list, i, max, item)
    {
        struct str name = json_str(yyjson_obj_get(item, "name"));
        if (name.n)
            ret->labels[ret->label_count++] = name;
    }
    ret->threads = number_of(yyjson_obj_get(v, "threads"), UINT16_MAX);
    ret->processor = json_str(yyjson_obj_get(v, "processor"));
    if (ret->processor.n > MAX_PROCESSOR)
        ret->processor = STR_NULL;
    return true;
}

bool found_parse(struct arena *a, struct str text, struct found_line *ret, struct err *err)
{
    yyjson_val *v = json_parse(a, text, err), *annotation;
    *ret = (struct found_line){.annotation = STR("{}")};
    if (!v)
        return false;
    if (yyjson_obj_get(v, "ingot"))
        return read_head(a, v, ret, err);
    ret->file = json_str(yyjson_obj_get(v, "file"));
    ret->error = json_str(yyjson_obj_get(v, "error"));
    ret->width = side_of(yyjson_obj_get(v, "width"));
    ret->height = side_of(yyjson_obj_get(v, "height"));
    ret->us = number_of(yyjson_obj_get(v, "us"), MAX_US);
    annotation = yyjson_obj_get(v, "annotation");
    if (!ret->file.n)
        return err_set(err, ERR_INVALID, "file", "a line has no \"file\"");
    if (!annotation && !ret->error.p)
        return err_set(err, ERR_INVALID, "annotation", "a line has neither \"annotation\" nor \"error\"");
    if (annotation && !ret->error.p) {
        auto_buf struct buf b = {0};
        struct json_out o;
        json_begin(&o, &b);
        json_value(&o, annotation);
        ret->annotation = arena_str(a, buf_view(&b));
    }
    return true;
}

/* A line that was passed while another was looked for. */
struct passed {
    struct arena arena;
    struct found_line line;
};

struct found {
    FILE *in;
    struct arena arena; /* the head */
    struct arena now;   /* the line that was given last */
    struct found_line head;
    size_t number;
    char *text;
    size_t cap;
    struct map *passed;
};

static bool read_text(struct found *f, struct str *ret, bool *end, struct err *err)
{
    ssize_t n = getline(&f->text, &f->cap, f->in);
    *end = n < 0;
    if (*end)
        return !ferror(f->in) || err_errno(err, errno, "what the model found cannot be read");
    f->number++;
    if ((size_t)n > FOUND_MAX_LINE)
        return err_set(err, ERR_TOO_LARGE, NULL, "line %zu has more than %zu bytes", f->number,
                       FOUND_MAX_LINE);
    *ret = str_trim((struct str){f->text, (size_t)n});
    return true;
}

static bool read_line(struct found *f, struct arena *a, struct found_line *ret, bool *end, struct err *err)
{
    struct str text = STR_NULL;
    do {
        if (!read_text(f, &text, end, err))
            return false;
    } while (!*end && !text.n);
    if (*end)
        return true;
    if (found_parse(a, arena_str(a, text), ret, err))
        return true;
    struct err why = *err;
    return err_set(err, why.code, why.field, "line %zu of what the model found: %s", f->number, why.message);
}

struct found *found_open(const char *path, struct err *err)
{
    struct found *f = base_zalloc(sizeof *f);
    bool end;
    arena_init(&f->arena);
    arena_init(&f->now);
    f->passed = map_new();
    f->in = fopen(path, "re");
    bool ok = f->in || err_errno(err, errno, "what the model found");
    ok =
        ok && read_line(f, &f->arena, &f->head, &end, err) &&
        ((!end && f->head.head) || err_set(err, ERR_INVALID, NULL, "what the model found has no first line"));
    if (!ok) {
        found_close(f);
        return NULL;
    }
    return f;
}

static void drop_passed(struct passed *p)
{
    if (!p)
        return;
    arena_release(&p->arena);
    free(p);
}

void found_close(struct found *f)
{
    struct str key;
    void *value;
    if (!f)
        return;
    for (size_t i = 0; map_next(f->passed, &i, &key, &value);)
        drop_passed(value);
    map_free(f->passed);
    if (f->in)
        fclose(f->in);
    free(f->text);
    arena_release(&f->arena);
    arena_release(&f->now);
    free(f);
}

const struct str *found_labels(const struct found *f, size_t *ret_n)
{
    *ret_n = f->head.label_count;
    return f->head.labels;
}

int64_t found_made_with(const struct found *f, struct str *ret_processor)
{
    *ret_processor = f->head.processor;
    return f->head.threads;
}

/* Gives a passed line, whose arena becomes the current one. */
static void give(struct found *f, struct passed *p, struct found_line *ret)
{
    arena_release(&f->now);
    f->now = p->arena;
    *ret = p->line;
    free(p);
}

bool found_get(struct found *f, struct str file, struct found_line *ret, bool *ret_is, struct err *err)
{
    struct passed *p = map_remove(f->passed, file);
    bool end = false;
    *ret_is = p != NULL;
    if (p)
        give(f, p, ret);
    while (!*ret_is && map_count(f->passed) < FOUND_AHEAD) {
        p = base_zalloc(sizeof *p);
        arena_init(&p->arena);
        if (!read_line(f, &p->arena, &p->line, &end, err) || end) {
            drop_passed(p);
            return end;
        }
        *ret_is = str_eq(p->line.file, file);
        if (*ret_is)
            give(f, p, ret);
        else
            drop_passed(p->line.head ? p : map_set(f->passed, p->line.file, p));
    }
    return true;
}
