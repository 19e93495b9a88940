#include "cli/backup.h"

#include "base/fs.h"
#include "cli/backup_folder.h"
#include "cli/prompt.h"
#include "cli/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

const struct flag backup_flags[] = {
    {"keep", 0, FLAG_VALUE, "N", "of a folder: remove all but the N newest backups, and what only they need",
     NULL},
    {"verify", 0, FLAG_SWITCH, NULL, "of a folder: read the blobs that are there, fetch damaged ones again",
     NULL},
};
const size_t backup_flag_count = countof(backup_flags);
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

bool backup_download(struct cli *cli, const char *path, int fd, const char *name, struct backup_info *info,
                     struct err *err)
{
    struct client_request q;
    struct client_header headers[4];
    struct client_answer answer;
    struct download d = {.fd = fd};
    if (!remote_prepare(cli, "GET", path, &q, headers, err))
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
        return refused(cli, answer.status, name, err);
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_errno(err, errno, "%s", name);
    if (!backup_unpack(fd, -1, &cli->arena, info, err))
        return false;
    return fsync(fd) == 0 || err_errno(err, errno, "%s", name);
}

static bool save_file(struct cli *cli, const char *path, struct err *err)
{
    struct backup_info info = {0};
    struct stat st;
    const char *part = arena_printf(&cli->arena, "%s.partial", path);
    auto_fd int fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, ERR_INVALID, NULL, "%s: %s", part, strerror(errno));
    bool ok = backup_download(cli, "/backup", fd, part, &info, err) &&
              (fstat(fd, &st) == 0 || err_errno(err, errno, "%s", part));
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

static bool is_folder(const char *path)
{
    struct stat st;
    return str_ends(str_of(path), "/") || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

bool backup_save(struct cli *cli, const struct args *args, struct err *err)
{
    struct backup_folder_options o = {.verify = args_has(args, "verify")};
    if (!args_count(args, 1, 1, "ingot backup FILE|DIR/", err) ||
        !args_int(args, "keep", 1, 1000000, &o.keep, err))
        return false;
    if (is_folder(args->words[0]))
        return backup_folder_save(cli, args->words[0], &o, err);
    if (o.keep || o.verify)
        return err_set(err, ERR_MALFORMED, NULL, "--keep and --verify are for a folder of backups: %s/",
                       args->words[0]);
    return save_file(cli, args->words[0], err);
}

static bool upload(struct cli *cli, const struct backup_stream *st, struct err *err)
{
    struct client_request q;
    struct client_header headers[8];
    struct client_answer answer;
    if (!remote_prepare(cli, "POST", "/restore", &q, headers, err))
        return false;
    headers[q.header_count++] = (struct client_header){"Content-Type", "application/zstd"};
    q.body_fd = st->fd;
    q.body_size = st->size;
    q.timeout_s = 24 * 3600;
    if (!client_do(&cli->arena, &q, &answer, err))
        return false;
    return answer.status < 400 || remote_refused(cli, answer.status, answer.body, err);
}

static bool restore_running(struct cli *cli, const struct args *args, const struct backup_source *source,
                            struct backup_info *info, struct err *err)
{
    struct backup_stream st = {0};
    if (!backup_stream_begin(source, &st, err) ||
        !backup_stream_end(&st, backup_unpack(st.fd, -1, &cli->arena, info, err), err))
        return false;
    const char *url = cli->config.url ? cli->config.url : "";
    const char *question = arena_printf(&cli->arena, "Replace everything on %s by the backup of %s?", url,
                                        info->created_at ? info->created_at : "unknown time");
    if (!args_has(args, "yes") && prompt_possible() && !prompt_sure(&cli->arena, question))
        return err_set(err, ERR_CONFLICT, NULL, "not confirmed, nothing was changed");
    return backup_stream_begin(source, &st, err) && backup_stream_end(&st, upload(cli, &st, err), err);
}

static bool restore_folder(struct cli *cli, const struct args *args, const struct backup_source *source,
                           struct backup_info *info, struct err *err)
{
    struct backup_stream st = {0};
    if (!backup_stream_begin(source, &st, err))
        return false;
    bool ok = backup_restore_folder(args_value(args, "data"), args_value(args, "db"), st.fd, &cli->arena,
                                    info, err);
    return backup_stream_end(&st, ok, err);
}

bool backup_load(struct cli *cli, const struct args *args, struct err *err)
{
    struct backup_info info;
    struct backup_source source;
    bool data = args_has(args, "data");
    if (!args_count(args, 1, 1, "ingot restore FILE|DIR/ [--data DIR]", err))
        return false;
    if (args_has(args, "db") && !data)
        return err_set(err, ERR_MALFORMED, NULL, "--db needs --data DIR");
    if (!backup_source_open(cli, args->words[0], &source, err))
        return false;
    bool ok = data ? restore_folder(cli, args, &source, &info, err)
                   : restore_running(cli, args, &source, &info, err);
    backup_source_close(&source);
    if (!ok)
        return false;
    printf("restored the backup of %s: %" PRId64 " files, %" PRId64 " bytes\n",
           info.created_at ? info.created_at : "unknown time", info.files, info.bytes);
    if (data && info.store)
        printf("Its other blobs are in %s: start it with --store.\n", info.store);
    return true;
}
