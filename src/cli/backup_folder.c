#include "cli/backup_folder.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "cli/backup.h"
#include "cli/progress.h"
#include "cli/remote.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>

#define PIECE   (256 * 1024)
#define PARTIAL "new.partial" /* what is being written; one at a time, as the folder is locked */
#define SUFFIX  ".tar.zst"

struct folder {
    struct cli *cli;
    const char *dir;
    const struct backup_folder_options *options;
    int fd, backups, blobs;
    struct progress progress;
    char *piece;
    int64_t there, fetched, fetched_bytes;
};

static void blob_name(const char *hex, char ret[SHA256_HEX + 8])
{
    snprintf(ret, SHA256_HEX + 8, "%.2s/%.64s", hex, hex);
}

/* --- blobs that have to go --- */

typedef bool drop_fn(struct folder *f, int fd, const char *hex, void *ctx);

static bool drop_below(struct folder *f, const char *first, drop_fn *drop, void *ctx, struct err *err)
{
    int dir_fd = openat(f->blobs, first, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = dir_fd < 0 ? NULL : fdopendir(dir_fd);
    if (!d)
        return errno == ENOENT || err_errno(err, errno, "%s/" BACKUP_BLOBS "/%s", f->dir, first);
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));) {
        if (strlen(e->d_name) != SHA256_HEX)
            continue;
        auto_fd int fd = openat(dir_fd, e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || (drop(f, fd, e->d_name, ctx) && unlinkat(dir_fd, e->d_name, 0) != 0))
            ok = err_errno(err, errno, "%s/" BACKUP_BLOBS "/%s/%s", f->dir, first, e->d_name);
    }
    closedir(d);
    return ok;
}

static bool drop_blobs(struct folder *f, drop_fn *drop, void *ctx, struct err *err)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < 256; i++) {
        char first[3];
        hex_encode(&(uint8_t){(uint8_t)i}, 1, first);
        ok = drop_below(f, first, drop, ctx, err);
    }
    return ok;
}

static void tell_damaged(const struct folder *f, const char *hex)
{
    fprintf(stderr, "%s/" BACKUP_BLOBS "/%.2s/%s is damaged: it is fetched again if the platform has it\n",
            f->dir, hex, hex);
}

static bool is_damaged(struct folder *f, int fd, const char *hex, unused_ok void *ctx)
{
    uint8_t hash[SHA256_SIZE], expected[SHA256_SIZE];
    struct sha256 *h = sha256_new();
    ssize_t n;
    while ((n = read(fd, f->piece, PIECE)) > 0)
        sha256_add(h, f->piece, (size_t)n);
    sha256_finish(h, hash);
    bool good =
        n == 0 && hex_decode(str_of(hex), expected, SHA256_SIZE) && memcmp(hash, expected, SHA256_SIZE) == 0;
    if (!good)
        tell_damaged(f, hex);
    return !good;
}

/* --- one blob --- */

