/* Versioned folders of files: algorithm sets (A1) and model sets (M1) are the same thing under two names. A
 * set has versions; a version has a manifest of the store, may be changed until it is published, and never
 * after. */
#ifndef INGOT_CORE_FOLDER_FOLDER_H
#define INGOT_CORE_FOLDER_FOLDER_H

#include "core/engine.h"
#include "store/manifest.h"

extern const struct kind kind_algorithm_set, kind_algorithm_version, kind_model_set, kind_model_version;

/* Is this one of the two kinds of versions? */
bool folder_is_version(const struct kind *k);

/* The content of a version (an object of one of the version kinds); an empty one for a version without files.
 */
bool folder_manifest(struct core *core, const struct object *version, struct arena *a, struct manifest *ret,
                     struct err *err);

/* The bytes of a file of a version, mapped; folder_unmap gives them back. ERR_NOT_FOUND names the path. */
bool folder_map(struct core *core, const struct manifest *m, struct str path, struct str *ret,
                struct err *err);
void folder_unmap(struct str bytes);

/* One change of a version's content. */
struct folder_change {
    struct str path;
    enum { FOLDER_PUT, FOLDER_REMOVE, FOLDER_MOVE } what; /* REMOVE and MOVE also take whole folders */
    struct digest blob;                                   /* PUT */
    int64_t size;
    bool executable;
    struct str to; /* MOVE */
};
#define FOLDER_MAX_CHANGES 10000

/* Applies the changes in their order to the version and makes the result durable: all or nothing. version is
 * the object as it was read (its revision must still be current: ERR_STALE) and holds the new state
 * afterwards. The project's storage quota is checked. */
bool folder_apply(struct core *core, const struct caller *c, struct object *version,
                  const struct folder_change *changes, size_t n, struct arena *a, struct err *err);

/* The actions of both kinds of versions (folder_actions.c, core/model_actions.c). */
extern const struct action folder_algorithm_actions[], folder_model_actions[];

#endif
