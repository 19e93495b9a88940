#include "core/data/recognise.h"

#include "base/map.h"
#include "codec/path.h"

#define NONE    UINT32_MAX
#define LOOK_AT 64 /* files of the same bytes and name */

/* A file, in the chain of those with the same bytes and the same last part of the path. */
struct entry {
    uint32_t file, next;
};

struct noted {
    struct str name, label;
    uint32_t first; /* entry */
    size_t listed;
};

struct recognise {
    struct unpacked *files;
    struct map *index; /* bytes and last part -> 1 + entry */
    struct entry *entries;
    struct noted *noted;
    size_t entry_count, count, cap;
    struct arena arena;
};

static struct str key_of(struct arena *a, const struct digest *d, struct str path)
{
    struct str base = path_base(path);
    char *p = arena_alloc(a, sizeof d->b + base.n);
    memcpy(p, d->b, sizeof d->b);
    memcpy(p + sizeof d->b, base.p, base.n);
    return (struct str){p, sizeof d->b + base.n};
}

/* "a-2.png" without its number; false when it has none. */
static bool without_number(struct arena *a, struct str path, struct str *ret)
{
    struct str bare = path_bare(path);
    size_t n = bare.n;
    while (n && bare.p[n - 1] >= '0' && bare.p[n - 1] <= '9')
        n--;
    if (n == bare.n || n < 2 || bare.p[n - 1] != '-')
        return false;
    *ret = str_of(arena_printf(a, "%.*s%.*s", (int)(n - 1), path.p, (int)(path.n - bare.n), path.p + bare.n));
    return true;
}

static void add(struct recognise *r, size_t file, struct str path)
{
    auto_arena struct arena a = {0};
    struct entry *e = &r->entries[r->entry_count++];
    uintptr_t number = r->entry_count;
    uintptr_t was =
        (uintptr_t)map_set(r->index, key_of(&a, &r->files->file[file].blob, path), (void *)number);
    *e = (struct entry){(uint32_t)file, was ? (uint32_t)(was - 1) : NONE};
}

/* From the last to the first, so that each chain is in the order of the files. */
struct recognise *recognise_new(struct unpacked *files)
{
    struct recognise *r = base_zalloc(sizeof *r);
    struct str plain;
    r->files = files;
    r->index = map_new();
    r->entries = base_alloc((2 * files->n + 1) * sizeof *r->entries);
    for (size_t i = files->n; i > 0; i--) {
        add(r, i - 1, files->file[i - 1].path);
        if (without_number(&r->arena, files->file[i - 1].path, &plain))
            add(r, i - 1, plain);
    }
    return r;
}

void recognise_free(struct recognise *r)
{
    if (!r)
        return;
    map_free(r->index);
    free(r->entries);
    free(r->noted);
    arena_release(&r->arena);
    free(r);
}

struct first_label {
    struct arena *arena;
    struct str label;
};

static void keep_first(void *ctx, struct str label, uint32_t count)
{
    (void)count;
    struct first_label *f = ctx;
    if (!f->label.p)
        f->label = arena_str(f->arena, label);
}

void recognise_note(struct recognise *r, const struct sample *s, struct str name, size_t listed)
{
    auto_arena struct arena a = {0};
    uintptr_t first = (uintptr_t)map_get(r->index, key_of(&a, &s->blob, name));
    struct first_label f = {.arena = &r->arena};
    struct err ignored = {0};
    if (!first)
        return;
    annotation_each_label(s->annotation, keep_first, &f, &ignored);
    if (r->count == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 256;
        r->noted = base_realloc(r->noted, r->cap * sizeof *r->noted);
    }
    r->noted[r->count++] = (struct noted){name, f.label, (uint32_t)(first - 1), listed};
}

/* --- how alike a path and a name are --- */

/* label/base, as one folder per class writes it. */
static bool in_its_class(struct str path, struct str name, struct str label)
{
    struct str folder = path_dir(path);
    if (!label.n || folder.n != label.n || !str_eq(path_base(path), path_base(name)))
        return false;
    for (size_t i = 0; i < label.n; i++)
        if (folder.p[i] != label.p[i] && folder.p[i] != '_')
            return false;
    return true;
}

enum { NOT_ALIKE, NUMBERED, BELOW, IN_ITS_CLASS, EQUAL };

static int alike(struct str path, const struct noted *n)
{
    struct str name = path_core(n->name);
    return str_eq(path, name)                                         ? EQUAL
           : in_its_class(path, name, n->label)                       ? IN_ITS_CLASS
           : path_ends_with(path, name) || path_ends_with(name, path) ? BELOW
                                                                      : NOT_ALIKE;
}

static int likeness(const struct noted *n, struct str whole)
{
    auto_arena struct arena a = {0};
    struct str path = path_core(whole), plain;
    int found = alike(path, n);
    return found ? found : without_number(&a, path, &plain) && alike(plain, n) ? NUMBERED : NOT_ALIKE;
}

/* The file that is so much like the sample; the shortest path of several. */
static struct unpacked_file *find(struct recognise *r, const struct noted *n, int like)
{
    struct unpacked_file *best = NULL;
    int looked = 0;
    for (uint32_t i = n->first; i != NONE && looked < LOOK_AT; i = r->entries[i].next, looked++) {
        struct unpacked_file *f = &r->files->file[r->entries[i].file];
        if (!f->sample.p && (!best || f->path.n < best->path.n) && likeness(n, f->path) == like)
            best = f;
    }
    return best;
}

/* Those that are surely the same first, so that no other takes their file. */
void recognise_all(struct recognise *r, void (*found)(void *ctx, size_t listed), void *ctx)
{
    for (int like = EQUAL; like > NOT_ALIKE; like--)
        for (size_t i = 0; i < r->count; i++) {
            struct noted *n = &r->noted[i];
            struct unpacked_file *f = n->name.p ? find(r, n, like) : NULL;
            if (!f)
                continue;
            f->sample = n->name;
            found(ctx, n->listed);
            n->name = STR_NULL;
        }
}
