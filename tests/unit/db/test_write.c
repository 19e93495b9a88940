/* Writes of many threads: group commit, failures inside a group, lost servers, full disks. */
#include "fixture.h"

#include "base/clock.h"
#include "base/thread.h"

#include <libpq-fe.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

enum { THREADS = 32, WRITES = 25 };

static void make_table(struct fixture *f)
{
    struct err err = {0};
    expect_ok(db_script(f->db, "CREATE TABLE t (id {id}, k BIGINT NOT NULL UNIQUE, v {text});\n", &err),
              &err);
}

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool entered, open;
};

#define GATE ((struct gate){.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER})

static bool wait_at_gate(struct db_conn *c, void *ctx, struct err *err)
{
    (void)c;
    (void)err;
    struct gate *g = ctx;
    pthread_mutex_lock(&g->lock);
    g->entered = true;
    pthread_cond_broadcast(&g->cond);
    while (!g->open)
        pthread_cond_wait(&g->cond, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return true;
}

static void open_gate(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->cond);
    pthread_mutex_unlock(&g->lock);
}

struct call {
    struct db *db;
    db_write_fn fn;
    void *ctx;
    int64_t key;
    bool background;
    bool ok;
    struct err err;
};

static void *make_call(void *arg)
{
    struct call *k = arg;
    if (k->background)
        db_background();
    k->ok = db_write(k->db, k->fn, k->ctx ? k->ctx : k, &k->err);
    return NULL;
}

/* Runs the calls in one batch: while the writer is held at a gate all of them queue. */
static void run_as_batch(struct db *db, struct call *calls, size_t n)
{
    struct gate g = GATE;
    struct call hold = {.db = db, .fn = wait_at_gate, .ctx = &g};
    pthread_t holder = thread_start("hold", make_call, &hold), threads[THREADS];
    pthread_mutex_lock(&g.lock);
    while (!g.entered)
        pthread_cond_wait(&g.cond, &g.lock);
    pthread_mutex_unlock(&g.lock);
    for (size_t i = 0; i < n; i++) {
        threads[i] = thread_start("call", make_call, &calls[i]);
        while (db_write_queue(db) <= i) /* in this order */
            sched_yield();
    }
    open_gate(&g);
    pthread_join(holder, NULL);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    expect_ok(hold.ok, &hold.err);
}

static bool insert_key(struct db_conn *c, void *ctx, struct err *err)
{
    struct call *k = ctx;
    return conn_exec(c, "INSERT INTO t (k, v) VALUES (?, 'x')", db_args(db_int(k->key)), NULL, err);
}

static bool insert_then_fail(struct db_conn *c, void *ctx, struct err *err)
{
    return insert_key(c, ctx, err) && err_set(err, ERR_QUOTA, "f", "no");
}

static void failures_are_undone_alone(void **state)
{
    struct fixture *f = *state;
    make_table(f);
    struct call calls[12];
    for (int i = 0; i < 12; i++)
        calls[i] = (struct call){.db = f->db, .fn = i % 3 == 1 ? insert_then_fail : insert_key, .key = i};
    calls[5].key = 3; /* taken by one before it in the batch */
    calls[8].key = 7; /* not taken: the one with 7 was undone */
    run_as_batch(f->db, calls, 12);
    for (int i = 0; i < 12; i++) {
        if (i == 5)
            assert_int_equal(calls[i].err.code, ERR_EXISTS);
        else if (i % 3 == 1)
            assert_int_equal(calls[i].err.code, ERR_QUOTA);
        else
            expect_ok(calls[i].ok, &calls[i].err);
    }
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), 7);
    assert_int_equal(query_int(f->db, "SELECT sum(k) FROM t"), 0 + 2 + 3 + 6 + 7 + 9 + 11);
}

static void people_come_first(void **state)
{
    struct fixture *f = *state;
    make_table(f);
    struct call calls[12];
    for (int i = 0; i < 12; i++)
        calls[i] = (struct call){.db = f->db, .fn = insert_key, .key = i, .background = i < 10};
    run_as_batch(f->db, calls, 12);
    for (int i = 0; i < 12; i++)
        expect_ok(calls[i].ok, &calls[i].err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), 12);
    assert_int_equal(query_int(f->db, "SELECT sum(k) FROM t WHERE id IN (1, 2)"), 10 + 11);
}

/* --- writes with much to do --- */

struct parts {
    struct db *db;
    struct gate gate;
    int64_t done, now; /* rows that are committed; of the write that runs */
    bool waits;        /* a write of a person's waits for this one */
    bool went_on;      /* though it did */
};

