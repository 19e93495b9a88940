/* The rows of a query of MariaDB or MySQL, one at a time as they come (libmariadb behind). */
#ifndef INGOT_CORE_DATA_DATABASE_ROWS_H
#define INGOT_CORE_DATA_DATABASE_ROWS_H

#include "base/arena.h"
#include "base/err.h"

struct database_options {
    const char *host; /* always over TCP */
    int port;         /* 0: 3306 */
    const char *user, *password, *database;
    bool tls;            /* only encrypted, to a server whose certificate is trusted and of its host */
    const char *ca_file; /* whose authorities; NULL: the system's */
    /* Asked a few times a second while the answer is awaited: false, with *err, gives it up. */
    bool (*go_on)(void *ctx, struct err *err);
    void *ctx;
};

struct database_rows;
/* Connects and sends the query, in a session that cannot write. ERR_UPSTREAM with the server's words, or when
 * it sends what no database does (database_watch.h). Without TLS the password itself is never sent, only
 * answers to challenges. */
struct database_rows *database_rows_open(const struct database_options *o, struct str query, struct err *err);
void database_rows_close(struct database_rows *r); /* NULL allowed */
size_t database_rows_columns(const struct database_rows *r);
const char *database_rows_name(const struct database_rows *r, size_t column);
/* *ret has a value per column (STR_NULL for NULL), valid until the next call; *done when there are no more.
 */
bool database_rows_next(struct database_rows *r, const struct str **ret, bool *done, struct err *err);

#endif
