/* Standard input and the terminal. */
#ifndef INGOT_CLI_PROMPT_H
#define INGOT_CLI_PROMPT_H

#include "base/arena.h"
#include "base/err.h"

bool prompt_possible(void); /* standard input is a terminal */
/* The next line of standard input without its end; ERR_MALFORMED when there is none. */
bool prompt_read_line(struct arena *a, const char **ret, struct err *err);
/* All of standard input, at most max bytes. */
bool prompt_read_all(struct arena *a, size_t max, struct str *ret, struct err *err);
/* Asks on the terminal; the second does not show what is typed. */
bool prompt_text(struct arena *a, const char *question, const char **ret, struct err *err);
bool prompt_secret(struct arena *a, const char *question, const char **ret, struct err *err);
/* true for y or yes. */
bool prompt_sure(struct arena *a, const char *question);

#endif
