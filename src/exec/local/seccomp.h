/* The system calls that containers may not make. */
#ifndef INGOT_EXEC_LOCAL_SECCOMP_H
#define INGOT_EXEC_LOCAL_SECCOMP_H

#include "base/json.h"

void seccomp_write(struct json_out *o); /* the object "seccomp" of an OCI configuration */

#endif
