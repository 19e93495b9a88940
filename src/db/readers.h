/* The connections for reading: opened on demand up to a limit, closed again when they are idle. Thread-safe.
 */
#ifndef INGOT_DB_READERS_H
#define INGOT_DB_READERS_H

#include "db/driver.h"

struct readers;
struct readers *readers_new(const struct driver *driver, const char *url, unsigned max);
void readers_free(struct readers *r); /* all connections must be back */
/* Waits while all are in use, but 60 s at most (ERR_UNAVAILABLE). fresh: one that was opened just now,
 * because an old one turned out lost. */
struct db_conn *readers_take(struct readers *r, bool fresh, struct err *err);
void readers_give(struct readers *r, struct db_conn *c);
/* Closes what was idle for 30 s, but one. */
void readers_trim(struct readers *r);

#endif
