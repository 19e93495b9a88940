/* The registry: OCI distribution 1.1 below /v2/, over core/image/repository.h. Names of repositories are
 * <project>/<image>. Errors are the specification's JSON. In reading order: oci.c (from a path to what
 * answers it), auth.c (the caller of a request), manifests.c, blobs.c, uploads.c, lists.c,
 * answers.c. */
#ifndef INGOT_API_OCI_H
#define INGOT_API_OCI_H

#include "core/core.h"
#include "net/http.h"

void oci_handle(struct request *r, struct core *core);

#endif
