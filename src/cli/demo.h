/* `ingot demo status|load|remove`: what of the kind's own verbs is more than one request. */
#ifndef INGOT_CLI_DEMO_H
#define INGOT_CLI_DEMO_H

#include "cli/verb.h"

extern const struct flag demo_flags[];
#define DEMO_FLAGS 1
extern const struct flag demo_remove_flags[];
#define DEMO_REMOVE_FLAGS 2

bool demo_status(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 struct err *err);
bool demo_load(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
               struct err *err);
bool demo_remove(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 struct err *err);

#endif
