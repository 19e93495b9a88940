/* The files that a batch is made of: all of a folder, or those that a list names. */
#ifndef INGOT_INFER_FILE_LIST_H
#define INGOT_INFER_FILE_LIST_H

#include "base/arena.h"
#include "base/err.h"

#define FILE_LIST_MAX_BYTES ((size_t)1 << 30) /* of a list */
#define FILE_LIST_MAX       ((size_t)20000000)

struct file_list {
    struct arena arena;
    int root; /* folder that the paths are in */
    const char *folder;
    const char **paths; /* relative to it */
    size_t count, cap;
};

/* path: a folder, whose files come by name, without hidden ones and those that tell of the others
 * (ingot.jsonl, coco.json, coco-captions.json); or a file with a path a line, in this order, or a line of
 * JSON with "file" as ingot.jsonl has. root: folder that a list's paths start from; NULL: the list's own. */
bool file_list_open(struct file_list *l, const char *path, const char *root, struct err *err);
void file_list_close(struct file_list *l);

#endif
