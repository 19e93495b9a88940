/* The controller of running environments: publishes their ssh, ends those that are not used; another deletes
 * the folders of those that were deleted. It looks at the table, so that a server that was killed goes on by
 * looking. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "core/controllers.h"
#include "core/environment/environment.h"
#include "core/environment/tools.h"
#include "core/environment/use.h"
#include "net/forward.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>

#define HOUR   3.6e9             /* microseconds */
#define ASK_US INT64_C(10000000) /* between two questions to the tools of one that is not used */

/* One environment's ssh. */
struct published {
    struct published *next;
    struct core *core;
    int64_t environment;
    struct exec_id container;
    struct forward *forward;
    bool seen;
    int64_t asked; /* when its tools were asked whether they compute */
};

struct environments {
    struct core *core;
    char *listen;
    uint16_t first, last;
    struct forwards *forwards;
    pthread_mutex_t lock; /* of what follows */
    struct published *list;
};

/* --- ssh ports --- */

static int connect_ssh(void *ctx)
{
    struct published *p = ctx;
    struct exec *x = jobs_exec(p->core->jobs);
    struct err err = {0};
    return x ? x->ops->connect(x, p->container, ENVIRONMENT_SSH_PORT, &err) : -1;
}

static void passing(void *ctx, void *memory, bool inward, size_t n)
{
    _Static_assert(sizeof(struct use_talk) <= FORWARD_MEMORY, "each connection remembers its talk");
    struct published *p = ctx;
    if (use_is_talk(memory, inward, n, clock_mono()))
        tools_touch(p->core->tools, p->container.job);
}

static bool in_range(const struct environments *e, int64_t port)
{
    return port > 0 && port < 65536 && (!e->first || (port >= e->first && port <= e->last));
}

static struct forward *try_port(struct environments *e, struct published *p, uint16_t port)
{
    struct err err = {0};
    struct forward_target t = {connect_ssh, passing, p};
    struct forward *w = forward_open(e->forwards, e->listen, port, &t, &err);
    if (!w && err.code != ERR_EXISTS)
        log_warn("environment %lld: %s", (long long)p->environment, err.message);
    return w;
}

/* The port it had before when that is free, so that what people noted stays true. */
static void open_port(struct environments *e, struct published *p, int64_t before)
{
    if (in_range(e, before))
        p->forward = try_port(e, p, (uint16_t)before);
    if (!p->forward && !e->first)
        p->forward = try_port(e, p, 0);
    for (unsigned port = e->first; !p->forward && port && port <= e->last; port++)
        p->forward = try_port(e, p, (uint16_t)port);
}

/* sshd takes a moment to begin; until then a visitor would be sent away. */
static bool answers(struct environments *e, int64_t id, struct exec_id container)
{
    struct published p = {.core = e->core, .environment = id, .container = container};
    auto_fd int fd = connect_ssh(&p);
    struct pollfd there = {.fd = fd, .events = POLLOUT};
    return fd >= 0 && poll(&there, 1, 0) == 1;
}

static bool publish(struct environments *e, int64_t id, struct exec_id container, int64_t before,
                    struct err *err)
{
    struct published *p = base_zalloc(sizeof *p);
    *p = (struct published){.core = e->core, .environment = id, .container = container, .seen = true};
    open_port(e, p, before);
    if (!p->forward) {
        free(p);
        return err_set(err, ERR_UNAVAILABLE, NULL, "no free port for the ssh of environment %lld",
                       (long long)id);
    }
    int64_t port = forward_port(p->forward);
    pthread_mutex_lock(&e->lock);
    p->next = e->list;
    e->list = p;
    pthread_mutex_unlock(&e->lock);
    return port == before || engine_write_status(e->core, &kind_environment, id,
                                                 ENGINE_STATUSES(status_set("ssh_port", db_int(port))), err);
}

static void close_port(struct environments *e, struct published *p)
{
    forward_close(e->forwards, p->forward);
    tools_forget(e->core->tools, p->container.job);
    free(p);
}

/* Only this thread changes the list, so that it may read it without the lock. */
static void close_unseen(struct environments *e)
{
    for (struct published **at = &e->list; *at;) {
        struct published *p = *at;
        if (p->seen) {
            p->seen = false;
            at = &p->next;
            continue;
        }
        pthread_mutex_lock(&e->lock);
        *at = p->next;
        pthread_mutex_unlock(&e->lock);
        close_port(e, p);
    }
}

static struct published *find_published(struct environments *e, int64_t id, struct exec_id container)
{
    struct published *p = e->list;
    while (p && !(p->environment == id && exec_id_equal(p->container, container)))
        p = p->next;
    if (p)
        p->seen = true;
    return p;
}

/* --- idleness --- */

static bool idle_write(struct op *op, void *ctx, struct err *err)
{
    return job_stop(op, *(int64_t *)ctx, "nobody used it for the hours it may be unused", err);
}

