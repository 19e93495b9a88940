/* Writing the archive. */
#include "core/backup/backup.h"
#include "core/backup/trees.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "store/store.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define PIECE     (256 * 1024)
#define MAX_DEPTH 8

struct pack {
    struct store *store;
    struct archive *archive;
    const struct backup_sink *sink;
    /* Something failed: the rest goes nowhere. The archive is not told, as one that knows of a failure leaks
     * its buffers. */
    bool given_up;
    struct err sink_err; /* what the sink said */
    struct json_out manifest;
    struct buf manifest_text;
    int64_t blobs, blob_bytes;
    char *piece;
};

static la_ssize_t on_write(unused_ok struct archive *a, void *ctx, const void *p, size_t n)
{
    struct pack *k = ctx;
    if (!k->given_up)
        k->given_up = !k->sink->write(k->sink->ctx, (struct str){p, n}, &k->sink_err);
    return (la_ssize_t)n;
}

/* What libarchive and the sink made of a step. */
static bool done(struct pack *k, bool ok, struct err *err)
{
    if (k->sink_err.code) {
        *err = k->sink_err;
        return false;
    }
    return ok || err_set(err, ERR_INTERNAL, NULL, "the archive cannot be written: %s",
                         archive_error_string(k->archive));
}

static bool add_header(struct pack *k, const char *name, int64_t size, struct err *err)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_size(e, size);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0600);
    archive_entry_set_mtime(e, clock_now() / 1000000, 0);
    bool ok = archive_write_header(k->archive, e) == ARCHIVE_OK;
    archive_entry_free(e);
    return done(k, ok, err);
}

/* Exactly size bytes of fd; a file that shrank meanwhile is an error. */
static bool add_bytes(struct pack *k, const char *name, int fd, int64_t size, uint8_t hash[SHA256_SIZE],
                      struct err *err)
{
    struct sha256 *h = sha256_new();
    bool ok = true;
    while (ok && size > 0) {
        ssize_t got = read(fd, k->piece, size < PIECE ? (size_t)size : PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            ok = got < 0 ? err_errno(err, errno, "%s", name)
                         : err_set(err, ERR_INTERNAL, NULL, "%s became shorter while it was read", name);
            break;
        }
        sha256_add(h, k->piece, (size_t)got);
        ok = done(k, archive_write_data(k->archive, k->piece, (size_t)got) == got, err);
        size -= got;
    }
    sha256_finish(h, hash);
    return ok;
}

static void note(struct pack *k, const char *name, int64_t size, const uint8_t hash[SHA256_SIZE])
{
    char hex[SHA256_HEX + 1];
    hex_encode(hash, SHA256_SIZE, hex);
    json_object(&k->manifest);
    json_kz(&k->manifest, "path", name);
    json_kint(&k->manifest, "size", size);
    json_kz(&k->manifest, "sha256", hex);
    json_object_end(&k->manifest);
}

static bool add_file(struct pack *k, const char *name, int fd, struct err *err)
{
    struct stat st;
    uint8_t hash[SHA256_SIZE];
    if (fstat(fd, &st) != 0)
        return err_errno(err, errno, "%s", name);
    if (!add_header(k, name, st.st_size, err) || !add_bytes(k, name, fd, st.st_size, hash, err))
        return false;
    note(k, name, st.st_size, hash);
    return true;
}

static bool add_open_blob(struct pack *k, int fd, const char *file, const char *name, struct err *err)
{
    struct stat st;
    uint8_t hash[SHA256_SIZE], expected[SHA256_SIZE];
    if (fstat(fd, &st) != 0)
        return err_errno(err, errno, "%s", name);
    if (!add_header(k, name, st.st_size, err) || !add_bytes(k, name, fd, st.st_size, hash, err))
        return false;
    if (!hex_decode(str_of(file), expected, SHA256_SIZE) || memcmp(hash, expected, SHA256_SIZE) != 0)
        return err_set(err, ERR_INTERNAL, NULL,
                       "%s does not have the content of its name: the disk or a program "
                       "damaged it",
                       name);
    k->blobs++;
    k->blob_bytes += st.st_size;
    return true;
}

static bool add_blob(struct pack *k, int folder, const char *file, const char *name, struct err *err)
{
    auto_fd int fd = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    /* Collected meanwhile: then the copied rows do not use it, as an unused blob is kept for a grace time. */
    if (fd < 0 && errno == ENOENT)
        return true;
    return fd < 0 ? err_errno(err, errno, "%s", name) : add_open_blob(k, fd, file, name, err);
}

/* Of a platform whose blobs are in a bucket: each is fetched. */
static bool add_remote_blob(void *ctx, const struct digest *d, struct err *err)
{
    struct pack *k = ctx;
    char hex[SHA256_HEX + 1], name[SHA256_HEX + 32];
    struct err why = {0};
    auto_fd int fd = blob_open(k->store, d, NULL, &why);
    if (fd < 0 && why.code == ERR_NOT_FOUND)
        return true;
    if (fd < 0) {
        *err = why;
        return false;
    }
    digest_hex(d, hex);
    snprintf(name, sizeof name, BACKUP_BLOBS "/sha256/%.2s/%s", hex, hex);
    return add_open_blob(k, fd, hex, name, err);
}

