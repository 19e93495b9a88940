#include "core/data/zip_out.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#define SPACE (256 << 10)

struct zip_out {
    struct store *store;
    struct archive *archive;
    struct blob_writer *writer;
    struct err err; /* of the writer */
    char *space;
};

static la_ssize_t write_out(struct archive *a, void *ctx, const void *p, size_t n)
{
    struct zip_out *z = ctx;
    if (blob_writer_add(z->writer, (struct str){p, n}, &z->err))
        return (la_ssize_t)n;
    archive_set_error(a, EIO, "%s", z->err.message);
    return -1;
}

static bool failed(struct zip_out *z, struct err *err)
{
    if (z->err.code)
        *err = z->err;
    else
        err_set(err, ERR_INTERNAL, NULL, "the archive cannot be written: %s",
                archive_error_string(z->archive));
    return false;
}

struct zip_out *zip_out_new(struct store *s, struct err *err)
{
    struct zip_out *z = base_zalloc(sizeof *z);
    z->store = s;
    z->archive = archive_write_new();
    z->space = base_alloc(SPACE);
    z->writer = blob_writer_new(s, err);
    archive_write_set_format_zip(z->archive);
    archive_write_set_bytes_in_last_block(z->archive, 1);
    if (z->writer && archive_write_open(z->archive, z, NULL, write_out, NULL) == ARCHIVE_OK)
        return z;
    if (z->writer)
        failed(z, err);
    zip_out_abort(z);
    return NULL;
}

/* The same content gives the same bytes: no times, no owners. */
static bool header(struct zip_out *z, const char *path, int64_t size, struct err *err)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname_utf8(e, path);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_mtime(e, 315532800, 0); /* 1980, where zip begins */
    if (size >= 0)
        archive_entry_set_size(e, size);
    bool ok = archive_write_header(z->archive, e) == ARCHIVE_OK;
    archive_entry_free(e);
    return ok || failed(z, err);
}

bool zip_out_begin(struct zip_out *z, const char *path, struct err *err)
{
    archive_write_zip_set_compression_deflate(z->archive);
    return header(z, path, -1, err);
}

bool zip_out_write(struct zip_out *z, const void *p, size_t n, struct err *err)
{
    return archive_write_data(z->archive, p, n) == (la_ssize_t)n || failed(z, err);
}

bool zip_out_end(struct zip_out *z, struct err *err)
{
    return archive_write_finish_entry(z->archive) == ARCHIVE_OK || failed(z, err);
}

bool zip_out_blob(struct zip_out *z, const char *path, const struct digest *d, struct err *err)
{
    int64_t size;
    auto_fd int fd = blob_open(z->store, d, &size, err);
    if (fd < 0)
        return false;
    archive_write_zip_set_compression_store(z->archive);
    if (!header(z, path, size, err))
        return false;
    ssize_t n;
    while ((n = read(fd, z->space, SPACE)) > 0)
        if (!zip_out_write(z, z->space, (size_t)n, err))
            return false;
    if (n < 0)
        return err_errno(err, errno, "a blob cannot be read");
    return zip_out_end(z, err);
}

bool zip_out_finish(struct zip_out *z, struct digest *ret, int64_t *ret_size, struct err *err)
{
    bool ok = archive_write_close(z->archive) == ARCHIVE_OK || failed(z, err);
    if (ok) {
        struct blob_writer *w = z->writer;
        z->writer = NULL;
        ok = blob_writer_finish(w, ret, ret_size, err);
    }
    zip_out_abort(z);
    return ok;
}

void zip_out_abort(struct zip_out *z)
{
    if (!z)
        return;
    archive_write_free(z->archive);
    blob_writer_abort(z->writer);
    free(z->space);
    free(z);
}
