/* `ingot evaluate TRUTH FOUND`: how good the annotations of one file are by those of another, without a
 * server. Both are `ingot.jsonl` as exports have it (docs/evaluation.md). `ingot evaluate MODEL:VERSION
 * DATASET:VERSION` is an evaluation on the platform. */
#ifndef INGOT_CLI_EVALUATE_H
#define INGOT_CLI_EVALUATE_H

#include "cli/cli.h"

#define EVALUATE_FLAGS 6
extern const struct flag evaluate_flags[EVALUATE_FLAGS];

bool evaluate_run(struct cli *cli, const struct args *args, struct err *err);
/* Words that are no files: a model version and a dataset version of the platform (evaluate_remote.c). */
bool evaluate_remote(struct cli *cli, const struct args *args, struct err *err);
void evaluate_print(struct cli *cli, yyjson_val *report);

#endif
