/* What jobs give while they run: logs (joblog.c), terminals (terminal.c). */
#ifndef INGOT_API_JOBS_H
#define INGOT_API_JOBS_H

#include "api/route.h"
#include "exec/exec.h"

extern const struct route job_log_routes[], terminal_routes[];

/* The job of the path, with the right to read it and, if given, a further permission. */
bool jobs_find(struct api_call *call, const char *permission, struct object *ret, struct err *err);
/* The container that ?rank= and ?attempt= mean (the first, the newest). */
bool jobs_container(struct api_call *call, const struct object *job, struct exec_id *ret, struct err *err);

#endif
