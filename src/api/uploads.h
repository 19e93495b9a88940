/* Bytes in and out: resumable uploads (tus.c), files of versioned folders (files.c). */
#ifndef INGOT_API_UPLOADS_H
#define INGOT_API_UPLOADS_H

#include "api/route.h"

extern const struct route tus_routes[], file_routes[];

#endif
