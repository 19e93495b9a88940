/* What is said about jobs, in Chinese. Errors and what executors tell are English sentences; those that
 * people read as a job's reason stand in one table with their Chinese, `*` for what differs. */
#ifndef INGOT_CORE_JOB_SENTENCE_H
#define INGOT_CORE_JOB_SENTENCE_H

#include "base/arena.h"

/* In the arena or static; the English one itself when the table does not have it. NULL gives NULL. */
const char *sentence_zh(struct arena *a, const char *en);

#endif
