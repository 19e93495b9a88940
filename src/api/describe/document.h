/* What describes the platform and never changes while it runs: made once, packed once, given by reference. */
#ifndef INGOT_API_DOCUMENT_H
#define INGOT_API_DOCUMENT_H

#include "base/buf.h"
#include "net/http.h"

#include <pthread.h>

struct document {
    void (*write)(struct buf *out);
    pthread_mutex_t lock; /* of what follows, until it is made */
    struct buf plain, gzip;
    char etag[40]; /* with its quotes */
};
#define DOCUMENT(fn)                                                                                         \
    {                                                                                                        \
        .write = fn, .lock = PTHREAD_MUTEX_INITIALIZER                                                       \
    }

/* 200 or 304. The document lives as long as the program. */
void document_respond(struct request *r, struct document *d);

#endif
