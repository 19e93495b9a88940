/* What the files of the bucket share. */
#ifndef INGOT_STORE_BUCKET_OWN_H
#define INGOT_STORE_BUCKET_OWN_H

#include "store/bucket.h"
#include "store/s3.h"

#include <pthread.h>

#define BUCKET_PREFIX_MAX 400
#define BUCKET_KEY_MAX    (BUCKET_PREFIX_MAX + SHA256_HEX + 20)
#define BUCKET_RANGED     64
#define BUCKET_FETCHES    32 /* threads; beyond, each reader fetches for itself */

struct fetch;
struct bucket {
    struct s3 *s3;
    char *prefix; /* "" or ends with '/' */
    char *id, *where;
    struct bucket_cache *cache;
    /* Large blobs on their way here (bucket_fetch.c); the lock is never held while bytes move. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fetch *fetches;
    unsigned fetching;                  /* threads that run */
    pthread_t finished[BUCKET_FETCHES]; /* those to join */
    unsigned finished_n;
    bool ending;
    struct { /* how much of a blob was read in ranges since it was here last; the oldest gives way */
        struct digest digest;
        int64_t bytes;
    } ranged[BUCKET_RANGED];
    unsigned ranged_next;
};

struct str bucket_key(const struct bucket *b, const struct digest *d, char ret[BUCKET_KEY_MAX]);
/* Stops what is being fetched, and waits for it. */
void bucket_fetch_end(struct bucket *b);

#endif
