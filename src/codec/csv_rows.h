/* Rows of a CSV text (RFC 4180: quotes, doubled quotes, line breaks inside quotes). */
#ifndef INGOT_CODEC_CSV_ROWS_H
#define INGOT_CODEC_CSV_ROWS_H

#include "base/arena.h"
#include "base/buf.h"

enum { CSV_COLUMNS_MAX = 1024 };

struct csv_row {
    struct str fields[CSV_COLUMNS_MAX]; /* in the arena it was read with, or in the text */
    size_t count;                       /* fields beyond the limit are dropped */
    size_t line;                        /* where it starts, from 1 */
    bool broken;                        /* a quote that does not end */
};

struct csv_rows {
    struct str text;
    size_t at, line;
    char separator;
};

/* The separator is ',' ';' or a tab, whichever the first line has most of. */
void csv_rows_init(struct csv_rows *c, struct str text);
/* The next row that is not empty; false at the end. */
bool csv_rows_next(struct csv_rows *c, struct arena *a, struct csv_row *ret);
/* Appends a field, in quotes when it needs them. */
void csv_put(struct buf *b, struct str field);

#endif
