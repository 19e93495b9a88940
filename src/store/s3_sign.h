/* The signature of requests to S3 and what speaks like it (AWS Signature Version 4, header form). */
#ifndef INGOT_STORE_S3_SIGN_H
#define INGOT_STORE_S3_SIGN_H

#include "base/arena.h"
#include "base/hash.h"

struct s3_signing {
    const char *key, *secret;
    const char *token;            /* of temporary credentials; NULL: none */
    const char *region;           /* "us-east-1" */
    const char *host;             /* as in the Host header: the port unless it is the scheme's own */
    const char *method;           /* "GET" */
    struct str path;              /* percent-encoded, "/bucket/a%20b" */
    struct str query;             /* percent-encoded, sorted by name, "list-type=2&prefix=a"; may be empty */
    char payload[SHA256_HEX + 1]; /* SHA-256 of the body in hex */
    int64_t at;                   /* clock_now */
};

#define S3_DATE_MAX 17
/* The value of the header Authorization, in the arena; that of X-Amz-Date is put into ret_date. The request
 * must also have X-Amz-Content-Sha256 with the payload, and X-Amz-Security-Token with the token if there is
 * one. */
char *s3_sign(struct arena *a, const struct s3_signing *s, char ret_date[S3_DATE_MAX]);

#endif
