/* Writing the archive. */
#include "core/backup/pack.h"
#include "core/backup/trees.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "core/series/series.h"
#include "store/store.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_DEPTH 8

/* --- members --- */

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

bool pack_begin(struct pack *k, const struct backup_sink *sink, struct err *err)
{
    *k = (struct pack){.archive = archive_write_new(), .sink = sink, .piece = base_alloc(PACK_PIECE)};
    return done(k,
                archive_write_add_filter_zstd(k->archive) == ARCHIVE_OK &&
                    archive_write_set_format_pax_restricted(k->archive) == ARCHIVE_OK &&
                    archive_write_set_bytes_in_last_block(k->archive, 1) == ARCHIVE_OK &&
                    archive_write_open(k->archive, k, NULL, on_write, NULL) == ARCHIVE_OK,
                err);
}

bool pack_end(struct pack *k, bool ok, struct err *err)
{
    ok = ok && done(k, archive_write_close(k->archive) == ARCHIVE_OK, err);
    k->given_up = !ok;
    archive_write_free(k->archive);
    free(k->piece);
    return ok;
}

bool pack_header(struct pack *k, const char *name, int64_t size, int64_t time_s, struct err *err)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_size(e, size);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0600);
    archive_entry_set_mtime(e, time_s, 0);
    bool ok = archive_write_header(k->archive, e) == ARCHIVE_OK;
    archive_entry_free(e);
    return done(k, ok, err);
}

bool pack_data(struct pack *k, struct str data, struct err *err)
{
    return done(k, archive_write_data(k->archive, data.p, data.n) == (la_ssize_t)data.n, err);
}

bool pack_bytes(struct pack *k, const char *name, int fd, int64_t size, uint8_t hash[SHA256_SIZE],
                struct err *err)
{
    struct sha256 *h = sha256_new();
    bool ok = true;
    while (ok && size > 0) {
        ssize_t got = read(fd, k->piece, size < PACK_PIECE ? (size_t)size : PACK_PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            ok = got < 0 ? err_errno(err, errno, "%s", name)
                         : err_set(err, ERR_INTERNAL, NULL, "%s became shorter while it was read", name);
            break;
        }
        sha256_add(h, k->piece, (size_t)got);
        ok = pack_data(k, (struct str){k->piece, (size_t)got}, err);
        size -= got;
    }
    sha256_finish(h, hash);
    return ok;
}

bool pack_blob(struct pack *k, int fd, const char *hex, int64_t time_s, int64_t *ret_size, struct err *err)
{
    struct stat st;
    uint8_t hash[SHA256_SIZE], expected[SHA256_SIZE];
    char name[SHA256_HEX + 32];
    snprintf(name, sizeof name, BACKUP_BLOBS "/sha256/%.2s/%.64s", hex, hex);
    if (fstat(fd, &st) != 0)
        return err_errno(err, errno, "%s", name);
    if (!pack_header(k, name, st.st_size, time_s, err) || !pack_bytes(k, name, fd, st.st_size, hash, err))
        return false;
    if (!hex_decode(str_of(hex), expected, SHA256_SIZE) || memcmp(hash, expected, SHA256_SIZE) != 0)
        return err_set(err, ERR_INTERNAL, NULL,
                       "%s does not have the content of its name: the disk or a program "
                       "damaged it",
                       name);
    *ret_size = st.st_size;
    return true;
}

/* --- the platform --- */

struct packing {
    struct pack k;
    struct core *core;
    int64_t now_s;
    struct json_out manifest;
    struct buf manifest_text;
    FILE *list;        /* blobs are only named, here; NULL: they go into the archive */
    const char *store; /* the bucket that keeps what is not listed; NULL: none */
    int64_t blobs, blob_bytes;
};

static void note(struct packing *p, const char *name, int64_t size, const uint8_t hash[SHA256_SIZE])
{
    char hex[SHA256_HEX + 1];
    hex_encode(hash, SHA256_SIZE, hex);
    json_object(&p->manifest);
    json_kz(&p->manifest, "path", name);
    json_kint(&p->manifest, "size", size);
    json_kz(&p->manifest, "sha256", hex);
    json_object_end(&p->manifest);
}

static bool add_file(struct packing *p, const char *name, int fd, struct err *err)
{
    struct stat st;
    uint8_t hash[SHA256_SIZE];
    if (fstat(fd, &st) != 0)
        return err_errno(err, errno, "%s", name);
    if (!pack_header(&p->k, name, st.st_size, p->now_s, err) ||
        !pack_bytes(&p->k, name, fd, st.st_size, hash, err))
        return false;
    note(p, name, st.st_size, hash);
    return true;
}

static bool list_blob(struct packing *p, int fd, const char *hex, int64_t *ret_size, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || fprintf(p->list, "%s %lld\n", hex, (long long)st.st_size) < 0)
        return err_errno(err, errno, "the list of blobs");
    *ret_size = st.st_size;
    return true;
}

static bool add_open_blob(struct packing *p, int fd, const char *hex, struct err *err)
{
    int64_t size;
    bool ok = p->list ? list_blob(p, fd, hex, &size, err) : pack_blob(&p->k, fd, hex, p->now_s, &size, err);
    if (!ok)
        return false;
    p->blobs++;
    p->blob_bytes += size;
    return true;
}