/* A file that is not the blob of its name counts as missing, and is told. */
static bool is_there(struct folder *f, const char *hex, int64_t size)
{
    char name[SHA256_HEX + 8];
    struct stat st;
    blob_name(hex, name);
    auto_fd int fd = openat(f->blobs, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return false;
    bool good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == size;
    if (!good)
        tell_damaged(f, hex);
    return good;
}

struct arriving {
    int fd;
    struct sha256 *hash;
    int64_t size;
    struct err err;
};

static bool on_piece(void *ctx, struct str piece)
{
    struct arriving *d = ctx;
    sha256_add(d->hash, piece.p, piece.n);
    d->size += (int64_t)piece.n;
    return fs_write_all(d->fd, piece.p, piece.n, &d->err);
}

static bool receive(struct cli *cli, const char *hex, struct arriving *d, struct err *err)
{
    struct client_request q;
    struct client_header headers[4];
    struct client_answer answer;
    const char *path = arena_printf(&cli->arena, "/backup/blobs/%s", hex);
    if (!remote_prepare(cli, "GET", path, &q, headers, err))
        return false;
    q.sink = on_piece;
    q.sink_ctx = d;
    q.sink_success = true;
    q.keep = true;
    bool got = client_do(&cli->arena, &q, &answer, err);
    if (d->err.code) {
        *err = d->err;
        return false;
    }
    return got && (answer.status < 400 || remote_refused(cli, answer.status, answer.body, err));
}

/* The file gets its name when its content is right and on the disk. */
static bool place(struct folder *f, int fd, const char *hex, const uint8_t hash[SHA256_SIZE], struct err *err)
{
    char name[SHA256_HEX + 8], first[3] = {hex[0], hex[1], 0};
    uint8_t expected[SHA256_SIZE];
    blob_name(hex, name);
    if (!hex_decode(str_of(hex), expected, SHA256_SIZE) || memcmp(hash, expected, SHA256_SIZE) != 0)
        return err_set(err, ERR_UPSTREAM, NULL,
                       "the blob %s came with another content: it is damaged on the server, or on the way",
                       hex);
    if (fsync(fd) != 0 || (mkdirat(f->blobs, first, 0700) != 0 && errno != EEXIST) ||
        renameat(f->blobs, PARTIAL, f->blobs, name) != 0)
        return err_errno(err, errno, "%s/" BACKUP_BLOBS "/%s", f->dir, name);
    return true;
}

static bool fetch(struct folder *f, const char *hex, struct err *err)
{
    auto_fd int fd = openat(f->blobs, PARTIAL, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "%s/" BACKUP_BLOBS "/" PARTIAL, f->dir);
    struct arriving d = {.fd = fd, .hash = sha256_new()};
    uint8_t hash[SHA256_SIZE];
    /* Memory of its own: there may be millions. */
    struct arena whole = f->cli->arena;
    arena_init(&f->cli->arena);
    bool ok = receive(f->cli, hex, &d, err);
    arena_release(&f->cli->arena);
    f->cli->arena = whole;
    f->cli->problem = NULL;
    sha256_finish(d.hash, hash);
    ok = ok && place(f, fd, hex, hash, err);
    if (!ok) {
        unlinkat(f->blobs, PARTIAL, 0);
        return false;
    }
    f->fetched++;
    f->fetched_bytes += d.size;
    return true;
}

static bool take_blob(void *ctx, const char *hex, int64_t size, struct err *err)
{
    struct folder *f = ctx;
    if (is_there(f, hex, size))
        f->there++;
    else if (!fetch(f, hex, err))
        return false;
    progress_show(&f->progress, f->fetched_bytes, 0);
    return true;
}

/* --- what no backup needs any more --- */

static int by_name_down(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

static int is_backup(const struct dirent *e)
{
    return str_ends(str_of(e->d_name), SUFFIX);
}

static bool need_blob(void *ctx, const char *hex, unused_ok int64_t size, unused_ok struct err *err)
{
    map_set(ctx, str_of(hex), ctx);
    return true;
}

/* The newest stay and tell what they need; one that cannot be read keeps everything. */
static bool drop_backups(struct folder *f, struct map *needed, struct err *err)
{
    struct dirent **list;
    bool ok = true, listed;
    int n = scandirat(f->fd, "backups", &list, is_backup, by_name_down);
    if (n < 0)
        return err_errno(err, errno, "%s/backups", f->dir);
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        if (ok && i < f->options->keep) {
            auto_fd int fd = openat(f->backups, name, O_RDONLY | O_CLOEXEC);
            ok = fd >= 0 ? backup_each_blob(fd, need_blob, needed, &listed, err)
                         : err_errno(err, errno, "%s", name);
            if (ok && !listed)
                ok = err_set(err, ERR_INVALID, NULL, "%s/backups/%s cannot be read: nothing was removed",
                             f->dir, name);
        } else if (ok && unlinkat(f->backups, name, 0) != 0) {
            ok = err_errno(err, errno, "%s", name);
        }
        free(list[i]);
    }
    free(list);
    return ok;
}

static bool is_unneeded(unused_ok struct folder *f, unused_ok int fd, const char *hex, void *needed)
{
    return !map_get(needed, str_of(hex));
}

static bool drop_old(struct folder *f, struct err *err)
{
    struct map *needed = map_new();
    bool ok = drop_backups(f, needed, err) && drop_blobs(f, is_unneeded, needed, err);
    map_free(needed);
    return ok;
}

/* --- the whole --- */

static int open_below(struct folder *f, const char *name, struct err *err)
{
    if (mkdirat(f->fd, name, 0700) != 0 && errno != EEXIST) {
        err_errno(err, errno, "%s/%s", f->dir, name);
        return -1;
    }
    return fs_open_beneath(f->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, err);
}

static bool open_folder(struct folder *f, struct err *err)
{
    if (!fs_mkdirs(f->dir, 0700, err))
        return false;
    f->fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0)
        return err_set(err, ERR_INVALID, NULL, "%s: %s", f->dir, strerror(errno));
    if (flock(f->fd, LOCK_EX | LOCK_NB) != 0)
        return err_set(err, ERR_CONFLICT, NULL, "another backup is written into %s", f->dir);
    return (f->backups = open_below(f, "backups", err)) >= 0 &&
           (f->blobs = open_below(f, BACKUP_BLOBS, err)) >= 0;
}

