/* ingot controllers: what the platform does by itself, for administrators. */
#ifndef INGOT_CLI_CONTROLLERS_H
#define INGOT_CLI_CONTROLLERS_H

#include "cli/cli.h"

bool controllers_run(struct cli *cli, const struct args *args, struct err *err);

#endif
