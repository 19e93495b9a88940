/* The codecs on folders, for tests:
 *     codec_tool detect TYPE DIR                              prints the format's name
 *     codec_tool read TYPE FORMAT DIR                         prints labels, samples, problems, counts as
 * JSON lines codec_tool count TYPE FORMAT DIR                        prints the counts only codec_tool
 * convert TYPE FORMAT DIR FORMAT2 OUT          reads DIR, writes OUT with the samples codec_tool train TYPE
 * FORMAT DIR SEED SHARE OUT         reads DIR, writes training data codec_tool check TYPE annotation on
 * stdin, canonical text on stdout FORMAT may be "auto". Sizes of pictures are known for PNG files. */
#include "base/fs.h"
#include "base/json.h"
#include "codec/codec.h"
#include "codec/mapping.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

struct tool {
    struct arena arena;
    const char *dir, *out_dir;
    int dirfd;
    struct codec_file *files;
    size_t count, cap;
    bool quiet, print;
    struct codec_sample *samples;
    size_t sample_count, sample_cap, next;
    struct codec_label *labels;
    size_t label_count, label_cap;
    FILE *out;
};

static void die(const char *what)
{
    fprintf(stderr, "codec_tool: %s\n", what);
    exit(1);
}

/* ---- the folder ---- */

static void add_file(struct tool *t, const char *path, uint64_t size)
{
    if (t->count == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 1024;
        t->files = base_realloc(t->files, t->cap * sizeof *t->files);
    }
    t->files[t->count++] = (struct codec_file){.path = str_of(arena_strdup(&t->arena, path)), .size = size};
}

static void list_folder(struct tool *t, const char *relative)
{
    const char *full = arena_printf(&t->arena, "%s/%s", t->dir, relative);
    DIR *d = opendir(full);
    if (!d)
        die(arena_printf(&t->arena, "cannot open %s: %s", full, strerror(errno)));
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        const char *path = arena_printf(&t->arena, "%s%s%s", relative, *relative ? "/" : "", e->d_name);
        if (fstatat(t->dirfd, path, &st, 0) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            list_folder(t, path);
        else
            add_file(t, path, (uint64_t)st.st_size);
    }
    closedir(d);
}

static int by_path(const void *x, const void *y)
{
    return strcmp(((const struct codec_file *)x)->path.p, ((const struct codec_file *)y)->path.p);
}

/* ---- reading ---- */

static bool on_open(void *ctx, struct str path, struct str *ret, struct err *err)
{
    return mapping_open(((struct tool *)ctx)->dirfd, path, ret, err);
}

static void on_close(void *ctx, struct str path, struct str bytes)
{
    (void)ctx;
    (void)path;
    mapping_close(bytes);
}

static void on_drop(void *ctx, struct str part)
{
    (void)ctx;
    mapping_drop(part);
}

static bool on_size(void *ctx, struct str path, uint32_t *ret_width, uint32_t *ret_height, struct err *err)
{
    struct str bytes;
    if (!on_open(ctx, path, &bytes, err))
        return false;
    const unsigned char *p = (const unsigned char *)bytes.p;
    bool png = bytes.n >= 24 && !memcmp(p, "\x89PNG", 4);
    if (png) {
        *ret_width = (uint32_t)p[16] << 24 | (uint32_t)p[17] << 16 | (uint32_t)p[18] << 8 | p[19];
        *ret_height = (uint32_t)p[20] << 24 | (uint32_t)p[21] << 16 | (uint32_t)p[22] << 8 | p[23];
    }
    mapping_close(bytes);
    return png || err_set(err, ERR_INVALID, NULL, "not a PNG picture");
}

static void print_line(struct tool *t, struct buf *b)
{
    buf_char(b, '\n');
    fwrite(b->p, 1, b->n, t->out);
}

static void print_sample(struct tool *t, const struct codec_sample *s)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_object(&o);
    json_kstr(&o, "file", s->path);
    if (s->missing)
        json_kbool(&o, "missing", true);
    if (s->content.p)
        json_kstr(&o, "content", s->content);
    if (s->width)
        json_kint(&o, "width", s->width);
    if (s->height)
        json_kint(&o, "height", s->height);
    if (s->split)
        json_kz(&o, "split", codec_split_names[s->split]);
    if (s->annotation.n) {
        json_key(&o, "annotation");
        json_raw(&o, s->annotation);
    }
    json_object_end(&o);
    print_line(t, &b);
}

static void keep_sample(struct tool *t, const struct codec_sample *s)
{
    if (t->sample_count == t->sample_cap) {
        t->sample_cap = t->sample_cap ? t->sample_cap * 2 : 1024;
        t->samples = base_realloc(t->samples, t->sample_cap * sizeof *t->samples);
    }
    struct codec_sample *copy = &t->samples[t->sample_count++];
    *copy = *s;
    copy->path = arena_str(&t->arena, s->path);
    copy->content = arena_str(&t->arena, s->content);
    copy->annotation = arena_str(&t->arena, s->annotation);
    struct err ignored;
    if (!copy->width && !s->missing && !s->content.p)
        on_size(t, s->path, &copy->width, &copy->height, &ignored);
}

