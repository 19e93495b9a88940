/* What `ingot restore` reads. */
#include "base/fs.h"
#include "base/thread.h"
#include "cli/backup_folder.h"
#include "core/backup/backup.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

/* --- which --- */

/* Names are times, so the newest is the last. */
static bool newest(struct cli *cli, const char *dir, const char **ret, struct err *err)
{
    const char *folder = arena_printf(&cli->arena, "%s/backups", dir), *best = NULL;
    DIR *d = opendir(folder);
    if (!d && errno != ENOENT)
        return err_errno(err, errno, "%s", folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (str_ends(str_of(e->d_name), ".tar.zst") && (!best || strcmp(e->d_name, best) > 0))
            best = arena_strdup(&cli->arena, e->d_name);
    if (d)
        closedir(d);
    if (!best)
        return err_set(err, ERR_INVALID, NULL, "%s: there is no backup in this folder", dir);
    *ret = arena_printf(&cli->arena, "%s/%s", folder, best);
    return true;
}

static bool skip_blob(unused_ok void *ctx, unused_ok const char *hex, unused_ok int64_t size,
                      unused_ok struct err *err)
{
    return true;
}

/* The folder of blobs belongs to the folder above the archive's own. */
static int open_blobs(struct cli *cli, const char *archive, struct err *err)
{
    const char *slash = strrchr(archive, '/');
    const char *blobs =
        slash ? arena_printf(&cli->arena, "%.*s/../" BACKUP_BLOBS, (int)(slash - archive), archive)
              : "../" BACKUP_BLOBS;
    int fd = open(blobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        err_set(err, ERR_INVALID, NULL, "the blobs of %s are not beside it: %s: %s", archive, blobs,
                strerror(errno));
    return fd;
}

bool backup_source_open(struct cli *cli, const char *path, struct backup_source *ret, struct err *err)
{
    struct stat st;
    bool listed = false;
    struct backup_source s = {-1, -1};
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !newest(cli, path, &path, err))
        return false;
    s.archive = open(path, O_RDONLY | O_CLOEXEC);
    if (s.archive < 0)
        return err_set(err, ERR_INVALID, NULL, "%s: %s", path, strerror(errno));
    bool ok = backup_each_blob(s.archive, skip_blob, NULL, &listed, err);
    if (ok && listed)
        ok = (s.blobs = open_blobs(cli, path, err)) >= 0;
    if (ok)
        *ret = s;
    else
        backup_source_close(&s);
    return ok;
}

void backup_source_close(struct backup_source *s)
{
    close(s->archive);
    if (s->blobs >= 0)
        close(s->blobs);
}

/* --- its bytes --- */

struct joiner {
    struct backup_source source;
    int out;
    bool ok, left; /* left: the reader went away */
    int64_t size;
    struct err err;
    pthread_t thread;
};

static bool pass_on(void *ctx, struct str piece, struct err *err)
{
    struct joiner *j = ctx;
    j->left = !fs_write_all(j->out, piece.p, piece.n, err);
    j->size += (int64_t)piece.n;
    return !j->left;
}

static void *run_join(void *arg)
{
    struct joiner *j = arg;
    j->ok = backup_join(j->source.archive, j->source.blobs, &(struct backup_sink){pass_on, j}, &j->err);
    close(j->out);
    return NULL;
}

bool backup_stream_begin(const struct backup_source *s, struct backup_stream *st, struct err *err)
{
    struct stat info;
    int ends[2];
    if (s->blobs < 0) {
        if (fstat(s->archive, &info) != 0 || lseek(s->archive, 0, SEEK_SET) < 0)
            return err_errno(err, errno, "the backup");
        *st = (struct backup_stream){.fd = s->archive, .size = info.st_size};
        return true;
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, errno, "the backup");
    struct joiner *j = base_zalloc(sizeof *j);
    *j = (struct joiner){.source = *s, .out = ends[1]};
    *st = (struct backup_stream){.fd = ends[0], .size = st->size, .joiner = j};
    j->thread = thread_start("join", run_join, j);
    return true;
}

bool backup_stream_end(struct backup_stream *st, bool ok, struct err *err)
{
    struct joiner *j = st->joiner;
    char rest[4096];
    if (!j)
        return ok;
    /* A reader may have known the end before the last bytes came. */
    while (ok && read(st->fd, rest, sizeof rest) > 0)
        ;
    close(st->fd);
    pthread_join(j->thread, NULL);
    /* What the thread found is why its reader saw no whole archive. */
    if (!j->ok && !j->left) {
        *err = j->err;
        ok = false;
    }
    st->size = j->size;
    st->joiner = NULL;
    free(j);
    return ok;
}
