/* Reading YOLO: one text file per picture, a line per object, numbers as shares of the picture's sides:
 *     class cx cy w h [score]            boxes
 *     class x y x y x y ...              polygons; four points are a rotated box
 *     class cx cy w h px py [v] ...      keypoints
 * Class names are in data.yaml, classes.txt or obj.names. */
#include "codec/formats.h"
#include "codec/geometry.h"
#include "codec/yolo.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS_MAX = 200000, LOOK_AT = 1000 };

struct yolo {
    struct codec_reader *r;
    struct yolo_names names;
    double *columns; /* of a line */
    size_t cap;
};

static bool has_folder(struct str path, const char *name)
{
    for (struct str rest = path_dir(path); rest.p;)
        if (str_is(str_cut(rest, '/', &rest), name))
            return true;
    return false;
}

static bool is_names(struct str path)
{
    struct str base = path_base(path);
    return str_is(base, "classes.txt") || str_is(base, "obj.names") || path_has_ending(path, ".names") ||
           str_is(base, "labels.txt");
}

static bool is_yaml(struct str path)
{
    return path_has_ending(path, ".yaml") || path_has_ending(path, ".yml");
}

/* The picture of this stem in a folder, or in what is left of that without its first folders. */
static size_t picture_in(const struct codec_reader *r, struct str dir, struct str stem)
{
    size_t file = READER_NONE;
    for (struct str rest = dir; rest.p && file == READER_NONE; str_cut(rest, '/', &rest))
        file = reader_find_stem(r, rest, stem);
    return file;
}

/* The picture a label file speaks of: images/ instead of labels/, else beside it, else the only one. */
static size_t picture_of(const struct codec_reader *r, struct str path)
{
    struct str stem = path_stem(path), dir = path_dir(path);
    char other[2048];
    for (size_t i = dir.n; i + 1 > 0 && dir.n + 1 < sizeof other; i--) {
        struct str tail = {dir.p + i, dir.n - i};
        if ((i == 0 || dir.p[i - 1] == '/') && str_starts(tail, "labels") &&
            (tail.n == 6 || tail.p[6] == '/')) {
            int n =
                snprintf(other, sizeof other, "%.*simages%.*s", (int)i, dir.p, (int)(tail.n - 6), tail.p + 6);
            size_t file = picture_in(r, (struct str){other, (size_t)n}, stem);
            if (file != READER_NONE)
                return file;
        }
        if (i == 0)
            break;
    }
    return picture_in(r, dir, stem);
}

static bool is_label_file(const struct codec_reader *r, struct str path)
{
    return path_has_ending(path, ".txt") && !is_names(path) &&
           (has_folder(path, "labels") || picture_of(r, path) != READER_NONE);
}

/* Whether a file begins like labels (1), like something else (-1), or says nothing (0). */
static int speaks(struct codec_reader *r, size_t file)
{
    auto_buf struct buf head = {0};
    if (!reader_peek(r, file, 4096, &head))
        return 0;
    struct str text = buf_view(&head);
    if (str_starts(text, "\xef\xbb\xbf"))
        text = (struct str){text.p + 3, text.n - 3};
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] >= 0x80 || !text.p[i])
            return 0; /* numbers in UTF-16, maybe */
    for (struct str rest = text; rest.p;) {
        struct str line = str_trim(str_cut(rest, '\n', &rest));
        size_t numbers = 0;
        double v;
        for (struct str words = line; line.n && words.p && numbers < 5;) {
            struct str word = str_trim(str_cut(words, memchr(words.p, '\t', words.n) ? '\t' : ' ', &words));
            if (word.n && !reader_real(word, &v))
                return -1;
            numbers += word.n > 0;
        }
        if (line.n)
            return numbers == 5 ? 1 : -1;
    }
    return 0;
}

