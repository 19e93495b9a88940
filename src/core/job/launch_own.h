/* What the files that start containers share: launch.c, launch_work.c, gang.c. */
#ifndef INGOT_CORE_JOB_LAUNCH_OWN_H
#define INGOT_CORE_JOB_LAUNCH_OWN_H

#include "core/job/checkout.h"
#include "core/job/jobs_own.h"
#include "core/job/owner.h"

/* A list that grows in the launch's arena. */
struct launch_list {
    void *p;
    size_t n, cap;
};

struct launch {
    struct jobs *jobs;
    struct checkout_user *checkouts; /* of the whole job */
    struct arena *arena;
    const struct object *job;
    struct exec_spec spec;
    struct launch_list mounts, files, env, secrets, ports, devices;
    double cards;               /* accelerators of the rank */
    bool gang_ssh, distributed; /* asked for */
};

/* Everything about the container but its start. */
bool launch_build(struct launch *u, struct err *err);
/* gang.c: the command of a container whose ranks reach each other by ssh starts sshd first. */
void gang_wrap_command(struct launch *u);

#endif
