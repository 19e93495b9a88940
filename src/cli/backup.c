#include "cli/backup.h"

#include "base/fs.h"
#include "cli/prompt.h"
#include "cli/remote.h"
#include "core/backup/backup.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

const struct flag backup_restore_flags[] = {
    {"data", 0, FLAG_VALUE, "DIR", "make this data folder of it, without a server", NULL},
    {"db", 0, FLAG_VALUE, "URL", "with --data: into this (empty) database instead of SQLite", NULL},
    {"yes", 'y', FLAG_SWITCH, NULL, "do not ask", NULL},
};
const size_t backup_restore_flag_count = countof(backup_restore_flags);

struct download {
    int fd;
    struct err err;
};

static bool on_piece(void *ctx, struct str piece)
{
    struct download *d = ctx;
    return fs_write_all(d->fd, piece.p, piece.n, &d->err);
}

/* The problem document went to the file like everything else. */
static bool refused(struct cli *cli, int status, const char *path, struct err *err)
{
    struct str body = STR_NULL;
    struct err ignored;
    if (!fs_read(&cli->arena, path, 1 << 16, &body, &ignored))
        body = STR_NULL;
    return remote_refused(cli, status, body, err);
}

static bool download(struct cli *cli, int fd, const char *path, struct backup_info *info, struct err *err)
{
    struct client_request q;
    struct client_header headers[4];
    struct client_answer answer;
    struct download d = {.fd = fd};
    if (!remote_prepare(cli, "GET", "/backup", &q, headers, err))
        return false;
    q.sink = on_piece;
    q.sink_ctx = &d;
    bool got = client_do(&cli->arena, &q, &answer, err);
    if (d.err.code) {
        *err = d.err;
        return false;
    }
    if (!got)
        return false;
    if (answer.status >= 400)
        return refused(cli, answer.status, path, err);
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_errno(err, errno, "%s", path);
    if (!backup_unpack(fd, -1, &cli->arena, info, err))
        return false;
    return fsync(fd) == 0 || err_errno(err, errno, "%s", path);
}

bool backup_save(struct cli *cli, const struct args *args, struct err *err)
{
    struct backup_info info = {0};
    struct stat st;
    if (!args_count(args, 1, 1, "ingot backup FILE", err))
        return false;
    const char *path = args->words[0];
    const char *part = arena_printf(&cli->arena, "%s.partial", path);
    auto_fd int fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, ERR_INVALID, NULL, "%s: %s", part, strerror(errno));
    bool ok =
        download(cli, fd, part, &info, err) && (fstat(fd, &st) == 0 || err_errno(err, errno, "%s", part));
    if (ok && rename(part, path) != 0)
        ok = err_errno(err, errno, "%s", path);
    if (!ok) {
        unlink(part);
        return false;
    }
    printf("%s: %" PRId64 " files, %" PRId64 " bytes, packed into %lld; checked\n", path, info.files,
           info.bytes, (long long)st.st_size);
    return true;
}

static bool upload(struct cli *cli, int fd, int64_t size, struct err *err)
{
    struct client_request q;
    struct client_header headers[8];
    struct client_answer answer;
    if (!remote_prepare(cli, "POST", "/restore", &q, headers, err))
        return false;
    headers[q.header_count++] = (struct client_header){"Content-Type", "application/zstd"};
    q.body_fd = fd;
    q.body_size = size;
    q.timeout_s = 24 * 3600;
    if (!client_do(&cli->arena, &q, &answer, err))
        return false;
    return answer.status < 400 || remote_refused(cli, answer.status, answer.body, err);
}

static bool restore_running(struct cli *cli, const struct args *args, int fd, struct backup_info *info,
                            struct err *err)
{
    struct stat st;
    if (!backup_unpack(fd, -1, &cli->arena, info, err))
        return false;
    const char *url = cli->config.url ? cli->config.url : "";
    const char *question = arena_printf(&cli->arena, "Replace everything on %s by the backup of %s?", url,
                                        info->created_at ? info->created_at : "unknown time");
    if (!args_has(args, "yes") && prompt_possible() && !prompt_sure(&cli->arena, question))
        return err_set(err, ERR_CONFLICT, NULL, "not confirmed, nothing was changed");
    if (fstat(fd, &st) != 0 || lseek(fd, 0, SEEK_SET) < 0)
        return err_errno(err, errno, "%s", args->words[0]);
    return upload(cli, fd, st.st_size, err);
}

bool backup_load(struct cli *cli, const struct args *args, struct err *err)
{
    struct backup_info info;
    const char *data = args_value(args, "data"), *db = args_value(args, "db");
    if (!args_count(args, 1, 1, "ingot restore FILE [--data DIR]", err))
        return false;
    if (db && !data)
        return err_set(err, ERR_MALFORMED, NULL, "--db needs --data DIR");
    auto_fd int fd = open(args->words[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_INVALID, NULL, "%s: %s", args->words[0], strerror(errno));
    bool ok = data ? backup_restore_folder(data, db, fd, &cli->arena, &info, err)
                   : restore_running(cli, args, fd, &info, err);
    if (!ok)
        return false;
    printf("restored the backup of %s: %" PRId64 " files, %" PRId64 " bytes\n",
           info.created_at ? info.created_at : "unknown time", info.files, info.bytes);
    return true;
}
