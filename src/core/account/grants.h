/* What one user (or one token of the user) may do: an immutable snapshot, shared by reference count. */
#ifndef INGOT_CORE_ACCOUNT_GRANTS_H
#define INGOT_CORE_ACCOUNT_GRANTS_H

#include "core/account/permission.h"
#include "core/caller.h"
#include "core/core.h"

#include <stdatomic.h>

struct grant {
    int64_t project;
    const char *name, *role; /* of the project; of its roles, parted by ", " */
    struct permission_set may;
};

struct grants {
    atomic_uint refs;
    uint64_t generation; /* of the accounts when the database was read */
    int64_t user;
    const char *name;
    bool administrator;             /* the user is one; a token may still be narrowed */
    int64_t only;                   /* a job's: nothing but this project exists for it; 0 */
    bool narrowed;                  /* by a token's scopes, or a job's: */
    struct permission_set scopes;   /* all when not narrowed */
    struct permission_set platform; /* held platform-wide and in every project */
    struct permission_set everyone; /* held platform-wide only: what any signed-in user may */
    size_t count;
    struct grant *projects; /* by id */
    struct arena arena;     /* of all of this */
};

/* scopes: JSON list of patterns of a token, STR_NULL or empty for none. ERR_UNAUTHORIZED when there is no
 * such user or it is disabled. */
bool grants_load(struct core *core, int64_t user, struct str scopes, uint64_t generation, struct grants **ret,
                 struct err *err);
/* What a job may do: in its own project what its user may there, as far as the role `member` goes; elsewhere
 * read what is for every user. No tokens, sessions, members or profiles. ERR_UNAUTHORIZED also when the user
 * may nothing there (any more). */
bool grants_load_job(struct core *core, int64_t user, int64_t project, uint64_t generation,
                     struct grants **ret, struct err *err);
struct grants *grants_ref(struct grants *g);
void grants_unref(struct grants *g); /* NULL is fine */

bool grants_may(const struct grants *g, ptrdiff_t permission, int64_t project);
/* All that is held in the project (0: platform-wide). */
struct permission_set grants_in(const struct grants *g, int64_t project);
/* Inside a write: ERR_FORBIDDEN when the user, even a disabled one, may do anything, on the platform or in a
 * project, that the caller may not. A caller that changes a user could sign in as that user. */
bool grants_cover(struct op *op, int64_t user, struct err *err);
/* NULL when the user is no member. */
const struct grant *grants_find(const struct grants *g, int64_t project);
/* Of a caller with grants; NULL for the system and without a user. */
const struct grants *grants_of(const struct caller *c);

#endif
