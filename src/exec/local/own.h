/* Shared by the files of this folder only. In reading order: local.c (the table and the
 * life of a container), container.c (its folder), config.c (what crun and the shim are told), network.c,
 * host.c, watch.c, logs.c, attach.c, stats.c. */
#ifndef INGOT_EXEC_LOCAL_OWN_H
#define INGOT_EXEC_LOCAL_OWN_H

#include "exec/local/local.h"

#include "base/map.h"
#include "base/thread.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>

#define NETWORK_SLOTS  256 /* projects with containers at one time */
#define NETWORK_PREFIX 22  /* each has a /22 */
#define UID_RANGE      65536
#define UID_FIRST      0x10000000u /* the first project's root */
#define LOG_DEFAULT    (INT64_C(1) << 30)
#define HOST_NAME      40

/* An address held for a container, also before it starts: its gang must know it. */
struct lease {
    struct exec_id id;
    int64_t project;
    uint32_t address; /* host order */
    struct lease *next;
};

struct container {
    struct exec_id id;
    char name[EXEC_ID_MAX];
    struct exec_status status;
    char address[16];
    pid_t shim, init; /* of `run`; 0 before */
    uint64_t netns;
    struct supervisor *supervisor; /* its supervisor, when this process started it and it has not ended */
    int watch;                     /* inotify */
    bool spawned, removing, changed;
    int frozen;           /* how many read what it changed */
    char host[HOST_NAME]; /* l->host when it was made */
    int64_t memory_limit, disk_limit;
    char *devices; /* paths, each with a newline; NULL: none */
};

struct local {
    struct exec base;
    char *dir, *name, *stage, *dns, *inventory, *node;
    int dir_fd, lock_fd, program; /* program: memfd of ingot-shim */
    int crun;                     /* memfd of crun, as crun_stat was; under the lock */
    struct stat crun_stat;
    uint32_t subnet; /* host order */
    bool egress;
    bool users;             /* user namespaces work */
    char users_reason[256]; /* why not */
    bool network;           /* bridges and nftables work */
    char network_reason[256];
    char crun_version[32];
    pthread_mutex_t lock; /* all below */
    char host[HOST_NAME];
    pthread_cond_t moved; /* a container ended or was removed */
    struct map *containers;
    struct lease *leases;
    struct supervisor *supervisors;
    int64_t supervisors_made;
    uint8_t bridges[NETWORK_SLOTS]; /* network.c */
    exec_watch_fn *watcher;
    void *watcher_ctx;
    bool calling;
    pthread_t thread, caller;
    bool ending;
    int inotify, wake; /* wake: eventfd */
};

static inline struct local *local_of(struct exec *x)
{
    return container_of(x, struct local, base);
}

/* container.c */
struct container *container_find(struct local *l, struct exec_id id); /* under the lock */
struct container *container_add(struct local *l, struct exec_id id);  /* under the lock */
void container_free(struct container *c);
void container_device(struct container *c, const char *path); /* one more that it has */
/* Reads run and exit; true when the state has changed. Under the lock. */
bool container_refresh(struct local *l, struct container *c);
bool container_alive(struct local *l, const char *name); /* its shim exists */
bool container_command(struct local *l, const char *name, const char *text, struct err *err);
bool container_load_all(struct local *l, struct err *err);
void container_cgroup(const struct local *l, const char *name, char ret[96]);
bool container_has_ended(struct local *l,
                         const struct container *c);        /* also before container_refresh saw it */
void container_ended(struct local *l, struct container *c); /* gives back what it had. Under the lock. */
/* Its shim is gone without a word: ends what is left and says so in its folder. */
void container_lost(struct local *l, const char *name);
struct str container_plan(struct local *l, struct arena *a, const char *name, struct err *err);
/* The next value of the key in a plan, from *at on; STR_NULL at the end. */
const char *container_plan_next(struct str plan, const char *key, size_t *at);

/* config.c */
bool config_write(struct local *l, const struct container *c, const struct exec_spec *spec,
                  const struct lease *leases, size_t n, struct err *err);

/* network.c */
bool network_start(struct local *l, struct err *err); /* tables; l->network tells whether it worked */
void network_end(struct local *l); /* takes bridges and tables away; no container may be using them */
/* The container's and its peers' addresses, and the bridge. Under the lock. */
bool network_lease(struct local *l, const struct exec_spec *spec, struct arena *a, struct lease **ret,
                   size_t *ret_n, struct err *err);
