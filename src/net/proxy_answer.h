/* Reads an upstream's HTTP/1.1 answer. Interim (1xx) answers are swallowed, trailers dropped. */
#ifndef INGOT_NET_PROXY_ANSWER_H
#define INGOT_NET_PROXY_ANSWER_H

#include "base/buf.h"
#include "net/http.h"

#include <llhttp.h>

enum proxy_event {
    PROXY_MORE,   /* all was read */
    PROXY_HEAD,   /* the header is complete: status, length, headers */
    PROXY_PAUSED, /* `piece` asked for it */
    PROXY_DONE,
    PROXY_BAD,
};

struct proxy_answer {
    llhttp_t ll;
    struct buf text; /* names and values of the header */
    struct proxy_span {
        uint32_t name, name_n, value, value_n;
    } * spans;
    unsigned count, cap;
    bool head_request, upgrade_asked;
    bool in_field, skip_body;
    bool started, head_done, head_told, done, interim, keep_alive, eof;
    int status;
    int64_t length;                             /* -1: unknown */
    bool (*piece)(void *ctx, struct str piece); /* false pauses */
    void *ctx;
};

void proxy_answer_init(struct proxy_answer *a, bool head_request, bool upgrade_asked,
                       bool (*piece)(void *ctx, struct str piece), void *ctx);
void proxy_answer_release(struct proxy_answer *a);
enum proxy_event proxy_answer_feed(struct proxy_answer *a, const char *p, size_t n, size_t *ret_used);
/* The upstream ended the connection; true when the answer is whole by that. */
bool proxy_answer_eof(struct proxy_answer *a);
/* What is passed on, in the arena, with room for PROXY_ROOM more; websocket_key: without the answer to a key
 * the client never sent. */
struct header *proxy_answer_headers(const struct proxy_answer *a, struct arena *arena, bool websocket_key,
                                    const struct proxy_target *t, size_t *ret_n);

#endif
