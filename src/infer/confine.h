/* What the program gives up before it reads anything of others: running programs, tracing, mounting, and
 * opening files for writing. A model or a picture that takes over the program can then do little but answer
 * wrongly. Landlock, where the kernel has it, and a filter of system calls. */
#ifndef INGOT_INFER_CONFINE_H
#define INGOT_INFER_CONFINE_H

#include "base/err.h"

/* Once, before the first thread is made: threads inherit it. Where the kernel lacks a part, the rest holds;
 * false only when there is no filter of system calls at all. */
bool confine_self(struct err *err);

#endif
