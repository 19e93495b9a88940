/* What the files of the S3 client share. */
#ifndef INGOT_STORE_S3_OWN_H
#define INGOT_STORE_S3_OWN_H

#include "net/client.h"
#include "store/s3.h"

#include <stdatomic.h>

struct s3 {
    char *base;   /* "https://host:port" */
    char *host;   /* "host:port" */
    char *bucket; /* percent-encoded */
    char *region, *key, *secret, *token, *ca_file;
    unsigned tries, timeout_s;
    bool (*alive)(void *ctx);
    void *ctx;
    atomic_bool ended;
};

struct s3_request {
    const char *method;
    struct str key;    /* "" is the bucket itself */
    const char *query; /* encoded and sorted; NULL: none */
    struct str body;   /* or: */
    int fd;            /* body_size bytes from body_at, when body_size > 0 and body is STR_NULL */
    int64_t body_at, body_size;
    const uint8_t *hash; /* of the body; NULL: made here */
    const char *range;   /* "bytes=5-", or NULL */
    bool (*sink)(void *ctx, struct str piece);
    bool (*alive)(void *ctx); /* asked now and then; false ends it. NULL: to the end */
    void *sink_ctx;           /* for both */
    size_t max_answer;
};

/* One exchange with all its tries; a try that began to fill the sink is the last. false with ERR_UNAVAILABLE
 * or ERR_UPSTREAM when there is no answer to use; otherwise any status that trying again would not change. */
bool s3_exchange(struct s3 *s, struct arena *a, const struct s3_request *q, struct client_answer *ret,
                 struct err *err);
/* The error that an answer other than 2xx means. */
bool s3_refused(struct s3 *s, const struct s3_request *q, const struct client_answer *answer,
                struct err *err);
/* exchange, and refused unless it is 2xx. */
bool s3_call(struct s3 *s, struct arena *a, const struct s3_request *q, struct client_answer *ret,
             struct err *err);
/* Before the next try; grows, with a random part. false when its caller does not wait any more. */
bool s3_pause(struct s3 *s, const struct s3_request *q, unsigned attempt);
/* A number of bytes that an object may have; or ERR_UPSTREAM. */
bool s3_size(struct str text, struct str key, int64_t *ret, struct err *err);

#endif
