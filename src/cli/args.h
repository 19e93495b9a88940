/* Command-line words against a table of flags. `--name value`, `--name=value`, `-n value`, switches
 * together (`-it`); `--` ends the flags. Everything else is positional. Values point into argv. */
#ifndef INGOT_CLI_ARGS_H
#define INGOT_CLI_ARGS_H

#include "base/arena.h"
#include "base/err.h"

enum flag_takes {
    FLAG_VALUE,    /* --limit 20 */
    FLAG_SWITCH,   /* --all */
    FLAG_OPTIONAL, /* --public, --public=false */
};

struct flag {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum flag_takes takes;
    const char *value; /* what stands for the value in the help: "N", "FILE" */
    const char *help;
    const void *tag; /* whose flag it is; for the maker of the table */
};

struct arg {
    const struct flag *flag;
    const char *value; /* NULL when a switch or optional flag came without one */
};

struct args {
    struct arg *given; /* in order; a flag may come several times */
    size_t given_count;
    const char **words; /* positional */
    size_t word_count;
};

/* Unknown flags (with the nearest known one), missing and superfluous values: ERR_MALFORMED. */
bool args_parse(struct arena *a, const struct flag *flags, size_t flag_count, int argc, char **argv,
                struct args *ret, struct err *err);
/* The last value given; NULL when the flag is absent. */
const char *args_value(const struct args *args, const char *flag);
bool args_has(const struct args *args, const char *flag);
/* ERR_MALFORMED unless there are min to max positional words; usage is named in the message. */
bool args_count(const struct args *args, size_t min, size_t max, const char *usage, struct err *err);
/* The value as a number in [min, max]; *ret stays when the flag is absent. */
bool args_int(const struct args *args, const char *flag, int64_t min, int64_t max, int64_t *ret,
              struct err *err);
const struct flag *args_flag(const struct flag *flags, size_t n, const char *name, size_t name_length);

#endif