static bool write_parts(struct db_conn *c, void *ctx, struct err *err)
{
    struct parts *p = ctx;
    uint64_t begun = clock_mono();
    p->now = 0;
    if (p->waits) {
        wait_at_gate(c, &p->gate, err);
        while (clock_mono() - begun < 5000000) /* longer than any write may take then */
            sched_yield();
    }
    do {
        struct call k = {.key = p->done + p->now};
        if (!insert_key(c, &k, err))
            return false;
        p->now++;
        p->went_on = conn_goes_on(c);
    } while (p->went_on && !p->waits);
    return true;
}

static void *make_parts(void *arg)
{
    struct parts *p = arg;
    struct err err = {0};
    db_background();
    expect_ok(db_write(p->db, write_parts, p, &err), &err);
    p->done += p->now;
    return NULL;
}

static void long_writes_end_and_give_way(void **state)
{
    struct fixture *f = *state;
    make_table(f);
    struct parts p = {.db = f->db, .gate = GATE};
    pthread_join(thread_start("parts", make_parts, &p), NULL);
    assert_true(p.done > 0 && !p.went_on);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), p.done);

    p.waits = true;
    int64_t before = p.done;
    struct call person = {.db = f->db, .fn = insert_key, .key = -1};
    pthread_t parts = thread_start("parts", make_parts, &p);
    pthread_mutex_lock(&p.gate.lock);
    while (!p.gate.entered)
        pthread_cond_wait(&p.gate.cond, &p.gate.lock);
    pthread_mutex_unlock(&p.gate.lock);
    pthread_t call = thread_start("call", make_call, &person);
    while (db_write_queue(f->db) == 0)
        sched_yield();
    open_gate(&p.gate);
    pthread_join(parts, NULL);
    pthread_join(call, NULL);
    expect_ok(person.ok, &person.err);
    assert_false(p.went_on);
    assert_int_equal(p.done, before + 1);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), p.done + 1);
}

/* --- writes that nobody waits for --- */
struct later {
    struct call call;
    struct gate *gate;
    int *told;
};

static void told(void *ctx, bool ok, const struct err *err)
{
    struct later *l = container_of(ctx, struct later, call);
    pthread_mutex_lock(&l->gate->lock);
    l->call.ok = ok;
    l->call.err = *err;
    ++*l->told;
    pthread_cond_broadcast(&l->gate->cond);
    pthread_mutex_unlock(&l->gate->lock);
}

static void those_who_do_not_wait_are_told(void **state)
{
    struct fixture *f = *state;
    make_table(f);
    struct gate g = GATE;
    struct later calls[40];
    int count = 0;
    for (int round = 0; round < 2; round++) { /* the second time every key is taken */
        for (int i = 0; i < 40; i++) {
            calls[i] =
                (struct later){{.fn = i % 10 == 7 ? insert_then_fail : insert_key, .key = i}, &g, &count};
            db_write_then(f->db, calls[i].call.fn, told, &calls[i].call);
        }
        pthread_mutex_lock(&g.lock);
        while (count < 40 * (round + 1))
            pthread_cond_wait(&g.cond, &g.lock);
        pthread_mutex_unlock(&g.lock);
        for (int i = 0; i < 40; i++) {
            enum err_code wanted = i % 10 == 7 ? ERR_QUOTA : round ? ERR_EXISTS : ERR_NONE;
            assert_int_equal(calls[i].call.ok, wanted == ERR_NONE);
            assert_int_equal(calls[i].call.err.code, wanted);
        }
    }
    assert_int_equal(count, 80);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), 36);
}

struct worker {
    struct db *db;
    int number;
    int done, taken;
    struct err err;
};

static bool increment(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    auto_arena struct arena a = {0};
    struct db_row row;
    bool found;
    /* Reads and writes apart: lost updates would show. */
    return conn_query_one(c, &a, "SELECT v FROM t WHERE k = -1", DB_NO_ARGS, &row, &found, err) &&
           conn_exec(c, "UPDATE t SET v = ? WHERE k = -1",
                     db_args(db_textz(arena_printf(&a, "%lld", strtoll(row.v[0].s.p, NULL, 10) + 1))), NULL,
                     err);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < WRITES; i++) {
        struct call k = {.key = (w->number / 2) * WRITES + i}; /* two workers want each key */
        struct err err = {0};
        if (db_write(w->db, insert_key, &k, &err))
            w->done++;
        else if (err.code == ERR_EXISTS)
            w->taken++;
        else
            w->err = err;
        if (!db_write(w->db, increment, NULL, &err))
            w->err = err;
        auto_arena struct arena a = {0};
        struct db_rows rows;
        if (!db_query(w->db, &a, "SELECT k FROM t WHERE k = ?", db_args(db_int(k.key)), &rows, &err))
            w->err = err;
        else if (rows.n != 1)
            err_set(&w->err, ERR_INTERNAL, NULL, "a key that was written is not read");
    }
    return NULL;
}

