/* `ingot help ...`, written from the tables of kinds, verbs and commands. */
#ifndef INGOT_CLI_HELP_H
#define INGOT_CLI_HELP_H

#include "cli/verb.h"

void help_all(struct arena *a, FILE *out);
void help_kind(struct arena *a, FILE *out, const struct kind *k);
void help_verb(struct arena *a, FILE *out, const struct verb_use *use);
void help_command(struct arena *a, FILE *out, const struct command *c);
/* The command `help`. */
bool help_run(struct cli *cli, const struct args *args, struct err *err);

#endif
