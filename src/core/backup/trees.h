/* The part of a backup that is neither rows nor blobs: /workspace of environments, what instances of
 * trainings left (checkpoints, which resuming begins with), logs and ends of jobs that are over; of older
 * backups curves, which are rows since. In the archive it is one tar file of its own (BACKUP_TREES), made and
 * unpacked by the program tar, as owners, links and holes of users' files have to survive. */
#ifndef INGOT_CORE_BACKUP_TREES_H
#define INGOT_CORE_BACKUP_TREES_H

#include "core/core.h"

#define BACKUP_TREES "files.tar"
extern const char *const trees_names[]; /* folders of the data folder that it holds, ended by NULL */

/* *ret_fd is the file, already without a name, or -1 when there is nothing to keep. Files that change
 * meanwhile are taken as they are. */
bool trees_pack(struct core *core, int *ret_fd, struct err *err);
/* Unpacks BACKUP_TREES of the staging folder (absent is fine) and moves what it holds into the data folder;
 * what is there under the same name is replaced, but for jobs. */
bool trees_place(const char *staging, const char *data, struct err *err);

#endif
