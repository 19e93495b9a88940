/* The task "import": an upload (archive or file) becomes samples of a version (D3, D4). First everything is
 * read and kept aside (spool.h): until then nothing is changed. Then the samples are put, in batches, each of
 * which notes what it changes (import_undo.h): when the import fails or is cancelled, all of it is taken
 * back. The last files become durable meanwhile, and the import ends when they are. Repeating an import
 * changes nothing, so a server that was killed in the middle simply runs it again.
 */
#include "core/data/import.h"
#include "base/map.h"
#include "base/messages.h"
#include "codec/echo.h"
#include "codec/mapping.h"
#include "core/data/classes.h"
#include "core/data/database_in.h"
#include "core/data/folder_in.h"
#include "core/data/frames.h"
#include "core/data/import_undo.h"
#include "core/data/recognise.h"
#include "core/data/s3_in.h"
#include "core/data/sample.h"
#include "core/data/spool.h"
#include "core/data/unpack.h"
#include "core/pending.h"
#include "media/media.h"
#include "store/upload.h"

#include <stdio.h>
#include <sys/mman.h>

#define BATCH      1000
#define HEAD_BYTES (64 << 10) /* enough for a picture's header */
/* Larger ones are shown to the decoder, which refuses those that are too large to be shown. */
#define QUICK_PIXELS UINT64_C(100000000)

struct import {
    struct task *task;
    struct object version;
    struct sample_set set;
    struct unpacked files;
    struct map *by_path; /* path -> struct unpacked_file, new files only */
    struct codec_file *listing;
    size_t listed;
    struct recognise *recognise; /* while the listing is made; NULL: nothing is in the version yet */
    bool filled;                 /* samples are in it already */
    const struct codec *codec;
    struct spool *spool;
    int64_t read;             /* samples in it */
    int64_t met;              /* samples that the upload spoke of, or brought */
    struct arena batch_arena; /* of the samples being read, then of those being put */
    struct sample_new batch[BATCH];
    size_t batched;
    struct sample_waiting waiting[BATCH];
    size_t waits;
    bool waited_for; /* annotations wait for samples of this version */
    struct classes classes;
    bool replace;                     /* also what people labelled */
    enum sample_fate fates[BATCH];    /* of the batch that is being put */
    int64_t fated[SAMPLE_FATE_COUNT]; /* of all that was put */
    uint32_t annotations[BATCH];      /* of the batch */
    int64_t annotated;                /* annotations of all that was put */
    int64_t waited, done;
    struct import_undo undo;
};

/* --- the files that a codec may see: what was uploaded, and the samples that are there already --- */

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

