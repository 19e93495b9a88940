/* Commands about what runs: logs, exec, train. */
#ifndef INGOT_CLI_RUNNING_H
#define INGOT_CLI_RUNNING_H

#include "cli/cli.h"

extern const struct flag running_logs_flags[];
extern const struct flag running_exec_flags[];
extern const struct flag running_train_flags[];
#define RUNNING_LOGS_FLAGS  7
#define RUNNING_EXEC_FLAGS  4
#define RUNNING_TRAIN_FLAGS 21

bool running_logs(struct cli *cli, const struct args *args, struct err *err);
bool running_exec(struct cli *cli, const struct args *args, struct err *err);
bool running_train(struct cli *cli, const struct args *args, struct err *err);

/* The job that a word means: the id or name of a job, TRAINING (its newest run), TRAINING/RUN. */
bool running_job(struct cli *cli, const char *word, int64_t *ret, struct err *err);
/* Prints a job's log from the attempt's beginning (0: the current one). follow: as it is written, attempt
 * after attempt, until the job is over. */
struct running_follow {
    int64_t job, rank, attempt;
    bool follow;
};
bool running_print(struct cli *cli, const struct running_follow *f, struct err *err);
/* How a job is now. For loops: nothing of the answer stays in memory. */
struct running_state {
    int64_t attempt, exit_code, owner;
    bool over, completed, stopped, of_training;
    char reason[512];
};
bool running_look(struct cli *cli, int64_t job, struct running_state *ret, struct err *err);
void running_nap(void); /* between two looks */
/* Until the job is over; one that did not complete is told, and cli->exit_code is its command's. */
bool running_end(struct cli *cli, int64_t job, struct err *err);
/* The log of a run of a training until it is over (its name alone with --detach); cli->exit_code is the
 * command's. */
bool running_follow_run(struct cli *cli, const struct args *args, yyjson_val *instance, struct err *err);

#endif
