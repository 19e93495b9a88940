/* GET /api/v1/backup and POST /api/v1/restore, for administrators. */
#ifndef INGOT_API_BACKUP_H
#define INGOT_API_BACKUP_H

#include "api/route.h"

extern const struct route backup_routes[];

#endif
