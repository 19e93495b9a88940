/* ingot-shim: the supervisor of one local container, a static program of its own (libc only). It is started
 * by src/exec/local in the container's folder with the file `plan`, builds root file system and network, lets
 * crun start the container, writes the log, obeys the pipe `ctl` and writes `exit` when all is over. The same
 * program is process 1 inside the container (shim_init) and runs commands inside for terminals (shim_attach).
 */
#ifndef INGOT_EXEC_SHIM_SHIM_H
#define INGOT_EXEC_SHIM_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The descriptors it is started with. */
#define SHIM_CTL_FD   3 /* supervise: the pipe `ctl`; probe: where the reason goes */
#define SHIM_CRUN_FD  4 /* supervise: crun's program, sealed */
#define SHIM_REUSE_FD 5 /* supervise: a socket to the server (reuse.c) */

/* What it opens for the server, which takes a copy of it (local/attach.c): the socket that listens inside. */
#define SHIM_LISTEN_FD 100

/* Inside: further variables of the environment, a line each, for root only. They are in memory alone. */
#define SHIM_SECRETS "/dev/.ingot-secrets"

#define SHIM_BEGUN 0700 /* the mode of the pipe `ctl` once a supervisor has taken the container over */

/* plan: "key\0value\0" pairs; some keys are repeated. */
struct plan {
    char *text;
    size_t n;
};
bool plan_read(struct plan *p, const char *path);
const char *plan_get(const struct plan *p, const char *key); /* "" when absent */
int64_t plan_int(const struct plan *p, const char *key);     /* 0 when absent */
/* for (const char *v = NULL; (v = plan_next(p, "layer", v));) */
const char *plan_next(const struct plan *p, const char *key, const char *after);

/* Why the container could not start; the first reason stays. Returns false. */
bool fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool fail_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
extern char fail_reason[256];

extern int job_dir; /* the container's folder; the current folder is the stage once stage_begin was called */

/* stage.c: mounts, all in a mount namespace of the shim's own: they go with its last process. */
bool stage_isolate(
    void); /* before anything is opened: descriptors belong to the namespace they were opened in */
bool stage_begin(const struct plan *p);
bool stage_build(const struct plan *p); /* after wire_build */
/* The container changed nothing in it: the next one of the same image may use it as it is. What was one
 * container's own is gone. stage_begin clears it when the next one needs another. */
bool stage_keep(const struct plan *p);
bool stage_clear(const struct plan *p); /* all of it is gone; stage_begin makes a new one */
/* disk.c: the folder disk of the stage */
void disk_begin(const struct plan *p);
bool disk_mount(const struct plan *p);
bool disk_full(void);         /* nothing can be written any more; false without a limit */
bool disk_machine_full(void); /* nor by any other process: the disk that the containers' disks are on */
bool disk_clear(void);        /* empty again, for disk_mount; false when it is not worth it */
/* wire.c: user and network namespace, kept as ns/user and ns/net of the stage */
bool wire_build(const struct plan *p);
bool wire_unused(void);     /* no process inside sent or got an IPv4 packet, or opened a connection */
extern uint64_t wire_netns; /* inode of the network namespace */

/* logfile.c: see exec.h for the records, local/logs.h for the files */
void logfile_limit(int64_t bytes);
void logfile_add(int stream, const char *p, size_t n); /* stream: 1 output, 2 errors */
void logfile_remark(const char *text);
bool logfile_pending(void); /* the end of a line is awaited */
void logfile_flush(bool last);
void logfile_close(void);

/* reuse.c: what was built for one container (namespaces, network, disk) serves the next one of the same
 * project, when the former has left no trace in it. */
bool reuse_clear(const struct plan *p);
/* Says that it is free and waits a while for the next container; false when there is none. Then
 * job_dir, SHIM_CTL_FD and SHIM_CRUN_FD are the next one's. */
bool reuse_next(void);
bool reuse_is_alone(void); /* the server that started it has ended */

/* file.c */
pid_t run_child(char *const argv[]);
bool run_wait(pid_t pid, const char *what); /* false with a reason unless it exits with 0 */
/* In the container's folder, through a rename; with fsync when the content must survive a power cut. */
bool write_text(const char *name, bool sync, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool write_all(int fd, const void *p, size_t n);
bool remove_tree(int parent, const char *name); /* true when it is gone */
int64_t now_us(void);

/* What init tells the shim through its descriptor 3. */
struct init_report {
    int status; /* of waitpid */
    int error;  /* errno: the command could not be run */
    char text[200];
};

int shim_supervise(int argc, char **argv);
int shim_probe(int argc, char **argv);
int shim_init(int argc, char **argv);
int shim_enter(int argc, char **argv);
int shim_attach(int argc, char **argv);

#endif
