/* W3C Trace Context: the trace id that a request came with goes on in the answer and in the log. */
#ifndef INGOT_INFER_TRACE_H
#define INGOT_INFER_TRACE_H

#include "base/str.h"

#define TRACE_ID_HEX 32

struct trace {
    char id[TRACE_ID_HEX + 1];
    char parent[56]; /* the answer's traceparent: our span of the trace */
};

/* header: the request's traceparent; a malformed one or none begins a trace. */
void trace_begin(struct trace *t, struct str header);

#endif
