/* Import from MariaDB or MySQL (D6): each row of a table or query is a sample. Its columns say the sample's
 * name and either its bytes or the path of its file below the allowed folders; others give its class or its
 * whole annotation. */
#ifndef INGOT_CORE_DATA_DATABASE_IN_H
#define INGOT_CORE_DATA_DATABASE_IN_H

#include "core/data/sources.h"

/* v: {"host", "port", "user", "database", "query" or "table", "name", "content" or "file", "label",
 * "annotation", "tls", "ca"}; those from "name" to "annotation" are names of columns. The password is apart.
 */
bool database_in_check(struct op *op, yyjson_val *v, struct err *err);
bool database_in(struct task *t, yyjson_val *v, struct unpacked *out, struct err *err);

#endif
