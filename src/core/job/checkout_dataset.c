/* The files of a dataset version: its samples, ingot.jsonl, and coco.json where COCO can say it. */
#include "base/fs.h"
#include "codec/codec.h"
#include "core/data/classes.h"
#include "core/data/sample.h"
#include "core/job/checkout.h"

#include <errno.h>
#include <unistd.h>

#define PAGE 1000

struct filling {
    struct core *core;
    int64_t version;
    int dirfd, file;
    const char *name; /* of the file of annotations that is being written */
    bool split;       /* whether it tells the parts of a split; else it is one file of all */
    /* The samples, pulled page by page; cleaned ones take no part. */
    struct arena arena;
    struct sample *page;
    size_t n, at;
    int64_t after;
};

/* --- samples in --- */

static bool load_page(struct filling *f, struct err *err)
{
    arena_release(&f->arena);
    arena_init(&f->arena);
    f->at = f->n = 0;
    struct sample_query q = {.state = -1, .after = f->after, .limit = PAGE};
    if (!sample_list(f->core->db, &f->arena, f->version, &q, &f->page, &f->n, err))
        return false;
    if (f->n)
        f->after = f->page[f->n - 1].position;
    return true;
}

/* What a reviewer rejected is not to be learned from. */
static bool says_nothing(enum sample_state state)
{
    return state == SAMPLE_UNANNOTATED || state == SAMPLE_REJECTED;
}

static bool source_next(void *ctx, struct codec_sample *ret, bool *ret_end, struct err *err)
{
    struct filling *f = ctx;
    if (f->at == f->n && !load_page(f, err))
        return false;
    *ret_end = f->n == 0;
    if (*ret_end)
        return true;
    const struct sample *s = &f->page[f->at++];
    *ret = (struct codec_sample){.path = s->name,
                                 .width = (uint32_t)s->width,
                                 .height = (uint32_t)s->height,
                                 .annotation = says_nothing(s->state) ? STR_NULL : s->annotation,
                                 .split = f->split ? s->split : CODEC_SPLIT_NONE};
    return true;
}

static bool source_rewind(void *ctx, struct err *err)
{
    (void)err;
    struct filling *f = ctx;
    f->after = 0;
    f->at = f->n = 0;
    return true;
}

/* --- files out --- */

static bool out_begin(void *ctx, const char *path, struct err *err)
{
    struct filling *f = ctx;
    if (str_is(str_of(path), "annotations/captions.json"))
        f->name = "coco-captions.json";
    f->file = openat(f->dirfd, f->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    return f->file >= 0 || err_errno(err, errno, "cannot make %s", f->name);
}

static bool out_write(void *ctx, const void *p, size_t n, struct err *err)
{
    return fs_write_all(((struct filling *)ctx)->file, p, n, err);
}

static bool out_end(void *ctx, struct err *err)
{
    struct filling *f = ctx;
    bool ok = fsync(f->file) == 0 || err_errno(err, errno, "cannot write %s", f->name);
    close(f->file);
    f->file = -1;
    return ok;
}

static bool write_annotations(struct filling *f, const char *format, const char *name,
                              enum annotation_type type, struct err *err)
{
    struct codec_source source = {.ctx = f, .next = source_next, .rewind = source_rewind};
    struct codec_label *labels;
    auto_arena struct arena a;
    arena_init(&a);
    struct codec_output out = {.ctx = f, .file_begin = out_begin, .write = out_write, .file_end = out_end};
    const struct codec *c = codec_named(str_of(format));
    if (!c || !(c->writes & 1u << type))
        return true;
    if (!classes_of(f->core->db, &a, f->version, &labels, &source.label_count, err))
        return false;
    source.labels = labels;
    f->name = name;
    f->split = strcmp(format, "ingot") == 0;
    source_rewind(f, err);
    return codec_write(c, &source, type, &out, NULL, NULL, err);
}

static bool link_samples(struct filling *f, struct err *err)
{
    source_rewind(f, err);
    do {
        if (!load_page(f, err))
            return false;
        struct blob_to_link *item = arena_alloc(&f->arena, (f->n + 1) * sizeof *item);
        for (size_t i = 0; i < f->n; i++)
            item[i] = (struct blob_to_link){&f->page[i].blob, arena_strz(&f->arena, f->page[i].name), false};
        if (!blob_link_all(f->core->store, item, f->n, f->dirfd, err))
            return false;
    } while (f->n);
    return true;
}

bool checkout_fill_dataset(struct core *core, const struct object *version, int dirfd, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct op op = {.core = core, .caller = &caller_system, .arena = &a};
    struct sample_set set;
    if (!sample_set_of(&op, version, &set, err))
        return false;
    struct filling f = {.core = core, .version = version->id, .dirfd = dirfd, .file = -1};
    arena_init(&f.arena);
    bool ok = link_samples(&f, err) && write_annotations(&f, "ingot", "ingot.jsonl", set.type, err) &&
              write_annotations(&f, "coco", "coco.json", set.type, err);
    if (f.file >= 0)
        close(f.file);
    arena_release(&f.arena);
    return ok;
}