static bool on_sample(void *ctx, const struct codec_sample *s, struct err *err)
{
    (void)err;
    struct tool *t = ctx;
    if (t->print)
        print_sample(t, s);
    else if (!t->quiet)
        keep_sample(t, s);
    return true;
}

static bool on_label(void *ctx, const struct codec_label *l, struct err *err)
{
    (void)err;
    struct tool *t = ctx;
    if (t->label_count == t->label_cap) {
        t->label_cap = t->label_cap ? t->label_cap * 2 : 64;
        t->labels = base_realloc(t->labels, t->label_cap * sizeof *t->labels);
    }
    struct codec_label *copy = &t->labels[t->label_count++];
    *copy = *l;
    copy->name = arena_str(&t->arena, l->name);
    copy->parent = arena_str(&t->arena, l->parent);
    copy->attributes = arena_str(&t->arena, l->attributes);
    struct str *names = arena_array(&t->arena, struct str, l->keypoint_count + 1);
    for (size_t i = 0; i < l->keypoint_count; i++)
        names[i] = arena_str(&t->arena, l->keypoints[i]);
    copy->keypoints = names;
    copy->edges = arena_copy(&t->arena, l->edges, l->edge_count * sizeof *l->edges);
    if (!t->print)
        return true;
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_object(&o);
    json_kstr(&o, "label", l->name);
    if (l->parent.n)
        json_kstr(&o, "parent", l->parent);
    if (l->keypoint_count)
        json_kint(&o, "keypoints", (int64_t)l->keypoint_count);
    json_object_end(&o);
    print_line(t, &b);
    return true;
}

static void on_problem(void *ctx, const struct codec_problem *p)
{
    struct tool *t = ctx;
    auto_buf struct buf b = {0};
    struct json_out o;
    if (t->quiet)
        return;
    json_begin(&o, &b);
    json_object(&o);
    json_kz(&o, "problem", codec_problem_names[p->kind]);
    json_kstr(&o, "path", p->path);
    json_kstr(&o, "position", p->position);
    json_kz(&o, "reason", p->reason);
    json_object_end(&o);
    print_line(t, &b);
}

static void print_counts(struct tool *t, const struct codec_counts *c)
{
    fprintf(
        t->out,
        "{\"counts\":{\"records\":%llu,\"taken\":%llu,\"skipped\":%llu,\"repaired\":%llu,\"samples\":%llu,"
        "\"missing\":%llu,\"ignored\":%llu}}\n",
        (unsigned long long)c->records, (unsigned long long)c->taken, (unsigned long long)c->skipped,
        (unsigned long long)c->repaired, (unsigned long long)c->samples, (unsigned long long)c->missing,
        (unsigned long long)c->ignored);
}

static const struct codec *codec_for(const struct codec_input *in, enum annotation_type type,
                                     const char *name)
{
    struct err err = {0};
    const struct codec *c = !strcmp(name, "auto") ? codec_detect(in, type, &err) : codec_named(str_of(name));
    if (!c)
        die(err.code ? err.message : "no such format");
    return c;
}

static void read_all(struct tool *t, enum annotation_type type, const char *format)
{
    struct codec_input in = {
        .files = t->files,
        .file_count = t->count,
        .ctx = t,
        .open = on_open,
        .close = on_close,
        .drop = on_drop,
        .size = on_size,
        .sample = on_sample,
        .label = on_label,
        .problem = on_problem,
    };
    struct codec_counts counts;
    struct err err = {0};
    if (!codec_read(codec_for(&in, type, format), &in, type, &counts, &err))
        die(err.message);
    if (t->print || t->quiet)
        print_counts(t, &counts);
}

/* ---- writing ---- */

static bool on_next(void *ctx, struct codec_sample *ret, bool *ret_end, struct err *err)
{
    (void)err;
    struct tool *t = ctx;
    *ret_end = t->next == t->sample_count;
    if (!*ret_end)
        *ret = t->samples[t->next++];
    return true;
}

static bool on_rewind(void *ctx, struct err *err)
{
    (void)err;
    ((struct tool *)ctx)->next = 0;
    return true;
}

static bool on_bytes(void *ctx, const struct codec_sample *s, struct str *ret, struct err *err)
{
    struct tool *t = ctx;
    if (s->content.p) {
        *ret = s->content;
        return true;
    }
    return fs_read(&t->arena, arena_printf(&t->arena, "%s/" STR_FMT, t->dir, STR_ARG(s->path)), 1 << 30, ret,
                   err);
}

static FILE *out_file; /* the one being written */

static bool on_begin(void *ctx, const char *path, struct err *err)
{
    struct tool *t = ctx;
    char *full = arena_printf(&t->arena, "%s/%s", t->out_dir, path);
    char *slash = strrchr(full, '/');
    *slash = 0;
    if (!fs_mkdirs(full, 0777, err))
        return false;
    *slash = '/';
    if (out_file)
        die("a file was begun within another");
    out_file = fopen(full, "wx");
    return out_file || err_errno(err, errno, "%s", full);
}

