/* A program that is killed loses nothing that was acknowledged to it. */
#include "fixture.h"

#include "base/thread.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { ROUNDS = 10, THREADS = 4, MIN_ACKS = 40 };

struct child {
    struct db *db;
    int64_t next;
    int pipe;
};

static bool insert(struct db_conn *c, void *ctx, struct err *err)
{
    return conn_exec(c, "INSERT INTO t (k) VALUES (?)", db_args(db_int(*(int64_t *)ctx)), NULL, err);
}

static void *write_and_report(void *arg)
{
    struct child *k = arg;
    for (;; k->next += THREADS)
        if (!db_write(k->db, insert, &k->next, NULL) ||
            write(k->pipe, &k->next, sizeof k->next) != sizeof k->next)
            _exit(1);
    return NULL;
}

/* The program that is killed: writes from several threads and reports each acknowledged key. */
static int child_main(const char *url, const char *first, const char *fd)
{
    struct err err = {0};
    struct db *db = db_open(&(struct db_options){.url = url}, &err);
    if (!db)
        return 1;
    struct child k[THREADS];
    for (int i = 0; i < THREADS; i++) {
        k[i] = (struct child){db, strtoll(first, NULL, 10) + i, (int)strtol(fd, NULL, 10)};
        thread_start("child", write_and_report, &k[i]);
    }
    pause();
    return 1;
}

static pid_t start_child(const char *url, int64_t first, int fd)
{
    char number[32], pipe_number[16];
    snprintf(number, sizeof number, "%lld", (long long)first);
    snprintf(pipe_number, sizeof pipe_number, "%d", fd);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "child", url, number, pipe_number, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static bool has_key(struct db *db, int64_t key)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct db_row row;
    bool found = false;
    expect_ok(db_query_one(db, &a, "SELECT k FROM t WHERE k = ?", db_args(db_int(key)), &row, &found, &err),
              &err);
    return found;
}

static void acknowledged_writes_survive(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    expect_ok(db_script(f->db, "CREATE TABLE t (id {id}, k BIGINT NOT NULL UNIQUE);", &err), &err);
    int64_t acked = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t pid = start_child(f->url, (int64_t)round * 1000000, ends[1]);
        close(ends[1]);
        int64_t key, n = 0, keys[4096];
        while (n < MIN_ACKS + round * 7 && read(ends[0], &key, sizeof key) == sizeof key)
            keys[n++] = key;
        kill(pid, SIGKILL);
        while (n < (int64_t)countof(keys) && read(ends[0], &key, sizeof key) == sizeof key)
            keys[n++] = key;
        close(ends[0]);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_true(n >= MIN_ACKS);
        for (int64_t i = 0; i < n; i++)
            assert_true(has_key(f->db, keys[i]));
        acked += n;
    }
    fixture_reopen(f);
    assert_true(query_int(f->db, "SELECT count(*) FROM t") >= acked);
    expect_ok(db_write(f->db, insert, &(int64_t){-1}, &err), &err);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return child_main(argv[1], argv[2], argv[3]);
    const struct CMUnitTest tests[] = {DB_TEST(acknowledged_writes_survive)};
    return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
