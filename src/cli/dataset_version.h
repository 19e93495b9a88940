/* "cats:v3", "cats", "7": which version of which dataset is meant on the command line. */
#ifndef INGOT_CLI_DATASET_VERSION_H
#define INGOT_CLI_DATASET_VERSION_H

#include "cli/cli.h"
#include "core/kind.h"

struct dataset_version {
    int64_t dataset, id, project;
    const char *dataset_name;
    const char *name; /* "v3" */
    const char *path; /* "/datasets/7/versions/12" */
};

/* An existing one; without a version the newest. With `like`, ":v2" is a version of its dataset. */
bool dataset_version_find(struct cli *cli, const struct args *args, const char *text,
                          const struct dataset_version *like, struct dataset_version *ret, struct err *err);
/* One that an import may fill: what the text or --version says, else the newest draft, else a new one. With
 * --type a dataset that does not exist is made. Of the kind dataset_version the text may also be a version's
 * id, or a version of --dataset. */
bool dataset_version_to_fill(struct cli *cli, const struct kind *k, const struct args *args, const char *text,
                             struct dataset_version *ret, struct err *err);

#endif
