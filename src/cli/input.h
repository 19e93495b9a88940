/* Fields of a kind or action as flags, and flags back into a JSON body. `--display-name X`; a switch for
 * booleans (`--public`, `--public=false`); lists repeat or take commas; JSON is given as text or @FILE; a
 * secret may come from standard input (`--password-stdin`); references are names or ids; bytes take a unit
 * (16GiB); times are RFC 3339 or +30d. `--set field=value` and `--unset field` reach every field. */
#ifndef INGOT_CLI_INPUT_H
#define INGOT_CLI_INPUT_H

#include "cli/cli.h"
#include "core/kind.h"

/* The flags of the fields that have any of the given field_flags (0: all); generic ones (--set, --unset,
 * --file) come with them when wanted. Names in `taken` are left to those flags. */
struct flag *input_flags(struct arena *a, const struct field *fields, unsigned with, bool generic,
                         const struct flag *taken, size_t taken_count, size_t *ret_count);

struct input {
    const struct field *fields;
    unsigned with;     /* as above */
    bool ask;          /* missing required secrets are asked for on a terminal */
    const char *first; /* positional value of the first field; NULL: none */
    int64_t project;   /* adds "project"; 0: not */
};
/* Writes one JSON object. */
bool input_body(struct cli *cli, const struct input *in, const struct args *args, struct buf *ret,
                struct err *err);

/* "display-name" for display_name. */
char *input_flag_name(struct arena *a, const char *field);

#endif
