/* What GET /api/v1/kinds answers: the declarations of the kinds for the web UI and the CLI. */
#ifndef INGOT_API_KINDS_JSON_H
#define INGOT_API_KINDS_JSON_H

#include "base/buf.h"

void kinds_json_write(struct buf *out);
/* The name of a field's type as in docs/api.md: "text", "int" ... */
#include "core/kind.h"
const char *kinds_json_type(enum field_type type);

#endif
