/* "Did you mean": the known word nearest to a misspelled one. */
#ifndef INGOT_CLI_SUGGEST_H
#define INGOT_CLI_SUGGEST_H

#include "base/str.h"

struct suggest {
    struct str word;
    const char *best;
    unsigned distance;
};

struct suggest suggest_for(struct str word);
void suggest_try(struct suggest *s, const char *candidate); /* borrowed until suggest_best */
const char *suggest_best(const struct suggest *s);          /* NULL: nothing is near enough */

#endif
