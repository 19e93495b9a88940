/* The tables, derived from the kinds: made when they are missing, widened when a kind got a field. What this
 * cannot do (renames, changed types, moved data) is a numbered migration in core/migrations.c; those run
 * after the tables exist, once each. */
#ifndef INGOT_CORE_SCHEMA_H
#define INGOT_CORE_SCHEMA_H

#include "base/buf.h"
#include "core/kind.h"

bool schema_update(struct db *db, struct arena *a, struct err *err);
/* The script for one kind; columns: those it has now (n 0: there is no table). */
void schema_write(const struct kind *k, const char *const *columns, size_t n, struct buf *out);

extern const struct db_migration migrations[];
extern const size_t migration_count;

#endif
