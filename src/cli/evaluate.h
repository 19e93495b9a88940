/* `ingot evaluate TRUTH FOUND`: how good the annotations of one file are by those of another, without a
 * server. Both are `ingot.jsonl` as exports have it (docs/evaluation.md). */
#ifndef INGOT_CLI_EVALUATE_H
#define INGOT_CLI_EVALUATE_H

#include "cli/cli.h"

#define EVALUATE_FLAGS 2
extern const struct flag evaluate_flags[EVALUATE_FLAGS];

bool evaluate_run(struct cli *cli, const struct args *args, struct err *err);

#endif