int yolo_detect(struct codec_reader *r, size_t *ret_file)
{
    bool named = false;
    size_t labels = 0, looked = 0;
    int votes = 0;
    for (size_t i = 0; i < r->in->file_count; i++) {
        struct str path = reader_path(r, i);
        if (r->in->files[i].known)
            continue;
        named = named || is_names(path) || is_yaml(path);
        if (!is_label_file(r, path))
            continue;
        int vote = looked < LOOK_AT ? speaks(r, i) : 0;
        looked++;
        votes += vote;
        labels += has_folder(path, "labels");
        if (*ret_file == READER_NONE || vote > 0)
            *ret_file = i;
    }
    /* Pictures in which nothing is labelled have empty files. */
    bool empty = votes == 0 && labels && named;
    return votes > 0 || empty ? named ? 75 : 60 : 0;
}

/* Splits a line into numbers; false when one is none. */
static bool split_line(struct yolo *y, struct str line, size_t *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n;) {
        while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
            i++;
        size_t from = i;
        while (i < line.n && line.p[i] != ' ' && line.p[i] != '\t')
            i++;
        if (i == from)
            break;
        if (n == y->cap) {
            y->cap = y->cap ? y->cap * 2 : 64;
            y->columns = base_realloc(y->columns, y->cap * sizeof *y->columns);
        }
        if (n == COLUMNS_MAX || !reader_real((struct str){line.p + from, i - from}, &y->columns[n]))
            return false;
        n++;
    }
    *ret = n;
    return true;
}

static void box_of(const struct reader_sample *s, const double *v, struct shape *ret)
{
    ret->kind = SHAPE_BOX;
    ret->x = geometry_tidy((v[0] - v[2] / 2) * s->width);
    ret->y = geometry_tidy((v[1] - v[3] / 2) * s->height);
    ret->w = geometry_tidy(v[2] * s->width);
    ret->h = geometry_tidy(v[3] * s->height);
}

static void ring_of(struct reader_sample *s, const double *v, size_t n, struct shape *ret)
{
    double *xy = arena_alloc(&s->arena, n * sizeof *xy);
    for (size_t i = 0; i < n; i++)
        xy[i] = geometry_tidy(v[i] * (i % 2 ? s->height : s->width));
    ret->kind = SHAPE_POLYGON;
    ret->rings = arena_new(&s->arena, struct ring);
    *ret->rings = (struct ring){xy, (uint32_t)(n / 2)};
    ret->ring_count = 1;
}

static bool points_of(const struct yolo *y, struct reader_sample *s, size_t n, struct shape *ret)
{
    uint32_t dims = y->names.dims ? y->names.dims : n % 3 == 2 ? 3 : 2;
    if (n <= 5 || (n - 5) % dims)
        return false;
    size_t count = (n - 5) / dims;
    ret->kind = SHAPE_KEYPOINTS;
    ret->points = arena_alloc(&s->arena, count * sizeof *ret->points);
    ret->point_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const double *v = y->columns + 5 + i * dims;
        double seen = dims == 3 ? v[2] : v[0] != 0 || v[1] != 0 ? 2 : 0;
        ret->points[i][0] = seen ? geometry_tidy(v[0] * s->width) : 0;
        ret->points[i][1] = seen ? geometry_tidy(v[1] * s->height) : 0;
        ret->points[i][2] = seen >= 1.5 ? 2 : seen >= 0.5 ? 1 : 0;
    }
    struct shape box = {0};
    box_of(s, y->columns + 1, &box);
    memcpy(ret->box, (double[]){box.x, box.y, box.w, box.h}, sizeof ret->box);
    ret->has_box = true;
    return true;
}

static const char *shape_of(const struct yolo *y, struct reader_sample *s, size_t n, struct shape *ret)
{
    if (s->r->type == ANNOTATION_KEYPOINTS)
        return points_of(y, s, n, ret) ? NULL : "it is not: class, box, points";
    if (n == 5 || n == 6) {
        box_of(s, y->columns + 1, ret);
        ret->has_score = n == 6;
        ret->score = n == 6 ? y->columns[5] : 0;
        return NULL;
    }
    if (n < 7 || n % 2 == 0)
        return "it is neither a box (5 numbers) nor a polygon (class and pairs)";
    ring_of(s, y->columns + 1, n - 1, ret);
    return NULL;
}

