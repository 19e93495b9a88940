/* JSON lines of texts and transcripts, one object per line:
 *     {"text":"...","label":"spam"}           or "labels":["a","b"]
 *     {"text":"...","spans":[{"start":0,"end":5,"label":"name"}]}     or "entities":[[0,5,"name"]]
 *     {"file":"a.wav","text":"...","segments":[{"start":0,"end":2.5,"text":"...","label":"speaker"}]}
 * "split" may say train, val or test. */
#include "base/json.h"
#include "codec/formats.h"

#include <stdio.h>

static bool is_jsonl(struct codec_reader *r, size_t file)
{
    return reader_has(r, file, ".jsonl") || reader_has(r, file, ".ndjson");
}

static bool is_any(struct codec_reader *r, size_t file)
{
    (void)r;
    (void)file;
    return true;
}

int jsonl_detect(struct codec_reader *r, size_t *ret_file)
{
    return reader_detect(r, ".jsonl", is_any, ret_file) || reader_detect(r, ".ndjson", is_any, ret_file) ? 70
                                                                                                         : 0;
}

static bool add_label(struct reader_sample *s, yyjson_val *v, struct err *err)
{
    struct str name = str_trim(json_str(v));
    if (!name.n) {
        reader_skip(s->r, s->source, str_of(s->position), "a label is not a text");
        return true;
    }
    return !reader_add_label(s, name, s->position) || reader_label_name(s->r, name, err);
}

static bool add_labels(struct reader_sample *s, yyjson_val *v, struct err *err)
{
    size_t i, max;
    yyjson_val *item;
    if (!v || yyjson_is_null(v))
        return true;
    if (!yyjson_is_arr(v))
        return add_label(s, v, err);
    yyjson_arr_foreach(v, i, max, item)
    {
        if (!add_label(s, item, err))
            return false;
    }
    return true;
}

/* {"start":..} or [start, end, label] */
static bool read_part(yyjson_val *v, struct part *ret)
{
    bool list = yyjson_is_arr(v);
    yyjson_val *start = list ? yyjson_arr_get(v, 0) : yyjson_obj_get(v, "start");
    yyjson_val *end = list ? yyjson_arr_get(v, 1) : yyjson_obj_get(v, "end");
    yyjson_val *label = list ? yyjson_arr_get(v, 2) : yyjson_obj_get(v, "label");
    if (!yyjson_is_num(start) || !yyjson_is_num(end))
        return false;
    *ret = (struct part){
        .start = yyjson_get_num(start),
        .end = yyjson_get_num(end),
        .label = str_trim(json_str(label)),
        .text = list ? STR_NULL : json_str(yyjson_obj_get(v, "text")),
    };
    return ret->start >= 0 && ret->end > ret->start && ret->end <= 1e9;
}

static bool add_parts(struct reader_sample *s, yyjson_val *v, bool spans, size_t characters, struct err *err)
{
    size_t i, max, n = yyjson_arr_size(v);
    yyjson_val *item;
    struct part *parts = arena_array(&s->arena, struct part, n + 1);
    uint32_t count = 0;
    yyjson_arr_foreach(v, i, max, item)
    {
        struct part p;
        char at[64];
        snprintf(at, sizeof at, "%.30s, %s %zu", s->position, spans ? "span" : "segment", i);
        if (!read_part(item, &p) || count == ANNOTATION_MAX_SHAPES)
            reader_skip(s->r, s->source, str_of(at), "it needs a start and a later end");
        else if (spans && (p.end > (double)characters || p.start != (double)(uint64_t)p.start ||
                           p.end != (double)(uint64_t)p.end))
            reader_skip(s->r, s->source, str_of(at), "it does not lie within the text's %zu characters",
                        characters);
        else if ((spans && !p.label.n) || !model_is_label(p.label) ||
                 utf8_count(p.text) > ANNOTATION_MAX_TEXT)
            reader_skip(s->r, s->source, str_of(at), "its label is missing, or label or text is too long");
        else
            parts[count++] = p;
    }
    s->records += count;
    if (spans) {
        s->n.spans = parts;
        s->n.span_count = count;
    } else {
        s->n.segments = parts;
        s->n.segment_count = count;
    }
    for (uint32_t k = 0; k < count; k++)
        if (!reader_label_name(s->r, parts[k].label, err))
            return false;
    return true;
}

static enum codec_split split_named(struct str name)
{
    for (int i = 1; i < CODEC_SPLIT_COUNT; i++)
        if (str_ieq(name, str_of(codec_split_names[i])))
            return (enum codec_split)i;
    return CODEC_SPLIT_NONE;
}

static struct str first_string(yyjson_val *v, const char *const *keys)
{
    for (; *keys; keys++) {
        struct str s = json_str(yyjson_obj_get(v, *keys));
        if (s.n)
            return s;
    }
    return STR_NULL;
}

