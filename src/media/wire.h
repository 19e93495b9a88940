/* How the server and a worker talk over their socket: a frame is two sizes, a JSON text and bytes. The first
 * frame of a request carries the input's descriptor (SCM_RIGHTS) and no bytes. */
#ifndef INGOT_MEDIA_WIRE_H
#define INGOT_MEDIA_WIRE_H

#include "base/buf.h"
#include "base/err.h"

#define WIRE_MAX_TEXT (64 << 10)
#define WIRE_MAX_DATA (UINT64_C(1) << 30)

struct wire_sizes {
    uint64_t text, data;
};

/* fd -1: none. */
bool wire_send(int sock, struct str text, struct str data, int fd, struct err *err);
/* Receives one frame; *ret_fd (may be NULL) is -1 when none came. *ret_end: the other side closed (then
 * false, and err is not set). timeout_ms < 0: for ever. ERR_UNAVAILABLE when it passed. */
bool wire_receive(int sock, int timeout_ms, struct buf *text, struct buf *data, int *ret_fd, bool *ret_end,
                  struct err *err);

#endif
