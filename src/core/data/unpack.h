/* What was uploaded, as a list of files: an archive is unpacked into blobs, a single file is itself. Names
 * are made safe (no
 * "..", no absolute ones, valid UTF-8; GBK names of Windows zips are decoded), links and devices are left out
 * and reported, bombs are refused (count, size, ratio). */
#ifndef INGOT_CORE_DATA_UNPACK_H
#define INGOT_CORE_DATA_UNPACK_H

#include "core/task/task.h"
#include "store/store.h"

struct unpacked_file {
    struct str path;
    struct digest blob;
    int64_t size;
    int64_t width, height; /* of a picture whose header was looked at while it was unpacked; else 0 */
    struct str sample;     /* the name of the sample of the version that it is (recognise.h); else STR_NULL */
};

struct unpacked {
    struct arena *arena;
    struct unpacked_file *file;
    size_t n, cap;
    int64_t bytes;
    struct blob_batch *batch; /* the blobs are there after its flush */
    /* What the project may still store, of bytes that it does not use yet; limit -1: anything. */
    struct core *core;
    int64_t project, limit, used, fresh;
    struct map *counted; /* digests that are in fresh */
    uint64_t kept_at;
};

/* Before and after; everything lives in the task's arena. */
bool unpack_begin(struct unpacked *u, struct task *t, struct err *err);
void unpack_end(struct unpacked *u);

#define UNPACK_MAX_FILES  4000000
#define UNPACK_MAX_BYTES  (INT64_C(1) << 40)
#define UNPACK_FREE_BYTES (INT64_C(256) << 20)
#define UNPACK_MAX_RATIO  1000 /* unpacked bytes per byte of the archive, once over UNPACK_FREE_BYTES */

/* name: of the uploaded file. Its bytes are the blob. */
bool unpack(struct task *t, struct str name, const struct digest *blob, struct unpacked *out,
            struct err *err);
/* ERR_QUOTA when the project may not store so much besides what was admitted before. */
bool unpack_admit(struct unpacked *u, const struct digest *blob, int64_t size, struct err *err);
/* One more file, admitted. */
bool unpack_add(struct unpacked *u, struct str path, const struct digest *blob, int64_t size,
                struct err *err);
/* The same from its bytes: pieces, and then the file, or nothing of it. */
bool unpack_piece(struct unpacked *u, struct str piece, struct err *err);
bool unpack_file(struct unpacked *u, struct str path, struct err *err);
void unpack_drop(struct unpacked *u);
/* How large a picture is that begins so; now, as later the file would have to be opened again. */
void unpack_check(struct unpacked_file *f, struct str first);
/* Called now and then by what takes long: keeps the blobs from the collector, as no sample uses them yet. */
bool unpack_keep(struct task *t, struct unpacked *u, struct err *err);

/* A line of the report: "left out" and the error's sentence. */
void unpack_left_out(struct task *t, struct str file, const char *position, const struct err *why);

#endif
