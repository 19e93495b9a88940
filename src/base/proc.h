/* Child processes. */
#ifndef INGOT_BASE_PROC_H
#define INGOT_BASE_PROC_H

#include "base/arena.h"
#include "base/err.h"

/* Runs argv (argv[0] found on PATH), standard input from /dev/null; output (both streams, at most max bytes
 * kept) into the arena when ret_output is set. ret_status: exit code, or 128+signal. false only when it could
 * not run. */
bool proc_run(struct arena *a, char *const argv[], size_t max, int *ret_status, struct str *ret_output,
              struct err *err);

/* A file of the installation: at `installed` from the folder of this program (bin), or at `built` where it
 * runs out of the repository it was built in (build/MODE); in the arena. NULL: it is at neither. */
const char *proc_beside(struct arena *a, const char *installed, const char *built);

/* A program that is followed while it works. */
struct proc_follow {
    char *const *argv; /* argv[0] found on PATH */
    const char *const
        *env; /* "NAME=VALUE" beside and in place of this program's own, ended by NULL; or NULL */
    int log;  /* where its standard error goes */
    /* Each line of its standard output, without its end; longer ones than PROC_LINE_MAX are left out. */
    void (*line)(void *ctx, struct str line);
    /* Asked several times a second; false ends the program and all that it started. */
    bool (*go_on)(void *ctx, struct err *err);
    void *ctx;
};
#define PROC_LINE_MAX (64 << 10)
/* Until its end. It has a process group of its own; its standard input ends when this program does, however
 * that comes about. ret_status as above; false when it could not run, or with what go_on said. */
bool proc_follow(const struct proc_follow *f, int *ret_status, struct err *err);

#endif
