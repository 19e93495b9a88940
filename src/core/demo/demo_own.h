/* What the files of core/demo share. */
#ifndef INGOT_CORE_DEMO_OWN_H
#define INGOT_CORE_DEMO_OWN_H

#include "base/messages_demo.h"
#include "core/demo/demo.h"

#define DEMO_PEOPLE 3

/* Of the packages that are fetched, and how long each stage takes on two cores (docs/demo.md). */
#define DEMO_BYTES            18056307
#define DEMO_MINUTES          1.5
#define DEMO_TRAINING_MINUTES 5
#define DEMO_RUNTIME          "pytorch"

/* Inside a write: the one row. */
bool demo_load_row(struct op *op, struct object *ret, struct err *err);
/* The ids of its people, at most DEMO_PEOPLE; how many. */
size_t demo_people(struct arena *a, const struct object *row, int64_t ret[DEMO_PEOPLE]);

/* Inside a write: the empty project, owned by the caller, and its people. hash: of a password that nobody
 * knows. */
bool demo_make(struct op *op, struct str hash, int64_t *ret_project, int64_t people[DEMO_PEOPLE],
               struct err *err);
/* The action `passwords`. */
bool demo_passwords(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err);

#endif
