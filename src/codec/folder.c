/* Formats without annotation files: one folder per class ("train/cat/1.jpg"), and plain files.
 *
 * The class is the folder right below that of a part of a split ("train/cat/2019/1.jpg": cat). Without one it
 * is the first folder by which the paths of the upload differ ("animals/cat/1.jpg", "animals/dog/2.jpg": cat,
 * dog), or the first folder when they lie in the same. What lies below the class says nothing, and a folder
 * that holds everything ("images", "train/images") is no class. */
#include "base/map.h"
#include "base/messages.h"
#include "codec/formats.h"

enum { DEPTH_MAX = 64 };

/* As arguments of %.*s. */
#define SHOWN(s) (int)((s).n > 80 ? 80 : (s).n), (s).p

/* The folders of a path, and which of them is the part of a split (or none: count). */
struct folders {
    struct str name[DEPTH_MAX];
    size_t count, split;
};

/* A part that no folder follows is left out: "cat/train/1.jpg" lies in cat. */
static void folders_of(struct str path, struct folders *ret)
{
    struct folders f = {.split = DEPTH_MAX};
    for (struct str rest = path_dir(path); rest.n && f.count < DEPTH_MAX;) {
        struct str name = str_cut(rest, '/', &rest);
        if (f.split == DEPTH_MAX && path_is_part(name)) {
            if (!rest.n)
                continue;
            f.split = f.count;
        }
        f.name[f.count++] = name;
    }
    *ret = f;
}

/* How the folders of an upload are read. */
struct layout {
    size_t shared; /* first folders that all paths without a part of a split have in common */
    bool flat;     /* and none of those has more */
    size_t holds;  /* folders below the part of a split that only hold the rest */
};

static size_t class_level(const struct layout *l, const struct folders *f)
{
    return f->split < f->count ? f->split + 1 + l->holds : l->flat ? 0 : l->shared;
}

static struct str class_of(const struct layout *l, struct str path)
{
    struct folders f;
    folders_of(path, &f);
    size_t level = class_level(l, &f);
    struct str name = level < f.count ? f.name[level] : STR_NULL;
    return name.n > 200 || (l->flat && f.split >= f.count && path_only_holds(name)) ? STR_NULL : name;
}

/* Whether one folder that only holds the rest lies below every part of a split. */
static bool one_holds(const struct codec_reader *r, const struct layout *l)
{
    struct str seen = STR_NULL;
    for (size_t i = 0; i < r->in->file_count; i++) {
        struct folders f;
        if (!reader_is_media(r, i))
            continue;
        folders_of(reader_path(r, i), &f);
        size_t level = class_level(l, &f);
        if (f.split >= f.count || level >= f.count)
            continue;
        if (!path_only_holds(f.name[level]) || (seen.p && !str_ieq(seen, f.name[level])))
            return false;
        seen = f.name[level];
    }
    return seen.p != NULL;
}

static struct layout layout_of(const struct codec_reader *r)
{
    struct layout l = {.flat = true};
    struct folders first = {0}, f;
    bool any = false;
    for (size_t i = 0; i < r->in->file_count; i++) {
        if (!reader_is_media(r, i))
            continue;
        folders_of(reader_path(r, i), &f);
        if (f.split < f.count || !f.count)
            continue;
        if (!any) {
            first = f;
            l.shared = f.count;
        }
        size_t same = 0;
        while (same < l.shared && same < f.count && str_eq(first.name[same], f.name[same]))
            same++;
        l.flat = l.flat && f.count == first.count && same == l.shared;
        l.shared = same;
        any = true;
    }
    l.flat = l.flat && any;
    while (l.holds < DEPTH_MAX && one_holds(r, &l))
        l.holds++;
    return l;
}

/* A path whose class could be another folder too: no part of a split says where the classes are, and folders
 * below them differ. READER_NONE: there is none. */
static size_t doubtful(const struct codec_reader *r, const struct layout *l)
{
    struct str below = STR_NULL;
    for (size_t i = 0; i < r->in->file_count; i++) {
        struct folders f;
        if (!reader_is_media(r, i))
            continue;
        folders_of(reader_path(r, i), &f);
        size_t level = class_level(l, &f);
        if (f.split < f.count || level + 1 >= f.count)
            continue;
        if (below.p && !str_eq(below, f.name[level + 1]))
            return i;
        below = f.name[level + 1];
    }
    return READER_NONE;
}

