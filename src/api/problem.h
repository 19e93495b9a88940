/* Errors as RFC 9457 problem documents. */
#ifndef INGOT_API_PROBLEM_H
#define INGOT_API_PROBLEM_H

#include "base/buf.h"
#include "net/http.h"

/* references: JSON text or STR_NULL. */
void problem_write(const struct err *err, struct str references, struct buf *out);
/* Answers with it; headers (may be NULL) are added to the type's. */
void problem_respond(struct request *r, const struct err *err, struct str references,
                     const struct header *headers, size_t n);

#endif
