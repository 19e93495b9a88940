/* The index of the listing: which media file an annotation means. */
#include "base/hash.h"
#include "codec/reader.h"

#include <stdio.h>

struct reader_entry {
    uint64_t hash; /* of the stem */
    size_t file;
};

const char *const codec_media_endings[ANNOTATION_DATA_COUNT][CODEC_ENDINGS] = {
    [ANNOTATION_IMAGE] = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif"},
    [ANNOTATION_TEXT] = {".txt"},
    [ANNOTATION_AUDIO] = {".wav", ".mp3", ".flac", ".ogg", ".opus", ".m4a"},
};

bool codec_is_media(struct str path, enum annotation_data data)
{
    for (const char *const *e = codec_media_endings[data]; *e; e++)
        if (path_has_ending(path, *e))
            return true;
    return false;
}

static int by_hash(const void *x, const void *y)
{
    const struct reader_entry *a = x, *b = y;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->file < b->file ? -1 : a->file > b->file;
}

/* What a read function has consumed already is no sample. */
static void build_index(struct codec_reader *r)
{
    r->index = base_alloc((r->in->file_count + 1) * sizeof *r->index);
    for (size_t i = 0; i < r->in->file_count; i++)
        if (r->use[i] != READER_CONSUMED && codec_is_media(reader_path(r, i), r->data))
            r->index[r->index_count++] = (struct reader_entry){hash64(path_stem(reader_path(r, i))), i};
    qsort(r->index, r->index_count, sizeof *r->index, by_hash);
}

/* The first entry of the stem; *ret_end is past the last. */
static size_t entries(const struct codec_reader *r, struct str stem, size_t *ret_end)
{
    if (!r->index)
        build_index((struct codec_reader *)r);
    uint64_t hash = hash64(stem);
    size_t low = 0, high = r->index_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->index[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < r->index_count && r->index[high].hash == hash;)
        high++;
    *ret_end = high;
    return low;
}

/* The files of one stem that a search looks among. */
struct found {
    const struct codec_reader *r;
    size_t from, to; /* of the index */
    bool known;      /* also samples that are there already; otherwise only files of the upload */
};

static bool looked_at(const struct found *f, size_t entry)
{
    return f->known || !f->r->in->files[f->r->index[entry].file].known;
}

/* The only one whose path ends with tail; among several the only one of that split. */
static size_t only_ending(const struct found *f, struct str tail, enum codec_split split)
{
    size_t found = READER_NONE, in_split = READER_NONE, count = 0, split_count = 0;
    for (size_t i = f->from; i < f->to; i++) {
        size_t file = f->r->index[i].file;
        if (!looked_at(f, i) || !path_ends_with(reader_path(f->r, file), tail))
            continue;
        found = file;
        count++;
        if (split && path_split(reader_path(f->r, file)) == split) {
            in_split = file;
            split_count++;
        }
    }
    return count == 1 ? found : split_count == 1 ? in_split : READER_NONE;
}

static size_t exact(const struct found *f, struct str dir, struct str name)
{
    char joined[2048];
    struct str path;
    if (!path_join(joined, sizeof joined, dir, name, &path))
        return READER_NONE;
    for (size_t i = f->from; i < f->to; i++)
        if (looked_at(f, i) && str_eq(reader_path(f->r, f->r->index[i].file), path))
            return f->r->index[i].file;
    return READER_NONE;
}

/* In the source's folder, in what is left of that without its first folders, and last at the top. */
static size_t beside(const struct found *f, struct str source, struct str name)
{
    size_t file = READER_NONE;
    for (struct str dir = path_dir(source); dir.p && file == READER_NONE; str_cut(dir, '/', &dir))
        file = exact(f, dir, name);
    return file != READER_NONE ? file : exact(f, STR(""), name);
}

/* In a folder for pictures beside the source's folder, or beside one above that. */
static size_t in_media_folder(const struct found *f, struct str source, struct str name)
{
    static const char *const folders[] = {"images", "JPEGImages"};
    char dir[2048], other[2048];
    struct str above = path_dir(source), joined;
    for (bool top = false; !top; above = path_dir(above)) {
        top = above.n == 0;
        for (size_t i = 0; i < countof(folders); i++) {
            int n = snprintf(dir, sizeof dir, STR_FMT "/%s", STR_ARG(above), folders[i]);
            if (n >= (int)sizeof dir || !path_join(other, sizeof other, STR(""), str_of(dir), &joined))
                continue;
            size_t file = exact(f, joined, name);
            if (file != READER_NONE)
                return file;
        }
    }
    return READER_NONE;
}

static size_t find_named(const struct found *f, struct str source, struct str name)
{
    char plain[1024];
    struct str tail;
    enum codec_split split = path_file_split(source);
    size_t file = beside(f, source, name);
    if (file == READER_NONE)
        file = in_media_folder(f, source, name);
    if (file == READER_NONE && path_join(plain, sizeof plain, STR(""), name, &tail))
        file = only_ending(f, tail, split);
    return file != READER_NONE ? file : only_ending(f, path_base(name), split);
}

size_t reader_find(const struct codec_reader *r, struct str source, struct str name)
{
    char slashes[1024];
    if (name.n >= sizeof slashes)
        return READER_NONE;
    for (size_t i = 0; i < name.n; i++)
        slashes[i] = name.p[i] == '\\' ? '/' : name.p[i];
    name = (struct str){slashes, name.n};
    struct found f = {.r = r};
    f.from = entries(r, path_stem(name), &f.to);
    size_t file = READER_NONE;
    if (f.from == f.to)
        return READER_NONE;
    file = find_named(&f, source, name);
    f.known = true;
    return file != READER_NONE ? file : find_named(&f, source, name);
}

/* Among the files of one stem: the only one in dir, else the only one at all. */
static size_t find_stem(const struct found *f, struct str dir, struct str stem)
{
    size_t found = READER_NONE, count = 0, in_dir = READER_NONE, dir_count = 0;
    for (size_t i = f->from; i < f->to; i++) {
        struct str path = reader_path(f->r, f->r->index[i].file);
        if (!looked_at(f, i) || !str_eq(path_stem(path), stem))
            continue;
        found = f->r->index[i].file;
        count++;
        if (str_eq(path_dir(path), dir)) {
            in_dir = found;
            dir_count++;
        }
    }
    return dir_count == 1 ? in_dir : count == 1 ? found : READER_NONE;
}

size_t reader_find_stem(const struct codec_reader *r, struct str dir, struct str stem)
{
    struct found f = {.r = r};
    f.from = entries(r, stem, &f.to);
    size_t file = find_stem(&f, dir, stem);
    f.known = true;
    return file != READER_NONE ? file : find_stem(&f, dir, stem);
}

bool reader_has_stem(const struct codec_reader *r, struct str stem)
{
    size_t to, from = entries(r, stem, &to);
    return from < to;
}
