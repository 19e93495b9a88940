/* From files on the disk to a version of a folder: a task reads them into blobs and makes the manifest
 * durable; one write then makes the version. Before that write there is nothing to be seen of it, and what
 * was read is given back by the store when nothing counts it. */
#ifndef INGOT_CORE_FOLDER_GATHER_H
#define INGOT_CORE_FOLDER_GATHER_H

#include "core/folder/folder.h"
#include "core/task/task.h"

#define GATHER_RESERVE (UINT64_C(1) << 30) /* bytes of the disk that are left free */

struct gathering {
    struct task *task; /* whose report names what is left out */
    int64_t total;     /* bytes to come, for the progress; 0: not known */
    struct manifest_entry *entry;
    size_t n, cap;
    int64_t bytes; /* read so far */
    struct blob_batch *batch;
    char *space; /* for a piece of a file */
    struct manifest manifest;
    struct digest digest;
    char hex[SHA256_HEX + 1];
};

/* The bytes of all files below the folder. */
bool gather_size(struct task *t, int dirfd, int64_t *ret, struct err *err);
/* ERR_QUOTA when the disk has no room for so many more. */
bool gather_room(struct core *core, int64_t bytes, struct err *err);
/* Reads all files below the folder: c->n of them. A file that changes meanwhile is kept as it was read, and
 * told. */
bool gather_files(struct gathering *c, int dirfd, struct err *err);
/* Makes what was read durable and the project's. ERR_QUOTA when that is more than it may store. */
bool gather_hold(struct gathering *c, struct err *err);
/* After the write that follows, whether it failed or not. */
void collect_settle(struct gathering *c);
/* Inside a write: a published version of what was held. o: project, parent (the set), created_by, description
 * and lineage are given, the rest is filled in. */
bool gather_insert(struct op *op, const struct gathering *c, struct object *o, struct err *err);

#endif
