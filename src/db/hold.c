#include "db/hold.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>

/* PROBE_MS: how often the connection is used, to notice one that is only half there. */
enum { RETRY_MS = 500, PROBE_MS = 10000 };

struct holder {
    int64_t generation;
    char text[192]; /* "HOST, process PID, since TIME" */
};

struct hold {
    const struct driver *driver;
    char *url;
    void (*taken)(void);
    struct db_conn *conn; /* has the lock; NULL: lost */
    struct holder self;
    int end_fd;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    struct err state;     /* ERR_NONE while it is held */
};

static const char table[] = "CREATE TABLE IF NOT EXISTS db_holder (\n"
                            "    id BIGINT PRIMARY KEY,\n"
                            "    generation BIGINT NOT NULL,\n"
                            "    host {text} NOT NULL,\n"
                            "    pid BIGINT NOT NULL,\n"
                            "    since BIGINT NOT NULL\n"
                            ");\n";

/* Asked for on a database that may have no tables at all, yet. */
static bool read_holder(struct db_conn *c, struct holder *ret, struct err *err)
{
    auto_arena struct arena a = {0};
    struct db_row row;
    bool found;
    char since[CLOCK_TEXT_MAX];
    *ret = (struct holder){.text = "it has not said who it is"};
    if (!conn_query_one(c, &a, c->driver->columns_sql, db_args(db_textz("db_holder")), &row, &found, err))
        return false;
    if (!found)
        return true;
    if (!conn_query_one(c, &a, "SELECT generation, host, pid, since FROM db_holder", DB_NO_ARGS, &row, &found,
                        err))
        return false;
    if (!found)
        return true;
    ret->generation = row.v[0].i;
    snprintf(ret->text, sizeof ret->text, "%s, process %lld, since %s", row.v[1].s.p, (long long)row.v[2].i,
             clock_format(row.v[3].i, since));
    return true;
}

/* The next generation is this server's. */
static bool write_holder(struct db_conn *c, struct err *err)
{
    struct utsname host;
    uname(&host);
    return db_script_keep(c, table, err) &&
           conn_exec(c,
                     "INSERT INTO db_holder (id, generation, host, pid, since) VALUES (1, 1, ?, ?, ?)"
                     " ON CONFLICT (id) DO UPDATE SET generation = db_holder.generation + 1,"
                     " host = excluded.host, pid = excluded.pid, since = excluded.since",
                     db_args(db_textz(host.nodename), db_int(getpid()), db_int(clock_now())), NULL, err);
}

static bool try_lock(struct db_conn *c, bool *ret, struct err *err)
{
    auto_arena struct arena a = {0};
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &a, c->driver->hold_sql, DB_NO_ARGS, &row, &found, err))
        return false;
    *ret = found && row.v[0].i;
    return true;
}

/* With the lock: no other server writes the row. */
static bool sign(struct hold *h, struct err *err)
{
    struct db_conn *c = h->conn;
    bool ok = h->driver->begin(c, true, err) && write_holder(c, err) && read_holder(c, &h->self, err) &&
              h->driver->commit(c, err);
    if (!ok)
        h->driver->rollback(c);
    return ok;
}

static bool asked_to_end(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && (sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT));
}

static bool refuse(struct hold *h, unsigned wait_s, struct err *err)
{
    struct holder other;
    return read_holder(h->conn, &other, err) &&
           err_set(err, ERR_HELD, "database",
                   "another server has the database (%s), and did not let go within %u s: only one may run",
                   other.text, wait_s);
}

static bool wait_and_take(struct hold *h, unsigned wait_s, struct err *err)
{
    uint64_t until = thread_in(wait_s);
    bool got = false, told = false;
    while (try_lock(h->conn, &got, err) && !got) {
        struct holder other;
        if (clock_mono() >= until)
            return refuse(h, wait_s, err);
        if (asked_to_end())
            return err_set(err, ERR_UNAVAILABLE, "database", "ended while another server had the database");
        if (!told && read_holder(h->conn, &other, NULL))
            log_info("another server has the database (%s): waiting for its end", other.text);
        told = true;
        poll(NULL, 0, RETRY_MS);
    }
    return got && sign(h, err);
}

