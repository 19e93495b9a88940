/* The files that containers leave, below an open folder: nothing here follows a link or waits for a pipe.
 * Depth and number are bounded. */
#ifndef INGOT_CORE_FOLDER_WALK_H
#define INGOT_CORE_FOLDER_WALK_H

#include "base/arena.h"
#include "base/err.h"

struct walk_file {
    const char *path; /* relative to where the walk began */
    int dirfd;        /* of its folder */
    const char *name;
    int64_t size;
    unsigned mode;
};

struct walk {
    /* Called for every regular file; false ends the walk. */
    bool (*file)(void *ctx, const struct walk_file *f, struct err *err);
    /* Told of links, special files and what may not be read, which are left out. May be NULL. */
    void (*skipped)(void *ctx, const char *path, const struct err *why);
    void *ctx;
    int64_t files; /* so far */
};
bool walk_folder(struct walk *w, int dirfd, struct err *err);
/* The same by a path of the platform's own; a folder that is not there has no files. */
bool walk_path(struct walk *w, const char *folder, struct err *err);

#endif
