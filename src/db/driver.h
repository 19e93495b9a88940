/* What a database driver is to the rest of db/: connections that run prepared statements inside transactions.
 * Two implementations: sqlite.c and postgres.c. A connection is used by one thread at a time. */
#ifndef INGOT_DB_DRIVER_H
#define INGOT_DB_DRIVER_H

#include "db/db.h"

#include <stdatomic.h>

enum { DB_COLUMNS_MAX = 128, DB_STATEMENTS_MAX = 200 };

typedef bool (*db_each_fn)(void *ctx, const struct db_row *row, struct err *err);

/* One run of a statement. */
struct run {
    const char *sql;
    struct db_args args;
    db_each_fn each; /* may be NULL; false ends the run without an error of the driver */
    void *ctx;
    bool stream;                   /* do not hold all rows in memory */
    bool stopped;                  /* result: each returned false */
    size_t columns;                /* result */
    int64_t changed;               /* result */
    int64_t id;                    /* result of an INSERT, if the driver tells_id */
    const struct db_tables *reads; /* result, valid until the next run; NULL: not known */
};

enum conn_state {
    CONN_READY, /* no transaction */
    CONN_IN_TX,
    CONN_LOST, /* only close is possible */
};

enum conn_use {
    CONN_WRITER,
    CONN_READER,    /* refuses changes */
    CONN_HOLD,      /* hold.c */
    CONN_FILE_NEW,  /* SQLite: a backup that is being made; no WAL, keys are not checked */
    CONN_FILE_READ, /* SQLite: a backup that is read and not touched */
};

struct driver {
    bool (*open)(const char *url, enum conn_use use, struct db_conn **ret, struct err *err);
    void (*close)(struct db_conn *c);
    enum conn_state (*state)(const struct db_conn *c);
    bool (*run)(struct db_conn *c, struct run *r, struct err *err);
    bool tells_id; /* else RETURNING must ask for it */
    /* Several statements without arguments. */
    bool (*script)(struct db_conn *c, const char *sql, struct err *err);

    /* A write transaction excludes those of other processes from its start on; with a generation on the
     * connection it fails unless the database is held with that one (hold.h). */
    bool (*begin)(struct db_conn *c, bool write, struct err *err);
    bool (*commit)(struct db_conn *c, struct err *err);
    void (*rollback)(struct db_conn *c);
    /* mark: what follows can be undone alone; the mark before is given up. */
    bool (*mark)(struct db_conn *c, struct err *err);
    bool (*undo)(struct db_conn *c, struct err *err);

    /* For hold.c: whether the session has its lock on the database (which it tries to get); NULL where no
     * other machine can reach the data. The socket can be read when something happened to the connection, as
     * state tells after take_input. */
    const char *hold_sql;
    int (*socket)(const struct db_conn *c);
    void (*take_input)(struct db_conn *c);

    /* Words of db_script. */
    const char *id, *text, *bytes;

    /* For backups. Names of all tables, and of a table's columns (one ? for the table). */
    const char *tables_sql, *columns_sql;
    /* Around filling tables in any order: keys are not checked in between; what is there is removed. */
    bool (*load_begin)(struct db_conn *c, struct arena *a, const char *const *tables, size_t n,
                       struct err *err);
    bool (*load_end)(struct db_conn *c, struct arena *a, struct err *err);
    /* The last automatic id that a table gave out; 0 when it has none. */
    bool (*sequence_get)(struct db_conn *c, const char *table, int64_t *ret, struct err *err);
    bool (*sequence_set)(struct db_conn *c, const char *table, int64_t last, struct err *err);
    /* A copy of the whole database by the driver's own means; NULL: row by row (backup.c). */
    bool (*copy_to)(const char *url, const char *path, struct err *err);
};

/* The head of every driver's own connection. */
struct db_conn {
    const struct driver *driver;
    bool writes;        /* inside a write: a failed statement spoils it, as PostgreSQL demands */
    bool busy;          /* rows of a statement are being delivered */
    bool retry;         /* the last failure goes away when everything is run once more */
    bool spoiled;       /* by spoiled_by; later statements of the write fail with it */
    int64_t generation; /* of the hold that writes need; 0: none */
    uint64_t begun;     /* monotonic: when the write, or the first of several background ones, began */
    bool shared;        /* people's writes are in the transaction, other than this one */
    const atomic_size_t *people; /* how many of people's writes wait for the writer thread */
    uint64_t idle_since;         /* readers.c, monotonic */
    struct db_conn *next;        /* readers.c */
    struct err spoiled_by;
    struct db_tables wrote; /* by the transaction, where the driver knows */
};

extern const struct driver sqlite_driver, postgres_driver;

const char *db_url(const struct db *db);
/* The driver for a URL, NULL with err set when it is for none. */
const struct driver *driver_for(const char *url, struct err *err);

/* conn.c: checks the arguments, then the driver's run. */
bool conn_run(struct db_conn *c, struct run *r, struct err *err);
/* Names in double quotes for SQL made from table and column names. */
char *conn_quote(struct arena *a, const char *name);

/* migrate.c: the tables of db/ itself, and a script's words in the driver's dialect. */
extern const char db_own_tables[];
bool db_script_run(struct db_conn *c, const char *sql, struct err *err);
/* The same for a script that makes tables: it is kept for backups. */
bool db_script_keep(struct db_conn *c, const char *sql, struct err *err);

#endif