/* "2026-11-16T09-51-30.123456Z.tar.zst": in the order of time, and a file's name on every system. */
static bool name_of(struct folder *f, const struct backup_info *info, const char **ret, struct err *err)
{
    char when[CLOCK_TEXT_MAX];
    int64_t us;
    if (!info->created_at || !clock_parse(str_of(info->created_at), &us))
        return err_set(err, ERR_UPSTREAM, NULL, "the backup does not say when it was made");
    for (char *p = clock_format(us, when); *p; p++)
        if (*p == ':')
            *p = '-';
    *ret = arena_printf(&f->cli->arena, "%s" SUFFIX, when);
    return true;
}

static bool fill(struct folder *f, int archive, struct backup_info *info, const char **ret_name,
                 struct err *err)
{
    bool listed = false;
    const char *part = arena_printf(&f->cli->arena, "%s/backups/" PARTIAL, f->dir);
    if (!backup_download(f->cli, "/backup?blobs=list", archive, part, info, err) ||
        !name_of(f, info, ret_name, err))
        return false;
    progress_begin(&f->progress, "Fetching blobs", true, f->cli->quiet);
    bool ok = backup_each_blob(archive, take_blob, f, &listed, err);
    if (f->fetched)
        progress_end(&f->progress);
    if (ok && !listed)
        ok = err_set(err, ERR_UPSTREAM, NULL, "the server's backup has no list of blobs");
    /* The names of all blobs are on the disk before the backup has one. */
    if (ok && (syncfs(f->fd) != 0 || renameat(f->backups, PARTIAL, f->backups, *ret_name) != 0 ||
               fsync(f->backups) != 0))
        ok = err_errno(err, errno, "%s/backups/%s", f->dir, *ret_name);
    return ok;
}

static void tell(const struct folder *f, const char *name, const struct backup_info *info)
{
    printf("%s/backups/%s: %" PRId64 " files, %" PRId64 " bytes; %" PRId64 " blobs fetched (%" PRId64
           " bytes), %" PRId64 " were there; checked\n",
           f->dir, name, info->files, info->bytes, f->fetched, f->fetched_bytes, f->there);
    if (info->store)
        printf("The other blobs stay in %s: restoring this backup needs that bucket.\n", info->store);
}

static bool save(struct folder *f, struct err *err)
{
    struct backup_info info;
    const char *name;
    /* Before the server is asked, which keeps blobs for the backup only so long. */
    if (!open_folder(f, err) || (f->options->verify && !drop_blobs(f, is_damaged, NULL, err)))
        return false;
    auto_fd int archive =
        openat(f->backups, PARTIAL, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (archive < 0)
        return err_errno(err, errno, "%s/backups/" PARTIAL, f->dir);
    if (!fill(f, archive, &info, &name, err)) {
        unlinkat(f->backups, PARTIAL, 0);
        return false;
    }
    tell(f, name, &info);
    return f->options->keep == 0 || drop_old(f, err);
}

bool backup_folder_save(struct cli *cli, const char *dir, const struct backup_folder_options *o,
                        struct err *err)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    struct folder f = {.cli = cli,
                       .dir = arena_strz(&cli->arena, (struct str){dir, n}),
                       .options = o,
                       .fd = -1,
                       .backups = -1,
                       .blobs = -1,
                       .piece = base_alloc(PIECE)};
    bool ok = save(&f, err);
    base_close_fd(&f.backups);
    base_close_fd(&f.blobs);
    base_close_fd(&f.fd);
    free(f.piece);
    return ok;
}
