/* record_json.h: just enough JSON for schemas: a strict pull parser over one text. Private to this library.
 */
#ifndef INGOT_RECORD_JSON_H
#define INGOT_RECORD_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_json {
    const char *p, *end;
    int depth;
    const char *what; /* what is wrong, once a call has returned false; else NULL */
};

void record_json_init(struct record_json *j, const char *text, size_t size);
/* The first byte of the next value or delimiter; 0 at the end. */
char record_json_peek(struct record_json *j);
/* Takes c if it is next. */
bool record_json_take(struct record_json *j, char c);
/* A string, unescaped into out (0-terminated, at most size bytes with the 0; no NUL inside). */
bool record_json_string(struct record_json *j, char *out, size_t size);
bool record_json_int(struct record_json *j, int64_t *ret);
bool record_json_skip(struct record_json *j);

/* for (bool first = true; record_json_next(j, '}', &first);) ... steps through the elements of an object or
 * array whose opening bracket was taken; false at the closing one, or on a fault (then j->what is set). */
bool record_json_next(struct record_json *j, char close, bool *first);
/* The name of the next member and its colon. */
bool record_json_member(struct record_json *j, char *out, size_t size);

#endif