/* What computes counts as used, without a person at its page. */
static void look_at_work(struct environments *e, struct published *p, int64_t nodes)
{
    int64_t now = clock_now(), job = p->container.job;
    if (use_computes(e->core, p->container, nodes)) {
        tools_touch(e->core->tools, job);
    } else if (now - tools_touched(e->core->tools, job) > ASK_US && now - p->asked > ASK_US) {
        p->asked = now;
        use_ask_tools(e->core, p->container);
    }
}

static bool end_idle(struct environments *e, int64_t job, int64_t started, double hours, struct arena *a,
                     struct err *err)
{
    int64_t used = tools_touched(e->core->tools, job);
    if (hours <= 0 || !started || clock_now() - (used > started ? used : started) < (int64_t)(hours * HOUR))
        return true;
    if (!engine_write(e->core, &caller_system, a, idle_write, &job, err))
        return false;
    jobs_wake(e->core->jobs);
    return true;
}

/* --- deleted ones --- */

/* All folders of this number: no other environment has it. */
static bool remove_folders(struct core *core, const struct db_value *v, struct arena *a, struct err *err)
{
    const char *base = arena_printf(a, "%s/workspace", core->data);
    const char *number = arena_printf(a, "%lld", (long long)v[0].i);
    DIR *d = opendir(base);
    bool ok = true;
    if (!d)
        return errno == ENOENT || err_errno(err, errno, "cannot read %s", base);
    for (struct dirent *x; ok && (x = readdir(d));) {
        size_t n = strlen(number);
        if (strncmp(x->d_name, number, n) == 0 && (x->d_name[n] == 0 || x->d_name[n] == '-'))
            ok = fs_remove_tree(dirfd(d), x->d_name, err);
    }
    closedir(d);
    return ok;
}

static bool collect(struct core *core, struct err *err)
{
    return purge_rows(core, &(struct purge){"workspace_purges", "environment", "", remove_folders}, err);
}

const struct controller controller_collect_workspaces = {
    .name = "collect-workspaces",
    .title = {"Removes the folders of deleted environments", "清除已删除环境的文件"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .woken_by = {{"environment", "delete"}},
    .tick = collect,
};

/* --- the loop --- */

static bool look(struct core *core, struct err *err)
{
    struct environments *e = core->environments;
    auto_arena struct arena a;
    arena_init(&a);
    bool ok = true;
    struct db_rows rows;
    if (!db_query(
            e->core->db, &a,
            "SELECT e.id, e.job, j.attempt, e.ssh_port, e.started_at, e.idle_hours, e.nodes FROM "
            "environments e JOIN jobs j ON j.id = e.job WHERE e.state = 'running' AND j.state = 'running'",
            DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        struct exec_id id = {v[1].i, (int32_t)v[2].i, 0};
        struct err one = {0};
        double hours = v[5].type == DB_REAL ? v[5].r : (double)v[5].i;
        struct published *p = find_published(e, v[0].i, id);
        if (p)
            look_at_work(e, p, v[6].i);
        if ((!p && answers(e, v[0].i, id) &&
             !publish(e, v[0].i, id, v[3].type == DB_INT ? v[3].i : 0, &one)) ||
            !end_idle(e, v[1].i, v[4].type == DB_INT ? v[4].i : 0, hours, &a, &one))
            ok = err_keep(err, &one);
    }
    close_unseen(e);
    return ok;
}

void environments_wake(struct core *core)
{
    controller_wake(core, &controller_environments);
}

uint16_t environments_port(struct core *core, int64_t environment)
{
    struct environments *e = core->environments;
    uint16_t port = 0;
    pthread_mutex_lock(&e->lock);
    for (const struct published *p = e->list; p; p = p->next)
        if (p->environment == environment)
            port = forward_port(p->forward);
    pthread_mutex_unlock(&e->lock);
    return port;
}

static bool start(struct core *core, const struct core_options *o, struct err *err)
{
    (void)err;
    struct environments *e = base_zalloc(sizeof *e);
    pthread_mutex_init(&e->lock, NULL);
    e->core = core;
    e->listen = base_strdup(o->ssh_listen ? o->ssh_listen : "127.0.0.1");
    e->first = o->ssh_port_first;
    e->last = o->ssh_port_last;
    e->forwards = forwards_new();
    core->environments = e;
    return true;
}

static void stop(struct core *core)
{
    struct environments *e = core->environments;
    while (e->list) {
        struct published *p = e->list;
        pthread_mutex_lock(&e->lock);
        e->list = p->next;
        pthread_mutex_unlock(&e->lock);
        close_port(e, p);
    }
}

static void free_environments(struct core *core)
{
    struct environments *e = core->environments;
    forwards_free(e->forwards);
    pthread_mutex_destroy(&e->lock);
    free(e->listen);
    free(e);
}

const struct controller controller_environments = {
    .name = "environments",
    .title = {"Publishes the ssh of environments, ends those that nobody uses",
              "发布环境的 SSH，停止无人使用的环境"},
    .thread = "environments",
    .first_s = 1,
    .every_s = 1,
    .start = start,
    .tick = look,
    .stop = stop,
    .free = free_environments,
};
