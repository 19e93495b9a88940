/* What a search finds among all kinds at once: `GET /api/v1/search`, for the web's palette, the command line
 * and scripts. Kinds with a page of their own, of one project and of the platform, as far as the caller may
 * list them. Each kind is searched as its list is (core/search_text.h); the best matches come first. When
 * those are few, names among the last FIND_LOOSE of each kind that have the characters in their order follow:
 * "trfdet" finds "traffic-detection". */
#ifndef INGOT_CORE_FIND_H
#define INGOT_CORE_FIND_H

#include "core/engine.h"

#define FIND_MAX   50
#define FIND_USUAL 20
#define FIND_LOOSE 500

struct find_query {
    int64_t project; /* 0: only what belongs to no project */
    struct str q;
    int64_t limit; /* 1..FIND_MAX */
};

/* Writes {"items": [{"kind", "id", "name", "updated_at", "about", "matches"}]}. about: the text that has what
 * the name has not. ERR_NOT_FOUND when the caller is not in the project. */
bool find_write(struct core *core, const struct caller *c, const struct find_query *q, struct arena *a,
                struct buf *out, struct err *err);

#endif
