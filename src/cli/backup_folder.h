/* A folder of backups, which has each blob once:
 *
 *     DIR/backups/TIME.tar.zst   all but the blobs, and their list (core/backup/backup.h)
 *     DIR/blobs/ab/<hex>         by their SHA-256
 *
 * A backup gets its name when every blob that it lists is there, so whatever ends a run, the next one goes on
 * with the blobs that came. */
#ifndef INGOT_CLI_BACKUP_FOLDER_H
#define INGOT_CLI_BACKUP_FOLDER_H

#include "cli/cli.h"

struct backup_folder_options {
    bool verify; /* read all blobs first: damaged ones are told, removed, and fetched again if they are needed
                  */
    int64_t keep; /* this many backups stay, and the blobs that they list; 0: all */
};
bool backup_folder_save(struct cli *cli, const char *dir, const struct backup_folder_options *o,
                        struct err *err);

/* What is restored: a whole archive, or one of a folder with its blobs. */
struct backup_source {
    int archive, blobs; /* blobs -1: a whole one */
};
/* path: a folder (its newest backup is taken), a backup of one, or a whole archive. */
bool backup_source_open(struct cli *cli, const char *path, struct backup_source *ret, struct err *err);
void backup_source_close(struct backup_source *s);

/* The bytes of the whole archive; each begin gives the same ones. */
struct backup_stream {
    int fd;                /* to be read from */
    int64_t size;          /* of a source with blobs: known after the first end that went well */
    struct joiner *joiner; /* a thread puts it together; NULL: fd is the file */
};
bool backup_stream_begin(const struct backup_source *s, struct backup_stream *st, struct err *err);
/* ok: the reader was content; false with err when the thread, or the reader before it, was not. */
bool backup_stream_end(struct backup_stream *st, bool ok, struct err *err);

#endif