static bool make_listing(struct import *m, struct err *err)
{
    struct sample_counts n;
    if (!sample_counts(m->task->core->db, m->version.id, &n, err))
        return false;
    size_t there = (size_t)(n.samples + n.states[SAMPLE_CLEANED]);
    m->listing = arena_array(m->task->arena, struct codec_file, m->files.n + there + BATCH);
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

static bool map_blob(struct import *m, const struct unpacked_file *f, size_t want, struct str *ret,
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

static void unmap(struct str bytes)
{
    if (bytes.n)
        munmap((void *)bytes.p, bytes.n);
}

static bool input_open(void *ctx, struct str path, struct str *ret, struct err *err)
{
    struct import *m = ctx;
    const struct unpacked_file *f = map_get(m->by_path, path);
    if (!f)
        return err_set(err, ERR_NOT_FOUND, NULL, "\"" STR_FMT "\" was not uploaded now", STR_ARG(path));
    return map_blob(m, f, 0, ret, err);
}

static void input_close(void *ctx, struct str path, struct str bytes)
{
    (void)ctx;
    (void)path;
    unmap(bytes);
}

/* An annotation file may be larger than what the whole server is to use. */
static void input_drop(void *ctx, struct str part)
{
    (void)ctx;
    mapping_drop(part);
}

/* --- what a sample is --- */

static bool probe(struct import *m, const struct unpacked_file *f, struct media_info *ret, struct err *err)
{
    struct str head;
    if (f->width > 0 && f->height > 0 && (uint64_t)f->width * (uint64_t)f->height <= QUICK_PIXELS) {
        *ret = (struct media_info){.kind = "image", .width = f->width, .height = f->height};
        return true;
    }
    if (!map_blob(m, f, HEAD_BYTES, &head, err))
        return false;
    bool quick = media_quick(head, ret);
    unmap(head);
    if (quick && (uint64_t)ret->width * (uint64_t)ret->height <= QUICK_PIXELS)
        return true;
    auto_fd int fd = blob_open(m->task->core->store, &f->blob, NULL, err);
    return fd >= 0 && media_probe(m->task->core->media, fd, ret, err);
}

/* Only uploaded pictures are measured; of samples that are there already the size is known to the version. */
static bool input_size(void *ctx, struct str path, uint32_t *w, uint32_t *h, struct err *err)
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
    if (!probe(m, f, &info, err))
        return false;
    *w = (uint32_t)info.width;
    *h = (uint32_t)info.height;
    return true;
}

/* Of a sample that is in the version already: its own blob, so that only the annotation changes. */
static bool existing_blob(struct import *m, struct str name, struct sample_new *n, bool *found,
                          struct err *err)
{
    struct db_row row;
    if (!db_query_one(
            m->task->core->db, &m->batch_arena,
            "SELECT digest, size, width, height, duration FROM samples WHERE version = ? AND name = ?",
            db_args(db_int(m->version.id), db_text(name)), &row, found, err))
        return false;
    if (!*found)
        return true;
    memcpy(n->blob.b, row.v[0].s.p, sizeof n->blob.b);
    n->size = row.v[1].i;
    n->width = row.v[2].i;
    n->height = row.v[3].i;
    n->duration = row.v[4].r;
    return true;
}

/* Every sample must be what its dataset is made of. */
static bool measure(struct import *m, const struct unpacked_file *f, struct sample_new *n, bool *usable,
                    struct err *err)
{
    enum annotation_data data = annotation_types[m->set.type].data;
    struct media_info info = {0};
    struct err why = {0};
    *usable = true;
    n->blob = f->blob;
    n->size = f->size;
    if (data == ANNOTATION_TEXT)
        return true;
    if (!probe(m, f, &info, &why)) {
        if (why.code != ERR_INVALID) {
            *err = why;
            return false;
        }
        unpack_left_out(m->task, f->path, NULL, &why);
        *usable = false;
        return true;
    }
    if (strcmp(info.kind, annotation_data_names[data]) != 0) {
        err_message(&why, ERR_INVALID, NULL, MESSAGE_OTHER_DATA, info.kind, annotation_data_names[data]);
        unpack_left_out(m->task, f->path, NULL, &why);
        *usable = false;
    }
    if (*usable && data == ANNOTATION_IMAGE && info.frames > 1)
        task_note(m->task, f->path, NULL, MESSAGE_PAGES_LEFT_OUT, (long long)info.frames);
    n->width = info.width;
    n->height = info.height;
    n->duration = info.duration;
    return true;
}

/* Bytes that stand in the annotation file: a text of a CSV, a picture of LabelMe. */
static bool measure_content(struct import *m, const struct codec_sample *s, struct sample_new *n,
                            bool *usable, struct err *err)
{
    struct unpacked_file f = {.path = s->path, .size = (int64_t)s->content.n};
    unpack_check(&f, s->content);
    return blob_batch_data(m->files.batch, s->content, &f.blob, err) &&
           unpack_admit(&m->files, &f.blob, f.size, err) && measure(m, &f, n, usable, err);
}

static bool wait_for_it(struct import *m, const struct codec_sample *s, struct err *err)
{
    if (!s->annotation.p && !s->split)
        return true;
    struct sample_waiting w = {s->path, s->annotation, s->split};
    m->met++;
    const char *at = s->position.p ? arena_strz(&m->batch_arena, s->position) : NULL;
    struct str file = s->source.p ? s->source : s->path;
    if (s->annotation.p)
        task_note(m->task, file, at, MESSAGE_ANNOTATION_WAITS, STR_ARG(s->path));
    else
        task_note(m->task, file, at, MESSAGE_SPLIT_WAITS, STR_ARG(s->path));
    return spool_waiting(m->spool, &w, err);
}

/* Fills n; *usable false: reported, nothing to add. */
static bool resolve(struct import *m, const struct codec_sample *s, struct sample_new *n, bool *usable,
                    struct err *err)
{
    const struct unpacked_file *f = map_get(m->by_path, s->path);
    *usable = true;
    n->name = f && f->sample.p ? f->sample : s->path;
    if (s->content.p)
        return measure_content(m, s, n, usable, err);
    if (f)
        return measure(m, f, n, usable, err);
    bool told = s->annotation.p || (s->split && s->source.p);
    *usable = s->missing || told;
    if (!*usable) { /* in the version already, and nothing new about it */
        m->met++;
        return true;
    }
    bool found;
    if (!existing_blob(m, s->path, n, &found, err))
        return false;
    *usable = found && told;
    m->met += found && !told;
    return found || wait_for_it(m, s, err);
}

/* What waited for the picture since an earlier import. */
static bool take_waiting(struct import *m, struct sample_new *n, struct err *err)
{
    struct db_row row;
    bool found;
    if (!m->waited_for || n->annotation.p)
        return true;
    if (!db_query_one(m->task->core->db, &m->batch_arena,
                      "SELECT annotation, split FROM sample_waiting WHERE version = ? AND name = ?",
                      db_args(db_int(m->version.id), db_text(n->name)), &row, &found, err))
        return false;
    if (found && !annotation_empty(row.v[0].s))
        n->annotation = row.v[0].s;
    if (found && row.v[1].i)
        n->split = (enum codec_split)row.v[1].i;
    return true;
}

static bool look_for_waiting(struct import *m, struct err *err)
{
    struct db_row row;
    return db_query_one(m->task->core->db, m->task->arena,
                        "SELECT 1 FROM sample_waiting WHERE version = ? LIMIT 1",
                        db_args(db_int(m->version.id)), &row, &m->waited_for, err);
}

/* An annotation file may speak of the picture as it is stored, before its EXIF rotation, or of another size
 * of it. */
static bool fit(struct import *m, const struct codec_sample *s, struct sample_new *n, struct err *err)
{
    int64_t w = s->width, h = s->height;
    double turn[6];
    struct unpacked_file f = {.path = s->path, .blob = n->blob, .size = n->size};
    struct media_info info;
    if (!s->annotation.p || !w || !h || n->width <= 0 || (w == n->width && h == n->height))
        return true;
    const char *at = s->position.p ? arena_strz(&m->batch_arena, s->position) : NULL;
    struct str file = s->source.p ? s->source : s->path;
    if (w == n->height && h == n->width && probe(m, &f, &info, err) &&
        media_upright(info.orientation, w, h, turn) &&
        annotation_transform(&m->batch_arena, m->set.type, n->annotation, turn, (uint32_t)n->width,
                             (uint32_t)n->height, &n->annotation, NULL, err)) {
        task_note(m->task, file, at, MESSAGE_SHAPES_TURNED, STR_ARG(s->path));
        return true;
    }
    *err = (struct err){0};
    task_note(m->task, file, at, MESSAGE_OTHER_SIZE, STR_ARG(s->path), (long long)n->width,
              (long long)n->height, (long long)w, (long long)h);
    return true;
}

/* Boxes outside the picture are cut at its edge, and said so. */
static bool clip(struct import *m, const struct codec_sample *s, struct sample_new *n, struct err *err)
{
    struct annotation_changes c = {0};
    struct str cut;
    if (!n->annotation.p || n->width <= 0 || n->height <= 0)
        return true;
    if (!annotation_clip(&m->batch_arena, n->annotation, (uint32_t)n->width, (uint32_t)n->height, &cut, &c,
                         err)) {
        if (err->code != ERR_INVALID)
            return false;
        err_because(err, err->code, NULL, err, MESSAGE_ANNOTATION_LEFT_OUT);
        task_note_err(m->task, s->path, NULL, err);
        *err = (struct err){0};
        n->annotation = STR_NULL;
        return true;
    }
    if (c.changed || c.dropped)
        task_note(m->task, s->path, NULL, MESSAGE_SHAPES_CUT, c.changed, c.dropped);
    n->annotation = cut;
    return true;
}

/* An import in quarters: its sources are read in the first two (unpack.c, folder_in.c, s3_in.c), samples in
 * the third, and they are put in the last. */
static bool keep_progress(struct import *m, int64_t done, int64_t of, int quarter, struct err *err)
{
    int64_t total = of > 0 ? of : 1;
    return task_progress(m->task, (quarter * total + done) / 4, total, err);
}

/* The sample of this name as it is, with the text it has when it is one. */
static bool existing(struct import *m, const struct sample_new *n, struct codec_sample *ret,
                     struct str *ret_text, bool *found, struct err *err)
{
    struct db_row row;
    *ret_text = STR_NULL;
    if (!db_query_one(m->task->core->db, &m->batch_arena,
                      "SELECT annotation, split, state, width, height, digest FROM samples"
                      " WHERE version = ? AND name = ?",
                      db_args(db_int(m->version.id), db_text(n->name)), &row, found, err))
        return false;
    if (*found)
        *found = memcmp(row.v[5].s.p, n->blob.b, sizeof n->blob.b) == 0;
    if (!*found)
        return true;
    *ret = (struct codec_sample){.path = n->name,
                                 .annotation = row.v[2].i == SAMPLE_UNANNOTATED ? STR_NULL : row.v[0].s,
                                 .split = (enum codec_split)row.v[1].i,
                                 .width = (uint32_t)row.v[3].i,
                                 .height = (uint32_t)row.v[4].i};
    struct unpacked_file f = {.path = n->name, .blob = n->blob, .size = n->size};
    return annotation_types[m->set.type].data != ANNOTATION_TEXT || map_blob(m, &f, 0, ret_text, err);
}

static bool says_no_more(const struct codec_sample *s, struct str annotation, enum codec_split split)
{
    return s->annotation.n == annotation.n && (!annotation.n || str_eq(s->annotation, annotation)) &&
           (!s->split || s->split == split);
}

static void note_label(void *ctx, struct str label, uint32_t count)
{
    (void)count;
    map_set(ctx, label, ctx);
}

/* Names that only the format made of others ("a_b" of "a/b") are no classes of the version. */
static void forget_made_up(struct import *m, struct str was, struct str said)
{
    struct map *mine = map_new(), *theirs = map_new();
    struct err ignored = {0};
    struct str label;
    void *value;
    annotation_each_label(was, note_label, mine, &ignored);
    annotation_each_label(said, note_label, theirs, &ignored);
    for (size_t i = 0; map_next(theirs, &i, &label, &value);)
        if (!map_get(mine, label))
            classes_forget(&m->classes, label);
    map_free(mine);
    map_free(theirs);
}

/* What the files say of a sample that is there is nothing new when it is all that their format can say of it
 * as it is: then it stays as it is, with what the format cannot say. */
static bool leave_known(struct import *m, const struct codec_sample *s, struct sample_new *n, struct err *err)
{
    struct codec_sample was;
    struct str text, echo;
    enum codec_split split;
    struct err ignored = {0};
    bool found;
    if (!m->filled || (!s->annotation.p && (!s->split || n->annotation.p)))
        return true;
    if (!existing(m, n, &was, &text, &found, err))
        return false;
    bool same = found && says_no_more(s, was.annotation, was.split);
    if (found && !same &&
        codec_echo(m->codec, m->set.type, &was, text, &m->batch_arena, &echo, &split, &ignored))
        same = says_no_more(s, echo, split);
    if (found)
        unmap(text);
    if (same) {
        if (was.annotation.p && s->annotation.p)
            forget_made_up(m, was.annotation, s->annotation);
        n->annotation = STR_NULL;
        n->split = CODEC_SPLIT_NONE;
    }
    return true;
}

static bool input_sample(void *ctx, const struct codec_sample *s, struct err *err)
{
    struct import *m = ctx;
    struct sample_new n = {0};
    bool usable;
    if (!resolve(m, s, &n, &usable, err))
        return false;
    if (!usable)
        return true;
    m->met++;
    n.annotation = s->annotation;
    n.split = s->split;
    if (!take_waiting(m, &n, err) || !fit(m, s, &n, err) || !clip(m, s, &n, err))
        return false;
    uint32_t annotations = n.annotation.p && s->annotation.p ? (uint32_t)s->annotations : 0;
    if (!leave_known(m, s, &n, err) || !spool_sample(m->spool, &n, annotations, err))
        return false;
    if (++m->read % BATCH)
        return true;
    arena_release(&m->batch_arena);
    arena_init(&m->batch_arena);
    return unpack_keep(m->task, &m->files, err) && keep_progress(m, m->read, (int64_t)m->listed, 2, err);
}

static bool input_label(void *ctx, const struct codec_label *l, struct err *err)
{
    (void)err;
    struct import *m = ctx;
    classes_note(&m->classes, m->task->arena, l);
    return true;
}

static void input_problem(void *ctx, const struct codec_problem *p)
{
    struct import *m = ctx;
    char position[200];
    snprintf(position, sizeof position, STR_FMT, STR_ARG(p->position));
    task_problem(m->task, p->path, p->position.p ? position : NULL, "%s: %s", codec_problem_names[p->kind],
                 p->reason);
}

/* --- putting what was read --- */

static bool flush_write(struct op *op, void *ctx, struct err *err)
{
    struct import *m = ctx;
    return import_undo_note(op, &m->undo, &m->set, m->batch, m->batched, m->waiting, m->waits, err) &&
           sample_put(op, &m->set, m->batch, m->batched, m->fates, err) &&
           sample_wait(op, &m->set, m->waiting, m->waits, err);
}

/* Counts what became of the batch, and reports what concerns the work of people. */
static void tell_fates(struct import *m)
{
    for (size_t i = 0; i < m->batched; i++) {
        enum sample_fate fate = m->fates[i];
        m->fated[fate]++;
        m->annotated += fate == SAMPLE_KEPT ? 0 : m->annotations[i];
        if (fate == SAMPLE_KEPT)
            task_note(m->task, m->batch[i].name, NULL, MESSAGE_LABELS_KEPT);
        else if (fate == SAMPLE_REPLACED)
            task_note(m->task, m->batch[i].name, NULL, MESSAGE_LABELS_REPLACED);
    }
}

static bool flush(struct import *m, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    if (m->batched + m->waits == 0)
        return true;
    if (!engine_write(m->task->core, &m->task->caller, &a, flush_write, m, err))
        return false;
    tell_fates(m);
    m->done += (int64_t)m->batched;
    m->waited += (int64_t)m->waits;
    m->batched = m->waits = 0;
    arena_release(&m->batch_arena);
    arena_init(&m->batch_arena);
    return true;
}

static bool put_all(struct import *m, struct err *err)
{
    bool done = false;
    arena_release(&m->batch_arena);
    arena_init(&m->batch_arena);
    if (!spool_rewind(m->spool, err) || !import_undo_begin(m->task, &m->set, &m->undo, err) ||
        !blob_batch_known(m->files.batch, err))
        return false;
    while (!done) {
        struct spool_item item;
        if (!spool_next(m->spool, &m->batch_arena, &item, &done, err))
            return false;
        item.sample.replace = m->replace;
        if (!done && item.waits)
            m->waiting[m->waits++] = item.waiting;
        else if (!done) {
            m->annotations[m->batched] = item.annotations;
            m->batch[m->batched++] = item.sample;
        }
        bool full = m->batched == BATCH || m->waits == BATCH;
        if ((full || done) && (!flush(m, err) || !keep_progress(m, m->done, m->read, 3, err)))
            return false;
    }
    return blob_batch_flush(m->files.batch, err);
}

/* --- the task --- */

static bool take_upload(struct import *m, yyjson_val *v, struct err *err)
{
    struct task *t = m->task;
    struct str name = json_str(yyjson_obj_get(v, "name"));
    struct digest d;
    if (!digest_parse(json_str(yyjson_obj_get(v, "blob")), &d))
        return err_set(err, ERR_INTERNAL, NULL, "the task names no blob");
    return unpack(t, name, &d, &m->files, err);
}

static bool take_uploads(struct import *m, struct err *err)
{
    yyjson_val *v;
    size_t i, max;
    yyjson_arr_foreach(yyjson_obj_get(m->task->params, "files"), i, max, v)
    {
        if (!take_upload(m, v, err))
            return false;
    }
    return true;
}

/* Folders and videos: what was found becomes more files of the same list. */
static bool take_sources(struct import *m, struct err *err)
{
    yyjson_val *p = m->task->params;
    struct str directory = json_str(yyjson_obj_get(p, "directory"));
    yyjson_val *s3 = yyjson_obj_get(p, "s3"), *database = yyjson_obj_get(p, "database");
    struct media_frames how = {.every = yyjson_get_sint(yyjson_obj_get(p, "every")),
                               .per_second = yyjson_get_num(yyjson_obj_get(p, "per_second"))};
    if (!take_uploads(m, err) || (directory.p && !folder_in(m->task, directory, &m->files, err)) ||
        (s3 && !s3_in(m->task, s3, &m->files, err)) ||
        (database && !database_in(m->task, database, &m->files, err)))
        return false;
    if (annotation_types[m->set.type].data != ANNOTATION_IMAGE)
        return true;
    if (how.every <= 0 && !(how.per_second > 0))
        how.per_second = 1;
    return frames_expand(m->task, &m->files, &how, err);
}

static bool open_version(struct import *m, struct err *err)
{
    struct task *t = m->task;
    struct op op = {.core = t->core, .caller = &t->caller, .arena = t->arena};
    return engine_get(t->core, &caller_system, &kind_dataset_version, 0, t->subject, t->arena, &m->version,
                      err) &&
           sample_set_of(&op, &m->version, &m->set, err) && sample_set_open(&m->set, err);
}

static void write_result(struct import *m, const struct codec *c, const struct codec_counts *n)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    json_kz(&o, "format", c->name);
    json_kint(&o, "files", (int64_t)m->files.n);
    json_kint(&o, "added", m->fated[SAMPLE_ADDED]);
    json_kint(&o, "changed", m->fated[SAMPLE_CHANGED] + m->fated[SAMPLE_REPLACED]);
    json_kint(&o, "same", m->fated[SAMPLE_SAME]);
    json_kint(&o, "kept", m->fated[SAMPLE_KEPT]);
    json_kint(&o, "replaced", m->fated[SAMPLE_REPLACED]);
    json_kint(&o, "annotations", m->annotated);
    json_kint(&o, "waiting", m->waited);
    json_kint(&o, "records", (int64_t)n->records);
    json_kint(&o, "taken", (int64_t)n->taken);
    json_kint(&o, "skipped", (int64_t)n->skipped);
    json_kint(&o, "repaired", (int64_t)n->repaired);
    json_object_end(&o);
    task_result(m->task, buf_view(&text));
}

