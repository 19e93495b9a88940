/* The newest part of the program's log (base/log.h) as files, for administrators without a shell on the
 * machine: some megabytes in one folder, the oldest dropped. A line's place is its distance in bytes from the
 * first one ever written; places only grow, also over restarts. One book per process. */
#ifndef INGOT_BASE_LOGBOOK_H
#define INGOT_BASE_LOGBOOK_H

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"

/* Makes the folder; from now on every line of the log is kept there too. */
bool logbook_open(const char *dir, struct err *err);
void logbook_close(void);

struct logbook_query {
    int64_t after;        /* from this place on, the oldest first; -1: the newest ones */
    int64_t before;       /* with after -1: the newest of those before this place; -1: of all */
    enum log_level level; /* at least */
    struct str q;         /* a text they contain, in whichever case; empty: any */
    size_t limit;
};

struct logbook_line {
    int64_t place;
    struct str at, level, thread, text;
};

/* Lines in the order of time. */
struct logbook_page {
    struct logbook_line *line;
    size_t n;
    int64_t first; /* place of the oldest line that is kept */
    int64_t next;  /* where to go on with `after` */
};

bool logbook_read(struct arena *a, const struct logbook_query *q, struct logbook_page *ret, struct err *err);

#endif
