/* Runtimes as files, for machines without a network: export, import; and the log of a build. */
#ifndef INGOT_CLI_RUNTIME_H
#define INGOT_CLI_RUNTIME_H

#include "cli/verb.h"

extern const struct flag runtime_flags[];
#define RUNTIME_FLAGS 1

bool runtime_export(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                    struct err *err);
bool runtime_import(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                    struct err *err);
bool runtime_log(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 struct err *err);

#endif
