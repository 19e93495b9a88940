#include "codec/reader.h"

#include "base/charset.h"
#include "base/map.h"

#include <stdarg.h>
#include <stdio.h>

#define DECODE_MAX (64u << 20) /* bytes of a file that is not UTF-8 */
#define LOOK_AT    1000        /* files of one ending, to detect a format */

void reader_init(struct codec_reader *r, const struct codec_input *in, enum annotation_type type)
{
    *r = (struct codec_reader){.in = in, .type = type, .data = annotation_types[type].data};
    r->use = base_zalloc(in->file_count + 1);
    r->missing = map_new();
    r->labels = map_new();
    for (size_t i = 0; i < in->file_count; i++) {
        if (in->files[i].known)
            r->use[i] = READER_KNOWN;
        else if (!codec_is_media(in->files[i].path, r->data))
            r->bytes_total += in->files[i].size;
    }
}

void reader_release(struct codec_reader *r)
{
    free(r->use);
    free(r->index);
    map_free(r->missing);
    map_free(r->labels);
    arena_release(&r->arena);
}

bool reader_has(const struct codec_reader *r, size_t file, const char *ending)
{
    return !r->in->files[file].known && path_has_ending(reader_path(r, file), ending);
}

bool reader_is_media(const struct codec_reader *r, size_t file)
{
    return !r->in->files[file].known && codec_is_media(reader_path(r, file), r->data);
}

bool reader_open(struct codec_reader *r, size_t file, struct str *ret, struct err *err)
{
    return r->in->open(r->in->ctx, reader_path(r, file), ret, err);
}

void reader_close(struct codec_reader *r, size_t file, struct str bytes)
{
    r->use[file] = READER_CONSUMED;
    if (r->in->close)
        r->in->close(r->in->ctx, reader_path(r, file), bytes);
}

struct str reader_text(struct codec_reader *r, size_t file, struct str bytes)
{
    static const struct {
        const char *mark, *charset, *says;
    } charsets[] = {
        {"\xff\xfe", "UTF-16", "it is not UTF-8; read as UTF-16"},
        {"\xfe\xff", "UTF-16", "it is not UTF-8; read as UTF-16"},
        {"", "GB18030", "it is not UTF-8; read as GBK"},
    };
    struct str text = bytes;
    if (str_starts(bytes, "\xef\xbb\xbf"))
        text = (struct str){bytes.p + 3, bytes.n - 3};
    if (text.n > DECODE_MAX || utf8_valid(text))
        return text;
    for (size_t i = 0; i < countof(charsets); i++)
        if (str_starts(bytes, charsets[i].mark) &&
            charset_to_utf8(&r->arena, charsets[i].charset, bytes, &text)) {
            reader_problem(r, CODEC_REPAIRED, reader_path(r, file), STR_NULL, "%s", charsets[i].says);
            break;
        }
    return text;
}

bool reader_real(struct str s, double *ret)
{
    char text[64];
    if (str_to_real(s, ret))
        return true;
    if (!s.n)
        return false;
    bool minus = s.p[0] == '-', sign = minus || s.p[0] == '+';
    struct str rest = {s.p + sign, s.n - sign};
    if (!rest.n || rest.n > sizeof text - 3 || (rest.p[0] != '.' && !sign) || rest.p[0] == 'e' ||
        rest.p[0] == 'E')
        return false;
    int n = snprintf(text, sizeof text, "%s0" STR_FMT, minus ? "-" : "", STR_ARG(rest));
    return str_to_real((struct str){text, (size_t)n}, ret);
}

bool reader_peek(struct codec_reader *r, size_t file, size_t max, struct buf *ret)
{
    struct str bytes;
    struct err ignored;
    buf_clear(ret);
    if (!reader_open(r, file, &bytes, &ignored))
        return false;
    buf_add(ret, bytes.p, bytes.n < max ? bytes.n : max);
    if (r->in->close)
        r->in->close(r->in->ctx, reader_path(r, file), bytes);
    return true;
}

