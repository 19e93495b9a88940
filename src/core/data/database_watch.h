/* What a server of MySQL's protocol sends, looked at as it comes and before libmariadb makes anything of it:
 * libmariadb itself takes any number of columns with names of any length, and cuts lengths over 32 bits. The
 * server at the other end is not trusted. One connection per thread at a time is watched. */
#ifndef INGOT_CORE_DATA_DATABASE_WATCH_H
#define INGOT_CORE_DATA_DATABASE_WATCH_H

#include "base/err.h"

#include <mysql.h>

#define DATABASE_COLUMNS_MAX  4096       /* of one table, for MySQL and MariaDB */
#define DATABASE_METADATA_MAX (4U << 20) /* bytes: their names */
#define DATABASE_GREETING_MAX (1U << 20) /* bytes before the query is sent */
#define DATABASE_ROW_MAX      (256U << 20)

struct database_watch {
    MYSQL *connection;
    bool patient; /* over TLS silence cannot be told from what is decrypted already: libmariadb's own time
                     limit counts */
    /* Asked a few times a second while more is awaited: false, with *err, ends it. */
    bool (*go_on)(void *ctx, struct err *err);
    void *ctx;

    enum {
        DATABASE_GREETING,
        DATABASE_COMMANDS,
        DATABASE_ANSWER,
        DATABASE_COLUMNS,
        DATABASE_ROWS,
        DATABASE_DONE
    } state;
    bool ended; /* by us, for the reason in err */
    struct err err;
    size_t ready;           /* whole rows that were seen and not yet taken */
    int64_t sent, answered; /* commands before the query */

    /* The packet being read. */
    uint8_t header[4];
    unsigned header_n;
    uint32_t left;        /* of this part */
    bool more;            /* another part of it follows */
    uint64_t size;        /* of what was seen of all parts */
    uint8_t start[9];     /* its first bytes */
    uint64_t phase_bytes; /* of the greeting, or of the columns */
    uint64_t columns, column;
    /* Of a row: */
    unsigned length_n; /* bytes of a length still to come */
    unsigned length_at;
    uint64_t length, value_left;
};

/* From before mysql_real_connect to database_watch_end, on this thread. */
void database_watch_begin(struct database_watch *w);
void database_watch_end(struct database_watch *w);
/* The next thing sent is the query: what comes is its answer. */
bool database_watch_query(struct database_watch *w, struct err *err);
/* Waits until there is something to read, unless a row is there; false as go_on's, or after the silence of
 * DATABASE_SILENCE_S seconds. */
#define DATABASE_SILENCE_S 300
bool database_watch_wait(struct database_watch *w, struct err *err);
/* false when the connection was ended, with the reason. To be asked after each call of libmariadb. */
bool database_watch_ok(const struct database_watch *w, struct err *err);

#endif
