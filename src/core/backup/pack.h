/* What writing an archive (pack.c) and putting one together with its blobs (join.c) share. */
#ifndef INGOT_CORE_BACKUP_PACK_H
#define INGOT_CORE_BACKUP_PACK_H

#include "core/backup/backup.h"

#include "base/hash.h"

struct archive;
struct pack {
    struct archive *archive;
    const struct backup_sink *sink;
    /* Something failed: the rest goes nowhere. The archive is not told, as one that knows of a failure leaks
     * its buffers. */
    bool given_up;
    struct err sink_err; /* what the sink said */
    char *piece;         /* PACK_PIECE bytes */
};
#define PACK_PIECE (256 * 1024)

/* pack_end follows in every case. */
bool pack_begin(struct pack *k, const struct backup_sink *sink, struct err *err);
bool pack_header(struct pack *k, const char *name, int64_t size, int64_t time_s, struct err *err);
bool pack_data(struct pack *k, struct str data, struct err *err);
/* Exactly size bytes of fd; a file that shrank meanwhile is an error. */
bool pack_bytes(struct pack *k, const char *name, int fd, int64_t size, uint8_t hash[SHA256_SIZE],
                struct err *err);
/* The file of the blob `hex`, whose content must have that hash. */
bool pack_blob(struct pack *k, int fd, const char *hex, int64_t time_s, int64_t *ret_size, struct err *err);
/* Ends the archive (ok: all of it was given) and frees what pack_begin made. */
bool pack_end(struct pack *k, bool ok, struct err *err);

#endif
