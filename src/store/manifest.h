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

/* Inside a write: adds (sign 1) or drops (sign -1) the uses of all files and of the manifest's own blob. */
bool manifest_use(struct db_conn *c, int64_t project, const struct manifest *m, const struct digest *self,
                  int sign, struct err *err);

#endif
