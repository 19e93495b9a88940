/* CSV: a row per label, box or text.
 *     file,label            classes of files; several labels as a|b or in several rows
 *     file,cat,dog,...      the same with a column per class that has 1 or 0 (Roboflow's _classes.csv)
 *     file,label,x,y,w,h    boxes (or xmin,ymin,xmax,ymax); a row without box says that there is none
 *     text,label            texts that stand in the file itself; `file` names them
 *     file,text             transcripts
 * The first row may name the columns, in any order; without names they are as above. Rows of one file may
 * stand anywhere. */
#include "base/map.h"
#include "codec/csv_rows.h"
#include "codec/formats.h"
#include "codec/geometry.h"

#include <stdio.h>

enum column {
    FILE_NAME,
    LABEL,
    TEXT,
    X,
    Y,
    W,
    H,
    XMIN,
    YMIN,
    XMAX,
    YMAX,
    SPLIT,
    SCORE,
    WIDTH,
    HEIGHT,
    COLUMN_COUNT
};

static const struct {
    const char *name;
    enum column column;
} names[] = {
    {"file", FILE_NAME},
    {"filename", FILE_NAME},
    {"file_name", FILE_NAME},
    {"image", FILE_NAME},
    {"path", FILE_NAME},
    {"audio", FILE_NAME},
    {"label", LABEL},
    {"labels", LABEL},
    {"class", LABEL},
    {"category", LABEL},
    {"text", TEXT},
    {"sentence", TEXT},
    {"x", X},
    {"y", Y},
    {"w", W},
    {"h", H},
    {"xmin", XMIN},
    {"ymin", YMIN},
    {"xmax", XMAX},
    {"ymax", YMAX},
    {"split", SPLIT},
    {"score", SCORE},
    {"width", WIDTH},
    {"height", HEIGHT},
};

struct csv_reading {
    struct codec_reader *r;
    struct str source, text;
    int at[COLUMN_COUNT]; /* index of the field, -1: none */
    struct place {
        uint64_t offset;
        uint32_t line, group;
    } * places;
    size_t count, cap;
    struct str *groups; /* names of files */
    size_t group_count, group_cap;
    struct class_column {
        struct str name;
        size_t column;
    } * classes; /* with a column per class */
    size_t class_count;
};

static struct str field(const struct csv_reading *c, const struct csv_row *row, enum column column)
{
    int i = c->at[column];
    return i >= 0 && (size_t)i < row->count ? row->fields[i] : STR_NULL;
}

static bool by_header(struct csv_reading *c, const struct csv_row *row)
{
    size_t known = 0;
    for (int k = 0; k < COLUMN_COUNT; k++)
        c->at[k] = -1;
    for (size_t i = 0; i < row->count; i++) {
        for (size_t k = 0; k < countof(names); k++) {
            if (str_ieq(row->fields[i], str_of(names[k].name)) && c->at[names[k].column] < 0) {
                c->at[names[k].column] = (int)i;
                known++;
            }
        }
    }
    return known >= 2 || (known == 1 && row->count == 1);
}

static bool is_flag(struct str field)
{
    double v;
    return reader_real(field, &v) && (v == 0 || v == 1);
}

/* Whether every column but those of the file and the part is a class, by the first row below the names. */
static bool by_classes(struct csv_reading *c, const struct csv_row *names_row, const struct csv_row *row)
{
    bool boxes = (c->at[X] >= 0 && c->at[W] >= 0) || (c->at[XMIN] >= 0 && c->at[XMAX] >= 0);
    if (c->at[FILE_NAME] < 0 || c->at[LABEL] >= 0 || boxes || !model_takes_labels(c->r->type))
        return false;
    int file = c->at[FILE_NAME], split = c->at[SPLIT];
    size_t n = 0;
    c->classes = arena_array(&c->r->arena, struct class_column, names_row->count);
    for (size_t i = 0; i < names_row->count; i++) {
        if ((int)i == file || (int)i == split)
            continue;
        if (i >= row->count || !is_flag(row->fields[i]))
            return false;
        c->classes[n++] = (struct class_column){arena_str(&c->r->arena, names_row->fields[i]), i};
    }
    for (int k = 0; n && k < COLUMN_COUNT; k++)
        c->at[k] = k == FILE_NAME ? file : k == SPLIT ? split : -1;
    c->class_count = n;
    return n > 0;
}

