/* Which tables a statement reads and writes, by numbers of their names: one numbering for all databases of
 * the process. */
#ifndef INGOT_DB_TABLES_H
#define INGOT_DB_TABLES_H

#include "db/db.h"

#define TABLES_ALL (DB_TABLES_MAX - 1) /* "it may be any": not known, or more tables than numbers */

/* Below TABLES_ALL when it is known; the same for the same name. */
unsigned tables_number(const char *name);

static inline void tables_add(struct db_tables *to, unsigned number)
{
    to->bits[number / 64] |= UINT64_C(1) << number % 64;
}
static inline bool tables_has(const struct db_tables *t, unsigned number)
{
    return t->bits[number / 64] >> number % 64 & 1;
}
static inline void tables_join(struct db_tables *to, const struct db_tables *from)
{
    for (size_t i = 0; i < countof(to->bits); i++)
        to->bits[i] |= from->bits[i];
}

/* For each number of a set: for (unsigned n = 0; tables_next(set, &n); n++). */
static inline bool tables_next(const struct db_tables *t, unsigned *n)
{
    while (*n < DB_TABLES_MAX) {
        uint64_t left = t->bits[*n / 64] >> *n % 64;
        if (left) {
            *n += (unsigned)__builtin_ctzll(left);
            return true;
        }
        *n = (*n / 64 + 1) * 64;
    }
    return false;
}

#endif
