/* What is to be uploaded, as bytes that can be read at any place: a file, or a folder as a tar archive that
 * is never written anywhere. So an upload can go on in the middle, in another run of the program too. */
#ifndef INGOT_CLI_BUNDLE_H
#define INGOT_CLI_BUNDLE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

struct bundle {
    int64_t size;
    const char *name;         /* for the upload: "cats.zip", "cats.tar" */
    size_t files;             /* of a folder; 1 */
    size_t left_out;          /* links, sockets and so on in the folder */
    char key[SHA256_HEX + 1]; /* changes when anything about the files does: names, sizes, times */
    struct bundle_part *part; /* own */
    size_t part_count;
    int fd; /* of the one file that is open */
    const struct bundle_part *open;
    struct arena *arena;
};

/* One of its files, 0 to files - 1: where it is; *ret_name is its path in the folder, or its name alone. */
const char *bundle_file(const struct bundle *b, size_t i, const char **ret_name);
/* Which of two words is the path, and which the name of what it goes into: a name has no slash. */
void bundle_words(const char *const words[static 2], const char **ret_path, const char **ret_name);
bool bundle_open(struct arena *a, const char *path, struct bundle *ret, struct err *err);
void bundle_close(struct bundle *b);
/* Exactly n bytes from offset; ERR_CONFLICT when a file is not any more what it was. */
bool bundle_read(struct bundle *b, int64_t offset, void *p, size_t n, struct err *err);

#endif
