#include "core/data/record_view.h"

#include "store/store.h"

#include <errno.h>
#include <sys/mman.h>

bool record_view_map(struct core *core, struct arena *a, const struct object *version, struct str name,
                     struct record_view *ret, struct err *err)
{
    struct digest d;
    int64_t size;
    if (!records_find(a, version, name, &d, err))
        return false;
    int fd = blob_open(core->store, &d, &size, err);
    if (fd < 0)
        return false;
    void *map = size ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (map == MAP_FAILED) {
        err_errno(err, size ? errno : EINVAL, "a record file cannot be mapped");
        close(fd);
        return false;
    }
    *ret = (struct record_view){.map = map, .size = (size_t)size, .fd = fd};
    return true;
}

bool record_view_open(struct core *core, struct arena *a, const struct object *version, struct str name,
                      struct record_view *ret, struct err *err)
{
    struct record_err why;
    if (!record_view_map(core, a, version, name, ret, err))
        return false;
    ret->reader = record_reader_shard(ret->map, ret->size, 0, &ret->first, &why);
    if (ret->reader)
        return true;
    record_view_close(ret);
    return err_set(err, ERR_CONFLICT, NULL, "the record file is damaged: %s", why.message);
}

void record_view_close(struct record_view *v)
{
    record_reader_free(v->reader);
    if (v->map)
        munmap((void *)v->map, v->size);
    if (v->fd >= 0)
        close(v->fd);
    *v = RECORD_VIEW_NONE;
}

/* How files that people look at begin; `at` bytes are skipped. */
static const struct {
    size_t at, n;
    const char *begin, *type;
} magics[] = {
    {0, 3, "\xff\xd8\xff", "image/jpeg"},
    {0, 8, "\x89PNG\r\n\x1a\n", "image/png"},
    {0, 4, "GIF8", "image/gif"},
    {8, 4, "WEBP", "image/webp"},
    {0, 2, "BM", "image/bmp"},
    {8, 4, "WAVE", "audio/wav"},
    {0, 4, "fLaC", "audio/flac"},
    {0, 4, "OggS", "audio/ogg"},
    {0, 3, "ID3", "audio/mpeg"},
    {0, 2, "\xff\xfb", "audio/mpeg"},
};

const char *record_view_type(const struct record_value *v)
{
    for (size_t i = 0; i < countof(magics); i++)
        if (v->size >= magics[i].at + magics[i].n &&
            memcmp((const char *)v->data + magics[i].at, magics[i].begin, magics[i].n) == 0)
            return magics[i].type;
    return "application/octet-stream";
}
