/* The OpenAPI 3.1 document, from the kinds and the route tables. Needs no running platform. */
#ifndef INGOT_API_OPENAPI_H
#define INGOT_API_OPENAPI_H

#include "base/buf.h"

void openapi_write(struct buf *out);

#endif
