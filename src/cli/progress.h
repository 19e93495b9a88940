/* How far long work is, on standard error: a bar that is drawn over itself on a terminal, else a line now and
 * then. */
#ifndef INGOT_CLI_PROGRESS_H
#define INGOT_CLI_PROGRESS_H

#include "base/base.h"

struct progress {
    const char *what; /* "Uploading" */
    bool bytes;       /* done and total are bytes, else counts */
    bool quiet;
    bool terminal, drawn;
    uint64_t began, since, shown; /* monotonic, ns; since: of this total */
    int64_t first, done, total;   /* first: where it stood then */
};

void progress_begin(struct progress *p, const char *what, bool bytes, bool quiet);
/* total 0: not known yet. */
void progress_show(struct progress *p, int64_t done, int64_t total);
/* The last state, then an end of the line. */
void progress_end(struct progress *p);

/* "1.2 GiB"; text has room for 32 bytes. */
char *progress_bytes(int64_t n, char text[32]);

#endif
