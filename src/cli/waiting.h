/* The platform's long work as seen from a shell: wait for a task with its progress, cancel it on Ctrl-C, take
 * what it made. */
#ifndef INGOT_CLI_WAITING_H
#define INGOT_CLI_WAITING_H

#include "cli/cli.h"

/* Until the task is over. *ret is the task as it ended, when it is done; a failed one is an error with its
 * message, a cancelled one ERR_CONFLICT. An interrupt cancels it first. */
bool waiting_task(struct cli *cli, int64_t task, const char *what, bool quiet, yyjson_val **ret,
                  struct err *err);
/* Until what the path names is in one of two states: the good one, or one that will do as well (NULL: none).
 * Its reasons are told on standard error as they change. ERR_CONFLICT with the reason, after `sentence`, in
 * one of the bad states. */
struct waiting_states {
    const char *good, *will_do, *bad, *bad_too;
    const char *sentence;
};
bool waiting_state(struct cli *cli, const char *path, const struct waiting_states *states, struct err *err);
/* The bytes of a path of the API into a file, which gets its name when it is whole; goes on after broken
 * connections. to "-": standard output. */
bool waiting_download(struct cli *cli, const char *path, const char *to, bool quiet, struct err *err);

#endif
