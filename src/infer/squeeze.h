/* gzip and deflate of bodies, in and out, with a bound on what comes out of a small body. */
#ifndef INGOT_INFER_SQUEEZE_H
#define INGOT_INFER_SQUEEZE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum squeeze { SQUEEZE_NONE, SQUEEZE_GZIP, SQUEEZE_DEFLATE };

const char *squeeze_name(enum squeeze s); /* as in headers; NULL for none */
/* Of Content-Encoding; ERR_MEDIA_TYPE for one that is not served. */
bool squeeze_of(struct str header, enum squeeze *ret, struct err *err);
/* The best that Accept-Encoding takes. */
enum squeeze squeeze_accepted(struct str header);

/* Also a deflate stream without zlib's head, as some clients send it. ERR_TOO_LARGE beyond max, ERR_MALFORMED
 * when it is broken or ends early. */
bool squeeze_expand(enum squeeze s, struct str in, size_t max, struct buf *out, struct err *err);
void squeeze_pack(enum squeeze s, struct str in, struct buf *out);

#endif
