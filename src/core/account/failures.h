/* Failed sign-ins, in a bounded table in memory: after five in a row the next attempt must wait, twice as
 * long each time. Counted per name and address, and more patiently per name over all addresses, so that
 * neither one machine nor many can guess, and a stranger cannot keep a user out for long. Thread-safe. Times
 * are microseconds and given by the caller. */
#ifndef INGOT_CORE_ACCOUNT_FAILURES_H
#define INGOT_CORE_ACCOUNT_FAILURES_H

#include "base/str.h"

#define FAILURES_FREE 5 /* this many cost nothing */

struct failures;
struct failures *failures_new(void);
void failures_free(struct failures *f);
/* Seconds to wait before the next attempt is looked at; 0: now. */
unsigned failures_wait(struct failures *f, struct str name, struct str address, int64_t now);
void failures_add(struct failures *f, struct str name, struct str address, int64_t now);
/* After a success from that address. */
void failures_clear(struct failures *f, struct str name, struct str address);

#endif
