/* Which queries of MariaDB and MySQL an import may send: one statement that only reads. Looked at before
 * anything is sent; the session is read-only besides (database_rows.c), but that alone stops neither INTO
 * OUTFILE, nor locks, nor functions that wait or that an administrator of the database loaded. */
#ifndef INGOT_CORE_DATA_DATABASE_QUERY_H
#define INGOT_CORE_DATA_DATABASE_QUERY_H

#include "base/arena.h"
#include "base/err.h"

/* ERR_INVALID, in the field `database`, when the query is not one SELECT or WITH, or calls what is no
 * built-in function that reads. Texts are read as the server reads them with an empty sql_mode and in UTF-8.
 */
bool database_query_check(struct arena *a, struct str query, struct err *err);

#endif