static void set_state(struct hold *h, const struct err *state)
{
    pthread_mutex_lock(&h->lock);
    h->state = *state;
    pthread_mutex_unlock(&h->lock);
}

/* Sleeps until something happens on the connection or the end comes; false at the end. */
static bool await(struct hold *h, int timeout_ms, bool *ret_quiet)
{
    struct pollfd f[] = {{.fd = h->end_fd, .events = POLLIN},
                         {.fd = h->conn ? h->driver->socket(h->conn) : -1, .events = POLLIN}};
    *ret_quiet = poll(f, countof(f), timeout_ms) == 0;
    return !(f[0].revents & POLLIN);
}

static bool is_alive(struct hold *h, bool quiet, struct err *err)
{
    struct holder now;
    bool got = false;
    if (!quiet)
        h->driver->take_input(h->conn);
    if (h->driver->state(h->conn) == CONN_LOST)
        return err_set(err, ERR_UNAVAILABLE, "database", "its connection ended");
    /* A session that has the lock gets it again: a pooler in between may have given it up. */
    return !quiet || (try_lock(h->conn, &got, err) && read_holder(h->conn, &now, err) && got &&
                      now.generation == h->self.generation);
}

static void lose(struct hold *h, struct err *why)
{
    struct err state = {0};
    err_set(&state, ERR_UNAVAILABLE, "database",
            "the server lost its hold on the database and writes nothing until it has it again");
    set_state(h, &state);
    log_warn("the hold on the database was lost: %s", why->message);
    h->driver->close(h->conn);
    h->conn = NULL;
}

/* One try to have it again. ERR_HELD: another server had it meanwhile, or has. */
static bool regain(struct hold *h, struct err *err)
{
    struct holder now;
    bool got = false;
    if (!h->driver->open(h->url, CONN_HOLD, &h->conn, err)) {
        h->conn = NULL;
        return false;
    }
    bool ok = try_lock(h->conn, &got, err) && read_holder(h->conn, &now, err);
    if (ok && now.generation != h->self.generation)
        ok = err_set(err, ERR_HELD, "database",
                     "the hold on the database was lost, and another server took it (%s)", now.text);
    if (ok && got)
        return true;
    /* The database does not know yet that the lost connection is gone. */
    h->driver->close(h->conn);
    h->conn = NULL;
    return false;
}

static void *watch(void *arg)
{
    struct hold *h = arg;
    bool quiet = false;
    while (await(h, h->conn ? PROBE_MS : RETRY_MS, &quiet)) {
        struct err err = {0};
        if (h->conn) {
            if (!is_alive(h, quiet, &err))
                lose(h, &err);
        } else if (regain(h, &err)) {
            set_state(h, &err);
            log_info("the hold on the database is there again");
        } else if (err.code == ERR_HELD) {
            set_state(h, &err);
            h->taken();
            break;
        }
    }
    return NULL;
}

struct hold *hold_take(const struct driver *driver, const char *url, unsigned wait_s, void (*taken)(void),
                       struct err *err)
{
    struct hold *h = base_zalloc(sizeof *h);
    *h = (struct hold){.driver = driver, .url = base_strdup(url), .taken = taken, .end_fd = -1};
    pthread_mutex_init(&h->lock, NULL);
    if (driver->open(url, CONN_HOLD, &h->conn, err) && wait_and_take(h, wait_s, err)) {
        h->end_fd = eventfd(0, EFD_CLOEXEC);
        h->thread = thread_start("db-hold", watch, h);
        return h;
    }
    hold_free(h);
    return NULL;
}

void hold_free(struct hold *h)
{
    if (!h)
        return;
    if (h->end_fd >= 0) {
        eventfd_write(h->end_fd, 1);
        pthread_join(h->thread, NULL);
        close(h->end_fd);
    }
    if (h->conn)
        h->driver->close(h->conn);
    pthread_mutex_destroy(&h->lock);
    free(h->url);
    free(h);
}

int64_t hold_generation(const struct hold *h)
{
    return h->self.generation;
}

bool hold_check(struct hold *h, struct err *err)
{
    pthread_mutex_lock(&h->lock);
    struct err state = h->state;
    pthread_mutex_unlock(&h->lock);
    if (state.code == ERR_NONE)
        return true;
    if (err)
        *err = state;
    return false;
}