/* A file that looks like annotations, which no format knows. */
static size_t foreign(const struct codec_reader *r)
{
    static const char *const endings[] = {".xml", ".json",    ".jsonl", ".csv",
                                          ".tsv", ".parquet", ".arrow", ".mat"};
    for (size_t i = 0; i < r->in->file_count; i++)
        for (size_t k = 0; k < countof(endings); k++)
            if (reader_has(r, i, endings[k]))
                return i;
    return READER_NONE;
}

/* Most media in folders of at least two different names. */
int folder_detect(struct codec_reader *r, size_t *ret_file)
{
    struct map *names = map_new();
    struct layout l = layout_of(r);
    size_t media = 0, classed = 0;
    for (size_t i = 0; i < r->in->file_count; i++) {
        if (!reader_is_media(r, i))
            continue;
        media++;
        struct str name = class_of(&l, reader_path(r, i));
        if (!name.n)
            continue;
        classed++;
        *ret_file = i;
        map_set(names, name, r);
    }
    bool several = map_count(names) > 1;
    map_free(names);
    return media && classed * 2 >= media && several ? 30 : 0;
}

bool folder_is_sure(struct codec_reader *r, struct err *err)
{
    struct layout l = layout_of(r);
    size_t other = foreign(r), nested = doubtful(r, &l);
    if (other != READER_NONE)
        return err_message(err, ERR_INVALID, "format", MESSAGE_FOREIGN_FILE, SHOWN(reader_path(r, other)));
    if (nested == READER_NONE)
        return true;
    struct str path = reader_path(r, nested);
    return err_message(err, ERR_INVALID, "format", MESSAGE_CLASS_DOUBT, SHOWN(path),
                       SHOWN(class_of(&l, path)), SHOWN(path_base(path_dir(path))));
}

bool folder_read(struct codec_reader *r, struct err *err)
{
    struct layout l = layout_of(r);
    for (size_t i = 0; i < r->in->file_count; i++) {
        if (!reader_is_media(r, i))
            continue;
        struct str path = reader_path(r, i), name = class_of(&l, path);
        if (!name.n) {
            reader_skip(r, path, STR_NULL, "it lies in no folder that names a class; taken without a label");
            continue;
        }
        struct reader_sample s;
        reader_sample_init(&s, r, path);
        s.file = i;
        s.split = path_split(path);
        bool ok = true;
        if (reader_add_label(&s, name, NULL))
            ok = reader_label_name(r, name, err) && reader_emit(&s, STR_NULL, err);
        reader_sample_release(&s);
        if (!ok)
            return false;
    }
    return true;
}

bool folder_write(struct codec_writer *w, struct err *err)
{
    struct writer_sample it = {0};
    if (!w->out->media)
        return err_set(err, ERR_INVALID, "format", "one folder per class says nothing without the samples");
    writer_names_reset(w);
    bool end = false, ok = writer_rewind(w, &it, err);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        enum codec_split part = writer_part(w, &it);
        struct str base = path_base(it.s.path);
        if (!it.n.label_count) {
            writer_problem(w, CODEC_SKIPPED, it.s.path, STR_NULL, "it has no label, so no folder");
            continue;
        }
        if (it.n.label_count > 1)
            writer_problem(w, CODEC_REPAIRED, it.s.path, STR_NULL,
                           "only the first of its labels names its folder");
        struct str label = it.n.labels[0];
        char *folder = arena_strz(&it.arena, label);
        for (char *p = folder; *p; p++)
            if (*p == '/' || *p == '\\')
                *p = '_';
        if (folder[0] == '.')
            folder[0] = '_';
        const char *path =
            writer_unique(w, &it,
                          str_of(arena_printf(&it.arena, "%s%s%s/" STR_FMT, codec_split_names[part],
                                              part ? "/" : "", folder, STR_ARG(base))));
        ok = writer_media(w, &it, path, err);
    }
    writer_sample_release(&it);
    return ok;
}

bool files_read(struct codec_reader *r, struct err *err)
{
    (void)r;
    (void)err;
    return true; /* reader_rest emits them */
}

bool files_write(struct codec_writer *w, struct err *err)
{
    return writer_all_media(w, err);
}
