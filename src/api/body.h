/* The body of a request as a blocking stream, for routes with `streams` set: the loop thread fills a small
 * buffer and stops reading from the client while it is full; the route's pool thread empties it. */
#ifndef INGOT_API_BODY_H
#define INGOT_API_BODY_H

#include "api/route.h"

#include <sys/types.h>

struct body;

/* On the pool thread, once, before the request is answered. Uses request->user. */
struct body *body_open(struct api_call *call);
/* The number of bytes put to p, 0 at the end, -1 when the client went away or broke the framing. */
ssize_t body_read(struct body *b, void *p, size_t n);
/* Before the request is answered. What was not read is thrown away. */
void body_close(struct body *b);

#endif
