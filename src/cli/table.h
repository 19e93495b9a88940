/* Text for people: columns aligned by display width (a Chinese character is two columns wide), values of JSON
 * in a readable form. Control characters of values never reach the terminal. */
#ifndef INGOT_CLI_TABLE_H
#define INGOT_CLI_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "core/kind.h"

#include <stdio.h>

/* Columns a text takes on a terminal; s must be valid UTF-8. */
size_t table_width(struct str s);

struct table {
    struct arena *arena;
    size_t columns;
    const char **titles;
    size_t *widths;
    struct str *cells; /* row by row */
    size_t count, cap;
    size_t max_width; /* of a cell; 0: no limit */
};

void table_begin(struct table *t, struct arena *a, const char **titles, size_t columns, size_t max_width);
void table_cell(struct table *t,
                struct str text); /* rows fill up by themselves; control characters are replaced */
/* Writes and forgets the rows; widths stay, so that the next page is aligned with this one. */
void table_print(struct table *t, FILE *out, bool header, bool colour);

/* A value as one line: references by name, times without fractions, bytes with a unit. field may be NULL. */
struct str table_value(struct arena *a, yyjson_val *v, const struct field *field);
/* A list of objects as a table: a column for each member of the first one, but for sentences in Chinese
 * beside the same in English. Nothing where the list is empty. */
void table_items(struct arena *a, FILE *out, yyjson_val *items, bool colour);
/* An object as "key  value" lines, in its own order; kind may be NULL. */
void table_object(struct arena *a, FILE *out, yyjson_val *object, const struct kind *kind, bool colour);

#endif
