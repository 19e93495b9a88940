/* Writing a tar (POSIX pax) piece by piece to a function that takes the bytes. */
#ifndef INGOT_EXEC_TAR_H
#define INGOT_EXEC_TAR_H

#include "exec/exec.h"

struct tar {
    exec_sink_fn *sink;
    void *ctx;
};

struct tar_entry {
    const char *path; /* without a leading slash; folders without a trailing one */
    char type;        /* '0' file, '1' hard link, '2' symbolic link, '5' folder, '6' pipe */
    unsigned mode;
    uint32_t uid, gid;
    int64_t size, mtime;
    const char *link;      /* of both links */
    struct str capability; /* the extended attribute security.capability; STR_NULL */
};

/* Then exactly `size` bytes with tar_data, then tar_pad. */
bool tar_header(struct tar *t, const struct tar_entry *e, struct err *err);
bool tar_data(struct tar *t, const void *p, size_t n, struct err *err);
bool tar_pad(struct tar *t, int64_t size, struct err *err);
bool tar_end(struct tar *t, struct err *err);

#endif
