/* `ingot predict`: asks a service, or a model version that is started for it. */
#ifndef INGOT_CLI_PREDICT_H
#define INGOT_CLI_PREDICT_H

#include "cli/cli.h"

extern const struct flag predict_flags[];
#define PREDICT_FLAGS 4

bool predict_run(struct cli *cli, const struct args *args, struct err *err);

#endif
