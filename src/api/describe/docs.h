/* The page at /docs that renders the OpenAPI document, without anything from outside. */
#ifndef INGOT_API_DOCS_H
#define INGOT_API_DOCS_H

#include "net/http.h"

void docs_respond(struct request *r);

#endif
