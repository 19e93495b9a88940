/* Listening sockets that the program's parent opened and keeps open: the next program takes them over,
 * and no client is refused in between. The protocol is systemd's (sd_listen_fds): LISTEN_PID and LISTEN_FDS
 * in the environment, descriptors from 3 on. The first is the platform's, the second the tools', the
 * third the gateway's. */
#ifndef INGOT_CLI_HANDED_H
#define INGOT_CLI_HANDED_H

#include "base/arena.h"
#include "base/err.h"

enum { HANDED_PLATFORM, HANDED_TOOLS, HANDED_GATEWAY, HANDED_MAX };

struct handed {
    int socket[HANDED_MAX];          /* 0: none */
    const char *address[HANDED_MAX]; /* "127.0.0.1:8080" */
};

/* Takes them out of the environment. */
bool handed_take(struct arena *a, struct handed *ret, struct err *err);

#endif