static bool on_write(void *ctx, const void *p, size_t n, struct err *err)
{
    (void)ctx;
    return fwrite(p, 1, n, out_file) == n || err_errno(err, errno, "write");
}

static bool on_end(void *ctx, struct err *err)
{
    (void)ctx;
    bool ok = fclose(out_file) == 0;
    out_file = NULL;
    return ok || err_errno(err, errno, "close");
}

static bool on_media(void *ctx, const struct codec_sample *s, const char *path, struct err *err)
{
    struct str bytes;
    return s->missing || (on_bytes(ctx, s, &bytes, err) && on_begin(ctx, path, err) &&
                          on_write(ctx, bytes.p, bytes.n, err) && on_end(ctx, err));
}

static void write_all(struct tool *t, enum annotation_type type, const char *format,
                      const struct codec_training *training)
{
    struct codec_source src = {.ctx = t,
                               .next = on_next,
                               .rewind = on_rewind,
                               .bytes = on_bytes,
                               .labels = t->labels,
                               .label_count = t->label_count};
    struct codec_output out = {
        .ctx = t, .file_begin = on_begin, .write = on_write, .file_end = on_end, .media = on_media};
    struct err err = {0};
    const struct codec *c = training ? NULL : codec_named(str_of(format));
    if (!training && !c)
        die("no such format");
    struct codec_training_counts counts;
    if (training ? !codec_training_write(&src, type, training, &out, on_problem, t, &counts, &err)
                 : !codec_write(c, &src, type, &out, on_problem, t, &err))
        die(err.message);
}

/* ---- commands ---- */

static void example(struct tool *t, enum annotation_type type, const char *format)
{
    struct codec_output out = {.ctx = t, .file_begin = on_begin, .write = on_write, .file_end = on_end};
    struct err err = {0};
    const struct codec *c = codec_named(str_of(format));
    if (!c)
        die("no such format");
    if (!codec_example(c, type, &out, &err))
        die(err.message);
}

static void detect(struct tool *t, enum annotation_type type)
{
    struct codec_input in = {
        .files = t->files, .file_count = t->count, .ctx = t, .open = on_open, .close = on_close};
    struct err err = {0};
    const struct codec *c = codec_detect(&in, type, &err);
    puts(c ? c->name : err.message);
}

static int check(enum annotation_type type)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf b = {0};
    struct err err = {0};
    struct str text;
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, stdin));)
        buf_add(&b, chunk, n);
    if (!annotation_check(&a, type, buf_view(&b), &text, &err)) {
        fprintf(stderr, "%s: %s\n", err.field, err.message);
        return 1;
    }
    puts(text.p);
    return 0;
}

static void run(struct tool *t, int argc, char **argv, enum annotation_type type)
{
    const char *command = argv[1];
    struct codec_training training;
    if (!strcmp(command, "detect")) {
        detect(t, type);
    } else if (!strcmp(command, "read") || !strcmp(command, "count")) {
        t->print = !strcmp(command, "read");
        t->quiet = !t->print;
        read_all(t, type, argv[3]);
    } else if (!strcmp(command, "convert") && argc == 7) {
        t->out = stderr;
        t->out_dir = argv[6];
        read_all(t, type, argv[3]);
        write_all(t, type, argv[5], NULL);
    } else if (!strcmp(command, "train") && argc == 8) {
        t->out = stderr;
        training =
            (struct codec_training){.seed = strtoull(argv[5], NULL, 10), .test_share = strtod(argv[6], NULL)};
        t->out_dir = argv[7];
        read_all(t, type, argv[3]);
        write_all(t, type, NULL, &training);
    } else {
        die("see the top of codec_tool.c");
    }
}

int main(int argc, char **argv)
{
    struct tool t = {.out = stdout};
    enum annotation_type type;
    if (argc < 3 || !annotation_type_of(str_of(argv[2]), &type))
        die("see the top of codec_tool.c; TYPE must be an annotation type");
    if (!strcmp(argv[1], "check"))
        return check(type);
    if (!strcmp(argv[1], "example") && argc == 5) {
        t.out_dir = argv[4];
        example(&t, type, argv[3]);
        arena_release(&t.arena);
        return 0;
    }
    int dir = !strcmp(argv[1], "detect") ? 3 : 4;
    if (argc <= dir)
        die("see the top of codec_tool.c");
    t.dir = argv[dir];
    t.dirfd = open(t.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t.dirfd < 0)
        die("no such folder");
    list_folder(&t, "");
    if (t.count)
        qsort(t.files, t.count, sizeof *t.files, by_path);
    run(&t, argc, argv, type);
    close(t.dirfd);
    free(t.files);
    free(t.samples);
    free(t.labels);
    arena_release(&t.arena);
    return 0;
}
