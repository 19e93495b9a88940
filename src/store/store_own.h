/* What the files of the store share. */
#ifndef INGOT_STORE_STORE_OWN_H
#define INGOT_STORE_STORE_OWN_H

#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>

#define STORE_LOCKS 256

struct store {
    struct db *db;
    int blobs_fd;   /* <data>/blobs/sha256 */
    int uploads_fd; /* <data>/uploads */
    int tmp_fd;     /* <data>/blobs/new: blobs being written; those of batches in its folders 0 and 1 */
    int cache_fd;   /* <data>/cache */
    int64_t grace_us;
    atomic_bool ending;         /* no more collecting */
    _Atomic int64_t held_until; /* ... before this time (clock_now): store_hold */
    /* By the digest's first byte: held while a file moves into place or is removed, never while bytes are
     * written. */
    pthread_mutex_t lock[STORE_LOCKS];
    struct bucket *bucket;      /* NULL: blobs are in the data folder */
    struct store_moving moving; /* under its lock */
    pthread_mutex_t moving_lock;
    bool swept;          /* the first pass of the sweep is done */
    unsigned sweep_next; /* first byte of the digests it looks at next; the collecting thread's own */
    pthread_mutex_t appenders_lock;
    struct map *appenders; /* ids of uploads being appended to */
    struct map *hashes;    /* of uploads between two appends: struct upload_hash; under the same lock */
    pthread_mutex_t holding_lock;
    struct map *holding; /* manifests that are held and not yet counted (holding.c): how often */
};

/* "ab/<hex>", relative to blobs_fd. */
#define BLOB_PATH_MAX (SHA256_HEX + 4)
void blob_path(const struct digest *d, char ret[BLOB_PATH_MAX]);
bool blob_hash_file(int fd, struct digest *ret, int64_t *ret_size, struct err *err);
/* Makes the row, or touches it; *ret_known (NULL allowed) whether it was there. */
bool blob_write_row(struct store *s, const struct digest *d, int64_t size, bool *ret_known, struct err *err);
/* Removes what is there of a blob unless it has a row (again). */
bool blob_remove(struct store *s, const struct digest *d, struct err *err);
/* Whether the collector is to leave everything alone now. */
bool collect_stands(struct store *s);
/* Files and objects without a row (sweep.c); *removed grows. */
bool blob_sweep(struct store *s, int64_t *removed, struct err *err);
/* Moves a durable temporary file into place and makes the row, or drops it when the blob is there already. */
bool blob_adopt(struct store *s, int dirfd, const char *name, const struct digest *d, int64_t size,
                struct err *err);

/* The same for a finished file whose digest is known. */
bool blob_take_hashed(struct store *s, int dirfd, const char *name, const struct digest *d, int64_t size,
                      struct err *err);
void upload_hashes_free(struct store *s);

/* Inside a write that made the project take `added` bytes more: ERR_QUOTA when that, and what is reserved, is
 * over its limit. */
bool store_within_limit(struct db_conn *c, int64_t project, int64_t added, int64_t reserved, struct err *err);
/* One use more, whatever the limit. */
bool store_use_anyway(struct db_conn *c, int64_t project, const struct digest *d, struct err *err);

#define BLOB_NAME_MAX 33
#define BLOB_SIDES    2
/* Ends the writing without waiting for the disk: the file keeps its temporary name. Frees w. */
void blob_writer_end(struct blob_writer *w, struct digest *ret, int64_t *ret_size, char name[BLOB_NAME_MAX]);
/* A file gets its blob's name, or goes when that is there. Under the digest's lock; the name is not durable
 * yet. */
bool blob_move(struct store *s, int dirfd, const char *name, const struct digest *d, struct err *err);

#endif
