/* Outgoing HTTP for the server and the CLI (libcurl behind). Blocking; for pool threads. */
#ifndef INGOT_NET_CLIENT_H
#define INGOT_NET_CLIENT_H

#include "base/arena.h"
#include "base/err.h"

struct client_header {
    const char *name, *value;
};

struct client_request {
    const char *method, *url;
    const struct client_header *headers;
    size_t header_count;
    struct str body; /* or: */
    int body_fd;     /* -1; otherwise the body is read from there, body_size bytes */
    int64_t body_size;
    size_t max_answer;         /* 0: 16 MiB */
    unsigned timeout_s;        /* 0: 30; for the whole exchange, none when a sink is used */
    const char *user_password; /* "name:secret" for basic authentication, or NULL */
    const char *ca_file;       /* extra certificate authority or NULL */
    bool insecure;
    const char *aws_sigv4; /* "aws:amz:region:s3" signs with user_password */
    /* When set, the answer's body goes here instead of memory; returning false ends the transfer. */
    bool (*sink)(void *ctx, struct str piece);
    void *sink_ctx;
    /* When set, called while bytes move and about once a second otherwise, with how many were sent and
     * received; false ends the exchange (ERR_UPSTREAM). */
    bool (*tick)(void *ctx, int64_t sent, int64_t received);
    void *tick_ctx;
    bool sink_success; /* only answers of 200 to 299 go to the sink, others to memory */
    int sink_status;   /* with sink_success: only this one does, and another success is not read; 0: any */
    bool patient;      /* timeout_s is for silence, as with a sink: for long bodies */
    bool keep;         /* the thread's connection to the server is kept for its next request */
};

struct client_answer {
    int status;
    struct str body;
    struct str content_type, location, etag;
    struct str raw_headers; /* "Name: value\r\n..." of the last answer */
};

/* false only when there was no HTTP answer (ERR_UPSTREAM with curl's reason; its field is "certificate" when
 * the server's is not trusted, or the file of authorities cannot be used). */
bool client_do(struct arena *a, const struct client_request *q, struct client_answer *ret, struct err *err);
struct str client_header_value(const struct client_answer *a, const char *name);

#endif
