/* Every test of db runs twice: on a fresh SQLite file and on a fresh database of a private PostgreSQL. */
#ifndef INGOT_TEST_DB_FIXTURE_H
#define INGOT_TEST_DB_FIXTURE_H

#include "db/db.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct fixture {
    struct db *db;
    char dir[64];  /* for files of the test, removed afterwards */
    char url[256]; /* of db */
    bool postgres;
};

/* For cmocka_run_group_tests: starts and stops PostgreSQL. */
int fixture_start(void **state);
int fixture_stop(void **state);

int fixture_sqlite(void **state);
int fixture_postgres(void **state);
int fixture_end(void **state);

/* The address of one more empty database of either kind. */
void fixture_new_url(struct fixture *f, bool postgres, char ret[256]);
struct db *fixture_open(const char *url);
/* Closes and opens f->db again. */
void fixture_reopen(struct fixture *f);

/* Fails the test when ok is false, with the error's text. */
void expect_ok(bool ok, const struct err *err);
/* One statement as a write of its own. */
bool exec_one(struct db *db, const char *sql, struct db_args args, struct err *err);
int64_t query_int(struct db *db, const char *sql);

#define DB_TEST(fn)                                                                                          \
    {#fn " (sqlite)", fn, fixture_sqlite, fixture_end, NULL},                                                \
    {                                                                                                        \
#fn " (postgresql)", fn, fixture_postgres, fixture_end, NULL                                         \
    }
#define SQLITE_TEST(fn)                                                                                      \
    {                                                                                                        \
#fn " (sqlite)", fn, fixture_sqlite, fixture_end, NULL                                               \
    }
#define POSTGRES_TEST(fn)                                                                                    \
    {                                                                                                        \
#fn " (postgresql)", fn, fixture_postgres, fixture_end, NULL                                         \
    }

#endif
