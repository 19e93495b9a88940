/* What the files of runtime/ share. */
#ifndef INGOT_CORE_RUNTIME_RUNTIME_OWN_H
#define INGOT_CORE_RUNTIME_RUNTIME_OWN_H

#include "core/runtime/runtime.h"

#define RUNTIME_PROJECT    "built-in"
#define RUNTIME_UNFINISHED "unfinished" /* the version that a runtime is made on */
#define RUNTIME_PLACE      "/run/ingot-runtime"
#define RUNTIME_PIPE       "pipe"

#define RUNTIME_ASIDE ".estimate" /* after a folder's name: it is estimated while it may be built */

#define RUNTIME_PACKAGES 200 /* at most, of each list */
#define RUNTIME_NAME_MAX 100 /* of a package, with its version */

/* --- names (names.c) --- */
bool runtime_check_debian(struct arena *a, const struct field *f, const struct db_value *value,
                          struct err *err);
bool runtime_check_python(struct arena *a, const struct field *f, const struct db_value *value,
                          struct err *err);

/* --- places --- */
/* Of a build: packages, lists, the pipe by which the container says that it is done. */
const char *runtime_folder(const struct core *core, struct arena *a, int64_t runtime);
const char *runtime_log_path(const struct core *core, struct arena *a, int64_t runtime);

/* --- the script (script.c) --- */
struct runtime_plan {
    int64_t bytes; /* of all packages */
    int64_t debs, wheels;
    const char *fingerprint; /* of what exactly it is made of */
    bool same;               /* as the one that is there: nothing was fetched */
};
/* Runs fetch.py with the verb ("estimate", "fetch") in the runtime's folder, which is made; what it says goes
 * to the log. have: a fingerprint that needs no fetching, or STR_NULL. */
bool runtime_script(struct task *t, const char *verb, const struct object *runtime, struct str have, int log,
                    struct runtime_plan *ret, struct err *err);
/* The plan of the fetch before. */
bool runtime_read_plan(struct task *t, struct runtime_plan *ret, struct err *err);

/* --- the container (container.c) --- */
/* Until it has installed everything and waits to be saved; its log is added to log. */
bool runtime_await(struct task *t, int64_t job, const struct runtime_plan *plan, int log, struct err *err);
/* The job may end; waits until it has. */
void runtime_release(struct task *t, int64_t id, bool saved);

/* --- the row --- */
bool runtime_load(struct task *t, struct object *ret, struct err *err);
/* Says "v3" when v2 is the newest version of the image. */
bool runtime_next_version(struct core *core, int64_t project, struct str name, struct arena *a,
                          const char **ret, struct err *err);
/* It is there: names the version, lets everybody use it. */
struct runtime_made {
    int64_t project;
    const char *version;     /* of the image of the runtime's name */
    const char *fingerprint; /* NULL: not known */
    int64_t bytes;           /* that were fetched; 0: not known */
};
bool runtime_finish(struct task *t, const struct object *runtime, const struct runtime_made *m,
                    struct err *err);
/* Deletes a version of its image; none is fine. */
bool runtime_drop_version(struct core *core, int64_t project, struct str name, struct str version,
                          struct err *err);

#endif
