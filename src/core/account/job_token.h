/* Tokens of jobs: what a container shows to the platform, made for one attempt of one job. Nothing of them is
 * stored: a token is the job's id and attempt with a code that only this data folder's key (data/key, in no
 * backup) can make, and it is worth something while that attempt runs. grants.h says what for. */
#ifndef INGOT_CORE_ACCOUNT_JOB_TOKEN_H
#define INGOT_CORE_ACCOUNT_JOB_TOKEN_H

#include "core/account/accounts.h"

/* Whether the text looks like one; ret is then its credential. */
bool job_token_parse(struct str secret, uint8_t ret[CALLER_CREDENTIAL]);

struct job_token {
    int64_t job, user, project;
};
/* The job, user and project that it stands for now. ERR_UNAUTHORIZED: it is forged, the attempt is over, or
 * the project does not let its jobs reach the platform. */
bool job_token_read(struct core *core, struct arena *a, const uint8_t credential[CALLER_CREDENTIAL],
                    struct job_token *ret, struct err *err);

#endif
