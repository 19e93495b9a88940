/* `ingot backup FILE`, `ingot backup DIR/` and `ingot restore`. */
#ifndef INGOT_CLI_BACKUP_H
#define INGOT_CLI_BACKUP_H

#include "cli/cli.h"
#include "core/backup/backup.h"

extern const struct flag backup_flags[], backup_restore_flags[];
extern const size_t backup_flag_count, backup_restore_flag_count;

bool backup_save(struct cli *cli, const struct args *args, struct err *err);
bool backup_load(struct cli *cli, const struct args *args, struct err *err);

/* Writes what GET path answers into the empty file fd, whose name is `name`, and checks all of it. */
bool backup_download(struct cli *cli, const char *path, int fd, const char *name, struct backup_info *info,
                     struct err *err);

#endif
