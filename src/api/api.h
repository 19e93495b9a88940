/* The one handler of the HTTP server: API, documentation and web UI. */
#ifndef INGOT_API_API_H
#define INGOT_API_API_H

#include "api/route.h"

#define API_BODY_MAX (1 << 20) /* bytes of a JSON body */

/* For http_options.handler; ctx is the struct core. */
void api_handle(struct request *r, void *core);

#endif
