/* Durable creates per second through db_write, with 1 and with 64 blocking clients.
 *   db_commit [URL [SECONDS]]   URL: sqlite:/path (default: a new file in the current folder) or
 * postgresql://... */
#include "base/clock.h"
#include "base/fs.h"
#include "base/pool.h"
#include "db/db.h"

#include <stdatomic.h>
#include <stdio.h>

enum { CLIENTS_MAX = 64 };

struct client {
    struct db *db;
    uint64_t until;
    int number;
    int64_t made;
    struct err err;
};

static bool create(struct db_conn *c, void *ctx, struct err *err)
{
    struct client *k = ctx;
    char name[64];
    snprintf(name, sizeof name, "item-%d-%lld", k->number, (long long)k->made);
    int64_t id;
    return conn_insert(c, "INSERT INTO bench_item (name, created, body) VALUES (?, ?, ?) RETURNING id",
                       db_args(db_textz(name), db_int(clock_now()),
                               db_textz("{\"labels\":[\"cat\",\"dog\"],\"width\":1920,\"height\":1080}")),
                       &id, err) &&
           conn_exec(c, "INSERT INTO bench_event (item_id, kind, at) VALUES (?, ?, ?)",
                     db_args(db_int(id), db_textz("created"), db_int(clock_now())), NULL, err);
}

static void *client(void *arg)
{
    struct client *k = arg;
    while (clock_mono() < k->until && db_write(k->db, create, k, &k->err))
        k->made++;
    return NULL;
}

static double rate(struct db *db, int clients, double seconds, int first)
{
    struct client k[CLIENTS_MAX];
    pthread_t threads[CLIENTS_MAX];
    uint64_t from = clock_mono(), until = from + (uint64_t)(seconds * 1e9);
    for (int i = 0; i < clients; i++) {
        k[i] = (struct client){.db = db, .until = until, .number = first + i};
        threads[i] = thread_start("client", client, &k[i]);
    }
    int64_t made = 0;
    for (int i = 0; i < clients; i++) {
        pthread_join(threads[i], NULL);
        made += k[i].made;
        if (k[i].err.code)
            fprintf(stderr, "%s\n", k[i].err.message);
    }
    return (double)made / ((double)(clock_mono() - from) / 1e9);
}

int main(int argc, char **argv)
{
    char file[] = "./db_commit-XXXXXX", url[64];
    struct err err = {0};
    if (argc < 2) {
        if (!mkdtemp(file))
            return 1;
        snprintf(url, sizeof url, "sqlite:%s/bench.db", file);
    }
    struct db *db = db_open(&(struct db_options){.url = argc < 2 ? url : argv[1]}, &err);
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 5;
    if (!db ||
        !db_script(db,
                   "CREATE TABLE IF NOT EXISTS bench_item (id {id}, name {text} NOT NULL,"
                   " created BIGINT NOT NULL, body {text} NOT NULL);\n"
                   "CREATE INDEX IF NOT EXISTS bench_item_name ON bench_item (name);\n"
                   "CREATE TABLE IF NOT EXISTS bench_event (id {id}, item_id BIGINT NOT NULL REFERENCES"
                   " bench_item (id), kind {text} NOT NULL, at BIGINT NOT NULL);\n",
                   &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    rate(db, 1, 0.5, 1000); /* warm up */
    double one = rate(db, 1, seconds, 0), many = rate(db, CLIENTS_MAX, seconds, 1);
    printf("1 client: %.0f creates/s\n%d clients: %.0f creates/s\nratio: %.1f\n", one, CLIENTS_MAX, many,
           many / one);
    db_close(db);
    if (argc < 2)
        fs_remove_tree(AT_FDCWD, file, NULL);
    return 0;
}
