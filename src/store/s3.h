/* A client of S3 and of what speaks like it (path style, Signature Version 4): one bucket, objects by key.
 *
 * Every call blocks. Connection failures and answers of 429 and 5xx are tried again a few times with growing
 * pauses; a download that breaks goes on where it was. Errors: ERR_NOT_FOUND for a missing object,
 * ERR_UNAVAILABLE when the service does not answer or says to come back, ERR_UPSTREAM for everything it
 * refuses, with its own words. A secret is in none of them. */
#ifndef INGOT_STORE_S3_H
#define INGOT_STORE_S3_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

struct s3_options {
    const char *endpoint; /* "http(s)://host[:port]"; NULL: AWS in the region */
    const char *region;   /* NULL: us-east-1 */
    const char *bucket;
    const char *key, *secret; /* NULL key: requests are not signed (public buckets) */
    const char *token;        /* of temporary credentials; NULL: none */
    const char *ca_file;      /* extra certificate authority; NULL: the system's */
    unsigned tries;           /* 0: 5 */
    unsigned timeout_s;       /* of silence; 0: 60 */
    bool (*alive)(void *ctx); /* asked about once a second in every call; false ends it. NULL: to the end */
    void *ctx;
};

#define S3_OBJECT_MAX (INT64_C(1) << 46) /* bytes; no service has larger ones */
#define S3_KEY_MAX    1024

struct s3;
struct s3 *s3_new(const struct s3_options *o, struct err *err); /* ERR_INVALID names the option */
void s3_free(struct s3 *s);                                     /* NULL allowed */
/* All calls end soon, and later ones at once (ERR_UNAVAILABLE): before the end of the program. */
void s3_end(struct s3 *s);
const char *s3_host(const struct s3 *s); /* "host" or "host:port" */

bool s3_head(struct s3 *s, struct str key, int64_t *ret_size, struct err *err);
/* The bytes from `from` on, at most n (-1: to the end), in order; sink's false ends it with sink's own err.
 */
struct s3_sink {
    bool (*piece)(void *ctx, struct str data, struct err *err);
    void *ctx;
    bool (*alive)(void *ctx); /* asked about once a second, also in silence; false ends it. May be NULL */
};
bool s3_get(struct s3 *s, struct str key, int64_t from, int64_t n, const struct s3_sink *sink,
            struct err *err);
/* A small object into memory; ERR_TOO_LARGE over max. */
bool s3_read(struct s3 *s, struct arena *a, struct str key, size_t max, struct str *ret, struct err *err);
/* size bytes of fd from its start; over 64 MiB in parts. When it returns true the service has all of it. hash
 * (the content's SHA-256) may be NULL: then the file is read once more to know it. */
bool s3_put_file(struct s3 *s, struct str key, int fd, int64_t size, const uint8_t *hash, struct err *err);
bool s3_put(struct s3 *s, struct str key, struct str data, struct err *err);
bool s3_delete(struct s3 *s, struct str key, struct err *err); /* a missing one is fine */

struct s3_object {
    struct str key;
    int64_t size;
};
struct s3_page {
    struct s3_object *object; /* in the order of keys */
    size_t n;
    struct str next; /* token of the next page; STR_NULL: that was the last */
};
/* One page (at most 1000) of the keys that start with prefix; token: STR_NULL, or the former page's next. */
bool s3_list(struct s3 *s, struct arena *a, struct str prefix, struct str token, struct s3_page *ret,
             struct err *err);

#endif
