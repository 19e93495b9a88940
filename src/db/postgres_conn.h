/* A connection to PostgreSQL: opening, prepared statements, what its errors mean. */
#ifndef INGOT_DB_POSTGRES_CONN_H
#define INGOT_DB_POSTGRES_CONN_H

#include "db/driver.h"

#include <libpq-fe.h>

struct stmt_cache;

struct postgres {
    struct db_conn base;
    PGconn *pg;
    char *url;
    struct stmt_cache *statements;
    unsigned made; /* statements prepared so far, for their names */
    bool marked;
};

/* The types of pg_type that we know. */
enum {
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_INT8 = 20,
    PG_INT2 = 21,
    PG_INT4 = 23,
    PG_TEXT = 25,
    PG_FLOAT4 = 700,
    PG_FLOAT8 = 701,
    PG_NUMERIC = 1700,
};

bool postgres_open(const char *url, enum conn_use use, struct db_conn **ret, struct err *err);
void postgres_close(struct db_conn *c);
enum conn_state postgres_state(const struct db_conn *c);
/* Fills err from a failed result (NULL: from the connection) and notes whether another try would help. */
bool postgres_fail(struct postgres *p, const PGresult *res, struct err *err);
/* The next result of what was sent; NULL after the last. Waits for as long as the server works at it. One
 * that is silent and takes no other connections, either, hangs: the connection is lost then. */
PGresult *postgres_result(struct postgres *p);
/* Statements without arguments; *ret_rows is how many rows the last one gave. */
bool postgres_simple(struct postgres *p, const char *sql, struct err *err);
bool postgres_simple_rows(struct postgres *p, const char *sql, int *ret_rows, struct err *err);
/* The name under which the server knows the statement, NULL on failure. */
const char *postgres_prepare(struct postgres *p, const struct run *r, struct err *err);
/* After a change of the tables the server may refuse a prepared statement: forget it. */
void postgres_forget(struct postgres *p, const struct run *r);

#endif