static void by_position(struct csv_reading *c)
{
    static const enum column boxes[] = {FILE_NAME, LABEL, X, Y, W, H}, texts[] = {TEXT, LABEL},
                             transcripts[] = {FILE_NAME, TEXT};
    const enum column *order = boxes;
    size_t n = c->r->type == ANNOTATION_DETECTION ? 6 : 2;
    if (c->r->data == ANNOTATION_TEXT)
        order = texts;
    else if (c->r->type == ANNOTATION_TRANSCRIPTION)
        order = transcripts;
    for (int k = 0; k < COLUMN_COUNT; k++)
        c->at[k] = -1;
    for (size_t i = 0; i < n; i++)
        c->at[order[i]] = (int)i;
}

static bool is_csv(struct codec_reader *r, size_t file)
{
    return reader_has(r, file, ".csv") || reader_has(r, file, ".tsv");
}

static bool has(const struct csv_reading *c, enum column column)
{
    return c->at[column] >= 0;
}

/* The first row: names of columns, of known ones or of classes, or (false) data in the usual order. `below`
 * is at the second row. */
static bool read_names(struct csv_reading *c, const struct csv_row *row, const struct csv_rows *below)
{
    auto_arena struct arena a = {0};
    struct csv_rows next = *below;
    struct csv_row second;
    bool known = by_header(c, row);
    if (csv_rows_next(&next, &a, &second) && by_classes(c, row, &second))
        return true;
    if (!known)
        by_position(c);
    return known;
}

/* Whether the rows speak of samples of the type. */
static bool speaks(struct codec_reader *r, size_t file)
{
    auto_buf struct buf head = {0};
    auto_arena struct arena a = {0};
    struct csv_rows rows;
    struct csv_row row;
    struct csv_reading c = {.r = r};
    if (!reader_peek(r, file, 65536, &head))
        return false;
    csv_rows_init(&rows, buf_view(&head));
    if (!csv_rows_next(&rows, &a, &row))
        return false;
    bool boxes = r->type == ANNOTATION_DETECTION, transcripts = r->type == ANNOTATION_TRANSCRIPTION;
    if (!read_names(&c, &row, &rows))
        return row.count > 1 && (r->data == ANNOTATION_TEXT || codec_is_media(row.fields[0], r->data));
    return (has(&c, FILE_NAME) || (r->data == ANNOTATION_TEXT && has(&c, TEXT))) &&
           (boxes         ? has(&c, X) || has(&c, XMIN)
            : transcripts ? has(&c, TEXT)
                          : has(&c, LABEL) || c.class_count);
}

int csv_detect(struct codec_reader *r, size_t *ret_file)
{
    return reader_detect(r, ".csv", speaks, ret_file) || reader_detect(r, ".tsv", speaks, ret_file) ? 50 : 0;
}

/* ---- one row ---- */

static enum codec_split split_named(struct str name)
{
    for (int i = 1; i < CODEC_SPLIT_COUNT; i++)
        if (str_ieq(name, str_of(codec_split_names[i])))
            return (enum codec_split)i;
    return CODEC_SPLIT_NONE;
}

static bool add_labels(struct reader_sample *s, struct str labels, const char *at, struct err *err)
{
    bool several = s->r->type != ANNOTATION_IMAGE_CLASS;
    for (struct str rest = labels; rest.p;) {
        struct str one = str_trim(several ? str_cut(rest, '|', &rest) : rest);
        if (!several)
            rest = STR_NULL;
        if (reader_add_label(s, one, at) && !reader_label_name(s->r, one, err))
            return false;
    }
    return true;
}

static bool four(const struct csv_reading *c, const struct csv_row *row, enum column first, double ret[4])
{
    for (int i = 0; i < 4; i++)
        if (!reader_real(field(c, row, (enum column)(first + i)), &ret[i]))
            return false;
    return true;
}

