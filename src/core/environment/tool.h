/* Programs with pages of their own. JupyterLab, VS Code and TensorBoard run in a job's container; Netron is
 * only pages, which show a model version in the browser. Each is a row of one table. People reach them on the
 * tools' own origin (`--tools-listen`), at /t/<id>/<tool>/..., which is proxied to the tool's port in rank 0
 * of that job, or read from the tools' folder (api/tools/pages.h): pages that a notebook makes must not act
 * with the platform's session of the person who looks at them.
 *
 * The platform gives a one-time ticket (tool_url), which the tools' origin exchanges for a cookie of its own
 * (api/tools/tools.c): bound to the session or token that asked, to the job and to the tool. */
#ifndef INGOT_CORE_ENVIRONMENT_TOOL_H
#define INGOT_CORE_ENVIRONMENT_TOOL_H

#include "core/job/owner.h"
#include "core/task/task.h"

#define TOOL_DIR     "/opt/ingot"             /* where the tools' folder is inside */
#define TOOL_SCRIPTS "/etc/ingot/environment" /* a script per tool, of its name */
#define TOOL_WAKE    "/run/ingot-wake" /* a pipe: the container's first process starts what is named in it */

/* What a page of a tool does by itself for as long as it is open, which is not a person's use. */
struct tool_poll {
    const char *methods; /* "GET HEAD"; "WS": whatever is sent over a WebSocket */
    const char *path;    /* how the path below /t/<job>/<tool>/ begins */
};
#define TOOL_POLLS 4

struct tool {
    const char *name; /* of the path */
    struct words title;
    struct words about;         /* a sentence: what it is for */
    int64_t fetched, installed; /* bytes, as measured (docs/environments.md) */
    double minutes;             /* of fetching and installing it */
    const char *owner_kind;     /* whose jobs have it; of one with pages, what it shows */
    const char *permission;     /* asked in the job's project; */
    bool own_only;              /* and only for the owner's maker, and administrators */
    uint16_t port;              /* in the container, on its loopback */
    const char *needs;          /* file below the tools' folder (`--tools`) that must be there */
    const char *pages;  /* it needs no container: a pattern of its folder of pages, below the tools' */
    const char *page;   /* what is opened below /t/<id>/<tool>/ */
    const char *ready;  /* what is asked below it to learn whether it answers */
    bool on_demand;     /* the first visitor starts it, so that it costs nothing before */
    bool strips_prefix; /* the program is asked without /t/<job>/<tool> */
    struct tool_poll polls[TOOL_POLLS];
    uint8_t beat;          /* frames of WebSockets up to so many bytes are keep-alives; 0: has none */
    const char *busy;      /* what is asked to learn whether it computes, */
    const char *busy_sign; /* and what the answer has in it then */
    const char *command;   /* for /bin/sh inside, with $TOOLS, $BASE (/t/7/jupyter/) and $PORT */
};
extern const struct tool tools[]; /* ended by name NULL */
const struct tool *tool_find(struct str name);

/* Does a page of the tool do this by itself? */
bool tool_polls(const struct tool *t, struct str method, struct str path);

/* The kind `tool`: a row for each of them, by which it is installed when somebody first asks for it
 * (kind_tool.c, tool_fetch.c). Whether it is installed, the disk says: scripts/tools.sh may be run by hand
 * too. */
extern const struct kind kind_tool;
extern const struct task_type task_tool_fetch, task_tool_import;
/* At every start: the rows are there and as this program has them. */
bool tool_make_rows(struct core *core, struct err *err);

/* NULL when the tool is installed on this machine; else a sentence that says what to do. */
const struct words *tool_missing(struct core *core, const struct tool *t, struct arena *a);
/* It was installed after the job had started: its containers lack it until they start anew. */
bool tool_newer(struct core *core, const struct tool *t, const struct object *job, struct arena *a);

/* For job_owner.prepare: mounts the tools' folder and opens the port. */
bool tool_prepare(struct launch *u, const struct tool *t, struct err *err);
/* A line for /bin/sh that runs the tool in the foreground, in the arena. */
const char *tool_command(struct arena *a, const struct tool *t, int64_t job);

enum tool_state { TOOL_STARTING, TOOL_READY, TOOL_MISSING };
extern const char *const tool_state_names[];
/* Asks the tool of a running job whether it answers. Blocks for at most a second. */
enum tool_state tool_probe(struct core *core, const struct object *job, const struct tool *t);
/* The status of the answer to a GET at a port of a container; 0 when none came. Blocks for at most two
 * seconds. */
int tool_status(struct core *core, struct exec_id container, uint16_t port, const char *path);
/* Whether it says that it computes (a kernel is busy). Blocks for at most two seconds. */
bool tool_busy(struct core *core, struct exec_id container, const struct tool *t);
/* The address to open it at once, with a ticket that works one time within a minute; in the arena. id: of the
 * job, or of what its pages show. */
const char *tool_url(struct core *core, const struct caller *c, int64_t id, const struct tool *t,
                     struct arena *a);

#endif
