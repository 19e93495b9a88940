/* How many requests were answered, how, and how soon: by method, class of route and status. Counted on the
 * loop threads when an answer begins, so that a long download is no slow answer. */
#ifndef INGOT_NET_TRAFFIC_H
#define INGOT_NET_TRAFFIC_H

#include "base/buf.h"
#include "base/str.h"

/* What a request is for; its handler says so in `struct request`. */
enum traffic {
    TRAFFIC_OTHER,
    TRAFFIC_API,
    TRAFFIC_UPLOAD,
    TRAFFIC_REGISTRY,
    TRAFFIC_WEB,
    TRAFFIC_TOOLS,
    TRAFFIC_SERVICES,
    TRAFFIC_COUNT
};

void traffic_answered(struct str method, enum traffic class, int status, uint64_t us);
/* The values of the families name (a counter, then a histogram), as base/metric.h writes them. */
void traffic_write_counts(struct buf *out, const char *name);
void traffic_write_times(struct buf *out, const char *name);

#endif
