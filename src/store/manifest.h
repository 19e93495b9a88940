/* A manifest is the content of one version of a folder: files by path, sorted by path bytes, each with blob,
 * size and mode. Its canonical text is itself a blob, so equal folders have equal digests:
 *
 *   <sha256 hex> <size> <x or -> <path>\n
 *
 * Paths are relative, '/'-parted, valid UTF-8, without empty, "." or ".." parts, control characters or
 * backslashes. */
#ifndef INGOT_STORE_MANIFEST_H
#define INGOT_STORE_MANIFEST_H

#include "base/buf.h"
#include "store/store.h"

struct manifest_entry {
    struct str path;
    struct digest blob;
    int64_t size;
    bool executable;
};

struct manifest {
    struct manifest_entry *entry; /* sorted by path, no path twice, none below another file */
    size_t n;
    int64_t bytes; /* sum of sizes */
};

#define MANIFEST_MAX_FILES 1000000
#define MANIFEST_MAX_PATH  1024

bool manifest_check_path(struct str path, struct err *err);
/* Sorts and checks entries (later ones of the same path win); a file that is also a folder is an error. */
bool manifest_build(struct arena *a, const struct manifest_entry *entries, size_t n, struct manifest *ret,
                    struct err *err);
/* The canonical text. */
void manifest_write(const struct manifest *m, struct buf *out);
bool manifest_parse(struct arena *a, struct str text, struct manifest *ret, struct err *err);
/* NULL when there is no such file. */
const struct manifest_entry *manifest_find(const struct manifest *m, struct str path);

/* What lies directly in a folder ("" is the root): files, and folders with the totals below them. */
struct manifest_item {
    struct str name;
    bool folder;
    int64_t size;                       /* of the file, or all below */
    int64_t files;                      /* 1, or all below */
    const struct manifest_entry *entry; /* NULL for a folder */
};
bool manifest_list(struct arena *a, const struct manifest *m, struct str folder, struct manifest_item **ret,
                   size_t *ret_n, struct err *err);

enum manifest_change { MANIFEST_ADDED, MANIFEST_REMOVED, MANIFEST_CHANGED };
struct manifest_diff {
    enum manifest_change change;
    const struct manifest_entry *before, *after;
};
/* In path order. */
void manifest_compare(struct arena *a, const struct manifest *before, const struct manifest *after,
                      struct manifest_diff **ret, size_t *ret_n);

/* --- keeping what a manifest names ---
 * A project that has a version holds its manifest: table manifest_uses counts the versions, and while the row
 * is there every file of the manifest (and the manifest's own blob) is used once by the project. Holding a
 * large folder takes many small writes, so that no other write waits for it; a crash in between is mended by
 * the releasing pass. */

/* Makes the project use all files; ERR_QUOTA when they are more than it may store (the manifest's own blob
 * alone is never refused: files can be taken away from a full project). The caller counts itself in
 * (manifest_count) in the write that makes it visible, and calls manifest_settle after that, whether it
 * failed or not. */
bool manifest_hold(struct store *s, int64_t project, const struct manifest *m, const struct digest *self,
                   struct err *err);
void manifest_settle(struct store *s, int64_t project, const struct digest *self);
/* Inside a write, by 1 or -1. ERR_CONFLICT when the project does not hold it (any more). */
bool manifest_count(struct db_conn *c, int64_t project, const struct digest *self, int by, struct err *err);
/* Inside a write: the one version of the project that has `before` has `after` from now on, and only the
 * files that differ are counted. *ret_done false: it cannot be done so (others have one of them too, or much
 * differs), and nothing was changed; then hold the new one and drop the old one. */
struct manifest_swap {
    const struct manifest *before, *after;
    const struct digest *old, *new_; /* their digests */
};
bool manifest_replace(struct db_conn *c, struct store *s, int64_t project, const struct manifest_swap *x,
                      bool *ret_done, struct err *err);
/* After a write that counted by -1: gives the files back at once when that was the last version. */
void manifest_drop(struct store *s, int64_t project, const struct digest *self);
/* One pass: gives back the files of all manifests that no version counts, nor is about to. */
bool manifest_release(struct store *s, struct err *err);
/* Stores the canonical text as a blob. */
bool manifest_save(struct store *s, const struct manifest *m, struct digest *ret, struct err *err);
bool manifest_load(struct store *s, struct arena *a, const struct digest *d, struct manifest *ret,
                   struct err *err);

#endif
