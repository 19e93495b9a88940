/* ingot find: objects of all kinds that words are found in. */
#ifndef INGOT_CLI_FIND_H
#define INGOT_CLI_FIND_H

#include "cli/cli.h"

extern const struct flag find_flags[];
#define FIND_FLAGS 2

bool find_run(struct cli *cli, const struct args *args, struct err *err);

#endif
