/* Whether requests gain by sharing a run, from the times of the runs themselves. Knows no clock and no lock:
 * the owner gives both. All zero is a good beginning.
 *
 * On some processors and graphs a run of eight rows takes as long as eight runs of one; who shares it then
 * only waits for the others. So the time per row is kept by the size of the run (1, 2, to 4, to 8 ... rows),
 * the median of the last few, apart by how large a row is. What is not known yet is tried, larger runs first;
 * what is known is tried again from time to time, so rarely that it costs some hundredth of the time. Every
 * decision follows from this table alone. */
#ifndef INGOT_INFER_GAIN_H
#define INGOT_INFER_GAIN_H

#include "base/base.h"

#define GAIN_SIZES   11  /* of runs: up to 1, 2, 4 ... 1024 rows */
#define GAIN_SAMPLES 7   /* times of a size that are kept */
#define GAIN_ENOUGH  3   /* fewer say nothing */
#define GAIN_WIDTHS  32  /* of rows: bytes by their power of two */
#define GAIN_LEAST   1.1 /* times the throughput of requests alone, from which they share runs */

struct gain_size {
    double sample[GAIN_SAMPLES], ns; /* per row; their median */
    unsigned n, next;                /* samples there are; the one that is replaced */
    uint64_t taken;                  /* when the last one was */
    uint64_t due;                    /* when it is to be measured again */
    uint64_t waited;                 /* until when nobody waits for a run of this size only to measure it */
};

struct gain {
    struct gain_size *width[GAIN_WIDTHS]; /* GAIN_SIZES each, made with the first run */
    size_t last;                          /* that was measured */
};

void gain_release(struct gain *g);

/* A run of so many rows, of so many bytes each, took ns and ended now. */
void gain_add(struct gain *g, size_t row_bytes, size_t rows, uint64_t ns, uint64_t now);
/* Up to how many rows a run is to have that begins with a request of `first` rows when up to `most` are
 * there: `first` when it is to be alone. */
size_t gain_rows(const struct gain *g, size_t row_bytes, size_t first, size_t most, uint64_t now);
/* The same when there are `have` rows and up to `most` might come: up to how many rows it is worth waiting.
 */
size_t gain_wait(const struct gain *g, size_t row_bytes, size_t first, size_t have, size_t most,
                 uint64_t now);
/* A run was waited for and got only `rows`: for a while nobody waits for more just to measure it. */
void gain_waited(struct gain *g, size_t row_bytes, size_t rows, uint64_t now);
/* A run of up to `most` rows was wanted, and the requests that are there gave only `rows`. */
void gain_missed(struct gain *g, size_t row_bytes, size_t rows, size_t most, uint64_t now);

/* For people: of the rows that were run last. */
struct gain_figures {
    size_t rows;           /* that share a run; 1: none do */
    double ns[GAIN_SIZES]; /* per row, by size of run; 0: not known */
};
void gain_figures(const struct gain *g, size_t most, struct gain_figures *ret);

#endif
