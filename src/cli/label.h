/* ingot label: work of a labelling task from the command line. */
#ifndef INGOT_CLI_LABEL_H
#define INGOT_CLI_LABEL_H

#include "cli/cli.h"

extern const struct flag label_flags[];
#define LABEL_FLAGS 6

bool label_run(struct cli *cli, const struct args *args, struct err *err);

#endif
