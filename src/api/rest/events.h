/* GET /api/v1/events: committed changes as Server-Sent Events, to clients that may read the changed kind. */
#ifndef INGOT_API_EVENTS_H
#define INGOT_API_EVENTS_H

#include "api/route.h"

void events_run(struct api_call *call);
/* Starts and stops the thread that sends a comment every 15 s, so that dead clients are noticed. Stopping
 * ends all streams. */
struct core;
void events_start(struct core *core);
void events_stop(void);

#endif
