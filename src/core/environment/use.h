/* What counts as use of a running environment: what people and their programs do in it, not what its pages
 * and connections do by themselves to stay open. Requests and WebSockets of tools are judged by the tools'
 * table (tool.h), terminals by their bytes; here is the rest. */
#ifndef INGOT_CORE_ENVIRONMENT_USE_H
#define INGOT_CORE_ENVIRONMENT_USE_H

#include "core/core.h"
#include "exec/exec.h"

/* One ssh connection; zeroed at first. All of it is encrypted, but keep-alives have a shape: one small packet
 * and one small answer, alone. Keys that are typed come several in a second, and what a program prints
 * answers nothing. */
struct use_talk {
    uint64_t at[2]; /* clock_mono: of the last piece to the visitor, and of the last from it */
    bool asked;     /* it sent what may be a keep-alive, and has no answer yet */
};
/* Whether a piece of n bytes, from the visitor (inward) or to it, is more than a keep-alive. */
bool use_is_talk(struct use_talk *t, bool inward, size_t n, uint64_t now);

/* Whether its containers (ranks 0 to nodes - 1) have been computing in the last seconds. */
bool use_computes(struct core *core, struct exec_id first, int64_t nodes);
/* Asks its tools, on a thread of the pool, whether they compute; that counts as use then. */
void use_ask_tools(struct core *core, struct exec_id container);

#endif
