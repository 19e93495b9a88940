/* --set NAME=VALUE of trainings: words of a command line to values of an algorithm's parameters. */
#ifndef INGOT_CLI_TRAIN_SET_H
#define INGOT_CLI_TRAIN_SET_H

#include "base/json.h"
#include "cli/args.h"
#include "cli/cli.h"

/* The parameters of the algorithm version's function `train`: a list as GET .../functions has it; NULL when
 * it declares none. */
bool train_set_parameters(struct cli *cli, int64_t version, yyjson_val **ret, struct err *err);
/* Writes the members of an object for all --set. A value is read by the parameter's type; without parameters
 * (NULL) it is JSON where it reads as such, else a text. */
bool train_set_write(struct cli *cli, const struct args *args, yyjson_val *parameters, struct json_out *o,
                     struct err *err);

#endif
