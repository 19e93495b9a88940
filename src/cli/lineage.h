/* ingot lineage: where something came from and what came of it, as two trees. */
#ifndef INGOT_CLI_LINEAGE_H
#define INGOT_CLI_LINEAGE_H

#include "cli/cli.h"

extern const struct flag lineage_flags[];
#define LINEAGE_FLAGS 3

bool lineage_run(struct cli *cli, const struct args *args, struct err *err);

#endif
