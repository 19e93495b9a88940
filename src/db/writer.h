/* The one thread that writes. Callers queue a function and sleep, or are called back; the thread takes all
 * that wait, runs them in one transaction and tells each when it is durable. While one commit is synced the
 * next batch grows. Writes of background threads are taken after all others, and few at a time: no person's
 * click waits for more than one commit of an import. */
#ifndef INGOT_DB_WRITER_H
#define INGOT_DB_WRITER_H

#include "db/driver.h"

struct writer;
struct hold;
/* idle runs on the thread about every 10 s. Nothing is written without the hold (hold.h; may be NULL, and
 * outlives the writer). NULL when the database cannot be opened. */
struct writer *writer_new(const struct driver *driver, const char *url, struct hold *hold,
                          void (*idle)(void *ctx), void *ctx, struct err *err);
void writer_free(struct writer *w); /* runs what is queued first */
bool writer_run(struct writer *w, db_write_fn fn, void *ctx, struct err *err);
void writer_then(struct writer *w, db_write_fn fn, db_then_fn then, void *ctx);
void writer_background(void); /* db_background */
size_t writer_queued(struct writer *w);
uint64_t writer_commits(const struct writer *w);
bool writer_unchanged(const struct writer *w, uint64_t n, const struct db_tables *tables);
const struct db_writing *writer_did(const struct writer *w);

#endif
