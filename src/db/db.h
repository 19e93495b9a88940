/* One facade over SQLite (WAL, synchronous=FULL) and PostgreSQL. Statements are prepared once per connection
 * and cached by text; values never become SQL text. SQL is the common dialect of both: placeholders are `?`
 * in order, the ids are BIGINT, texts TEXT, bytes are written {bytes}, an automatic id column {id} (both
 * expanded in db_exec and migrations only), times are BIGINT microseconds, booleans are BIGINT 0/1,
 * `RETURNING`, `ON CONFLICT` and `WITH` may be used. Text comparison is by bytes on both (PostgreSQL: COLLATE
 * "C" columns through {text}).
 *
 * Reads run on a pool of connections, in the calling thread, each call on a snapshot of its own
 * (db_read_begin for several calls on one snapshot). Writes of all threads are run by one writer thread, many
 * to a commit (group commit): a call returns when its change is durable, or was rolled back. A write function
 * that fails is undone alone, the others of its commit stay (for which they may be run once more). All calls
 * block: never make one on a loop thread. */
#ifndef INGOT_DB_DB_H
#define INGOT_DB_DB_H

#include "base/arena.h"
#include "base/err.h"
#include "base/metric.h"

struct db;
struct db_conn; /* a connection inside a read or a write */

enum db_type { DB_NULL, DB_INT, DB_REAL, DB_TEXT, DB_BYTES };

struct db_value {
    enum db_type type;
    int64_t i;
    double r;
    struct str s;
};

#define db_null()   ((struct db_value){.type = DB_NULL})
#define db_int(v)   ((struct db_value){.type = DB_INT, .i = (v)})
#define db_real(v)  ((struct db_value){.type = DB_REAL, .r = (v)})
#define db_text(v)  ((struct db_value){.type = DB_TEXT, .s = (v)})
#define db_textz(v) db_text_or_null(v)
#define db_bytes(v) ((struct db_value){.type = DB_BYTES, .s = (v)})
struct db_value db_text_or_null(const char *z);

/* The arguments of a statement: db_args(db_int(7), db_textz("x")). DB_NO_ARGS for none. */
struct db_args {
    const struct db_value *v;
    size_t n;
};
#define db_args(...)                                                                                         \
    ((struct db_args){(const struct db_value[]){__VA_ARGS__},                                                \
                      sizeof((const struct db_value[]){__VA_ARGS__}) / sizeof(struct db_value)})
#define DB_NO_ARGS ((struct db_args){NULL, 0})

struct db_row {
    const struct db_value *v; /* as many as columns */
};

struct db_rows {
    struct db_row *row;
    size_t n;
    size_t columns;
};

struct db_options {
    const char *url;      /* "sqlite:/path/ingot.db" or "postgresql://user@host/name" */
    unsigned max_readers; /* 0: 16 */
    /* A server's, of which a database may have one: where other machines can reach the database it is held
     * (hold.h), which another server is given so many seconds to let go of, else ERR_HELD. `taken` is called
     * when this process must end, because another server took over while the connection was lost. */
    bool hold;
    unsigned hold_wait_s;
    void (*taken)(void);
};

struct db *db_open(const struct db_options *o, struct err *err);
void db_close(struct db *db); /* finishes queued writes */
bool db_is_postgres(const struct db *db);
/* Whether this process may write: false while its hold is lost (ERR_UNAVAILABLE) or another's (ERR_HELD). */
bool db_may_write(const struct db *db, struct err *err);

/* Reads all rows of one statement into the arena. */
bool db_query(struct db *db, struct arena *a, const char *sql, struct db_args args, struct db_rows *ret,
              struct err *err);
/* The first row; *found false when there is none. */
bool db_query_one(struct db *db, struct arena *a, const char *sql, struct db_args args, struct db_row *ret,
                  bool *found, struct err *err);
/* Rows one at a time, for results too large for memory. each returns false to stop (then err is what it set,
 * or no error when err->code is ERR_NONE). The row is valid during the call, in which its connection cannot
 * be used for anything else. */
bool db_each(struct db *db, const char *sql, struct db_args args,
             bool (*each)(void *ctx, const struct db_row *row, struct err *err), void *ctx, struct err *err);

/* Several reads on one snapshot. */
struct db_conn *db_read_begin(struct db *db, struct err *err);
void db_read_end(struct db *db, struct db_conn *c);

/* A write: fn runs on the writer thread inside a transaction; it must be quick and must not wait for
 * anything. It may be run again from the start when the database asked for it, so it only changes what it
 * owns at its end. Statements inside use conn_query / conn_exec. After a statement failed the whole write is
 * undone, whatever fn returns: to go on when a row exists, say ON CONFLICT. */
