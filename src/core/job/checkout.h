/* Checkouts: versions of folders and of datasets laid out as files below data/checkouts, to be mounted
 * read-only into containers. Files are hard links to blobs, so that no bytes are copied. A checkout is made
 * once per content, under a temporary name, and renamed: one that is there is whole. All calls block: they
 * are made on the threads that launch jobs. */
#ifndef INGOT_CORE_JOB_CHECKOUT_H
#define INGOT_CORE_JOB_CHECKOUT_H

#include "core/engine.h"

#include <pthread.h>

/* The job that checkouts are made for. Names of what it uses stand in the job's row (field `checkouts`),
 * where the sweep looks. */
struct checkout_user {
    struct core *core;
    struct arena *arena;
    int64_t job;
    pthread_mutex_t *lock; /* between noting a use and the sweep */
    const char *uses;      /* names, a space after each; "" at first */
};

/* The absolute path of the laid out version of a folder (core/folder/folder.h). */
const char *checkout_folder(struct checkout_user *u, const struct kind *kind, int64_t version,
                            struct err *err);
/* The same of a dataset version: docs/data.md tells what is in it. */
const char *checkout_dataset(struct checkout_user *u, int64_t version, struct err *err);
/* Fills the empty folder dirfd with the samples and annotations of a dataset version. */
bool checkout_fill_dataset(struct core *core, const struct object *version, int dirfd, struct err *err);

/* Removes what no job that is not over uses and none has used for keep_s seconds. */
bool checkout_sweep(struct core *core, pthread_mutex_t *lock, int64_t keep_s, struct err *err);
/* At the start: what was being made when the server ended. */
bool checkout_sweep_halves(struct core *core, struct err *err);

#endif
