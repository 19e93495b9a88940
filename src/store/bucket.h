/* Blobs in a bucket of an object store (store/s3.h) instead of the data folder. What is read or written here
 * is also kept in a cache, <data>/cache/blobs, of bounded size: the blobs used longest ago leave it first.
 * Blobs that lie in <data>/blobs from the time before are still read there.
 *
 * A bucket (with its prefix) belongs to one platform, as its collector removes there what it does not know:
 * an object "ingot-store" and a row of the database carry the same id. */
#ifndef INGOT_STORE_BUCKET_H
#define INGOT_STORE_BUCKET_H

#include "store/store.h"

struct bucket;

/* Looks where the platform's blobs are; *ret is NULL when that is the data folder. ERR_CONFLICT when the
 * options say otherwise than the database or the bucket. */
bool bucket_open(struct store *s, const struct store_options *o, struct bucket **ret, struct err *err);
void bucket_close(struct bucket *b); /* NULL allowed */

/* Writes the row again, after the database was replaced. */
bool bucket_keep_place(struct store *s, struct err *err);

/* Puts a durable file into the bucket, then moves it to the cache. known: the bucket may have it already. */
bool bucket_take(struct store *s, int dirfd, const char *name, const struct digest *d, int64_t size,
                 bool known, struct err *err);
/* From the cache, or fetched into it; as blob_open. */
int bucket_read(struct store *s, const struct digest *d, int64_t *ret_size, struct err *err);
/* As blob_begin and blob_send (bucket_fetch.c). */
bool bucket_begin(struct store *s, const struct digest *d, int *ret_fd, int64_t *ret_size, struct err *err);
bool bucket_send(struct store *s, const struct digest *d, int64_t from, int64_t n, int64_t size,
                 const struct blob_sink *sink, struct err *err);
/* Puts the file of a blob into the bucket unless that has it. */
bool bucket_put(struct store *s, const struct digest *d, int fd, int64_t size, struct err *err);
bool bucket_has(struct store *s, const struct digest *d, bool *ret, struct err *err);
/* The cached file gets a second name; false with errno. */
bool bucket_link(struct store *s, const struct digest *d, int dirfd, const char *path);
bool bucket_remove(struct store *s, const struct digest *d, struct err *err);
/* All digests whose first byte is `first`. */
bool bucket_each(struct store *s, uint8_t first,
                 bool (*one)(void *ctx, const struct digest *d, struct err *err), void *ctx, struct err *err);

/* The cache (bucket_cache.c): fetched and stored files by their digest. */
struct bucket_cache;
struct bucket_cache *bucket_cache_open(int cache_fd, int64_t max_bytes, struct err *err);
void bucket_cache_close(struct bucket_cache *c);
/* -1 with errno. */
int bucket_cache_get(struct bucket_cache *c, const struct digest *d);
/* Takes over a file, and makes room. */
bool bucket_cache_add(struct bucket_cache *c, int dirfd, const char *name, const struct digest *d,
                      int64_t size, struct err *err);
bool bucket_cache_link(struct bucket_cache *c, const struct digest *d, int dirfd, const char *path);
void bucket_cache_drop(struct bucket_cache *c, const struct digest *d);
int64_t bucket_cache_bytes(struct bucket_cache *c);
int64_t bucket_cache_max(const struct bucket_cache *c);

#endif
