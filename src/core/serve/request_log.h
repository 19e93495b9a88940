/* The access log of services: one line per request at the gateway, which leads from the id of an answer
 * (X-Request-Id) to the version and the replica that gave it. Files of 16 MiB in data/log/services, the
 * newest 8 of them. Loop threads add to memory; a controller writes once a second. What a killed server had
 * not written is lost. */
#ifndef INGOT_CORE_SERVE_REQUEST_LOG_H
#define INGOT_CORE_SERVE_REQUEST_LOG_H

#include "base/buf.h"
#include "base/err.h"

struct request_log; /* core->request_log */
struct request_log *request_log_open(const char *data, struct err *err);
void request_log_close(struct request_log *l); /* writes what waits; NULL is fine */

#define REQUEST_ID_MAX 40
struct request_line {
    const char *id;                       /* of the request */
    int64_t service, version, generation; /* version 0: it was refused before one was chosen */
    const char *replica;                  /* "17-1-0", or NULL */
    int64_t key, user;                    /* who asked; 0: not by this */
    struct str method, path;
    int status;       /* 0: the client left before it was answered */
    uint64_t sent;    /* bytes of the answer's body */
    uint64_t took_us; /* until the answer began */
    unsigned attempts;
};
/* Any thread; no disk. Lines that come faster than the disk takes them are dropped, and the log says so. */
void request_log_add(struct request_log *l, const struct request_line *line);
bool request_log_flush(struct request_log *l, struct err *err);

/* The newest lines of a service (0: of all), at most limit of them, with this id (empty: any), as
 * {"items": [...]}. */
bool request_log_find(struct request_log *l, int64_t service, struct str id, int64_t limit, struct buf *out,
                      struct err *err);

#endif
