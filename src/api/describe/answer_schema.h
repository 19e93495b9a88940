/* JSON Schemas of answers that are no objects of a kind: those that actions and routes name. From these the
 * web's types are generated too. */
#ifndef INGOT_API_ANSWER_SCHEMA_H
#define INGOT_API_ANSWER_SCHEMA_H

#include "base/json.h"

bool answer_schema_known(const char *name);
/* All of them as members of components/schemas. */
void answer_schema_write(struct json_out *o);

#endif
