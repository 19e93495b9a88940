/* Where imports may take data from besides uploads: folders of the server, S3-compatible object stores,
 * MariaDB and MySQL (D6). The administrator allows each in the configuration, as the server reaches what its
 * users may not:
 *
 *   {"import_roots": ["/mnt/data"], "import_hosts": ["s3.example.com", "db.example.com:3306"],
 *    "import_ca": "/etc/ssl/our-ca.pem"}
 *
 * A host without a port stands for all its ports. Secrets of a source are kept sealed (base/seal.h) in the
 * task. */
#ifndef INGOT_CORE_DATA_SOURCES_H
#define INGOT_CORE_DATA_SOURCES_H

#include "core/data/unpack.h"

/* May stand in import_hosts. */
bool sources_is_host(const char *text);
/* ERR_FORBIDDEN unless the administrator allows it. host: "h" or "h:port"; port: what it means without one.
 */
bool sources_allow(struct core *core, const char *field, const char *host, int port, struct err *err);

/* Members of a source in a request: texts and numbers of a table, nothing else. ended by name NULL */
struct source_member {
    const char *name;
    bool number, required;
};
/* ERR_INVALID names the member as "s3.bucket". */
bool sources_check(const char *field, const struct source_member *members, yyjson_val *v, struct err *err);
/* A member as text that the arena keeps; NULL when absent or empty. */
const char *sources_text(struct arena *a, yyjson_val *v, const char *name);

/* The member "ca": certificates (PEM) of the authorities that are trusted, instead of the configuration's
 * "import_ca" or the system's. ERR_INVALID when it is none. */
bool sources_check_ca(const char *field, yyjson_val *v, struct err *err);
/* The file with the authorities of a task's source; *ret is NULL for the system's. */
bool sources_ca(struct task *t, yyjson_val *v, const char **ret, struct err *err);
void sources_ca_end(struct task *t, yyjson_val *v); /* it is not needed any more */

bool sources_seal(struct core *core, struct arena *a, struct str secret, const char **ret, struct err *err);
/* The secret of the task's parameters; NULL when it has none. */
bool sources_secret(struct task *t, const char **ret, struct err *err);

#endif
