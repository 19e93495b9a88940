/* ingot admin: what is done on the machine of the platform, with its data folder, without being signed in. */
#ifndef INGOT_CLI_ADMIN_H
#define INGOT_CLI_ADMIN_H

#include "cli/cli.h"

extern const struct flag admin_flags[];
#define ADMIN_FLAGS 3

/* `admin password [NAME]` */
bool admin_run(struct cli *cli, const struct args *args, struct err *err);

#endif
