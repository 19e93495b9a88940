/* Bytes in and out: resumable uploads (tus.c), files of versioned folders (files.c), samples, what
 * tasks make, formats, lineage. */
#ifndef INGOT_API_UPLOADS_H
#define INGOT_API_UPLOADS_H

#include "api/route.h"

extern const struct route tus_routes[], file_routes[], sample_routes[], operation_routes[], room_routes[],
    task_routes[], format_routes[], record_routes[], labelling_routes[], lineage_routes[], example_routes[],
    evaluation_routes[];

/* The media type for a file of this name that may be shown; application/octet-stream for all others. */
const char *uploads_type_of(struct str path);

#endif
