/* Threads that go on after the call that began them was answered: a log that is followed, a terminal. They
 * use the core, so it ends after they have. */
#ifndef INGOT_API_ASIDE_H
#define INGOT_API_ASIDE_H

#include <stdbool.h>

/* The thread's name; what it does; its argument, which it frees. */
void aside_start(const char *name, void (*fn)(void *), void *arg);
/* The server ends: return soon. What belongs to a connection finds that one closed as well. */
bool aside_ending(void);
/* Waits for all, after the listeners were closed. A call that still runs does then itself what it begins. */
void aside_stop(void);

#endif