static void run_workers(struct db *even, struct db *odd)
{
    struct worker w[THREADS];
    pthread_t threads[THREADS];
    int done = 0, taken = 0;
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.db = i % 2 ? odd : even, .number = i};
        threads[i] = thread_start("worker", work, &w[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        done += w[i].done;
        taken += w[i].taken;
    }
    for (int i = 0; i < THREADS; i++)
        expect_ok(w[i].err.code == ERR_NONE, &w[i].err);
    assert_int_equal(done, THREADS * WRITES / 2);
    assert_int_equal(taken, THREADS * WRITES / 2);
}

static void expect_counted(struct fixture *f)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct db_row row;
    bool found;
    char want[32];
    snprintf(want, sizeof want, "%d", THREADS * WRITES);
    expect_ok(db_query_one(f->db, &a, "SELECT v FROM t WHERE k = -1", DB_NO_ARGS, &row, &found, &err), &err);
    assert_string_equal(row.v[0].s.p, want);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), THREADS * WRITES / 2 + 1);
}

static void many_threads_write(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_table(f);
    expect_ok(exec_one(f->db, "INSERT INTO t (k, v) VALUES (-1, '0')", DB_NO_ARGS, &err), &err);
    run_workers(f->db, f->db);
    expect_counted(f);
}

static void two_servers_write(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_table(f);
    expect_ok(exec_one(f->db, "INSERT INTO t (k, v) VALUES (-1, '0')", DB_NO_ARGS, &err), &err);
    struct db *other = fixture_open(f->url);
    run_workers(f->db, other);
    db_close(other);
    expect_counted(f);
}

static bool write_inside(struct db_conn *c, void *ctx, struct err *err)
{
    (void)c;
    struct fixture *f = ctx;
    return db_write(f->db, insert_key, &(struct call){.key = 1}, err);
}

static bool fail_silently(struct db_conn *c, void *ctx, struct err *err)
{
    (void)c;
    (void)ctx;
    (void)err;
    return false;
}

static void misuse_is_told(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_table(f);
    assert_false(db_write(f->db, write_inside, f, &err));
    assert_int_equal(err.code, ERR_INTERNAL);
    err = (struct err){0};
    assert_false(db_write(f->db, fail_silently, f, &err));
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_false(db_write(f->db, fail_silently, f, NULL));
}

/* Constraints that are checked at the commit fail the one to blame, not its batch. */
static bool insert_child(struct db_conn *c, void *ctx, struct err *err)
{
    struct call *k = ctx;
    return conn_exec(c, "INSERT INTO child (parent) VALUES (?)", db_args(db_int(k->key)), NULL, err);
}

static void deferred_keys_fail_alone(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_table(f);
    expect_ok(db_script(f->db,
                        "CREATE TABLE child (id {id}, parent BIGINT NOT NULL REFERENCES t (k)"
                        " DEFERRABLE INITIALLY DEFERRED);\n",
                        &err),
              &err);
    expect_ok(exec_one(f->db, "INSERT INTO t (k) VALUES (1)", DB_NO_ARGS, &err), &err);
    struct call calls[6];
    for (int i = 0; i < 6; i++)
        calls[i] = (struct call){.db = f->db, .fn = insert_child, .key = i == 3 ? 99 : 1};
    run_as_batch(f->db, calls, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(calls[i].err.code, i == 3 ? ERR_CONFLICT : ERR_NONE);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM child"), 5);
}

static bool limit_pages(struct db_conn *c, void *ctx, struct err *err)
{
    auto_arena struct arena a = {0};
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &a, "PRAGMA page_count", DB_NO_ARGS, &row, &found, err))
        return false;
    long long pages = *(bool *)ctx ? (long long)row.v[0].i + 2 : 1000000;
    return conn_query_one(c, &a, arena_printf(&a, "PRAGMA max_page_count = %lld", pages), DB_NO_ARGS, &row,
                          &found, err);
}

static bool insert_much(struct db_conn *c, void *ctx, struct err *err)
{
    struct call *k = ctx;
    return conn_exec(c, "INSERT INTO t (k, v) VALUES (?, hex(zeroblob(20000)))", db_args(db_int(k->key)),
                     NULL, err);
}

