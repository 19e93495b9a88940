/* Why a run failed: the last lines of its errors, and which of the usual causes they tell. Pure functions
 * over the end of a log and what the job knows of its end; the table of causes is in cause.c, its sentences
 * (what happened, and what to do) in base/messages_training.h. */
#ifndef INGOT_CORE_TRAINING_CAUSE_H
#define INGOT_CORE_TRAINING_CAUSE_H

#include "base/arena.h"

#define CAUSE_LINES 20  /* that are quoted */
#define CAUSE_WIDTH 500 /* bytes of one */

struct cause_line {
    struct str text;
    bool error; /* of the stream of errors */
};

struct cause_facts {
    const struct cause_line *line; /* the end of the log, in its order */
    size_t n;
    struct str reason; /* the job's, in English */
    int exit_code;     /* -1: not known */
};

struct cause {
    const char *id;      /* "out-of-memory"; "other" when no usual cause fits */
    const char *en, *zh; /* in the arena or static */
    struct str detail;   /* the module, command, ... that it names; STR_NULL: none */
    struct str line[CAUSE_LINES];
    size_t n;
};

void cause_find(struct arena *a, const struct cause_facts *f, struct cause *ret);
/* What of a line is seen on a terminal: without its colours, and without what a carriage return wrote over.
 * In the arena, at most CAUSE_WIDTH bytes. */
struct str cause_plain(struct arena *a, struct str line);

#endif