static bool class_name(struct yolo *y, struct reader_sample *s, double class, const char *at, struct str *ret)
{
    if (!(class >= 0 && class < 1e6) || class != floor(class)) {
        reader_skip(s->r, s->source, str_of(at), "its class is not a whole number");
        return false;
    }
    size_t number = (size_t) class;
    if (!y->names.count) {
        *ret = str_of(arena_printf(&s->arena, "%zu", number));
        return true;
    }
    if (number >= y->names.count || !y->names.names[number].n) {
        reader_skip(s->r, s->source, str_of(at), "there is no name for class %zu", number);
        return false;
    }
    *ret = y->names.names[number];
    return true;
}

static bool read_line(struct yolo *y, struct reader_sample *s, struct str line, const char *at,
                      struct err *err)
{
    size_t n = 0;
    struct shape shape = {0};
    struct str label;
    if (!split_line(y, line, &n) || n < 1) {
        reader_skip(s->r, s->source, str_of(at), "it is not a line of numbers");
        return true;
    }
    if (!s->width || !s->height) {
        reader_skip(s->r, s->source, str_of(at),
                    "the picture's size is not known, and numbers are shares of it");
        return true;
    }
    if (!class_name(y, s, y->columns[0], at, &label))
        return true;
    const char *why = shape_of(y, s, n, &shape);
    if (why) {
        reader_skip(s->r, s->source, str_of(at), "%s", why);
        return true;
    }
    shape.label = label;
    return !reader_add_shape(s, &shape, at) || reader_label_name(s->r, label, err);
}

static bool read_labels(struct yolo *y, size_t file, struct err *err)
{
    struct str text, path = reader_path(y->r, file);
    struct reader_sample s;
    size_t picture = picture_of(y->r, path);
    if (picture == READER_NONE && reader_has_stem(y->r, path_stem(path))) {
        y->r->use[file] = READER_CONSUMED;
        reader_skip(y->r, path, STR_NULL, "several pictures have this name; which one is meant is not known");
        return true;
    }
    if (!reader_open(y->r, file, &text, err))
        return false;
    reader_sample_init(&s, y->r, path);
    s.file = picture;
    s.path = str_of(arena_printf(&s.arena, STR_FMT ".jpg", STR_ARG(path_stem(path))));
    s.split = path_split(path);
    if (text.n)
        reader_sample_size(&s);
    bool ok = true;
    size_t number = 1;
    for (struct str rest = reader_text(y->r, file, text); ok && rest.p; number++) {
        char at[32];
        struct str line = str_trim(str_cut(rest, '\n', &rest));
        snprintf(at, sizeof at, "line %zu", number);
        ok = !line.n || read_line(y, &s, line, at, err);
    }
    ok = ok && reader_emit(&s, STR_NULL, err) && reader_progress(y->r, text.n, err);
    reader_sample_release(&s);
    reader_close(y->r, file, text);
    return ok;
}

static bool read_names(struct yolo *y, struct err *err)
{
    struct codec_reader *r = y->r;
    for (int yaml = 1; yaml >= 0 && !y->names.count; yaml--) {
        for (size_t i = 0; i < r->in->file_count && !y->names.count; i++) {
            struct str text, path = reader_path(r, i);
            if (r->in->files[i].known || (yaml ? !is_yaml(path) : !is_names(path)))
                continue;
            if (!reader_open(r, i, &text, err))
                return false;
            (yaml ? yolo_names_yaml : yolo_names_lines)(&r->arena, reader_text(r, i, text), &y->names);
            reader_close(r, i, text);
        }
    }
    if (!y->names.count)
        reader_problem(r, CODEC_IGNORED, STR_NULL, STR_NULL,
                       "there is no data.yaml, classes.txt or obj.names: numbers are taken as class names");
    for (size_t i = 0; i < y->names.count; i++)
        if (!reader_label_name(r, y->names.names[i], err))
            return false;
    return true;
}

bool yolo_read(struct codec_reader *r, struct err *err)
{
    struct yolo y = {.r = r};
    bool ok = read_names(&y, err);
    for (size_t i = 0; ok && i < r->in->file_count; i++)
        if (r->use[i] == READER_UNUSED && is_label_file(r, reader_path(r, i)))
            ok = read_labels(&y, i, err);
    free(y.columns);
    return ok;
}
