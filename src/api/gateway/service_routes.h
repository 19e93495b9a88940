/* What the platform's own API offers of services: trying them, their figures, their description. The kinds
 * themselves are core's (core/serve/). */
#ifndef INGOT_API_GATEWAY_SERVICE_ROUTES_H
#define INGOT_API_GATEWAY_SERVICE_ROUTES_H

#include "api/route.h"
#include "core/serve/interface.h"
#include "core/serve/route.h"

extern const struct route service_routes[];

/* The interface of a service as an OpenAPI document (service_document.c). model: what is known of its model;
 * NULL where an image answers. */
void service_document_write(const struct serve_route *r, const struct serve_interface *model,
                            const char *address, struct buf *out);

#endif
