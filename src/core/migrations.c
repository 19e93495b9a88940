#include "core/schema.h"

/* Numbers 1, 2, 3 ... without gaps; never changed once released. The last line ends the table. */
const struct db_migration migrations[] = {
    {0},
};
const size_t migration_count = countof(migrations) - 1;
