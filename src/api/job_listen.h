/* The platform inside of containers: each has a socket at an address of its own (exec.h, `listen`), whose
 * connections are answered here, by the API alone and for the container's job only (api/auth.c). The
 * sockets are the supervisors' too: a client that connects while the server is restarted waits, and is not
 * refused.
 *
 * The `tag` of such a request is the job's id.
 *
 * A container that is talked to has a server of its own, with one thread and few connections; those that
 * never connect cost a descriptor. */
#ifndef INGOT_API_JOB_LISTEN_H
#define INGOT_API_JOB_LISTEN_H

#include "core/core.h"
#include "net/http.h"

struct job_listeners;
/* base: handler, ctx, limits and access log as the platform's own server has them. */
struct job_listeners *job_listeners_start(struct core *core, const struct http_options *base);
/* NULL allowed. Requests in flight are answered until lasting_stop returns. */
void job_listeners_stop(struct job_listeners *l);

#endif
