/* Where jobs run. An executor starts containers, watches them, keeps their output and tells what the machines
 * have. Local containers (exec/local/local.h) and Kubernetes are two of them behind one table of functions;
 * the rest of the platform knows nothing else.
 *
 * A container is one rank of one attempt of a job. It exists from `start` until `remove`; its log, exit code
 * and reason stay readable in between, also after the server was killed and started again: an executor made
 * on the same folder finds all of them, running or ended.
 *
 * Every function may be called from any thread. Results are made in the caller's arena. Unknown containers
 * give ERR_NOT_FOUND. */
#ifndef INGOT_EXEC_EXEC_H
#define INGOT_EXEC_EXEC_H

#include "base/arena.h"
#include "base/err.h"

struct exec_id {
    int64_t job;
    int32_t attempt; /* from 1 */
    int32_t rank;    /* 0 .. nodes-1 */
};

#define EXEC_ID_MAX 48
/* "17-1-0", the container's name in files, cgroups and messages; returns ret. */
char *exec_id_format(struct exec_id id, char ret[EXEC_ID_MAX]);
bool exec_id_parse(struct str s, struct exec_id *ret);
bool exec_id_equal(struct exec_id a, struct exec_id b);

struct exec_mount {
    const char *source; /* existing folder (or file) on the server's machine */
    const char *target; /* absolute, inside */
    bool read_only;
};

/* A small file put into the container: keys, host files. At most 1 MB each. */
struct exec_file {
    const char *target;
    struct str content;
    unsigned mode; /* 0 means 0644 */
};

/* Another rank of the same gang: its name resolves to its address from the start of each, whichever comes
 * first. */
struct exec_peer {
    struct exec_id id;
    const char *hostname;
};

#define EXEC_PROGRAMS "/opt/ingot-client"

#define EXEC_SECRETS    210  /* at most so many, */
#define EXEC_SECRET_MAX 4200 /* each with so many bytes */

struct exec_spec {
    struct exec_id id;
    const char *image; /* what people call it; "host" is the built-in one, which has no image layers */
    bool host;         /* the image layers lie above the image host */
    const char *const *layers; /* folders with unpacked image layers, lowest first */
    size_t n_layers;
    const char *const *argv; /* argv[0] found on the container's PATH */
    size_t n_argv;
    const char *const *env; /* "NAME=value" */
    size_t n_env;
    const char *const *secrets; /* the same, but written to no disk for longer than a start takes */
    size_t n_secrets;
    const char *cwd;  /* absolute; made when it does not exist; NULL means / */
    const char *user; /* "name", "name:group", "1000" or "1000:1000" of the image; NULL means root */
    const struct exec_mount *mounts;
    size_t n_mounts;
    const struct exec_file *files;
    size_t n_files;
    const struct exec_peer *peers; /* the whole gang, itself included; none for a job of one node */
    size_t n_peers;
    const char *const *devices; /* device files of the node, e.g. /dev/nvidia0 */
    size_t n_devices;
    const uint16_t *ports; /* that the platform will connect to */
    size_t n_ports;
    const char *hostname; /* NULL: the id's text */
    uint16_t
        platform_port; /* on the container's own loopback, where the platform is reached (listen); 0: none */
    const char
        *programs; /* folder of the platform's programs, read-only at EXEC_PROGRAMS; NULL: none. Containers of
                      one image that have the same one can follow each other on one stage */
    int64_t network;    /* the project's id: containers of one project reach each other and no others; 0:
                           loopback only */
    int64_t cpu_millis; /* 1000 is one core; 0 is no limit, also below */
    int64_t memory;     /* bytes */
    int64_t disk;       /* bytes written outside of mounts */
    int64_t pids;
    int64_t shm;       /* bytes of /dev/shm; 0 means 64 MB */
    int64_t log_limit; /* bytes of log kept; 0 means 1 GB */
    int64_t grace_s;   /* between TERM and KILL; 0 means 10 */
    const char *node;  /* name of the node to run on (nodes()); NULL: the executor's only or own choice */
};

enum exec_state {
    EXEC_STARTING, /* accepted; image, network and limits are being prepared */
    EXEC_RUNNING,
    EXEC_EXITED,
};
const char *exec_state_name(enum exec_state state); /* "starting", "running", "exited" */

