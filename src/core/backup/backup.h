/* A backup of the whole platform: one tar archive, compressed with zstd, of a consistent copy of the database
 * (`ingot.db`, a SQLite file whichever database is used), `config.json`, files of users and jobs
 * (core/backup/trees.h) and the blobs, made while the platform runs. The last member, `manifest.json`, has
 * the SHA-256 of each other one (a blob's is its name), so an archive that was cut off or changed is
 * recognised before anything is touched.
 *
 * Instead of the blobs an archive may have their list (BACKUP_LIST, its first member: a line `SHA-256 size`
 * each), for a client that keeps blobs by their hash and fetches only what it lacks. backup_join makes a
 * whole one of the two again: the same members, and the blobs. Where blobs are in a bucket, the list has only
 * those that are not there yet, and the manifest names the bucket (`store`): without it the backup is of no
 * use. */
#ifndef INGOT_CORE_BACKUP_BACKUP_H
#define INGOT_CORE_BACKUP_BACKUP_H

#include "core/caller.h"
#include "core/core.h"

#define BACKUP_FORMAT   1
#define BACKUP_MANIFEST "manifest.json"
#define BACKUP_DATABASE "ingot.db"
#define BACKUP_CONFIG   "config.json"
#define BACKUP_BLOBS    "blobs"
#define BACKUP_LIST     "blobs.txt"
/* How long the collector leaves every blob alone after a step of a backup: the next step is sooner. */
#define BACKUP_HOLD_S 3600

/* Writes one; write gets the archive's bytes in order and may block. */
struct backup_sink {
    bool (*write)(void *ctx, struct str piece, struct err *err);
    void *ctx;
};
enum backup_blobs { BACKUP_BLOBS_WHOLE, BACKUP_BLOBS_LISTED };
bool backup_write(struct core *core, enum backup_blobs blobs, const struct backup_sink *sink,
                  struct err *err);
/* Removes what a backup or restore that was killed left in the data folder. Not while one runs. */
bool backup_sweep(struct core *core, struct err *err);

struct backup_info {
    const char *version;    /* of the program that made it */
    const char *created_at; /* RFC 3339 */
    int64_t files, bytes;
    int64_t apart;     /* blobs that it lists and does not hold */
    const char *store; /* the bucket that holds the blobs which it does not list; NULL: none */
};
/* Reads the archive from fd to its end and checks all of it; what it holds is unpacked below the folder
 * `into`
 * (-1: only checked). ERR_INVALID says what is wrong with it. On failure `into` may hold parts. */
bool backup_unpack(int fd, int into, struct arena *a, struct backup_info *ret, struct err *err);

/* Calls one with each line of the archive's list; *ret_listed whether it has one. The archive is read from
 * its beginning and no further than needed. */
typedef bool backup_blob_fn(void *ctx, const char *hex, int64_t size, struct err *err);
bool backup_each_blob(int fd, backup_blob_fn *one, void *ctx, bool *ret_listed, struct err *err);
/* Writes the whole archive of one with a list; blobs is a folder that has them as ab/<hex>. ERR_INVALID names
 * a blob that is missing there or damaged. The same input gives the same bytes. */
bool backup_join(int fd, int blobs, const struct backup_sink *sink, struct err *err);

/* Makes a data folder from a backup. data must be absent or empty; db_url NULL: SQLite in it; another
 * database must be empty. Nothing is left behind on failure. A backup without its blobs is refused here and
 * below, and below one whose bucket is not the platform's. */
bool backup_restore_folder(const char *data, const char *db_url, int fd, struct arena *a,
                           struct backup_info *ret, struct err *err);
/* Replaces everything in the running platform, in one transaction, once the whole archive is checked.
 * Sessions and tokens that the backup does not know end. */
bool backup_restore_running(struct core *core, const struct caller *c, int fd, struct arena *a,
                            struct backup_info *ret, struct err *err);

#endif
