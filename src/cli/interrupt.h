/* Ctrl-C (SIGINT) and SIGTERM as something to be asked for: long work ends in order, then the program does.
 */
#ifndef INGOT_CLI_INTERRUPT_H
#define INGOT_CLI_INTERRUPT_H

#include "base/base.h"

/* From now on the signals are only noted. A second Ctrl-C ends the program at once. */
void interrupt_watch(void);
bool interrupt_wanted(void);
/* Sleeps; false at once when an interrupt is wanted. */
bool interrupt_sleep(unsigned milliseconds);
/* Ends the program the way the noted signal would have; returns when there was none. */
void interrupt_end(void);

#endif
