/* The registry: OCI distribution 1.1 below /v2/, over core/image/repository.h. Names of repositories are
 * <project>/<image>. Errors are the specification's JSON. In reading order: oci.c (from a path to what
 * answers it), oci_auth.c (who asks), oci_manifests.c, oci_blobs.c, oci_uploads.c, oci_lists.c,
 * oci_answers.c. */
#ifndef INGOT_API_OCI_H
#define INGOT_API_OCI_H

#include "core/core.h"
#include "net/http.h"

void oci_handle(struct request *r, struct core *core);

#endif
