/* The content store: every byte is a blob named by its SHA-256, kept once under <data>/blobs/sha256/ab/<hex>,
 * or in a bucket of an object store with local copies as a cache (store/bucket.h): callers see no difference.
 *
 * A blob lives while something uses it. Uses are counted per project (table blob_uses), which also gives the
 * storage a project takes: the sum of its distinct blobs (table storage_use), and of its folders (table
 * folder_use). A blob that nothing uses is
 * removed by the collector once it has not been touched for the grace time; a writer never waits for the
 * collector.
 *
 * All calls block (disk, database): never make one on a loop thread. */
#ifndef INGOT_STORE_STORE_H
#define INGOT_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "db/db.h"

struct store;

struct digest {
    uint8_t b[SHA256_SIZE];
};
void digest_hex(const struct digest *d, char ret[SHA256_HEX + 1]);
struct db_value digest_arg(const struct digest *d);    /* as a statement's argument; d must outlive it */
bool digest_parse(struct str hex, struct digest *ret); /* 64 lower-case hex digits, nothing else */

/* The tables of the store; run by db_script at start (idempotent). */
extern const char store_sql[];

struct s3_options;
struct store_options {
    struct db *db;
    const char *data;            /* the data folder */
    int64_t grace_seconds;       /* how long an unused blob is kept after it was last touched */
    const struct s3_options *s3; /* blobs are in this bucket (store/s3.h); NULL: in the data folder */
    const char *s3_prefix;       /* before every key, "team/ingot"; NULL: none */
    int64_t cache_bytes;         /* for local copies of the bucket's blobs; 0: 20 GiB */
};
struct store *store_open(const struct store_options *o, struct err *err);
void store_close(struct store *s);

/* --- writing a blob: bytes go to a temporary file while they are hashed --- */
struct blob_writer;
struct blob_writer *blob_writer_new(struct store *s, struct err *err);
bool blob_writer_add(struct blob_writer *w, struct str piece, struct err *err);
/* Makes it durable (fsync, rename) and known; a blob that is there already is only touched. Frees w. */
bool blob_writer_finish(struct blob_writer *w, struct digest *ret, int64_t *ret_size, struct err *err);
void blob_writer_abort(struct blob_writer *w); /* NULL allowed */
bool blob_put(struct store *s, struct str data, struct digest *ret, struct err *err);
/* Many blobs that become durable together, one after another, from one thread: pieces and then the end, or
 * data that is in memory already. Each gives its digest at its end. It may be used (store_use) after
 * blob_batch_known, and is there after blob_batch_flush. What was not flushed when the batch is freed may be
 * missing. */
struct blob_batch;
struct blob_batch *blob_batch_new(struct store *s);
bool blob_batch_piece(struct blob_batch *b, struct str piece, struct err *err);
bool blob_batch_end(struct blob_batch *b, struct digest *ret, int64_t *ret_size, struct err *err);
void blob_batch_drop(struct blob_batch *b); /* the pieces since the last end */
/* How they begin: all of a small blob, 256 KB of a larger one. */
struct str blob_batch_head(const struct blob_batch *b);
bool blob_batch_data(struct blob_batch *b, struct str data, struct digest *ret, struct err *err);
bool blob_batch_known(struct blob_batch *b, struct err *err);
bool blob_batch_flush(struct blob_batch *b, struct err *err);
void blob_batch_free(struct blob_batch *b); /* NULL allowed */
/* Takes over a finished file of the same file system (a completed upload): hashes it and moves it into place.
 */
bool blob_take_file(struct store *s, int dirfd, const char *name, struct digest *ret, int64_t *ret_size,
                    struct err *err);

/* --- reading --- */
/* ERR_NOT_FOUND when it is not there. The caller closes the descriptor. */
int blob_open(struct store *s, const struct digest *d, int64_t *ret_size, struct err *err);
/* For answers that begin before a large blob of the bucket is here: as blob_open, but *ret_fd is -1 for such
 * a blob, and blob_send gives its bytes. */
bool blob_begin(struct store *s, const struct digest *d, int *ret_fd, int64_t *ret_size, struct err *err);
struct blob_sink {
    /* false: no more are wanted. In silence it is asked with nothing about once a second. */
    bool (*piece)(void *ctx, struct str data);
    void *ctx;
};
/* The bytes [from, from + n) of a blob of `size` bytes that blob_begin did not open, in order, as they come
 * from the bucket. Of a whole blob the last byte is only given when the hash of all was right; a range is as
 * the bucket has it. false when not all were given, and then what was given must not pass for the answer. */
bool blob_send(struct store *s, const struct digest *d, int64_t from, int64_t n, int64_t size,
               const struct blob_sink *sink, struct err *err);
bool blob_read(struct store *s, struct arena *a, const struct digest *d, size_t max, struct str *ret,
               struct err *err);
