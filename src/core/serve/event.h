/* Events of a service: what happened to it, its versions and replicas, and why, in both languages. */
#ifndef INGOT_CORE_SERVE_EVENT_H
#define INGOT_CORE_SERVE_EVENT_H

#include "core/engine.h"

/* Where it belongs. */
struct event_of {
    int64_t service, version; /* version 0: of the service itself */
    int64_t job;              /* 0: of no replica */
};

/* Inside a write; the sentence is one of base/messages.h. The oldest go when there are many. */
bool event_add(struct op *op, struct event_of of, struct err *err, const char *id, const char *en,
               const char *zh, ...) printf_like(5, 7) printf_like(6, 7);
/* The same with sentences whose arguments are sentences; id is one of the catalogue's. */
bool event_say(struct op *op, struct event_of of, const char *id, struct words reason, struct err *err);
/* A sentence of base/messages.h in both languages, in the arena. */
struct words event_words(struct arena *a, const char *id, const char *en, const char *zh, ...)
    printf_like(3, 5) printf_like(4, 5);
/* The newest first, at most 500: {"items":[{"at","event","version","job","reason","reason_zh"}]}. */
bool event_write(struct core *core, int64_t service, struct arena *a, struct json_out *out, struct err *err);
bool event_drop(struct op *op, int64_t service, struct err *err);

extern const char event_sql[]; /* its table */

#endif