static void full_disk_passes(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    bool limited = true;
    make_table(f);
    expect_ok(db_write(f->db, limit_pages, &limited, &err), &err);
    struct call calls[6];
    for (int i = 0; i < 6; i++)
        calls[i] = (struct call){.db = f->db, .fn = i % 2 ? insert_much : insert_key, .key = i};
    run_as_batch(f->db, calls, 6);
    for (int i = 0; i < 6; i++) {
        if (i % 2)
            assert_int_equal(calls[i].err.code, ERR_UNAVAILABLE);
        else
            expect_ok(calls[i].ok, &calls[i].err);
    }
    limited = false;
    expect_ok(db_write(f->db, limit_pages, &limited, &err), &err);
    expect_ok(db_write(f->db, insert_much, &(struct call){.key = 99}, &err), &err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), 4);
}

/* Files cannot grow: write(2) itself fails, also inside a commit. */
static void failing_writes_pass(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct rlimit before, tight;
    make_table(f);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    tight = before;
    tight.rlim_cur = 64 * 1024;
    setrlimit(RLIMIT_FSIZE, &tight);
    int64_t key = 0, made = 0;
    bool ok = true;
    for (; ok && key < 1000; key++) {
        ok = db_write(f->db, insert_much, &(struct call){.key = key}, &err);
        made += ok;
    }
    struct err again = {0};
    bool still = db_write(f->db, insert_much, &(struct call){.key = key}, &again);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(ok);
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    assert_false(still);
    assert_int_equal(again.code, ERR_UNAVAILABLE);
    expect_ok(db_write(f->db, insert_much, &(struct call){.key = 5000}, &err), &err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), made + 1);
    fixture_reopen(f);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), made + 1);
}

/* Ends all other connections to the database, as a restart of the server would. */
static void disconnect_all(struct fixture *f)
{
    PGconn *c = PQconnectdb(f->url);
    assert_int_equal(PQstatus(c), CONNECTION_OK);
    PGresult *r = PQexec(c, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
                            " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
    PQclear(r);
    PQfinish(c);
}

static bool lose_once(struct db_conn *c, void *ctx, struct err *err)
{
    int *runs = ctx;
    if (!conn_exec(c, "INSERT INTO t (k) VALUES (50)", DB_NO_ARGS, NULL, err))
        return false;
    if (++*runs == 1)
        return conn_exec(c, "SELECT pg_terminate_backend(pg_backend_pid())", DB_NO_ARGS, NULL, err);
    return true;
}

static void lost_connections_come_back(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    make_table(f);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), 0);
    disconnect_all(f);
    expect_ok(db_write(f->db, insert_key, &(struct call){.key = 1}, &err), &err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), 1);
    disconnect_all(f);
    struct db_conn *c = db_read_begin(f->db, &err);
    expect_ok(c != NULL, &err);
    disconnect_all(f);
    struct db_rows rows;
    assert_false(conn_query(c, &a, "SELECT 1", DB_NO_ARGS, &rows, &err));
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    db_read_end(f->db, c);
    /* Lost in the middle of a write: nothing was committed, so it is run again. */
    int runs = 0;
    expect_ok(db_write(f->db, lose_once, &runs, &err), &err);
    assert_int_equal(runs, 2);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), 2);
}

static void groups_survive_a_lost_connection(void **state)
{
    struct fixture *f = *state;
    make_table(f);
    struct call calls[8];
    int runs = 0;
    for (int i = 0; i < 8; i++)
        calls[i] = (struct call){.db = f->db, .fn = insert_key, .key = i};
    calls[4].fn = lose_once;
    calls[4].ctx = &runs;
    run_as_batch(f->db, calls, 8);
    for (int i = 0; i < 8; i++)
        expect_ok(calls[i].ok, &calls[i].err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t"), 8);
}

/* What one statement changes can be undone, however many pages it touches. */
static bool turn_all(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    return conn_exec(c, "UPDATE t SET k = -k WHERE k > 0", DB_NO_ARGS, NULL, err);
}

static void large_statements_pass(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    char text[801];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    make_table(f);
    expect_ok(exec_one(f->db,
                       "INSERT INTO t (k, v) WITH RECURSIVE n (i) AS"
                       " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, ? FROM n",
                       db_args(db_textz(text)), &err),
              &err);
    expect_ok(db_write(f->db, turn_all, NULL, &err), &err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM t WHERE k < 0"), 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(failures_are_undone_alone),
        DB_TEST(people_come_first),
        DB_TEST(long_writes_end_and_give_way),
        DB_TEST(those_who_do_not_wait_are_told),
        DB_TEST(many_threads_write),
        DB_TEST(two_servers_write),
        DB_TEST(misuse_is_told),
        DB_TEST(deferred_keys_fail_alone),
        DB_TEST(large_statements_pass),
        SQLITE_TEST(full_disk_passes),
        SQLITE_TEST(failing_writes_pass),
        POSTGRES_TEST(lost_connections_come_back),
        POSTGRES_TEST(groups_survive_a_lost_connection),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