enum exec_end {
    EXEC_END_NONE,     /* has not ended */
    EXEC_END_EXIT,     /* by itself: code tells */
    EXEC_END_SIGNAL,   /* by a signal that the executor did not send */
    EXEC_END_STOPPED,  /* because of stop or kill, whatever the code */
    EXEC_END_OOM,      /* the memory limit ended it */
    EXEC_END_NO_START, /* never ran: image, command, mount or limit was impossible; reason says what */
    EXEC_END_LOST,     /* its supervisor or machine went away: the code is unknown */
};
const char *
exec_end_name(enum exec_end end); /* "none", "exit", "signal", "stopped", "oom", "no-start", "lost" */

struct exec_status {
    struct exec_id id;
    enum exec_state state;
    enum exec_end end;
    int code;            /* exit code; 128 + signal when a signal ended it; -1 when unknown */
    int signal;          /* 0 when none */
    bool oom;            /* the limit killed something inside, even when the main process went on or exited */
    int64_t started_us;  /* of the command; 0 while starting */
    int64_t ended_us;    /* 0 while not ended */
    const char *node;    /* where */
    const char *address; /* in the project's network, "" when there is none */
    char reason[256];    /* a sentence for people; "" while all is well */
};

struct exec_stats {
    int64_t at_us;
    int64_t cpu_ns;       /* used since the start */
    int64_t memory;       /* bytes without reclaimable file cache */
    int64_t memory_limit; /* 0: none */
    int64_t net_rx, net_tx;
    int64_t disk;       /* bytes written outside of mounts; -1 when not known */
    int64_t disk_limit; /* 0: none */
    int64_t disk_free;  /* of a node: what its containers may still write */
    int64_t pids;
    int64_t cards_busy;   /* of its devices together, thousandths of a card; -1: not known */
    int64_t cards_memory; /* bytes in use on them, by whomever; -1: not known */
};

struct exec_device {
    const char *kind; /* "nvidia", "ascend" */
    const char *path;
    bool declared; /* told by the configuration, not detected */
};

struct exec_node {
    const char *name;
    const char *arch; /* "amd64", "arm64": the words of OCI images */
    int64_t cpu_millis, memory, disk;
    const struct exec_device *devices;
    size_t n_devices;
    bool ready;
    const char *reason; /* why it is not ready, or what is weaker than it should be; "" when all is well */
};

/* The log is a series of records, each a line of text (UTF-8 is not guaranteed):
 *     2026-11-16T09:51:30.123456Z o text\n
 * The time has always 27 bytes; then a space, the stream (o output, e errors, i remarks of the platform), a
 * space (or '+' when the line was longer than 16 KB and goes on in the stream's next record) and the text
 * from byte 30 on. Offsets count bytes since the first record ever written; past the size limit the oldest
 * are dropped, so that `first` moves on. Lines are numbered from 0 the same way. */
#define EXEC_LOG_HEAD 30

struct exec_log {
    int64_t first, end;           /* offsets of what can be read: [first, end) */
    int64_t first_line, end_line; /* lines, the same way */
    bool closed;                  /* nothing will be added */
};

/* A process started inside by `attach`. */
struct exec_attach {
    int fd; /* both directions, non-blocking; a terminal's bytes, or input and output without one. Ends with
               the process (read gives 0 or EIO). attach_close closes it. */
    void *own;
};

struct exec_attach_spec {
    const char *const *argv;
    size_t n_argv;
    const char *const *env; /* added to the container's */
    size_t n_env;
    const char *cwd, *user; /* NULL: the container's */
    bool tty;
    unsigned rows, cols; /* 0 means 24 and 80 */
};

/* Takes bytes in their order; false ends it. */
typedef bool exec_sink_fn(void *ctx, struct str piece, struct err *err);

typedef void exec_watch_fn(void *ctx, const struct exec_status *s);

struct exec;

struct exec_ops {
    const char *name; /* "local", "kubernetes" */

    /* Returns at once; what goes wrong later is in the status. Starting what is known already does nothing
     * and is no error. ERR_INVALID names the field that cannot be. */
    bool (*start)(struct exec *x, const struct exec_spec *spec, struct err *err);
    /* TERM to every process, KILL after grace_s seconds (-1: the spec's). Stopping what has ended is no
     * error. */
    bool (*stop)(struct exec *x, struct exec_id id, int64_t grace_s, struct err *err);
    bool (*kill)(struct exec *x, struct exec_id id, struct err *err);
    /* Forgets an ended container and deletes its files, log included; ends one that still runs first. Unknown
     * is no error. May take as long as the container takes to end. */
    bool (*remove)(struct exec *x, struct exec_id id, struct err *err);

