#include "core/data/spool.h"

#include "base/fs.h"
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>

struct spool {
    FILE *file;
};

struct record {
    struct digest blob;
    int64_t size, width, height;
    double duration;
    uint64_t name_size, annotation_size;
    uint8_t waits, annotated, machine, split;
    uint32_t annotations;
};

struct spool *spool_new(struct core *core, struct err *err)
{
    char name[40], tail[16];
    random_text(8, tail);
    snprintf(name, sizeof name, "import-%s.tmp", tail);
    int fd = openat(core->data_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "cannot make a file for the import"), NULL;
    unlinkat(core->data_fd, name, 0);
    struct spool *s = base_zalloc(sizeof *s);
    s->file = fdopen(fd, "w+");
    if (s->file)
        return s;
    err_errno(err, errno, "cannot make a file for the import");
    close(fd);
    free(s);
    return NULL;
}

void spool_free(struct spool *s)
{
    if (!s)
        return;
    fclose(s->file);
    free(s);
}

static bool put(struct spool *s, const void *p, size_t n, struct err *err)
{
    return n == 0 || fwrite(p, n, 1, s->file) == 1 ||
           err_errno(err, errno, "cannot write what the import found");
}

static bool put_record(struct spool *s, struct record *r, struct str name, struct str annotation,
                       struct err *err)
{
    r->name_size = name.n;
    r->annotation_size = annotation.n;
    r->annotated = annotation.p != NULL;
    return put(s, r, sizeof *r, err) && put(s, name.p, name.n, err) &&
           put(s, annotation.p, annotation.n, err);
}

bool spool_sample(struct spool *s, const struct sample_new *n, uint32_t annotations, struct err *err)
{
    struct record r = {.blob = n->blob,
                       .size = n->size,
                       .width = n->width,
                       .height = n->height,
                       .duration = n->duration,
                       .machine = n->machine,
                       .split = (uint8_t)n->split,
                       .annotations = annotations};
    return put_record(s, &r, n->name, n->annotation, err);
}

bool spool_waiting(struct spool *s, const struct sample_waiting *w, struct err *err)
{
    struct record r = {.waits = 1, .split = (uint8_t)w->split};
    return put_record(s, &r, w->name, w->annotation, err);
}

bool spool_rewind(struct spool *s, struct err *err)
{
    return (fflush(s->file) == 0 && fseeko(s->file, 0, SEEK_SET) == 0) ||
           err_errno(err, errno, "cannot write what the import found");
}

static bool take_text(struct spool *s, struct arena *a, uint64_t n, struct str *ret, struct err *err)
{
    char *p = arena_alloc(a, (size_t)n + 1);
    if (n && fread(p, (size_t)n, 1, s->file) != 1)
        return err_errno(err, errno ? errno : EIO, "cannot read what the import found");
    p[n] = 0;
    *ret = (struct str){p, (size_t)n};
    return true;
}

bool spool_next(struct spool *s, struct arena *a, struct spool_item *ret, bool *done, struct err *err)
{
    struct record r;
    struct str name, annotation;
    *done = fread(&r, sizeof r, 1, s->file) != 1;
    if (*done)
        return !ferror(s->file) || err_errno(err, errno, "cannot read what the import found");
    if (!take_text(s, a, r.name_size, &name, err) || !take_text(s, a, r.annotation_size, &annotation, err))
        return false;
    if (!r.annotated)
        annotation = STR_NULL;
    *ret = (struct spool_item){.waits = r.waits,
                               .annotations = r.annotations,
                               .sample = {.name = name,
                                          .blob = r.blob,
                                          .size = r.size,
                                          .width = r.width,
                                          .height = r.height,
                                          .duration = r.duration,
                                          .annotation = annotation,
                                          .split = (enum codec_split)r.split,
                                          .machine = r.machine},
                               .waiting = {name, annotation, (enum codec_split)r.split}};
    return true;
}
