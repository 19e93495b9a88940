/* The files that a codec may see: what was uploaded, and the samples that are there already. */
#include "base/map.h"
#include "base/messages.h"
#include "codec/mapping.h"
#include "core/data/import_own.h"

#include <sys/mman.h>

#define HEAD_BYTES (64 << 10) /* enough for a picture's header */
/* Larger ones are shown to the decoder, which refuses those that are too large to be shown. */
#define QUICK_PIXELS UINT64_C(100000000)

static bool count_one(void *ctx, const struct sample *s, struct err *err)
{
    (void)err;
    struct import *m = ctx;
    struct unpacked_file *f = map_get(m->by_path, s->name);
    if (f) {
        f->sample = f->path;
        return true;
    }
    struct str name = arena_str(m->task->arena, s->name);
    recognise_note(m->recognise, s, name, m->listed);
    m->listing[m->listed++] = (struct codec_file){.path = name, .size = (uint64_t)s->size, .known = true};
    return true;
}

static void leave_out(void *ctx, size_t listed)
{
    ((struct import *)ctx)->listing[listed].path = STR_NULL;
}

/* The samples that are there already; those that the upload brings under another path are in its files. */
static bool list_known(struct import *m, struct err *err)
{
    size_t kept = 0;
    m->recognise = recognise_new(&m->files);
    bool ok =
        sample_each(m->task->core->db, m->version.id, &(struct sample_query){.state = -2}, count_one, m, err);
    if (ok)
        recognise_all(m->recognise, leave_out, m);
    recognise_free(m->recognise);
    for (size_t i = 0; ok && i < m->listed; i++)
        if (m->listing[i].path.p)
            m->listing[kept++] = m->listing[i];
    m->listed = kept;
    return ok;
}

static int by_path(const void *a, const void *b)
{
    const struct codec_file *x = a, *y = b;
    int c = memcmp(x->path.p, y->path.p, x->path.n < y->path.n ? x->path.n : y->path.n);
    return c ? c : (x->path.n > y->path.n) - (x->path.n < y->path.n);
}

bool import_list(struct import *m, struct err *err)
{
    struct sample_counts n;
    if (!sample_counts(m->task->core->db, m->version.id, &n, err))
        return false;
    size_t there = (size_t)(n.samples + n.states[SAMPLE_CLEANED]);
    m->listing = arena_array(m->task->arena, struct codec_file, m->files.n + there + 1);
    for (size_t i = 0; i < m->files.n; i++) {
        struct unpacked_file *f = &m->files.file[i];
        if (map_set(m->by_path, f->path, f)) {
            task_note(m->task, f->path, NULL, MESSAGE_ARCHIVE_TWICE);
            continue;
        }
        m->listing[m->listed++] = (struct codec_file){.path = f->path, .size = (uint64_t)f->size};
    }
    m->filled = there > 0;
    if (m->filled && !list_known(m, err))
        return false;
    qsort(m->listing, m->listed, sizeof *m->listing, by_path);
    return true;
}

bool import_map(struct import *m, const struct unpacked_file *f, size_t want, struct str *ret,
                struct err *err)
{
    if (!blob_batch_flush(m->files.batch, err))
        return false;
    auto_fd int fd = blob_open(m->task->core->store, &f->blob, NULL, err);
    if (fd < 0)
        return false;
    size_t n = want && want < (size_t)f->size ? want : (size_t)f->size;
    if (n == 0) {
        *ret = STR("");
        return true;
    }
    void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return err_set(err, ERR_UNAVAILABLE, NULL, "a file cannot be mapped");
    *ret = (struct str){p, n};
    return true;
}

void import_unmap(struct str bytes)
{
    if (bytes.n)
        munmap((void *)bytes.p, bytes.n);
}

bool import_open(void *ctx, struct str path, struct str *ret, struct err *err)
{
    struct import *m = ctx;
    const struct unpacked_file *f = map_get(m->by_path, path);
    if (!f)
        return err_set(err, ERR_NOT_FOUND, NULL, "\"" STR_FMT "\" was not uploaded now", STR_ARG(path));
    return import_map(m, f, 0, ret, err);
}

void import_close(void *ctx, struct str path, struct str bytes)
{
    (void)ctx;
    (void)path;
    import_unmap(bytes);
}

/* An annotation file may be larger than what the whole server is to use. */
void import_drop(void *ctx, struct str part)
{
    (void)ctx;
    mapping_drop(part);
}

/* --- what a sample is --- */

bool import_probe(struct import *m, const struct unpacked_file *f, struct media_info *ret, struct err *err)
{
    struct str head;
    if (f->width > 0 && f->height > 0 && (uint64_t)f->width * (uint64_t)f->height <= QUICK_PIXELS) {
        *ret = (struct media_info){.kind = "image", .width = f->width, .height = f->height};
        return true;
    }
    if (!import_map(m, f, HEAD_BYTES, &head, err))
        return false;
    bool quick = media_quick(head, ret);
    import_unmap(head);
    if (quick && (uint64_t)ret->width * (uint64_t)ret->height <= QUICK_PIXELS)
        return true;
    auto_fd int fd = blob_open(m->task->core->store, &f->blob, NULL, err);
    return fd >= 0 && media_probe(m->task->core->media, fd, ret, err);
}

/* Only uploaded pictures are measured; of samples that are there already the size is known to the version. */
bool import_size(void *ctx, struct str path, uint32_t *w, uint32_t *h, struct err *err)
{
    struct import *m = ctx;
    const struct unpacked_file *f = map_get(m->by_path, path);
    struct media_info info;
    if (!f) {
        struct db_row row;
        bool found;
        auto_arena struct arena a;
        arena_init(&a);
        if (!db_query_one(m->task->core->db, &a,
                          "SELECT width, height FROM samples WHERE version = ? AND name = ?",
                          db_args(db_int(m->version.id), db_text(path)), &row, &found, err))
            return false;
        if (!found)
            return err_set(err, ERR_INVALID, NULL, "there is no such picture");
        *w = (uint32_t)row.v[0].i;
        *h = (uint32_t)row.v[1].i;
        return true;
    }
    if (!import_probe(m, f, &info, err))
        return false;
    *w = (uint32_t)info.width;
    *h = (uint32_t)info.height;
    return true;
}
