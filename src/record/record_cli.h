/* record_cli.h: the commands `record info|cat|verify|convert`. */
#ifndef INGOT_RECORD_CLI_H
#define INGOT_RECORD_CLI_H

/* argv[0] is how the command is called in messages ("ingot record"), argv[1] the verb. Prints results to
 * stdout and what is wrong to stderr. Returns the exit status: 0 done, 1 it failed (or verify found damage),
 * 2 bad usage. */
int record_cli(int argc, char **argv);

#endif