static bool add_box(const struct csv_reading *c, struct reader_sample *s, const struct csv_row *row,
                    const char *at, struct err *err)
{
    double v[4], score;
    struct shape shape = {.kind = SHAPE_BOX, .label = field(c, row, LABEL)};
    if (!shape.label.n && !field(c, row, X).n && !field(c, row, XMIN).n) {
        s->records++; /* the row says: nothing here */
        return true;
    }
    if (four(c, row, X, v)) {
        shape.w = v[2];
        shape.h = v[3];
    } else if (four(c, row, XMIN, v)) {
        shape.w = geometry_tidy(v[2] - v[0]);
        shape.h = geometry_tidy(v[3] - v[1]);
    } else {
        reader_skip(s->r, s->source, str_of(at), "its box is not four numbers");
        return true;
    }
    shape.x = v[0];
    shape.y = v[1];
    if (reader_real(field(c, row, SCORE), &score)) {
        shape.has_score = true;
        shape.score = score;
    }
    struct str label = str_trim(shape.label);
    return !reader_add_shape(s, &shape, at) || reader_label_name(s->r, label, err);
}

static bool add_classes(const struct csv_reading *c, struct reader_sample *s, const struct csv_row *row,
                        const char *at, struct err *err)
{
    bool any = false;
    for (size_t i = 0; i < c->class_count; i++) {
        const struct class_column *k = &c->classes[i];
        struct str value = k->column < row->count ? row->fields[k->column] : STR_NULL;
        double v = 0;
        if (!reader_label_name(s->r, k->name, err))
            return false;
        if (!is_flag(value))
            reader_skip(s->r, s->source, str_of(at), "the column of a class is neither 0 nor 1");
        else if (reader_real(value, &v) && v == 1)
            reader_add_label(s, k->name, at);
        any = any || v == 1 || !is_flag(value);
    }
    s->records += !any; /* the row says: none of them */
    return true;
}

static bool add_row(const struct csv_reading *c, struct reader_sample *s, const struct csv_row *row,
                    struct err *err)
{
    char at[32];
    snprintf(at, sizeof at, "line %zu", row->line);
    struct str labels = field(c, row, LABEL);
    enum codec_split split = split_named(field(c, row, SPLIT));
    if (split)
        s->split = split;
    if (s->r->type == ANNOTATION_DETECTION)
        return add_box(c, s, row, at, err);
    if (s->r->type == ANNOTATION_TRANSCRIPTION) {
        struct str text = field(c, row, TEXT);
        if (s->n.text.p || utf8_count(text) > ANNOTATION_MAX_TEXT || !utf8_valid(text)) {
            reader_skip(s->r, s->source, str_of(at),
                        s->n.text.p ? "the file has a text already" : "its text is not UTF-8 or too long");
            return true;
        }
        s->n.text = text.p ? text : STR("");
        s->records++;
        return !labels.n || add_labels(s, labels, at, err);
    }
    if (c->class_count)
        return add_classes(c, s, row, at, err);
    if (!labels.n) {
        s->records++;
        return true;
    }
    return add_labels(s, labels, at, err);
}

/* ---- the file ---- */

/* Texts in the file: each row is a sample. */
static bool text_row(struct csv_reading *c, const struct csv_row *row, struct err *err)
{
    struct reader_sample s;
    struct str text = field(c, row, TEXT);
    reader_sample_init(&s, c->r, c->source);
    snprintf(s.position, sizeof s.position, "line %zu", row->line);
    bool ok = true;
    if (!text.n || !utf8_valid(text)) {
        reader_skip(c->r, c->source, str_of(s.position), "it has no text, or one that is not UTF-8");
    } else {
        struct str name = field(c, row, FILE_NAME);
        s.content = text;
        s.path = name.n && name.n <= 1000 ? name
                                          : str_of(arena_printf(&s.arena, STR_FMT "-%06zu.txt",
                                                                STR_ARG(path_bare(c->source)), row->line));
        s.split = path_file_split(c->source);
        ok = add_row(c, &s, row, err) && reader_emit(&s, STR_NULL, err);
    }
    reader_sample_release(&s);
    return ok;
}

