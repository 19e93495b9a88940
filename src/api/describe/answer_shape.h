/* The shapes of answers, as tables: answer_schema.c writes them as JSON Schemas. */
#ifndef INGOT_API_ANSWER_SHAPE_H
#define INGOT_API_ANSWER_SHAPE_H

#include "base/base.h"

enum shape_type {
    SHAPE_TEXT,
    SHAPE_TIME,
    SHAPE_INT,
    SHAPE_REAL,
    SHAPE_BOOL,
    SHAPE_REF,     /* {id, name} */
    SHAPE_WORDS,   /* {en, zh} */
    SHAPE_AMOUNTS, /* numbers by name, or null */
    SHAPE_COUNTS,  /* numbers by name */
    SHAPE_TEXTS,   /* texts by name */
    SHAPE_FREE,    /* an object of anything */
    SHAPE_ANY,     /* any JSON */
    SHAPE_STRINGS, /* ["a", ...] */
    SHAPE_NUMBERS, /* [1, ...] */
    SHAPE_PAIR,    /* [1, 2] */
    SHAPE_PAIRS,   /* [[1, 2], ...] */
    SHAPE_RINGS,   /* [[1, 2, 3, 4, 5, 6], ...] */
    SHAPE_TRIPLES, /* [[1, 2, 3], ...] */
    SHAPE_MEANS,   /* [[1, 2, 3, 4, 5], ...]: step, time, mean, least, greatest */
    SHAPE_ANYS,    /* a list of any JSON */
    SHAPE_OBJECT,  /* of, or named */
    SHAPE_LIST,    /* of objects */
    SHAPE_LISTS,   /* of lists of objects */
};

enum shape_flags {
    OR_NULL = 1,
    OPTIONAL = 2, /* may be left out */
    OLDER = 4,    /* a former name of another member, for scripts that know it */
};

/* One member of an object; ended by name NULL. */
struct shape {
    const char *name;
    enum shape_type type;
    unsigned flags;
    const struct shape *of; /* members of the object, or of each in the list */
    const char *named;      /* instead: a schema of the document */
    const char *choices;    /* of a text, with spaces between */
};

#define M(member, kind, ...)                                                                                 \
    {                                                                                                        \
        .name = (member), .type = SHAPE_##kind, __VA_ARGS__                                                  \
    }

struct answer_shape {
    const char *name;
    const struct shape *members;
};

/* By what they are of; ended by name NULL. */
extern const struct answer_shape answers_of_compute[], answers_of_data[], answers_of_label[],
    answers_of_learning[], answers_of_evaluate[], answers_of_home[];

#endif
