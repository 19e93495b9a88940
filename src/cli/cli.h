/* The command line: `ingot <kind> <verb>` for every kind of core/kinds.c, and a table of other commands. It
 * is a client of the REST API like any other. cli_main is the whole program after main() found out that it is
 * not to serve. */
#ifndef INGOT_CLI_CLI_H
#define INGOT_CLI_CLI_H

#include "base/json.h"
#include "cli/args.h"
#include "cli/config.h"

#include <stdio.h>

enum output { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_NAME };

/* One run of the program. */
struct cli {
    struct arena arena;
    struct config config;
    enum output output;
    bool colour;         /* standard output is a terminal and colour is wanted */
    unsigned timeout_s;  /* of each request; 0: the client's default */
    yyjson_val *problem; /* the last refusal, for what the error type has no room for */
    const char *project; /* flag --project */
    bool quiet;          /* completion: no prompts */
    int exit_code;       /* of a command that ran well but ends as what it ran did (exec, train) */
};

/* A command that is no kind's. */
struct command {
    const char *name;  /* NULL ends the table */
    const char *usage; /* what follows the name: "URL" */
    const char *summary;
    const char *examples; /* lines, may be NULL */
    const struct flag *flags;
    size_t flag_count;
    bool hidden;
    /* For completion: what the first word may be, and the kinds whose names the next one takes. */
    const char *const *words;
    const char *names[2];
    /* Likewise: what every word may be, NULL at the end; NULL: nothing more. */
    const char *const *(*offers)(struct cli *cli);
    bool (*run)(struct cli *cli, const struct args *args, struct err *err);
    /* Instead of run, for programs with their own flags: argv[0] is the command's name. */
    int (*program)(int argc, char **argv);
};

extern const struct command commands[];
/* Flags that every command of the API knows. */
extern const struct flag cli_flags[];
extern const size_t cli_flag_count;

int cli_main(int argc, char **argv);

/* Puts two tables of flags together. */
const struct flag *cli_join_flags(struct arena *a, const struct flag *x, size_t nx, const struct flag *y,
                                  size_t ny);
/* Takes -o, --project, --url and so on out of args. */
bool cli_take_globals(struct cli *cli, const struct args *args, struct err *err);

#endif
