/* Formats without annotation files: one folder per class ("train/cat/1.jpg"), and plain files. */
#include "base/map.h"
#include "codec/formats.h"

/* The class of a file: the folder it lies in, unless that is a split ("train/1.jpg") or there is none. */
static struct str class_of(struct str path)
{
    struct str dir = path_dir(path);
    struct str name = path_base(dir);
    char probe[300];
    if (!name.n || name.n > 200)
        return STR_NULL;
    memcpy(probe, name.p, name.n);
    memcpy(probe + name.n, "/x", 2);
    return path_split((struct str){probe, name.n + 2}) ? STR_NULL : name;
}

/* Most media in folders of at least two different names. */
int folder_detect(struct codec_reader *r)
{
    struct map *names = map_new();
    size_t media = 0, classed = 0;
    for (size_t i = 0; i < r->in->file_count; i++) {
        struct str path = reader_path(r, i);
        if (!reader_is_media(r, i))
            continue;
        media++;
        struct str name = class_of(path);
        if (!name.n)
            continue;
        classed++;
        map_set(names, name, r);
    }
    bool several = map_count(names) > 1;
    map_free(names);
    return media && classed * 2 >= media && several ? 30 : 0;
}

bool folder_read(struct codec_reader *r, struct err *err)
{
    for (size_t i = 0; i < r->in->file_count; i++) {
        struct str path = reader_path(r, i), name = class_of(path);
        if (!reader_is_media(r, i))
            continue;
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

int files_detect(struct codec_reader *r)
{
    (void)r;
    return 1;
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
