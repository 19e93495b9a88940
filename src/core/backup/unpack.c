/* Reading and checking the archive. */
#include "core/backup/backup.h"
#include "core/backup/trees.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define PIECE        (256 * 1024)
#define MAX_MANIFEST (1 << 20)

/* A member that was read, to be compared with the manifest. */
struct member {
    int64_t size;
    uint8_t hash[SHA256_SIZE];
};

struct unpack {
    struct archive *archive;
    int fd, into;
    char *in, *piece;
    struct arena *arena;
    struct map *members; /* path to struct member; blobs are only counted */
    int64_t blobs, blob_bytes, files, bytes;
    struct str manifest;
};

static la_ssize_t on_read(struct archive *a, void *ctx, const void **ret)
{
    struct unpack *u = ctx;
    ssize_t n;
    do
        n = read(u->fd, u->in, PIECE);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        archive_set_error(a, errno, "%s", strerror(errno));
    *ret = u->in;
    return n;
}

static bool bad(struct unpack *u, struct err *err)
{
    const char *why = archive_error_string(u->archive);
    return err_set(err, ERR_INVALID, NULL, "this is no whole backup: %s", why ? why : "it cannot be read");
}

/* Known names only: an archive cannot place a file anywhere else. */
static bool allowed(const char *path, bool *ret_blob, uint8_t digest[SHA256_SIZE])
{
    static const char *const names[] = {BACKUP_DATABASE, BACKUP_CONFIG, BACKUP_MANIFEST, BACKUP_TREES,
                                        BACKUP_LIST};
    *ret_blob = false;
    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    const char *file = strrchr(path, '/');
    *ret_blob = str_starts(str_of(path), BACKUP_BLOBS "/") && !strstr(path, "/.") && !strstr(path, "//") &&
                strlen(path) < 256 && hex_decode(str_of(file + 1), digest, SHA256_SIZE);
    return *ret_blob;
}

static bool make_parents(int into, const char *path, struct err *err)
{
    char part[256];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (mkdirat(into, part, 0700) != 0 && errno != EEXIST)
            return err_errno(err, errno, "%s", part);
    }
    return true;
}

static int open_target(struct unpack *u, const char *path, struct err *err)
{
    if (!make_parents(u->into, path, err))
        return -1;
    return fs_open_beneath(u->into, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600, err);
}

static bool copy_member(struct unpack *u, int out, struct member *ret, struct err *err)
{
    struct sha256 *h = sha256_new();
    la_ssize_t n;
    bool ok = true;
    while (ok && (n = archive_read_data(u->archive, u->piece, PIECE)) != 0) {
        if (n < 0) {
            ok = bad(u, err);
            break;
        }
        sha256_add(h, u->piece, (size_t)n);
        ret->size += n;
        ok = out < 0 || fs_write_all(out, u->piece, (size_t)n, err);
    }
    sha256_finish(h, ret->hash);
    if (ok && out >= 0 && fsync(out) != 0)
        ok = err_errno(err, errno, "a file of the backup");
    return ok;
}

static bool read_manifest(struct unpack *u, struct err *err)
{
    char *text = arena_alloc(u->arena, MAX_MANIFEST + 1);
    size_t n = 0;
    la_ssize_t got;
    while (n <= MAX_MANIFEST && (got = archive_read_data(u->archive, text + n, MAX_MANIFEST + 1 - n)) != 0) {
        if (got < 0)
            return bad(u, err);
        n += (size_t)got;
    }
    if (n > MAX_MANIFEST)
        return err_set(err, ERR_INVALID, NULL, "the backup's manifest is larger than %d bytes", MAX_MANIFEST);
    u->manifest = (struct str){text, n};
    return true;
}

static bool take_member(struct unpack *u, struct archive_entry *e, struct err *err)
{
    const char *path = archive_entry_pathname_utf8(e);
    uint8_t digest[SHA256_SIZE];
    bool blob;
    if (!path || archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e) ||
        !allowed(path, &blob, digest))
        return err_set(err, ERR_INVALID, NULL, "\"%s\" does not belong into a backup", path ? path : "");
    if (u->manifest.p)
        return err_set(err, ERR_INVALID, NULL, "\"%s\" follows the end of the backup", path);
    if (strcmp(path, BACKUP_MANIFEST) == 0)
        return read_manifest(u, err);
    struct member m = {0};
    auto_fd int out = u->into >= 0 ? open_target(u, path, err) : -1;
    if ((u->into >= 0 && out < 0) || !copy_member(u, out, &m, err))
        return false;
    u->files++;
    u->bytes += m.size;
    if (blob) {
        u->blobs++;
        u->blob_bytes += m.size;
        return memcmp(digest, m.hash, SHA256_SIZE) == 0 ||
               err_set(err, ERR_INVALID, NULL, "%s in the backup is damaged", path);
    }
    map_set(u->members, str_of(path), arena_copy(u->arena, &m, sizeof m));
    return true;
}

