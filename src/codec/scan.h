/* Finds the elements of a large JSON text without building it: brackets and strings only. What lies between
 * is checked by the caller that parses an element; a text whose brackets or strings do not close ends the
 * scan. */
#ifndef INGOT_CODEC_SCAN_H
#define INGOT_CODEC_SCAN_H

#include "base/err.h"
#include "base/str.h"

struct scan {
    const char *start, *at, *end;
};

struct scan_value {
    struct str text;   /* the value's bytes */
    struct str wanted; /* bytes of the wanted member's value (its start at least); STR_NULL: absent */
    int depth;         /* deepest nesting inside */
};

void scan_init(struct scan *s, struct str text);
/* Steps into an object or array ('{' or '['); false when the next thing is not that. */
bool scan_enter(struct scan *s, char open);
/* The next member of the object entered: its key, without escapes resolved. *ret_end at the closing brace. */
bool scan_key(struct scan *s, struct str *ret, bool *ret_end, struct err *err);
/* Whether an array has one more element; at its end the bracket is passed and *ret_end set. */
bool scan_element(struct scan *s, bool first, bool *ret_end, struct err *err);
/* Passes one value. `want`, when given, is a key of the object (its top level) whose value is noted. */
bool scan_skip(struct scan *s, const char *want, struct scan_value *ret, struct err *err);
char scan_peek(struct scan *s); /* the next byte that is not white space; 0 at the end */

#endif
