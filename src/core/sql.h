/* Builds one statement: text with `?` and the values for them, so that a value never becomes text.
 * The values are borrowed; the text is on the heap until sql_release. */
#ifndef INGOT_CORE_SQL_H
#define INGOT_CORE_SQL_H

#include "base/buf.h"
#include "db/db.h"

/* Of one statement; what clients can make grow (filters) has tighter limits of its own. */
#define SQL_MAX_ARGS 512

struct sql {
    struct buf text;
    struct db_value args[SQL_MAX_ARGS];
    size_t n;
};

void sql_init(struct sql *s);
void sql_release(struct sql *s);
void sql_clear(struct sql *s);
void sql_add(struct sql *s, const char *text);
/* A name of the program's own tables, quoted ("user" and others are reserved words). */
void sql_name(struct sql *s, const char *name);
/* `?` with its value. */
void sql_arg(struct sql *s, struct db_value v);
/* " AND " between conditions: nothing when the text ends with "WHERE ". */
void sql_and(struct sql *s);
/* Appends the text and values of another. */
void sql_append(struct sql *s, const struct sql *more);
static inline struct db_args sql_args(const struct sql *s)
{
    return (struct db_args){s->args, s->n};
}
#define auto_sql __attribute__((cleanup(sql_release)))

#endif
