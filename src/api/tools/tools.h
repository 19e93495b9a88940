/* The tools' own origin: /t/<job>/<tool>/... goes to the tool in the job's container
 * (core/environment/tool.h).
 *
 * There is no sign-in here. `?ticket=` on the tool's first page, given by the platform, becomes a cookie of
 * this origin, limited to the tool's path. Each request, and each second of a WebSocket, asks again whether
 * the session or token behind it is alive and may use the tool. The platform's own cookies end here. */
#ifndef INGOT_API_TOOLS_H
#define INGOT_API_TOOLS_H

#include "net/http.h"

#define TOOLS_COOKIE "ingot_tool"

/* For http_options.handler of the second listener; ctx is the struct core. */
void tools_handle(struct request *r, void *core);

#endif
