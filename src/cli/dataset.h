/* Whole datasets from a shell: create, import, export, publish, diff. */
#ifndef INGOT_CLI_DATASET_H
#define INGOT_CLI_DATASET_H

#include "cli/verb.h"

extern const struct flag dataset_import_flags[], dataset_export_flags[];
#define DATASET_IMPORT_FLAGS 3
#define DATASET_EXPORT_FLAGS 11

bool dataset_create(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                    struct err *err);
/* Of datasets and of their versions; act is the version's. */
bool dataset_import(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                    struct err *err);
bool dataset_export(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                    struct err *err);
bool dataset_publish(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                     struct err *err);
bool dataset_diff(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                  struct err *err);

#endif
