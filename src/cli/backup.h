/* `ingot backup FILE` and `ingot restore FILE`. */
#ifndef INGOT_CLI_BACKUP_H
#define INGOT_CLI_BACKUP_H

#include "cli/cli.h"

extern const struct flag backup_restore_flags[];
extern const size_t backup_restore_flag_count;

bool backup_save(struct cli *cli, const struct args *args, struct err *err);
bool backup_load(struct cli *cli, const struct args *args, struct err *err);

#endif
