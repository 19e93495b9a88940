/* Where a service is reached. */
#ifndef INGOT_CORE_SERVE_ADDRESS_H
#define INGOT_CORE_SERVE_ADDRESS_H

#include "core/core.h"

/* "https://gateway.example/vision/fruit", without a slash at the end. By --gateway-url, or else by the host
 * that the caller reached the platform by (as in Host; may be STR_NULL) and the gateway's port. own_host: the
 * service's own host name, or NULL. */
const char *serve_address(const struct core *core, struct str host, const char *project_name,
                          const char *name, const char *own_host, struct arena *a);

#endif