static void note_row(struct csv_reading *c, struct map *index, const struct csv_row *row, uint64_t offset)
{
    struct str name = field(c, row, FILE_NAME);
    char at[32];
    snprintf(at, sizeof at, "line %zu", row->line);
    if (!name.n || name.n > 1000 || !utf8_valid(name)) {
        reader_skip(c->r, c->source, str_of(at), "it names no file");
        return;
    }
    uintptr_t group = (uintptr_t)map_get(index, name);
    if (!group) {
        if (c->group_count == c->group_cap) {
            c->group_cap = c->group_cap ? c->group_cap * 2 : 256;
            c->groups = base_realloc(c->groups, c->group_cap * sizeof *c->groups);
        }
        c->groups[c->group_count++] = arena_str(&c->r->arena, name);
        group = c->group_count;
        map_set(index, name, (void *)group);
    }
    if (c->count == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 256;
        c->places = base_realloc(c->places, c->cap * sizeof *c->places);
    }
    c->places[c->count++] = (struct place){offset, (uint32_t)row->line, (uint32_t)group - 1};
}

static int by_group(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool emit_file(struct csv_reading *c, const struct csv_rows *rows, size_t from, size_t to,
                      struct err *err)
{
    struct reader_sample s;
    reader_sample_init(&s, c->r, c->source);
    s.path = c->groups[c->places[from].group];
    s.file = reader_find(c->r, c->source, s.path);
    s.split = path_file_split(c->source);
    if (s.split == CODEC_SPLIT_NONE)
        s.split = path_split(s.path);
    snprintf(s.position, sizeof s.position, "line %u", c->places[from].line);
    if (c->r->type == ANNOTATION_DETECTION)
        reader_sample_size(&s);
    bool ok = true;
    for (size_t i = from; ok && i < to; i++) {
        struct csv_rows one = *rows;
        struct csv_row row;
        one.at = c->places[i].offset;
        one.line = c->places[i].line;
        ok = csv_rows_next(&one, &s.arena, &row) && add_row(c, &s, &row, err);
    }
    ok = ok && reader_emit(&s, STR_NULL, err);
    reader_sample_release(&s);
    return ok;
}

static bool emit_files(struct csv_reading *c, const struct csv_rows *rows, struct err *err)
{
    bool ok = true;
    if (c->count)
        qsort(c->places, c->count, sizeof *c->places, by_group);
    for (size_t from = 0, to; ok && from < c->count; from = to) {
        for (to = from; to < c->count && c->places[to].group == c->places[from].group;)
            to++;
        ok = emit_file(c, rows, from, to, err);
    }
    return ok;
}

/* A text in the row, unless its file came too. */
static bool is_text_row(const struct csv_reading *c, const struct csv_row *row)
{
    struct str name = field(c, row, FILE_NAME);
    if (!name.n || c->at[TEXT] < 0)
        return c->at[FILE_NAME] < 0;
    size_t file = reader_find(c->r, c->source, name);
    return file == READER_NONE || c->r->in->files[file].known;
}

static bool read_rows(struct csv_reading *c, struct map *index, struct err *err)
{
    struct csv_rows rows;
    struct csv_row row;
    bool ok = true, first = true;
    csv_rows_init(&rows, c->text);
    for (;;) {
        auto_arena struct arena a = {0};
        uint64_t offset = rows.at;
        if (!ok || !csv_rows_next(&rows, &a, &row))
            break;
        if (first && read_names(c, &row, &rows))
            row.count = 0;
        first = false;
        char at[32];
        snprintf(at, sizeof at, "line %zu", row.line);
        if (row.count == 0)
            continue;
        if (row.broken)
            reader_skip(c->r, c->source, str_of(at), "a quote does not end, or something follows it");
        else if (c->r->data == ANNOTATION_TEXT && is_text_row(c, &row))
            ok = text_row(c, &row, err);
        else
            note_row(c, index, &row, offset);
    }
    return ok && emit_files(c, &rows, err);
}

bool csv_read(struct codec_reader *r, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->in->file_count; i++) {
        if (!is_csv(r, i))
            continue;
        struct csv_reading c = {.r = r, .source = reader_path(r, i)};
        struct str bytes;
        if (!reader_open(r, i, &bytes, err))
            return false;
        c.text = reader_text(r, i, bytes);
        struct map *index = map_new();
        ok = read_rows(&c, index, err) && reader_progress(r, bytes.n, err);
        map_free(index);
        free(c.places);
        free(c.groups);
        reader_close(r, i, bytes);
    }
    return ok;
}

