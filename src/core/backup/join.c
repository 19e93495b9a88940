/* An archive that lists its blobs: the list read, and the archive put together with them. */
#include "core/backup/pack.h"

#include "store/store.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_MAX_BYTES (SHA256_HEX + 24) /* digest, space, size, end */

static bool bad(struct archive *in, struct err *err)
{
    const char *why = archive_error_string(in);
    return err_set(err, ERR_INVALID, NULL, "this is no whole backup: %s", why ? why : "it cannot be read");
}

static bool open_archive(struct archive *in, int fd)
{
    return lseek(fd, 0, SEEK_SET) == 0 && archive_read_support_filter_zstd(in) == ARCHIVE_OK &&
           archive_read_support_format_tar(in) == ARCHIVE_OK &&
           archive_read_open_fd(in, fd, PACK_PIECE) == ARCHIVE_OK;
}

/* --- the list --- */

static bool take_line(struct str line, backup_blob_fn *one, void *ctx, struct err *err)
{
    char hex[SHA256_HEX + 1];
    struct digest d;
    int64_t size;
    bool good = line.n > SHA256_HEX + 1 && line.p[SHA256_HEX] == ' ' &&
                digest_parse((struct str){line.p, SHA256_HEX}, &d) &&
                str_to_i64((struct str){line.p + SHA256_HEX + 1, line.n - SHA256_HEX - 1}, &size) &&
                size >= 0;
    if (!good)
        return err_set(err, ERR_INVALID, NULL, BACKUP_LIST " in the backup is damaged");
    digest_hex(&d, hex);
    return one(ctx, hex, size, err);
}

static bool take_lines(struct archive *in, backup_blob_fn *one, void *ctx, struct err *err)
{
    char text[64 * LINE_MAX_BYTES];
    size_t n = 0;
    la_ssize_t got;
    while ((got = archive_read_data(in, text + n, sizeof text - n)) > 0) {
        size_t from = 0;
        n += (size_t)got;
        for (char *end; (end = memchr(text + from, '\n', n - from)); from = (size_t)(end - text) + 1)
            if (!take_line((struct str){text + from, (size_t)(end - text) - from}, one, ctx, err))
                return false;
        n -= from;
        memmove(text, text + from, n);
        if (n >= LINE_MAX_BYTES)
            break;
    }
    if (got < 0)
        return bad(in, err);
    return n == 0 || err_set(err, ERR_INVALID, NULL, BACKUP_LIST " in the backup is damaged");
}

bool backup_each_blob(int fd, backup_blob_fn *one, void *ctx, bool *ret_listed, struct err *err)
{
    struct archive *in = archive_read_new();
    struct archive_entry *e;
    bool ok = true;
    const char *first = open_archive(in, fd) && archive_read_next_header(in, &e) == ARCHIVE_OK
                            ? archive_entry_pathname_utf8(e)
                            : NULL;
    *ret_listed = first && strcmp(first, BACKUP_LIST) == 0;
    if (*ret_listed)
        ok = take_lines(in, one, ctx, err);
    archive_read_free(in);
    return ok;
}

/* --- the whole --- */

struct joining {
    struct pack pack;
    int blobs;
};

static bool join_blob(void *ctx, const char *hex, unused_ok int64_t size, struct err *err)
{
    struct joining *j = ctx;
    char path[SHA256_HEX + 8];
    int64_t added;
    snprintf(path, sizeof path, "%.2s/%.64s", hex, hex);
    auto_fd int fd = openat(j->blobs, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_INVALID, NULL, "the blob %s of the backup cannot be read: %s", hex,
                       strerror(errno));
    bool ok = pack_blob(&j->pack, fd, hex, 0, &added, err);
    if (!ok && !j->pack.sink_err.code)
        err->code = ERR_INVALID;
    return ok;
}

static bool copy_members(struct joining *j, struct archive *in, struct err *err)
{
    struct archive_entry *e;
    int status;
    while ((status = archive_read_next_header(in, &e)) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname_utf8(e);
        la_ssize_t n;
        if (!name || !pack_header(&j->pack, name, archive_entry_size(e), archive_entry_mtime(e), err))
            return name ? false : bad(in, err);
        while ((n = archive_read_data(in, j->pack.piece, PACK_PIECE)) > 0)
            if (!pack_data(&j->pack, (struct str){j->pack.piece, (size_t)n}, err))
                return false;
        if (n < 0)
            return bad(in, err);
    }
    return status == ARCHIVE_EOF || bad(in, err);
}

bool backup_join(int fd, int blobs, const struct backup_sink *sink, struct err *err)
{
    struct joining j = {.blobs = blobs};
    bool listed;
    bool ok = pack_begin(&j.pack, sink, err) && backup_each_blob(fd, join_blob, &j, &listed, err);
    struct archive *in = archive_read_new();
    ok = ok && (open_archive(in, fd) || bad(in, err)) && copy_members(&j, in, err);
    archive_read_free(in);
    return pack_end(&j.pack, ok, err);
}
