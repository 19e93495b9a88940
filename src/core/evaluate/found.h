/* Reading what a model found, a line of JSON per file in the order of the list that it was given. The file
 * comes out of a container: every line is bounded and checked, and what is no such line is an error that
 * names it. */
#ifndef INGOT_CORE_EVALUATE_FOUND_H
#define INGOT_CORE_EVALUATE_FOUND_H

#include "base/arena.h"
#include "base/err.h"

#include <stdio.h>

#define FOUND_MAX_LINE ((size_t)64 << 20)
#define FOUND_AHEAD    1000 /* lines that are looked at for a file that is not the next */

struct found_line {
    bool head;
    struct str file, annotation; /* annotation "{}" with an error */
    struct str error;            /* STR_NULL: none */
    uint32_t width, height;      /* 0: not told */
    int64_t us;                  /* that the model took; 0: not told */
    struct str *labels;          /* of the head, as the next two */
    size_t label_count;
    int64_t threads;
    struct str processor;
};
/* One line, in the arena. */
bool found_parse(struct arena *a, struct str text, struct found_line *ret, struct err *err);

struct found;
/* ERR_NOT_FOUND when there is no such file. */
struct found *found_open(const char *path, struct err *err);
void found_close(struct found *f);
/* The labels that the model knows. */
const struct str *found_labels(const struct found *f, size_t *ret_n);
/* What it was made with: how many files at a time (0: not told), on which processor (may be empty). */
int64_t found_made_with(const struct found *f, struct str *ret_processor);
/* The line of a file, valid until the next call; *ret_is false when it has none (within the next
 * FOUND_AHEAD). */
bool found_get(struct found *f, struct str file, struct found_line *ret, bool *ret_is, struct err *err);

#endif