/* ---- writing ---- */

static void put_first(struct codec_writer *w, struct str first)
{
    csv_put(&w->buf, first);
    buf_char(&w->buf, ',');
}

static void put_split(struct codec_writer *w, const struct writer_sample *it)
{
    buf_printf(&w->buf, ",%s\n", codec_split_names[writer_part(w, it)]);
}

static void put_boxes(struct codec_writer *w, const struct writer_sample *it)
{
    for (uint32_t i = 0; i < it->n.shape_count; i++) {
        const struct shape *s = &it->n.shapes[i];
        double box[4];
        geometry_box_of(s, box);
        put_first(w, it->s.path);
        csv_put(&w->buf, s->label);
        for (int k = 0; k < 4; k++) {
            buf_char(&w->buf, ',');
            model_write_number(&w->buf, box[k]);
        }
        put_split(w, it);
    }
    if (!it->n.shape_count) {
        put_first(w, it->s.path);
        buf_z(&w->buf, ",,,,");
        put_split(w, it);
    }
}

static bool put_labels(struct codec_writer *w, struct writer_sample *it, struct err *err)
{
    struct str first = it->s.path;
    if (w->data == ANNOTATION_TEXT) {
        if (!w->src->bytes)
            return err_set(err, ERR_INTERNAL, NULL, "the texts are not available");
        if (!w->src->bytes(w->src->ctx, &it->s, &first, err))
            return false;
    }
    if (w->data == ANNOTATION_TEXT)
        put_first(w, it->s.path);
    put_first(w, first);
    auto_buf struct buf joined = {0};
    for (uint32_t i = 0; i < it->n.label_count; i++) {
        if (i)
            buf_char(&joined, '|');
        buf_str(&joined, it->n.labels[i]);
        if (w->type != ANNOTATION_IMAGE_CLASS && memchr(it->n.labels[i].p, '|', it->n.labels[i].n))
            writer_problem(w, CODEC_REPAIRED, it->s.path, STR_NULL,
                           "its label has a '|', which parts labels here");
    }
    csv_put(&w->buf, buf_view(&joined));
    put_split(w, it);
    return true;
}

bool csv_write(struct codec_writer *w, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, texts = w->data == ANNOTATION_TEXT, transcripts = w->type == ANNOTATION_TRANSCRIPTION;
    bool boxes = w->type == ANNOTATION_DETECTION;
    bool ok = writer_begin(w, "annotations.csv", err) && writer_rewind(w, &it, err);
    buf_z(&w->buf, texts         ? "file,text,label,split\n"
                   : transcripts ? "file,text,split\n"
                   : boxes       ? "file,label,x,y,w,h,split\n"
                                 : "file,label,split\n");
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        if (boxes) {
            put_boxes(w, &it);
        } else if (transcripts) {
            put_first(w, it.s.path);
            csv_put(&w->buf, it.n.text);
            put_split(w, &it);
            if (it.n.segment_count)
                writer_problem(w, CODEC_REPAIRED, it.s.path, STR_NULL,
                               "segments are not written, only the text");
        } else {
            ok = put_labels(w, &it, err);
        }
        ok = ok && writer_flush(w, err);
    }
    ok = ok && writer_end(w, err);
    writer_sample_release(&it);
    return ok && (texts || !w->out->media || files_write(w, err));
}
