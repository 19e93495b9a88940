/* The demo project: an example of everything, made by a program that is a client of the API like any other
 * (scripts/demo). One row of the kind `demo` says what of it is there: its project, its people, which of its
 * two stages were loaded, and what failed.
 *
 * The empty project and its people are made here, in one write with the row that names them: whatever is
 * killed afterwards, the platform knows what belongs to the demo, and removing it takes nothing else away.
 * Then the program runs as a background task, with a token of the person who asked that is revoked when it
 * ends; each of its steps looks at what is there, so that a run after a killed one goes on. Passwords of the
 * people are stored nowhere: who asks for them gets new ones, in that answer only. */
#ifndef INGOT_CORE_DEMO_DEMO_H
#define INGOT_CORE_DEMO_DEMO_H

#include "core/task/task.h"

extern const struct kind kind_demo;
extern const struct task_type task_demo_load, task_demo_remove;

/* At every start: the row is there, and does not wait for a task that is gone. */
bool demo_make_row(struct core *core, struct err *err);

#endif
