/* Jobs that belong to something: environments, training instances and TensorBoards are objects of their own
 * that run as jobs. Their kind declares a `job_owner`; the job carries its kind's name and its id (fields
 * `owner_kind`, `owner`), the controller asks the owner what the containers need and tells it each change of
 * state. The owners stand in one visible table, job_owners, in core/job_owners.c. */
#ifndef INGOT_CORE_JOB_OWNER_H
#define INGOT_CORE_JOB_OWNER_H

#include "core/job/job.h"

/* One container that is about to start. Texts are kept by reference: make them in launch_arena. */
struct launch;
struct arena *launch_arena(struct launch *u);
struct core *launch_core(struct launch *u);
const struct object *launch_job(struct launch *u);
int32_t launch_rank(struct launch *u);
const char *launch_host(struct launch *u,
                        int32_t rank); /* name under which the rank is reached by the others */

void launch_mount(struct launch *u, const char *source, const char *target, bool read_only);
/* The files of a version of a folder (algorithm_version, model_version), read-only. */
bool launch_version(struct launch *u, const struct kind *kind, int64_t id, const char *target,
                    struct err *err);
/* The files of a dataset version and its annotations, read-only, laid out as docs/data.md says. */
bool launch_dataset(struct launch *u, int64_t version, const char *target, struct err *err);
void launch_env(struct launch *u, const char *name, const char *value); /* replaces one of the same name */
void launch_env_default(struct launch *u, const char *name, const char *value); /* unless it is there */
const char *launch_env_of(struct launch *u, const char *name);                  /* NULL: there is none */
/* As launch_env, for a value that no file of this machine keeps; without line ends. */
void launch_secret(struct launch *u, const char *name, const char *value);
/* One of the platform's own programs (programs.h), which is at EXEC_PROGRAMS "/bin/" and its name inside.
 * ERR_CONFLICT when it was not installed with the server. */
bool launch_program(struct launch *u, const char *name, struct err *err);
/* For sshd_config: sessions get what the container's own processes have, but for values that would need
 * quotes. Of the variables that are there when it is called. */
const char *launch_sshd_env(struct launch *u);
void launch_file(struct launch *u, const char *target, struct str content, unsigned mode);
void launch_port(struct launch *u, uint16_t port);
/* Instead of /bin/sh -c command. */
void launch_argv(struct launch *u, const char *const *argv, size_t n);
void launch_disk(struct launch *u, int64_t bytes);
void launch_root(struct launch *u);  /* instead of the image's user */
void launch_alone(struct launch *u); /* without network but for its own loopback */
/* mpirun and torchrun find out by themselves what there is, of one node as of many:
 * /etc/volcano/worker.host, /etc/mpi/hostfile, OMPI_*, PET_*. */
void launch_distributed(struct launch *u);
/* launch_distributed, and the ranks reach each other by ssh without a password: one key pair per job, sshd on
 * port 22 (started beside the command by the container's first process). */
bool launch_gang_ssh(struct launch *u, struct err *err);

struct job_owner {
    const char *kind; /* its name, as in the job's owner_kind */
    /* Its containers get neither the platform's address nor a token: others than the user that started them
     * decide what they do. */
    bool no_platform;
    /* Started for whoever asks and ended when nobody does (core/environment/on_demand.h): lists of jobs leave
     * it out unless they are filtered by owner_kind. */
    bool on_demand;
    /* Adds to a container; called for every rank of every attempt, outside writes. NULL: nothing to add. */
    bool (*prepare)(struct launch *u, struct err *err);
    /* Inside the write that changes the job's state (`job` has the new one): the owner's own row follows. */
    bool (*changed)(struct op *op, const struct object *job, enum job_state from, struct err *err);
    /* After the commit of a change of the job, on any thread: must be quick. */
    void (*told)(struct core *core, const struct object *job);
    /* Outside writes, on the controller's thread, after the job's containers have ended and before its state
     * says so (called again after a crash: must be harmless twice). For taking files over: start a task. */
    bool (*take_over)(struct core *core, const struct object *job, struct arena *a, struct err *err);
    /* Outside writes, on the controller's thread, at each look while the job runs (at least once a second);
     * must be quick. */
    bool (*running)(struct core *core, const struct object *job, struct arena *a, struct err *err);
};
extern const struct job_owner *const job_owners[];              /* ended by NULL */
const struct job_owner *job_owner_of(const struct object *job); /* NULL: a job of its own */

/* A job made by its owner, inside a write. Texts as the kind's fields; the rules of the kind hold. */
struct job_new {
    int64_t project;
    const char *owner_kind;
    int64_t owner;
    struct str name, image, command;
    struct str env; /* JSON object; STR_NULL: none */
    int64_t spec;
    double cpus;    /* what each node takes instead of what the spec says; 0: the spec's */
    int64_t memory; /* bytes */
    int64_t nodes, priority, retries;
    double hours;
};
bool job_create(struct op *op, const struct job_new *r, int64_t *ret_id, struct err *err);
/* Asks a job to stop, inside a write; one that is over is no error. jobs_wake afterwards. */
bool job_stop(struct op *op, int64_t id, const char *reason, struct err *err);

#endif
