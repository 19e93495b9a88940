/* Paths and queries of requests. */
#ifndef INGOT_NET_URL_H
#define INGOT_NET_URL_H

#include "base/arena.h"
#include "base/err.h"

/* Percent-decodes one path segment; refuses malformed escapes, NUL, '/' and '\\' that come from an escape,
 * "." and
 * "..", and invalid UTF-8. */
bool url_segment(struct arena *a, struct str raw, struct str *ret, struct err *err);
/* Percent-decodes a query value, '+' is a space; refuses malformed escapes, NUL and invalid UTF-8. */
bool url_value(struct arena *a, struct str raw, struct str *ret, struct err *err);
/* Appends s percent-encoded (all but unreserved). */
char *url_encode(struct arena *a, struct str s);
/* The parameters of a query in order; each name and value decoded. At most 64. */
struct url_param {
    struct str name, value;
};
bool url_query(struct arena *a, struct str query, struct url_param **ret, size_t *ret_n, struct err *err);

#endif
