/* Containers on this machine: crun, overlayfs, cgroups (v1 or v2), one bridge per project. docs/containers.md
 * tells how they are built and kept apart. Needs root. */
#ifndef INGOT_EXEC_LOCAL_LOCAL_H
#define INGOT_EXEC_LOCAL_LOCAL_H

#include "exec/exec.h"

struct local_options {
    const char *dir;    /* data/jobs; made when missing. One executor per folder at a time. */
    const char *name;   /* short prefix (1-6 of [a-z0-9]) of bridges, cgroups and tables; NULL means "ingot".
                           Two executors on one machine need different ones. */
    const char *subnet; /* IPv4 /14 of all projects' networks; NULL means "10.200.0.0" */
    const char *dns;    /* written into resolv.conf; NULL: the machine's own servers */
    bool egress;        /* containers may open connections to the outside (never to this machine) */
    const char
        *inventory; /* NULL, or a JSON file that declares devices: [{"kind": "nvidia", "path": "/dev/..."}] */
};

/* Finds the containers of earlier executors on the folder again. NULL when the machine cannot run any (the
 * error says what is missing). */
struct exec *local_new(const struct local_options *o, struct err *err);

/* What isolation this machine gives, a JSON object for `ingot doctor` and administrators: {"cgroup": 1,
 * "crun": "1.8.1", "user_namespace": {"ok": true}, "network": {"ok": false, "reason": "..."}, ...}. */
struct str local_report(struct exec *x, struct arena *a);

#endif
