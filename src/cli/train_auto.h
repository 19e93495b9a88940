/* ingot train auto: one-click training from a shell. The plan is shown before anything starts. */
#ifndef INGOT_CLI_TRAIN_AUTO_H
#define INGOT_CLI_TRAIN_AUTO_H

#include "cli/cli.h"

/* Of `ingot train auto DATASET[:VERSION]`: plan, question (unless --yes, or nobody is there to answer it),
 * run, its log, and at the end the model with what to do next. */
bool train_auto(struct cli *cli, const struct args *args, const char *usage, struct err *err);
/* The value of --minutes, which is there. */
bool train_minutes(const struct args *args, double *ret, struct err *err);

#endif