/* After all else: until here the import may be taken back, and nothing ever needs a class to be unnamed. */
static bool put_classes(struct op *op, void *ctx, struct err *err)
{
    struct import *m = ctx;
    return classes_put(op, m->version.id, &m->classes, err);
}

/* An import that found nothing at all was given the wrong files, or the wrong format. */
static bool took_something(const struct import *m, struct err *err)
{
    struct str first = m->files.n ? m->files.file[0].path : STR("");
    return m->met > 0 || err_message(err, ERR_INVALID, "uploads", MESSAGE_IMPORT_NOTHING, m->codec->name,
                                     (long long)m->files.n, first.n > 100 ? 100 : (int)first.n, first.p,
                                     annotation_types[m->set.type].name);
}

static bool read_all(struct import *m, struct err *err)
{
    struct codec_input in = {.files = m->listing,
                             .file_count = m->listed,
                             .ctx = m,
                             .open = input_open,
                             .close = input_close,
                             .drop = input_drop,
                             .size =
                                 annotation_types[m->set.type].data == ANNOTATION_IMAGE ? input_size : NULL,
                             .sample = input_sample,
                             .label = input_label,
                             .problem = input_problem};
    struct str forced = json_str(yyjson_obj_get(m->task->params, "format"));
    const struct codec *c = forced.p ? codec_named(forced) : codec_detect(&in, m->set.type, err);
    struct codec_counts counts;
    if (!c)
        return forced.p ? err_set(err, ERR_INVALID, "format", "there is no format \"" STR_FMT "\"",
                                  STR_ARG(forced))
                        : false;
    m->codec = c;
    if (!codec_read(c, &in, m->set.type, &counts, err) || !took_something(m, err) ||
        !keep_progress(m, m->read, m->read, 2, err) || !put_all(m, err) ||
        !import_undo_forget(m->task, err) ||
        !engine_write(m->task->core, &m->task->caller, m->task->arena, put_classes, m, err))
        return false;
    write_result(m, c, &counts);
    return true;
}