static bool add_blob(struct packing *p, int folder, const char *file, struct err *err)
{
    auto_fd int fd = openat(folder, file, (p->list ? O_PATH : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC);
    /* Collected before the backup held the collector, so the copied rows do not use it; or moved to the
     * bucket meanwhile. */
    if (fd < 0 && errno == ENOENT)
        return true;
    return fd < 0 ? err_errno(err, errno, "blob %s", file) : add_open_blob(p, fd, file, err);
}

/* Of a platform whose blobs are in a bucket: each is fetched. */
static bool add_remote_blob(void *ctx, const struct digest *d, struct err *err)
{
    struct packing *p = ctx;
    char hex[SHA256_HEX + 1];
    struct err why = {0};
    auto_fd int fd = blob_open(p->core->store, d, NULL, &why);
    if (fd < 0 && why.code == ERR_NOT_FOUND)
        return true;
    if (fd < 0) {
        *err = why;
        return false;
    }
    digest_hex(d, hex);
    return add_open_blob(p, fd, hex, err);
}

/* All blobs below; temporary files there (no digests) are left out. */
static bool add_folder(struct packing *p, int parent, const char *file, int depth, struct err *err)
{
    int fd = openat(parent, file, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return err_errno(err, errno, "%s", file);
    bool ok = true;
    struct dirent *e;
    while (ok && (errno = 0, e = readdir(dir))) {
        char skip[SHA256_SIZE];
        if (e->d_name[0] == '.')
            continue;
        if (e->d_type == DT_DIR && depth < MAX_DEPTH)
            ok = add_folder(p, dirfd(dir), e->d_name, depth + 1, err);
        else if (e->d_type == DT_REG && hex_decode(str_of(e->d_name), skip, SHA256_SIZE))
            ok = add_blob(p, dirfd(dir), e->d_name, err);
    }
    closedir(dir);
    return ok;
}

/* The data folder of a platform with a bucket has what still waits to be moved there: a list names only
 * that. */
static bool add_blobs(struct packing *p, struct err *err)
{
    struct core *core = p->core;
    if (store_is_remote(core->store) && !p->list)
        return blob_each(core->store, add_remote_blob, p, err);
    return faccessat(core->data_fd, BACKUP_BLOBS, F_OK, 0) != 0 ||
           add_folder(p, core->data_fd, BACKUP_BLOBS, 0, err);
}

/* It goes first, so that a reader of it need not unpack the database. */
static bool add_list(struct packing *p, struct err *err)
{
    int fd = open(p->core->data, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    p->list = fd < 0 ? NULL : fdopen(fd, "w");
    if (!p->list)
        return err_errno(err, errno, "the list of blobs");
    bool ok = add_blobs(p, err);
    if (ok && (fflush(p->list) != 0 || lseek(fd, 0, SEEK_SET) != 0))
        ok = err_errno(err, errno, "the list of blobs");
    ok = ok && add_file(p, BACKUP_LIST, fd, err);
    fclose(p->list);
    p->list = NULL;
    p->store = store_place(p->core->store);
    return ok;
}

static bool add_manifest(struct packing *p, struct err *err)
{
    char when[CLOCK_TEXT_MAX];
    json_array_end(&p->manifest);
    json_kint(&p->manifest, "blobs", p->blobs);
    json_kint(&p->manifest, "blob_bytes", p->blob_bytes);
    if (p->store)
        json_kz(&p->manifest, "store", p->store);
    json_kint(&p->manifest, "format", BACKUP_FORMAT);
    json_kz(&p->manifest, "version", INGOT_VERSION);
    json_kz(&p->manifest, "created_at", clock_format(clock_now(), when));
    json_object_end(&p->manifest);
    struct str text = buf_view(&p->manifest_text);
    return pack_header(&p->k, BACKUP_MANIFEST, (int64_t)text.n, p->now_s, err) && pack_data(&p->k, text, err);
}

static bool add_optional(struct packing *p, const char *name, struct err *err)
{
    auto_fd int fd = openat(p->core->data_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return true;
    return fd < 0 ? err_errno(err, errno, "%s", name) : add_file(p, name, fd, err);
}

static bool add_trees(struct packing *p, struct err *err)
{
    int fd;
    if (!trees_pack(p->core, &fd, err))
        return false;
    auto_fd int file = fd;
    return file < 0 || add_file(p, BACKUP_TREES, file, err);
}

static bool pack_all(struct packing *p, enum backup_blobs blobs, int database, struct err *err)
{
    json_begin(&p->manifest, &p->manifest_text);
    json_object(&p->manifest);
    json_key(&p->manifest, "files");
    json_array(&p->manifest);
    bool listed = blobs == BACKUP_BLOBS_LISTED;
    return (!listed || add_list(p, err)) && add_file(p, BACKUP_DATABASE, database, err) &&
           add_optional(p, BACKUP_CONFIG, err) && add_trees(p, err) && (listed || add_blobs(p, err)) &&
           add_manifest(p, err);
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
    if (series_flush(core, err) && db_backup(core->db, path, err)) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            err_errno(err, errno, "%s", path);
    }
    unlink(path);
    return fd;
}

bool backup_write(struct core *core, enum backup_blobs blobs, const struct backup_sink *sink, struct err *err)
{
    store_hold(core->store, BACKUP_HOLD_S);
    auto_fd int database = copy_database(core, err);
    if (database < 0)
        return false;
    struct packing p = {.core = core, .now_s = clock_now() / 1000000};
    bool ok = pack_begin(&p.k, sink, err) && pack_all(&p, blobs, database, err);
    ok = pack_end(&p.k, ok, err);
    buf_release(&p.manifest_text);
    return ok;
}