static bool check_file(struct unpack *u, yyjson_val *file, struct err *err)
{
    struct str path = json_str(yyjson_obj_get(file, "path"));
    const struct member *m = path.p ? map_get(u->members, path) : NULL;
    uint8_t expected[SHA256_SIZE];
    if (!m)
        return err_set(err, ERR_INVALID, NULL, "\"" STR_FMT "\" is missing in the backup", STR_ARG(path));
    bool same = yyjson_get_sint(yyjson_obj_get(file, "size")) == m->size &&
                hex_decode(json_str(yyjson_obj_get(file, "sha256")), expected, SHA256_SIZE) &&
                memcmp(expected, m->hash, SHA256_SIZE) == 0;
    return same || err_set(err, ERR_INVALID, NULL, STR_FMT " in the backup is damaged", STR_ARG(path));
}

static bool check_all(struct unpack *u, struct backup_info *ret, struct err *err)
{
    if (!u->manifest.p)
        return err_set(err, ERR_INVALID, NULL, "the backup is cut off: its manifest is missing");
    yyjson_val *v = json_parse(u->arena, u->manifest, err);
    yyjson_val *files = v ? yyjson_obj_get(v, "files") : NULL;
    if (!v || !yyjson_is_arr(files))
        return err_set(err, ERR_INVALID, NULL, "the backup's manifest cannot be read");
    if (yyjson_get_sint(yyjson_obj_get(v, "format")) != BACKUP_FORMAT)
        return err_set(err, ERR_INVALID, NULL,
                       "the backup's format is not %d: another version of the program made it",
                       BACKUP_FORMAT);
    size_t i, n;
    yyjson_val *file;
    yyjson_arr_foreach(files, i, n, file)
    {
        if (!check_file(u, file, err))
            return false;
    }
    int64_t blobs = yyjson_get_sint(yyjson_obj_get(v, "blobs"));
    bool apart = u->blobs == 0 && map_get(u->members, STR(BACKUP_LIST));
    if (n != map_count(u->members) || !map_get(u->members, STR(BACKUP_DATABASE)) ||
        (!apart && (blobs != u->blobs || yyjson_get_sint(yyjson_obj_get(v, "blob_bytes")) != u->blob_bytes)))
        return err_set(err, ERR_INVALID, NULL, "the backup does not hold what its manifest says");
    *ret = (struct backup_info){.version = yyjson_get_str(yyjson_obj_get(v, "version")),
                                .created_at = yyjson_get_str(yyjson_obj_get(v, "created_at")),
                                .files = u->files,
                                .bytes = u->bytes,
                                .apart = apart ? blobs : 0,
                                .store = yyjson_get_str(yyjson_obj_get(v, "store"))};
    return true;
}

static bool read_all(struct unpack *u, struct backup_info *ret, struct err *err)
{
    if (archive_read_support_filter_zstd(u->archive) != ARCHIVE_OK ||
        archive_read_support_format_tar(u->archive) != ARCHIVE_OK ||
        archive_read_open(u->archive, u, NULL, on_read, NULL) != ARCHIVE_OK)
        return bad(u, err);
    struct archive_entry *e;
    int status;
    while ((status = archive_read_next_header(u->archive, &e)) == ARCHIVE_OK)
        if (!take_member(u, e, err))
            return false;
    return status == ARCHIVE_EOF ? check_all(u, ret, err) : bad(u, err);
}

bool backup_unpack(int fd, int into, struct arena *a, struct backup_info *ret, struct err *err)
{
    struct unpack u = {.archive = archive_read_new(),
                       .fd = fd,
                       .into = into,
                       .arena = a,
                       .members = map_new(),
                       .in = base_alloc(PIECE),
                       .piece = base_alloc(PIECE)};
    bool ok = read_all(&u, ret, err);
    archive_read_free(u.archive);
    map_free(u.members);
    free(u.in);
    free(u.piece);
    return ok;
}