bool network_keep(struct local *l, const struct lease *lease); /* from a plan. Under the lock. */
void network_drop(struct local *l, struct exec_id id);         /* under the lock */
/* The address is another's from now on. Under the lock. */
void network_give(struct local *l, struct exec_id from, struct exec_id to);
void network_sweep(struct local *l); /* bridges that have not been used for a while. Under the lock. */
unsigned network_slot(const struct local *l, uint32_t address);
void network_bridge_name(const struct local *l, unsigned slot, char ret[16]);
void network_text(uint32_t address, char ret[16]);

/* host.c: the skeleton of the image `host`, the folder l->host of l->dir. Makes a new one when the machine
 * has changed since. Under the lock. */
#define HOST_PREFIX ".host-"
bool host_follow(struct local *l, struct err *err);

/* watch.c */
void *watch_main(void *arg);
void watch_wake(struct local *l);
void watch_set(struct exec *x, exec_watch_fn *fn, void *ctx);

/* leftovers.c: what executors leave on the machine (bridges, tables, cgroups), and whose it is */
void leftovers_claim(struct local *l); /* ours; sweeps what belongs to folders that are gone */
void leftovers_none(struct local *l);  /* nothing of ours is left */

/* probe.c: what the machine can do */
bool probe_machine(struct local *l, struct err *err);

/* spawn.c: the shim as a child. argv[0] is "ingot-shim"; fds become 3, 4 ... */
#define SPAWN_FDS 4
pid_t spawn_shim(struct local *l, int cwd, char *const argv[], const int *fds, size_t n, struct err *err);
/* crun's program as the shim wants it, in memory and sealed: crun then need not copy and start itself a
 * second time to be safe from containers that write to it. The caller closes it. */
int spawn_crun(struct local *l, struct err *err);

/* supervisors.c: supervisors, and those that wait for a further container. All under the lock, but
 * supervisors_suit.
 */
bool supervisors_suit(const struct exec_spec *spec); /* its supervisor may serve others afterwards */
struct supervisor *supervisors_new(struct local *l, const struct exec_spec *spec, int *ret_fd,
                                   struct err *err);
void supervisors_started(struct supervisor *r, pid_t pid);                          /* -1: it could not be */
struct supervisor *supervisors_take(struct local *l, const struct exec_spec *spec); /* NULL: there is none */
bool supervisors_send(struct supervisor *r, int folder, int ctl,
                      int crun); /* false: its supervisor has just ended */
void supervisors_leave(struct local *l, struct supervisor *r,
                       struct exec_id id); /* the container id has ended */
void supervisors_sweep(struct local *l);
void supervisors_end(struct local *l);

/* meter.c: cards_busy and cards_memory of these devices (paths, each with a newline) */
void meter_read(struct local *l, const char *devices, struct exec_stats *s);

/* the rest of the table */
bool logs_info(struct exec *x, struct exec_id id, struct exec_log *ret, struct err *err);
bool logs_read(struct exec *x, struct exec_id id, int64_t *offset, void *p, size_t n, size_t *ret_n,
               struct err *err);
bool logs_line(struct exec *x, struct exec_id id, int64_t line, int64_t *ret_offset, struct err *err);
bool logs_wait(struct exec *x, struct exec_id id, int64_t offset, int64_t timeout_ms, struct err *err);
bool attach_start(struct exec *x, struct exec_id id, const struct exec_attach_spec *spec,
                  struct exec_attach *ret, struct err *err);
bool attach_resize(struct exec_attach *at, unsigned rows, unsigned cols, struct err *err);
bool attach_wait(struct exec_attach *at, int *ret_code, struct err *err);
void attach_stop(struct exec_attach *at);
void attach_close(struct exec_attach *at);
int attach_connect(struct exec *x, struct exec_id id, uint16_t port, struct err *err);
int attach_listen(struct exec *x, struct exec_id id, struct err *err);
int attach_folder(struct exec *x, struct exec_id id, const char *path, struct err *err);
bool changes_write(struct exec *x, struct exec_id id, exec_sink_fn *sink, void *ctx, struct err *err);
bool stats_read(struct exec *x, struct exec_id id, struct exec_stats *ret, struct err *err);
bool stats_nodes(struct exec *x, struct arena *a, struct exec_node **ret, size_t *ret_n, struct err *err);
bool stats_node(struct exec *x, const char *node, struct exec_stats *ret, struct err *err);

#endif