typedef bool (*db_write_fn)(struct db_conn *c, void *ctx, struct err *err);
bool db_write(struct db *db, db_write_fn fn, void *ctx, struct err *err);
/* The same without a thread that waits: then is called once, on the writer thread, when the change is durable
 * (ok) or was rolled back; it must not wait for anything. With many writes at once this saves two changes of
 * threads for each. */
typedef void (*db_then_fn)(void *ctx, bool ok, const struct err *err);
void db_write_then(struct db *db, db_write_fn fn, db_then_fn then, void *ctx);
/* Declares the calling thread, for good, as one whose writes no person waits for: imports, sweeps.
 * They are taken after those of all others, and should be short (about 5 ms), as the others wait for them:
 * what has more to do than that asks conn_goes_on. */
void db_background(void);
/* Grows with every commit of this process, before its callers go on: what was read after a call that gave n
 * is still what is there when a later call gives n too (SQLite; PostgreSQL has other writers). */
uint64_t db_commits(const struct db *db);
/* The same by table: a thread notes which tables it reads from now on, added to *to (NULL: no more); what it
 * read after db_commits gave n is still what is there while none of them was written since. With PostgreSQL
 * they are not known: then any commit counts. */
#define DB_TABLES_MAX 256
struct db_tables {
    uint64_t bits[DB_TABLES_MAX / 64];
};
void db_note_reads(struct db_tables *to);
bool db_unchanged(const struct db *db, uint64_t n, const struct db_tables *tables);
/* For metrics: how many writes wait to be taken by the writer thread, and what it did. */
size_t db_write_queue(struct db *db);
struct db_writing {
    metric_number writes;        /* taken */
    struct metric_times held;    /* how long each kept people's writes waiting, without the commit */
    struct metric_times batches; /* each with its commit */
};
const struct db_writing *db_writing(const struct db *db);

/* Inside a read snapshot or a write. */
bool conn_query(struct db_conn *c, struct arena *a, const char *sql, struct db_args args, struct db_rows *ret,
                struct err *err);
bool conn_query_one(struct db_conn *c, struct arena *a, const char *sql, struct db_args args,
                    struct db_row *ret, bool *found, struct err *err);
bool conn_each(struct db_conn *c, const char *sql, struct db_args args,
               bool (*each)(void *ctx, const struct db_row *row, struct err *err), void *ctx,
               struct err *err);
/* Runs a statement; *changed (may be NULL) is the number of rows. A broken UNIQUE gives ERR_EXISTS, a broken
 * foreign key ERR_CONFLICT; a lost server or a full disk ERR_UNAVAILABLE. */
bool conn_exec(struct db_conn *c, const char *sql, struct db_args args, int64_t *changed, struct err *err);
/* INSERT of one row, without RETURNING, into a table with an automatic id; ERR_EXISTS when ON CONFLICT DO
 * NOTHING left nothing to insert. */
bool conn_insert(struct db_conn *c, const char *sql, struct db_args args, int64_t *ret_id, struct err *err);
/* For writes with much to do, inside of them, after each small part (well below a millisecond): whether
 * another part may go into the same commit. False once others wait for the writer thread and a few
 * milliseconds were used, or the transaction is long enough; fn then returns true, and its caller writes the
 * rest with another call. So parts share commits while no one else writes, and hold up no other write. */
bool conn_goes_on(const struct db_conn *c);

/* Schema, at start. A script is several statements parted by ';' at line ends, with {id}, {text}, {bytes}
 * expanded. */
struct db_migration {
    int number;       /* 1, 2, 3 ... without gaps, never changed once released */
    const char *name; /* "+ ..." when it only adds: programs from before it can go on with the database */
    const char *sql;
};
/* Runs what is missing, each in a transaction of its own; refuses a database with a newer migration than the
 * program knows, unless that only adds. */
bool db_migrate(struct db *db, const struct db_migration *m, size_t count, struct err *err);
/* Runs a script in one write; for tables derived from the kinds. */
bool db_script(struct db *db, const char *sql, struct err *err);
/* The columns of a table; empty when there is no such table. */
bool db_columns(struct db *db, struct arena *a, const char *table, const char ***ret, size_t *ret_n,
                struct err *err);

/* A consistent copy of the whole database into a SQLite file at path while others write; and back into an
 * empty database. The same file format for both drivers. */
bool db_backup(struct db *db, const char *path, struct err *err);
bool db_restore(struct db *db, const char *path, struct err *err);
/* The same over whatever is there, in one transaction: everything is replaced, or nothing. The backup must be
 * of the schema the database has (ERR_CONFLICT). */
bool db_replace(struct db *db, const char *path, struct err *err);

#endif