static bool annotate(struct reader_sample *s, yyjson_val *v, struct str text, struct err *err)
{
    yyjson_val *label = yyjson_obj_get(v, "label"), *spans = yyjson_obj_get(v, "spans");
    uint64_t before = s->records + s->r->counts.skipped;
    if (!spans)
        spans = yyjson_obj_get(v, "entities");
    if (s->r->type == ANNOTATION_TEXT_SPANS && !spans && yyjson_is_arr(yyjson_arr_get_first(label))) {
        spans = label;
        label = NULL;
    }
    if (!add_labels(s, label, err) || !add_labels(s, yyjson_obj_get(v, "labels"), err))
        return false;
    if (s->r->type == ANNOTATION_TEXT_SPANS && spans &&
        !add_parts(s, spans, true, text.n ? utf8_count(text) : 1000000000, err))
        return false;
    if (s->r->type == ANNOTATION_TRANSCRIPTION) {
        yyjson_val *segments = yyjson_obj_get(v, "segments");
        s->n.text = utf8_count(text) <= ANNOTATION_MAX_TEXT ? text : STR_NULL;
        if (segments && !add_parts(s, segments, false, 0, err))
            return false;
    }
    if (s->records + s->r->counts.skipped == before)
        s->records++; /* the line itself */
    return true;
}

static bool read_sample(struct reader_sample *s, yyjson_val *v, size_t line, struct err *err)
{
    static const char *const files[] = {"file", "audio", "audio_filepath", "path", NULL};
    static const char *const texts[] = {"text", "sentence", "content", NULL};
    struct str name = first_string(v, files), text = first_string(v, texts);
    size_t file = name.n && name.n <= 1000 ? reader_find(s->r, s->source, name) : READER_NONE;
    bool came = file != READER_NONE && !s->r->in->files[file].known;
    bool inline_text = s->r->data == ANNOTATION_TEXT && (!name.n || (text.n && !came));
    if (name.n > 1000 || (inline_text ? !text.n : !name.n)) {
        reader_skip(s->r, s->source, str_of(s->position),
                    inline_text ? "it has no text" : "it names no file");
        return true;
    }
    if (inline_text) {
        s->content = text;
        s->path =
            name.n
                ? name
                : str_of(arena_printf(&s->arena, STR_FMT "-%06zu.txt", STR_ARG(path_bare(s->source)), line));
    } else {
        s->path = name;
        s->file = file;
    }
    s->split = split_named(json_str(yyjson_obj_get(v, "split")));
    if (s->split == CODEC_SPLIT_NONE)
        s->split = path_file_split(s->source);
    return annotate(s, v, text, err) && reader_emit(s, STR_NULL, err);
}

bool jsonl_read(struct codec_reader *r, struct err *err)
{
    for (size_t i = 0; i < r->in->file_count; i++)
        if (is_jsonl(r, i) && !reader_json_lines(r, i, read_sample, err))
            return false;
    return true;
}

/* ---- writing ---- */

static void put_parts(struct json_out *o, const char *key, const struct part *parts, uint32_t count)
{
    json_key(o, key);
    json_array(o);
    for (uint32_t i = 0; i < count; i++) {
        json_object(o);
        json_key(o, "start");
        json_real(o, parts[i].start);
        json_key(o, "end");
        json_real(o, parts[i].end);
        if (parts[i].label.n)
            json_kstr(o, "label", parts[i].label);
        if (parts[i].text.n)
            json_kstr(o, "text", parts[i].text);
        json_object_end(o);
    }
    json_array_end(o);
}

static bool put_sample(struct codec_writer *w, struct writer_sample *it, struct err *err)
{
    struct json_out o;
    struct str text = it->n.text;
    enum codec_split part = writer_part(w, it);
    bool texts = w->data == ANNOTATION_TEXT;
    if (texts && !w->src->bytes)
        return err_set(err, ERR_INTERNAL, NULL, "the texts are not available");
    if (texts && !w->src->bytes(w->src->ctx, &it->s, &text, err))
        return false;
    json_begin(&o, &w->buf);
    json_object(&o);
    json_kstr(&o, "file", it->s.path);
    json_kstr(&o, "text", text.p ? text : STR(""));
    if (it->n.label_count) {
        json_key(&o, "labels");
        json_array(&o);
        for (uint32_t i = 0; i < it->n.label_count; i++)
            json_string(&o, it->n.labels[i]);
        json_array_end(&o);
    }
    if (it->n.span_count)
        put_parts(&o, "spans", it->n.spans, it->n.span_count);
    if (it->n.segment_count)
        put_parts(&o, "segments", it->n.segments, it->n.segment_count);
    if (part)
        json_kz(&o, "split", codec_split_names[part]);
    json_object_end(&o);
    buf_char(&w->buf, '\n');
    return true;
}

bool jsonl_write(struct codec_writer *w, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_begin(w, "annotations.jsonl", err) && writer_rewind(w, &it, err);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end)
        ok = put_sample(w, &it, err) && writer_flush(w, err);
    ok = ok && writer_end(w, err);
    writer_sample_release(&it);
    return ok && (w->data == ANNOTATION_TEXT || !w->out->media || files_write(w, err));
}
