/* The platform's own format: ingot.jsonl, one sample per line, nothing lost:
 *     {"file":"a.jpg","width":640,"height":480,"split":"train","annotation":{...}}
 * A text of its own stands in "content" instead of a file. A first line
 * {"ingot":1,"type":"detection","labels":[
 * {"name":"cat","parent":"animal","keypoints":["nose"],"edges":[[0,1]]}]} names the labels. */
#include "base/json.h"
#include "codec/formats.h"
#include "codec/label.h"

#include <stdio.h>

static bool is_own(struct codec_reader *r, size_t file)
{
    return reader_has(r, file, ".jsonl") && str_is(path_base(reader_path(r, file)), "ingot.jsonl");
}

int own_detect(struct codec_reader *r, size_t *ret_file)
{
    for (size_t i = 0; i < r->in->file_count; i++)
        if (is_own(r, i)) {
            *ret_file = i;
            return 100;
        }
    return 0;
}

static bool read_header(struct codec_reader *r, struct arena *a, yyjson_val *v, struct err *err)
{
    size_t i, max;
    yyjson_val *item, *labels = yyjson_obj_get(v, "labels");
    yyjson_arr_foreach(labels, i, max, item)
    {
        struct codec_label l;
        if (label_read(a, item, &l) && !reader_label(r, &l, err))
            return false;
    }
    return true;
}

static enum codec_split split_named(struct str name)
{
    for (int i = 0; i < CODEC_SPLIT_COUNT; i++)
        if (str_is(name, codec_split_names[i]))
            return (enum codec_split)i;
    return CODEC_SPLIT_NONE;
}

static uint32_t side_of(yyjson_val *v)
{
    double n = yyjson_get_num(v);
    return n >= 1 && n <= ANNOTATION_MAX_SIDE ? (uint32_t)n : 0;
}

static bool read_sample(struct reader_sample *s, yyjson_val *v, size_t line, struct err *err)
{
    struct codec_reader *r = s->r;
    struct err bad;
    struct str at = str_of(s->position), name = json_str(yyjson_obj_get(v, "file"));
    yyjson_val *annotation = yyjson_obj_get(v, "annotation");
    s->content = json_str(yyjson_obj_get(v, "content"));
    if ((!name.n && !s->content.p) || name.n > 1000) {
        reader_skip(r, s->source, at, "it has neither \"file\" nor \"content\"");
        return true;
    }
    s->file = s->content.p ? READER_NONE : reader_find(r, s->source, name);
    s->path =
        name.n ? name
               : str_of(arena_printf(&s->arena, STR_FMT "-%06zu.txt", STR_ARG(path_bare(s->source)), line));
    s->width = side_of(yyjson_obj_get(v, "width"));
    s->height = side_of(yyjson_obj_get(v, "height"));
    s->split = split_named(json_str(yyjson_obj_get(v, "split")));
    if (annotation && !yyjson_is_null(annotation) &&
        !model_read(&s->arena, r->type, annotation, &s->n, &bad)) {
        reader_skip(r, s->source, at, "%s", bad.message);
        return true;
    }
    s->records = 1;
    return reader_emit(s, STR_NULL, err);
}

static bool read_line(struct reader_sample *s, yyjson_val *v, size_t line, struct err *err)
{
    return yyjson_obj_get(v, "ingot") ? read_header(s->r, &s->arena, v, err) : read_sample(s, v, line, err);
}

bool own_read(struct codec_reader *r, struct err *err)
{
    for (size_t i = 0; i < r->in->file_count; i++)
        if (is_own(r, i) && !reader_json_lines(r, i, read_line, err))
            return false;
    return true;
}

/* ---- writing ---- */

static void put_header(struct codec_writer *w)
{
    struct json_out o;
    json_begin(&o, &w->buf);
    json_object(&o);
    json_kint(&o, "ingot", 1);
    json_kz(&o, "type", annotation_types[w->type].name);
    json_key(&o, "labels");
    json_array(&o);
    for (size_t i = 0; i < w->label_count; i++)
        label_write(&o, &w->labels[i]);
    json_array_end(&o);
    json_object_end(&o);
    buf_char(&w->buf, '\n');
}

static void put_sample(struct codec_writer *w, const struct writer_sample *it)
{
    struct json_out o;
    enum codec_split part = writer_part(w, it);
    json_begin(&o, &w->buf);
    json_object(&o);
    json_kstr(&o, "file", it->s.path);
    if (it->s.width && it->s.height) {
        json_kint(&o, "width", it->s.width);
        json_kint(&o, "height", it->s.height);
    }
    if (part)
        json_kz(&o, "split", codec_split_names[part]);
    if (it->s.annotation.n) {
        json_key(&o, "annotation");
        json_raw(&o, it->s.annotation);
    }
    json_object_end(&o);
    buf_char(&w->buf, '\n');
}

bool own_write_file(struct codec_writer *w, const char *path, enum codec_split part, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_begin(w, path, err) && writer_rewind(w, &it, err);
    put_header(w);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        if (part == WRITER_ALL || writer_part(w, &it) == part)
            put_sample(w, &it);
        ok = writer_flush(w, err);
    }
    writer_sample_release(&it);
    return ok && writer_end(w, err);
}

bool own_write(struct codec_writer *w, struct err *err)
{
    return own_write_file(w, "ingot.jsonl", WRITER_ALL, err) && (!w->out->media || writer_all_media(w, err));
}