/* All blobs below; temporary files there (no digests) are left out. */
static bool add_blobs(struct pack *k, int parent, const char *file, const char *name, int depth,
                      struct err *err)
{
    int fd = openat(parent, file, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return err_errno(err, errno, "%s", name);
    bool ok = true;
    struct dirent *e;
    while (ok && (errno = 0, e = readdir(dir))) {
        char path[512], skip[SHA256_SIZE];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", name, e->d_name);
        if (e->d_type == DT_DIR && depth < MAX_DEPTH)
            ok = add_blobs(k, dirfd(dir), e->d_name, path, depth + 1, err);
        else if (e->d_type == DT_REG && hex_decode(str_of(e->d_name), skip, SHA256_SIZE))
            ok = add_blob(k, dirfd(dir), e->d_name, path, err);
    }
    closedir(dir);
    return ok;
}

static bool add_manifest(struct pack *k, struct err *err)
{
    char when[CLOCK_TEXT_MAX];
    json_array_end(&k->manifest);
    json_kint(&k->manifest, "blobs", k->blobs);
    json_kint(&k->manifest, "blob_bytes", k->blob_bytes);
    json_kint(&k->manifest, "format", BACKUP_FORMAT);
    json_kz(&k->manifest, "version", INGOT_VERSION);
    json_kz(&k->manifest, "created_at", clock_format(clock_now(), when));
    json_object_end(&k->manifest);
    struct str text = buf_view(&k->manifest_text);
    if (!add_header(k, BACKUP_MANIFEST, (int64_t)text.n, err))
        return false;
    return done(k, archive_write_data(k->archive, text.p, text.n) == (la_ssize_t)text.n, err);
}

static bool add_optional(struct pack *k, struct core *core, const char *name, struct err *err)
{
    auto_fd int fd = openat(core->data_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return true;
    return fd < 0 ? err_errno(err, errno, "%s", name) : add_file(k, name, fd, err);
}

static bool add_trees(struct pack *k, struct core *core, struct err *err)
{
    int fd;
    if (!trees_pack(core, &fd, err))
        return false;
    auto_fd int file = fd;
    return file < 0 || add_file(k, BACKUP_TREES, file, err);
}

static bool pack_all(struct pack *k, struct core *core, int database, struct err *err)
{
    if (archive_write_add_filter_zstd(k->archive) != ARCHIVE_OK ||
        archive_write_set_format_pax_restricted(k->archive) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(k->archive, 1) != ARCHIVE_OK ||
        archive_write_open(k->archive, k, NULL, on_write, NULL) != ARCHIVE_OK)
        return done(k, false, err);
    json_begin(&k->manifest, &k->manifest_text);
    json_object(&k->manifest);
    json_key(&k->manifest, "files");
    json_array(&k->manifest);
    if (!add_file(k, BACKUP_DATABASE, database, err) || !add_optional(k, core, BACKUP_CONFIG, err) ||
        !add_trees(k, core, err))
        return false;
    bool remote = store_is_remote(core->store);
    if (remote && !blob_each(core->store, add_remote_blob, k, err))
        return false;
    bool blobs = !remote && faccessat(core->data_fd, BACKUP_BLOBS, F_OK, 0) == 0;
    if (blobs && !add_blobs(k, core->data_fd, BACKUP_BLOBS, BACKUP_BLOBS, 0, err))
        return false;
    if (!add_manifest(k, err))
        return false;
    return done(k, archive_write_close(k->archive) == ARCHIVE_OK, err);
}

/* The copy of the database, already without a name. */
static int copy_database(struct core *core, struct err *err)
{
    char path[4096], tail[16];
    random_text(8, tail);
    int n = snprintf(path, sizeof path, "%s/backup-%s.tmp", core->data, tail);
    if (n >= (int)sizeof path) {
        err_set(err, ERR_INTERNAL, NULL, "the data folder's path is too long");
        return -1;
    }
    int fd = -1;
    if (db_backup(core->db, path, err)) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            err_errno(err, errno, "%s", path);
    }
    unlink(path);
    return fd;
}

bool backup_write(struct core *core, const struct backup_sink *sink, struct err *err)
{
    auto_fd int database = copy_database(core, err);
    if (database < 0)
        return false;
    struct pack k = {
        .store = core->store, .archive = archive_write_new(), .sink = sink, .piece = base_alloc(PIECE)};
    bool ok = pack_all(&k, core, database, err);
    k.given_up = !ok;
    archive_write_free(k.archive);
    buf_release(&k.manifest_text);
    free(k.piece);
    return ok;
}
