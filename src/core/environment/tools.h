/* The running side of tools (tool.h): tickets and cookies, where a tool's container is, and when it was used
 * last. Everything here may be called from any thread. */
#ifndef INGOT_CORE_ENVIRONMENT_TOOLS_H
#define INGOT_CORE_ENVIRONMENT_TOOLS_H

#include "core/caller.h"
#include "core/environment/tool.h"

struct tools_options {
    const char *dir; /* where scripts/tools.sh put the tools; NULL: data/tools */
    const char *url; /* of the tools' origin for browsers; a * in its host becomes job-<id>, so that each job
                        has an origin of its own; NULL: the host of the request and the listener's port */
    bool tls;
};
/* Keeps the key of cookies in the data folder. */
struct tools *tools_new(struct core *core, const struct tools_options *o, struct err *err);
void tools_free(struct tools *t);
void tools_listening(struct tools *t, uint16_t port); /* once, before the first request */
const char *tools_dir(const struct tools *t);
/* Whether pages of this tool of this job (or version) may be at this host: true unless each has its own. */
bool tools_host_ok(const struct tools *t, struct str host, const struct tool *tool, int64_t id);

/* What a ticket or a cookie stands for. */
struct tool_pass {
    uint8_t credential[CALLER_CREDENTIAL];
    int64_t job; /* of a tool with pages, the id of what they show */
    const struct tool *tool;
};
#define TOOLS_TICKET_MAX 48
#define TOOLS_COOKIE_MAX 160
/* A ticket is good once, within a minute. */
void tools_ticket(struct tools *t, const struct tool_pass *p, char ret[TOOLS_TICKET_MAX]);
bool tools_take_ticket(struct tools *t, struct str ticket, struct tool_pass *ret);
/* A cookie is signed, so that it outlives the server; what it stands for must still be allowed. */
void tools_cookie(struct tools *t, const struct tool_pass *p, char ret[TOOLS_COOKIE_MAX]);
bool tools_read_cookie(struct tools *t, struct str cookie, struct tool_pass *ret);

/* The way to a job's first container, and what tools_may needs. */
struct tool_way {
    struct exec_id container;
    char name[EXEC_ID_MAX]; /* the container's */
    int64_t project, user;  /* whose the owner is */
    char owner_kind[24];
};
/* Without waiting; false when it is not known: ask tools_find. use: counts as tools_touch. */
bool tools_peek(struct tools *t, int64_t job, bool use, struct tool_way *ret);
/* ERR_NOT_FOUND, or ERR_CONFLICT when the job does not run. */
bool tools_find(struct tools *t, int64_t job, struct tool_way *ret, struct err *err);
/* May this caller use this tool of this job? */
bool tools_may(const struct caller *c, const struct tool *tool, const struct tool_way *w, struct err *err);

/* Is what runs in this job (an environment, a run of a training, the job itself) the caller's own?
 * ERR_FORBIDDEN unless it is, or the caller is an administrator. */
bool tools_own(struct core *core, const struct caller *c, const struct object *job, struct arena *a,
               struct err *err);

/* true when this tool was not asked to be started in the last ten seconds. */
bool tools_wake(struct tools *t, int64_t job, const struct tool *tool);
/* A person did something in a tool or over ssh just now. */
void tools_touch(struct tools *t, int64_t job);
/* Microseconds since 1970. What was before the server began it does not know: then it is that. */
int64_t tools_touched(struct tools *t, int64_t job);
void tools_forget(struct tools *t, int64_t job); /* the job is over */

#endif
