#include "exec/shim/shim.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* fds: with how many descriptors from 3 on the server starts it; the next one is its own program. */
static const struct mode {
    const char *name;
    int (*run)(int argc, char **argv);
    int fds;
} modes[] = {{"supervise", shim_supervise, 3},
             {"probe", shim_probe, 1},
             {"attach", shim_attach, 3},
             {"init", shim_init, 0},
             {"enter", shim_enter, 0}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++) {
        const struct mode *m = &modes[i];
        if (strcmp(argv[1], m->name) != 0)
            continue;
        if (m->fds > 0) {
            close(3 + m->fds);
            prctl(PR_SET_NAME, "ingot-shim"); /* not the number of that descriptor */
        }
        for (int fd = 3; fd < 3 + m->fds; fd++)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        return m->run(argc - 1, argv + 1);
    }
    return 2;
}