static bool run_import(struct task *t, struct err *err)
{
    struct import *m = base_zalloc(sizeof *m);
    m->task = t;
    m->replace = yyjson_get_bool(yyjson_obj_get(t->params, "replace"));
    m->by_path = map_new();
    arena_init(&m->batch_arena);
    m->spool = spool_new(t->core, err);
    bool ok = m->spool && open_version(m, err) && unpack_begin(&m->files, t, err) && take_sources(m, err) &&
              make_listing(m, err) && look_for_waiting(m, err) && read_all(m, err);
    if (m->version.id)
        pending_tell_one(t->core, &m->version, "samples");
    arena_release(&m->batch_arena);
    map_free(m->by_path);
    unpack_end(&m->files);
    spool_free(m->spool);
    free(m);
    return ok;
}

/* Nothing of a failed or cancelled import stays. */
static void undo_import(struct task *t)
{
    struct import m = {.task = t};
    struct err err = {0};
    if (!open_version(&m, &err) || !import_undo_run(t, &m.set, &err)) {
        err_because(&err, err.code, NULL, &err, MESSAGE_NOT_TAKEN_BACK);
        task_note_err(t, STR("samples"), NULL, &err);
    }
    if (m.version.id)
        pending_tell_one(t->core, &m.version, "samples");
}

const struct task_type task_import = {
    .name = "import", .title = {"Import", "导入"}, .run = run_import, .undo = undo_import, .at_once = 4};
