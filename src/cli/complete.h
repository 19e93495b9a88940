/* Shell completion: the scripts for three shells, and the hidden command they ask. */
#ifndef INGOT_CLI_COMPLETE_H
#define INGOT_CLI_COMPLETE_H

#include "cli/cli.h"

/* `ingot completion bash|zsh|fish` prints the script. */
bool complete_script(struct cli *cli, const struct args *args, struct err *err);
/* `ingot __complete WORD... LAST`: candidates for LAST, one per line as value<TAB>description. Never fails:
 * no answer of the server in time means no candidates. */
int complete_program(int argc, char **argv);

#endif
