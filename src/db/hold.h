/* A server's hold on its database: while it has it, no other server writes there. Where data lies in a file
 * the lock of the data folder does the same; PostgreSQL, which many machines can reach, needs this.
 *
 * It is a session lock of the database on a connection of its own, so it ends with the process, and within a
 * minute of the machine's death (keep-alive on both sides). Every server that takes it gets the next
 * generation, kept in the row of db_holder with its host and pid. The writer begins each transaction by
 * asking for its own generation: when the connection was lost and another server has the hold by now, even a
 * write that was under way changes nothing.
 *
 * When the connection is lost, writes are refused and a thread tries to take the hold again. It goes on when
 * the row still has its generation: no other server had it. Otherwise `taken` is called, once: what this
 * process knows of the platform is no longer true, and it should end. */
#ifndef INGOT_DB_HOLD_H
#define INGOT_DB_HOLD_H

#include "db/driver.h"

struct hold;

/* Waits so many seconds for another server to let go (for less when the process was asked to end); then
 * ERR_HELD, which names host, process and since when. */
struct hold *hold_take(const struct driver *driver, const char *url, unsigned wait_s, void (*taken)(void),
                       struct err *err);
void hold_free(struct hold *h);
/* What the writer's transactions ask for (db_conn's generation). */
int64_t hold_generation(const struct hold *h);
/* false while it is lost (ERR_UNAVAILABLE), and when another server has it for good (ERR_HELD). */
bool hold_check(struct hold *h, struct err *err);

#endif