    bool (*status)(struct exec *x, struct arena *a, struct exec_id id, struct exec_status *ret,
                   struct err *err);
    /* All that it knows, in order of id. */
    bool (*list)(struct exec *x, struct arena *a, struct exec_status **ret, size_t *ret_n, struct err *err);
    /* fn is called on a thread of the executor after each change of a state, with the newest status (changes
     * may be merged, never lost). One watcher; NULL ends it: fn is not running any more when this returns (so
     * not to be called from fn). After a start of the server look at `list` first. fn may call every other
     * function. */
    void (*watch)(struct exec *x, exec_watch_fn *fn, void *ctx);

    bool (*log)(struct exec *x, struct exec_id id, struct exec_log *ret, struct err *err);
    /* Up to n bytes from *offset on; less at a file's end, 0 at the end of the log. An offset before `first`
     * is moved to it. *offset advances past what was read. */
    bool (*log_read)(struct exec *x, struct exec_id id, int64_t *offset, void *p, size_t n, size_t *ret_n,
                     struct err *err);
    /* The offset at which the line starts; a line that was dropped gives `first`, one after the last `end`.
     */
    bool (*log_line)(struct exec *x, struct exec_id id, int64_t line, int64_t *ret_offset, struct err *err);
    /* Waits until something follows offset, the log is closed, or the time is over. */
    bool (*log_wait)(struct exec *x, struct exec_id id, int64_t offset, int64_t timeout_ms, struct err *err);

    bool (*attach)(struct exec *x, struct exec_id id, const struct exec_attach_spec *spec,
                   struct exec_attach *ret, struct err *err);
    bool (*attach_resize)(struct exec_attach *at, unsigned rows, unsigned cols, struct err *err);
    /* Waits for its end. *ret_code as exec_status.code. */
    bool (*attach_wait)(struct exec_attach *at, int *ret_code, struct err *err);
    void (*attach_stop)(struct exec_attach *at);  /* ends the process; also while attach_wait waits */
    void (*attach_close)(struct exec_attach *at); /* ends the process when it still runs; frees */

    /* A socket connected to the port inside, for the proxy; the caller's to close. It is non-blocking, and
     * still connecting when the program that listens is behind. ERR_UNAVAILABLE when no program listens
     * (yet). */
    int (*connect)(struct exec *x, struct exec_id id, uint16_t port, struct err *err);
    /* The listening socket at platform_port of a running container; the caller's to close. The executor has
     * it open too, from before the container's first process until its end: a program that connects while the
     * server does not accept waits, also during a restart. -1: ERR_UNAVAILABLE when the container does not
     * run or has none. */
    int (*listen)(struct exec *x, struct exec_id id, struct err *err);
    /* All that a running container changed outside of its mounts, as an OCI image layer: a tar with
     * whiteouts. It is frozen meanwhile where the machine can do that; else what it changes meanwhile may be
     * in it or not. ERR_CONFLICT when it does not run. */
    bool (*changes)(struct exec *x, struct exec_id id, exec_sink_fn *sink, void *ctx, struct err *err);
    /* The folder at an absolute path inside of a running container, open for reading, as its processes see
     * it: with what is mounted there. No link is followed. The caller's to close; once the container has
     * ended, what was mounted is missing from it. -1: ERR_NOT_FOUND when there is no such folder,
     * ERR_UNAVAILABLE when the container does not run. */
    int (*folder)(struct exec *x, struct exec_id id, const char *path, struct err *err);
    bool (*stats)(struct exec *x, struct exec_id id, struct exec_stats *ret, struct err *err);
    /* What a node uses altogether, by whomever: at_us, cpu_ns since its start, memory, disk,
     * disk_free; others are 0. */
    bool (*node_stats)(struct exec *x, const char *node, struct exec_stats *ret, struct err *err);
    bool (*nodes)(struct exec *x, struct arena *a, struct exec_node **ret, size_t *ret_n, struct err *err);
    /* Containers go on. */
    void (*free)(struct exec *x);
};

/* First member of each executor. */
struct exec {
    const struct exec_ops *ops;
};

/* The limits that every executor has in common: field names and rules in err. */
bool exec_spec_check(const struct exec_spec *spec, struct err *err);

#endif
