/* The framing of WebSocket messages (RFC 6455), apart from any socket: a reader of frames that puts messages
 * together, and the header of server frames. */
#ifndef INGOT_NET_WS_FRAME_H
#define INGOT_NET_WS_FRAME_H

#include "base/buf.h"

enum ws_opcode { WS_CONTINUATION = 0, WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };

struct ws_reader {
    size_t max_message;
    struct buf message; /* so far */
    uint8_t head[14];   /* of the frame being read */
    size_t head_n;
    uint64_t left; /* payload still to come */
    uint64_t at;   /* payload bytes read, for the mask */
    struct buf control;
    bool in_payload, in_message, text;
    bool of_server; /* set after ws_reader_init: frames come from a server, which does not mask them */
    int error;      /* close code after a violation */
    /* A whole message or control frame; false stops the reader. */
    bool (*frame)(void *ctx, enum ws_opcode opcode, struct str payload);
    void *ctx;
};

void ws_reader_init(struct ws_reader *r, size_t max_message,
                    bool (*frame)(void *ctx, enum ws_opcode opcode, struct str payload), void *ctx);
void ws_reader_release(struct ws_reader *r);
/* false: error is the close code (0 when `frame` stopped it). */
bool ws_reader_feed(struct ws_reader *r, const char *p, size_t n);

/* Frames that pass by, of either side, in pieces that begin and end anywhere. Zeroed at first. */
struct ws_watch {
    uint8_t head[14];
    size_t head_n;
    uint64_t left; /* payload still to pass */
};
/* Whether in this piece a frame of a message begins (no ping, pong or close) that has more than `small` bytes
 * of payload. */
bool ws_watch_feed(struct ws_watch *w, struct str piece, uint64_t small);

/* Writes the header of an unmasked final frame; returns its length. */
size_t ws_head(enum ws_opcode opcode, uint64_t n, uint8_t ret[10]);
/* Whether a peer may send this close code. */
bool ws_close_code_valid(unsigned code);

#endif
