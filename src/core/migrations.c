#include "core/schema.h"

/* Numbers 1, 2, 3 ... without gaps; never changed once released. The last line ends the table. */
const struct db_migration migrations[] = {
    {1, "events of jobs in Chinese", "ALTER TABLE job_events ADD COLUMN reason_zh {text};\n"},
    {2, "weights of projects", "UPDATE projects SET weight = 1 WHERE weight IS NULL;\n"},
    {3, "builds of images", "CREATE TABLE image_builds (job BIGINT PRIMARY KEY, version {text} NOT NULL);\n"},
    {0},
};
const size_t migration_count = countof(migrations) - 1;
