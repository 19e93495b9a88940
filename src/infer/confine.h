/* What the program gives up before it reads anything of others: running programs, tracing, mounting, and
 * opening files for writing. A model or a picture that takes over the program can then do little but answer
 * wrongly. Landlock, where the kernel has it, and a filter of system calls. */
#ifndef INGOT_INFER_CONFINE_H
#define INGOT_INFER_CONFINE_H

#include "base/err.h"

/* What a batch gives up beyond that. */
struct confine_more {
    const char *const *read; /* files and folders that it reads; beside them only what programs need */
    size_t n_read;
    bool offline; /* no sockets either */
};

/* Once, before the first thread is made: threads inherit it. Where the kernel lacks a part, the rest holds;
 * false only when there is no filter of system calls at all. more: NULL for a server. */
bool confine_self(const struct confine_more *more, struct err *err);

#endif
