/* Uploads that go on where they stopped (tus 1.0): after a broken connection by themselves, after the end of
 * the program when the same is sent again within a day. */
#ifndef INGOT_CLI_SENDING_H
#define INGOT_CLI_SENDING_H

#include "cli/bundle.h"
#include "cli/cli.h"
#include "cli/progress.h"

/* Sends all of b to the project; *ret_upload is the finished upload's id. Failing leaves it to be gone on
 * with. */
bool sending_run(struct cli *cli, struct bundle *b, int64_t project, struct progress *p,
                 const char **ret_upload, struct err *err);
/* The upload was used: nothing is left to go on with. */
void sending_forget(struct cli *cli, const struct bundle *b, int64_t project);

#endif