void reader_done(struct codec_reader *r, struct str bytes, const char *upto)
{
    if (r->in->drop && upto > bytes.p)
        r->in->drop(r->in->ctx, (struct str){bytes.p, (size_t)(upto - bytes.p)});
}

bool reader_progress(struct codec_reader *r, uint64_t more, struct err *err)
{
    r->bytes_done += more;
    return !r->in->progress || r->in->progress(r->in->ctx, r->bytes_done, r->bytes_total, err);
}

bool reader_detect(struct codec_reader *r, const char *ending,
                   bool (*is)(struct codec_reader *r, size_t file), size_t *ret_file)
{
    size_t count = 0, seen = 0;
    for (size_t i = 0; i < r->in->file_count; i++)
        count += reader_has(r, i, ending);
    size_t step = count / LOOK_AT + 1;
    for (size_t i = 0; i < r->in->file_count; i++) {
        if (!reader_has(r, i, ending) || seen++ % step || !is(r, i))
            continue;
        *ret_file = i;
        return true;
    }
    return false;
}

void reader_problem(struct codec_reader *r, enum codec_problem_kind kind, struct str path,
                    struct str position, const char *fmt, ...)
{
    char reason[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    r->counts.repaired += kind == CODEC_REPAIRED;
    r->counts.ignored += kind == CODEC_IGNORED;
    r->in->problem(r->in->ctx, &(struct codec_problem){kind, path, position, reason});
}

bool reader_label(struct codec_reader *r, const struct codec_label *l, struct err *err)
{
    if (!l->name.n || map_set(r->labels, l->name, r))
        return true;
    return !r->in->label || r->in->label(r->in->ctx, l, err);
}

bool reader_label_name(struct codec_reader *r, struct str name, struct err *err)
{
    return reader_label(r, &(struct codec_label){.name = name}, err);
}

void reader_sample_init(struct reader_sample *s, struct codec_reader *r, struct str source)
{
    *s = (struct reader_sample){.r = r, .file = READER_NONE, .source = source};
}

void reader_sample_release(struct reader_sample *s)
{
    arena_release(&s->arena);
}

bool reader_sample_size(struct reader_sample *s)
{
    const struct codec_input *in = s->r->in;
    struct err err = {0};
    if (s->width && s->height)
        return true;
    if (s->file == READER_NONE || !in->size)
        return false;
    if (in->size(in->ctx, reader_path(s->r, s->file), &s->width, &s->height, &err))
        return true;
    reader_problem(s->r, CODEC_IGNORED, reader_path(s->r, s->file), STR_NULL, "its size is not known: %s",
                   err.message);
    return false;
}

bool reader_push_shape(struct reader_sample *s, const struct shape *shape, const char *position)
{
    if (s->n.shape_count == ANNOTATION_MAX_SHAPES) {
        reader_skip(s->r, s->source, str_of(position), "the sample has more than %d shapes",
                    ANNOTATION_MAX_SHAPES);
        return false;
    }
    if (s->n.shape_count == s->shape_cap) {
        uint32_t cap = s->shape_cap ? s->shape_cap * 2 : 8;
        s->n.shapes = arena_grow(&s->arena, s->n.shapes, s->shape_cap * sizeof *shape, cap * sizeof *shape);
        s->shape_cap = cap;
    }
    s->n.shapes[s->n.shape_count++] = *shape;
    s->records++;
    return true;
}

bool reader_add_shape(struct reader_sample *s, struct shape *shape, const char *position)
{
    return reader_check_shape(s, shape, position) && reader_push_shape(s, shape, position);
}

bool reader_add_label(struct reader_sample *s, struct str label, const char *position)
{
    struct codec_reader *r = s->r;
    struct annotation *n = &s->n;
    struct str at = str_of(position);
    bool single = r->type == ANNOTATION_IMAGE_CLASS;
    label = str_trim(label);
    if (!model_takes_labels(r->type)) {
        reader_skip(r, s->source, at, "%s takes no labels of whole samples", annotation_types[r->type].name);
        return false;
    }
    for (uint32_t i = 0; i < n->label_count; i++) {
        if (str_eq(n->labels[i], label)) {
            reader_skip(r, s->source, at, "the label is there twice");
            return false;
        }
    }
    if (!label.n || !model_is_label(label)) {
        reader_skip(r, s->source, at, "the label is empty, not UTF-8 or longer than %d characters",
                    ANNOTATION_MAX_LABEL);
        return false;
    }
    if (n->label_count >= (single ? 1 : ANNOTATION_MAX_LABELS)) {
        reader_skip(r, s->source, at, "the sample has a label already, and this type takes %s",
                    single ? "one" : "no more");
        return false;
    }
    n->labels = arena_grow(&s->arena, n->labels, n->label_count * sizeof *n->labels,
                           (n->label_count + 1) * sizeof *n->labels);
    n->labels[n->label_count++] = label;
    s->records++;
    return true;
}

/* Whether the sample was emitted before; remembers it. */
static bool emitted_before(struct reader_sample *s)
{
    struct codec_reader *r = s->r;
    if (s->file == READER_NONE)
        return map_set(r->missing, s->path, r);
    if (r->use[s->file] == READER_EMITTED)
        return true;
    r->use[s->file] = READER_EMITTED;
    return false;
}

static uint64_t annotations_in(const struct annotation *n)
{
    return (uint64_t)n->label_count + n->shape_count + n->span_count + n->segment_count + (n->text.p ? 1 : 0);
}

bool reader_emit(struct reader_sample *s, struct str text, struct err *err)
{
    struct codec_reader *r = s->r;
    bool listed = s->file != READER_NONE;
    struct str path = listed ? reader_path(r, s->file) : s->path,
               at = s->position[0] ? str_of(s->position) : STR_NULL;
    r->counts.records += s->records;
    if ((s->content.p && !path_clean(&s->arena, path, &path)) || (path.n && memchr(path.p, 0, path.n))) {
        r->counts.skipped += s->records;
        reader_problem(r, CODEC_SKIPPED, s->source, at, "its name is no name of a file");
        return true;
    }
    s->path = path;
    if (emitted_before(s)) {
        r->counts.skipped += s->records;
        reader_problem(r, CODEC_SKIPPED, s->source, at,
                       "\"%.*s\" has annotations already; these are left out",
                       path.n > 300 ? 300 : (int)path.n, path.p);
        return true;
    }
    r->counts.taken += s->records;
    uint64_t annotations = text.p ? s->records : annotations_in(&s->n);
    if (!text.p)
        text = model_text(&s->arena, &s->n);
    struct codec_sample out = {
        .path = path,
        .missing = !listed && !s->content.p,
        .content = s->content,
        .width = s->width,
        .height = s->height,
        .annotation = str_is(text, "{}") ? STR_NULL : text,
        .annotations = annotations,
        .split = s->split,
        .source = s->source,
        .position = at,
    };
    r->counts.samples++;
    r->counts.missing += out.missing;
    return r->in->sample(r->in->ctx, &out, err);
}

bool reader_rest(struct codec_reader *r, struct err *err)
{
    for (size_t i = 0; i < r->in->file_count; i++) {
        struct str path = reader_path(r, i);
        if (r->use[i] != READER_UNUSED)
            continue;
        if (!codec_is_media(path, r->data)) {
            reader_problem(r, CODEC_IGNORED, path, STR_NULL, "not a sample, and not read as annotations");
            continue;
        }
        struct codec_sample out = {.path = path, .split = path_split(path), .annotation = STR_NULL};
        r->use[i] = READER_EMITTED;
        r->counts.samples++;
        if (!r->in->sample(r->in->ctx, &out, err))
            return false;
    }
    return true;
}
