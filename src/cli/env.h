/* ingot env ssh|open: into an environment. */
#ifndef INGOT_CLI_ENV_H
#define INGOT_CLI_ENV_H

#include "cli/cli.h"

extern const struct flag env_flags[];
#define ENV_FLAGS 3

bool env_run(struct cli *cli, const struct args *args, struct err *err);
/* ssh asks the program for the password that `env ssh` put into the environment: true when that is why it
 * runs.
 */
bool env_answer_ssh(void);

#endif