/* Keeps it from the collector for another grace time; *ret_size is -1 when there is no such blob. */
bool blob_touch(struct store *s, const struct digest *d, int64_t *ret_size, struct err *err);
/* Links it read-only below dirfd at a relative path (folders are made), for mounting: no bytes are copied. */
bool blob_link(struct store *s, const struct digest *d, int dirfd, const char *path, bool executable,
               struct err *err);
/* Many of them. With a bucket several that are not here yet are fetched at a time. */
struct blob_to_link {
    const struct digest *blob;
    const char *path;
    bool executable;
};
bool blob_link_all(struct store *s, const struct blob_to_link *item, size_t n, int dirfd, struct err *err);
/* Whether blobs are in a bucket: then the data folder does not hold all of them. */
bool store_is_remote(const struct store *s);
/* After the database was replaced by a backup: it says again where this platform's blobs are. */
bool store_keep_place(struct store *s, struct err *err);
/* For a database that is restored into a new platform, whose blobs are in its data folder. */
bool store_forget_place(struct db *db, struct err *err);
/* Every known blob, in no order; one must not write to the database. */
bool blob_each(struct store *s, bool (*one)(void *ctx, const struct digest *d, struct err *err), void *ctx,
               struct err *err);

/* --- uses, inside a write --- */
/* count is positive or negative; a use of a blob that is gone is ERR_CONFLICT, one that takes the project
 * over its limit ERR_QUOTA with numbers: as all writes are one after the other, it is never exceeded. */
bool store_use(struct db_conn *c, int64_t project, const struct digest *d, int64_t count, struct err *err);
/* One use more of each of many, whose sizes are known. They are sorted. */
struct store_used {
    struct digest blob;
    int64_t size;
};
bool store_use_all(struct db_conn *c, int64_t project, struct store_used *u, size_t n, int64_t *ret_added,
                   struct err *err); /* *ret_added (NULL allowed): bytes that the project takes more now */
/* How many bytes the project may take, blobs and folders; -1: any number. */
bool store_set_limit(struct db_conn *c, int64_t project, int64_t limit, struct err *err);
/* Folders of the data folder that belong to a project and are no blobs (/workspace, checkpoints): what they
 * took when they were measured last. bytes -1 forgets one. Inside a write. */
bool store_folder_use(struct db_conn *c, const char *folder, int64_t project, int64_t bytes, struct err *err);
/* Bytes that a project takes: blobs and folders. */
bool store_project_bytes(struct store *s, int64_t project, int64_t *ret, struct err *err);
/* Inside a write of `more` bytes that are kept elsewhere than in blobs and folders: ERR_QUOTA with numbers
 * when the project has no room for them. They are not counted. */
bool store_has_room(struct db_conn *c, int64_t project, int64_t more, struct err *err);
/* ERR_QUOTA with numbers when used + more is over limit; limit -1: none. Says it before bytes are sent in
 * vain; what keeps the limit is the check inside the writes. */
bool store_admit(struct store *s, int64_t project, int64_t more, int64_t limit, struct err *err);

/* --- a cache of what can be made again (thumbnails), by plain names --- */
/* -1 when it is not there. */
int store_cache_open(struct store *s, const char *name, uint64_t *ret_size);
bool store_cache_put(struct store *s, const char *name, struct str data, struct err *err);

/* --- from the data folder to the bucket --- */
/* A platform that began without a bucket has its first blobs in the data folder, and restored ones come there
 * too. One pass moves all of them: to the bucket, and when that has it, to the cache. It may be cut off at
 * any time and goes on at the next pass. Blobs whose file is damaged stay where they are. */
bool store_move(struct store *s, struct err *err);
void store_move_end(struct store *s); /* a pass that runs ends soon, and later ones at once */
struct store_moving {
    int64_t moved, moved_bytes; /* since the program began */
    int64_t left, left_bytes;   /* what the last pass found and has not moved yet */
    int64_t damaged;            /* ... and those of them that it cannot */
    struct digest bad;          /* the last of these */
};
void store_moving(struct store *s, struct store_moving *ret);
/* "s3://bucket/prefix of host"; NULL: the data folder. */
const char *store_place(const struct store *s);
/* Local copies of what is in the bucket. */
void store_cache_size(struct store *s, int64_t *ret_bytes, int64_t *ret_max);

/* --- the collector --- */
struct store_collected {
    int64_t blobs, bytes;
};
/* One pass; removes what is unused for longer than the grace time, in small steps, then files (and objects of
 * the bucket) that no row knows: a crash may leave such. The first pass looks at all of them, later ones at a
 * share. */
bool store_collect(struct store *s, struct store_collected *ret, struct err *err);
/* Nothing is removed for so many seconds from now, also what nothing uses: a backup needs what the rows that
 * it copied name. Called again while it goes on; kept in memory only. */
void store_hold(struct store *s, int64_t seconds);
/* A pass that runs ends after its step, and later ones at once: before the end of the program. */
void store_collect_end(struct store *s);

#endif
