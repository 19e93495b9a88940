/* Reads one HTTP/1 request after another from a byte stream: llhttp does the grammar, this adds the rules and
 * limits of the server and fills a struct request. Knows nothing of sockets. */
#ifndef INGOT_NET_HTTP1_PARSE_H
#define INGOT_NET_HTTP1_PARSE_H

#include "net/http.h"

#include <llhttp.h>

enum http1_event {
    HTTP1_MORE,    /* all was read, nothing complete */
    HTTP1_HEAD,    /* the header is complete, a body follows */
    HTTP1_PAUSED,  /* `body` asked for it */
    HTTP1_DONE,    /* the message is complete (the header too) */
    HTTP1_REFUSED, /* see status and detail; the connection is of no use any more */
};

struct http1_parser {
    llhttp_t ll;
    const struct http_limits *limits; /* without zeroes */
    struct request *r;
    struct header *headers;
    size_t cap;
    struct str target, name, value;
    size_t raw;      /* bytes of the header so far */
    size_t trailing; /* bytes of trailers and chunk extensions */
    unsigned protocol_n;
    unsigned hosts, lengths, codings;
    int status; /* REFUSED: what to answer */
    const char *detail;
    bool started, head_done, head_told, done;
    bool keep_alive, chunked, expect_continue, upgrade, asterisk;
    /* A piece of the body; false pauses. */
    bool (*body)(void *ctx, struct str piece);
    void *ctx;
};

void http1_parser_init(struct http1_parser *p, const struct http_limits *limits,
                       bool (*body)(void *ctx, struct str piece), void *ctx);
/* Begins a request that is to be filled into r, whose arena is set. */
void http1_parser_begin(struct http1_parser *p, struct request *r);
/* Reads at most n bytes; *ret_used says how many were needed. */
enum http1_event http1_parser_feed(struct http1_parser *p, const char *data, size_t n, size_t *ret_used);
/* Body bytes still to come; -1 when that is unknown. */
int64_t http1_parser_left(const struct http1_parser *p);

/* A target in origin form (also of HTTP/2's :path): splits it; NULL, or what is wrong with it. */
const char *http_split_target(struct str target, struct str *ret_path, struct str *ret_query);
/* The name of a method we serve as a constant, STR_NULL for others. */
struct str http_known_method(struct str name);
bool http_host_valid(struct str host);
bool http_value_valid(struct str value);

#endif
