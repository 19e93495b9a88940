/* record.h: the dataset record format (docs/record-format.md), as a library that needs only libc and
 * pthreads.
 *
 * A record set is one or more shard files NAME-00000-of-00003.irec. A record is a tuple of fields that one
 * JSON schema describes. Records are read where they lie in the mapped file: nothing is copied or allocated
 * per record.
 *
 * Writing:
 *     struct record_err err;
 *     struct record_writer *w = record_writer_new("train", &(struct record_writer_options){.schema = json},
 * &err); struct record_value v[] = {{"0001.jpg", 8}, {jpeg, jpeg_size}}; record_writer_add(w, v, 2, &err);
 * ... once per record record_writer_finish(w, NULL, &err);      the files appear under their names only now
 *     record_writer_free(w);                    without finish: everything written is removed
 *
 * Reading:
 *     struct record_reader *r = record_reader_open("train", 0, &err);
 *     struct record rec; struct record_value image;
 *     record_reader_get(r, 17, &rec, &err) && record_get(&rec, 1, &image, &err);
 *     record_reader_free(r);                    ends the life of every view taken from it
 *
 * Failure: functions return false or NULL and fill *err (which may be NULL); results are written only on
 * success. Threads: a reader may be shared by any number of threads; a writer belongs to one at a time.
 * Hostile files: every offset of a file is checked before it is followed. The one thing that cannot be
 * checked is a file that another process shortens while it is mapped (SIGBUS): sealed files must be replaced,
 * never truncated. */
#ifndef INGOT_RECORD_H
#define INGOT_RECORD_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RECORD_VERSION    1
#define RECORD_ALIGN      64          /* every record starts at a multiple of this */
#define RECORD_MAX_FIELDS 256         /* fields of a schema */
#define RECORD_MAX_NAME   255         /* bytes of a field name */
#define RECORD_MAX_DIMS   8           /* dimensions of an array field */
#define RECORD_MAX_SCHEMA (16u << 20) /* bytes of schema JSON */
#define RECORD_MAX_SIZE   0xFFFFFFFEu /* bytes of one record, its field table included */
#define RECORD_MAX_SHARDS 99999u

enum record_code {
    RECORD_OK,
    RECORD_E_ARG,       /* the caller's mistake: a bad schema, value, index or option */
    RECORD_E_IO,        /* the system refused: open, read, write, map, sync, rename */
    RECORD_E_MEMORY,    /* out of memory */
    RECORD_E_EXISTS,    /* a file of that name is there and overwriting was not asked for */
    RECORD_E_NOT_FOUND, /* no such file, shard, field or key */
    RECORD_E_FORMAT,    /* not a record file */
    RECORD_E_VERSION,   /* a record file of a version or with features this library does not know */
    RECORD_E_CORRUPT,   /* a record file that is damaged: truncated, checksum, impossible offset */
    RECORD_E_LIMIT,     /* larger than the format allows */
};

struct record_err {
    enum record_code code;
    char message[500];
};

/* ---- schema ----------------------------------------------------------------------------------------------
 */

enum record_type {
    RECORD_BYTES,   /* any bytes: a picture, a sound */
    RECORD_UTF8,    /* valid UTF-8 */
    RECORD_JSON,    /* one JSON value in UTF-8 */
    RECORD_INT64,   /* 8 bytes, little-endian */
    RECORD_FLOAT64, /* 8 bytes, little-endian */
    RECORD_ARRAY,   /* elements of one dtype in C order, little-endian, aligned to 64 bytes */
};

enum record_dtype {
    RECORD_NO_DTYPE,
    RECORD_U8,
    RECORD_I8,
    RECORD_U16,
    RECORD_I16,
    RECORD_U32,
    RECORD_I32,
    RECORD_U64,
    RECORD_I64,
    RECORD_F16,
    RECORD_F32,
    RECORD_F64,
};

struct record_field {
    char name[RECORD_MAX_NAME + 1];
    enum record_type type;
    enum record_dtype dtype;        /* of RECORD_ARRAY */
    unsigned ndim;                  /* of RECORD_ARRAY */
    int64_t shape[RECORD_MAX_DIMS]; /* at most one dimension is -1: it follows from the length */
};

struct record_schema;

/* json: {"fields":[{"name":"key","type":"utf8"}, ...], "key":"key"}; other members are kept and ignored.
 * "key" (optional) names the utf8 or bytes field that record_reader_find searches. */
struct record_schema *record_schema_parse(const char *json, size_t size, struct record_err *err);
void record_schema_free(struct record_schema *s);
size_t record_schema_count(const struct record_schema *s);
const struct record_field *record_schema_field(const struct record_schema *s, size_t i); /* i < count */
int record_schema_find(const struct record_schema *s, const char *name);         /* -1: no such field */
int record_schema_key(const struct record_schema *s);                            /* -1: no key field */
const char *record_schema_json(const struct record_schema *s, size_t *ret_size); /* 0-terminated */
const char *record_type_name(enum record_type t);
const char *record_dtype_name(enum record_dtype d);
size_t record_dtype_size(enum record_dtype d);

/* ---- values ----------------------------------------------------------------------------------------------
 */

/* One field of one record. data NULL: the field is absent (which is not the same as empty). */
struct record_value {
    const void *data;
    size_t size;
};

/* ---- writer ----------------------------------------------------------------------------------------------
 */

struct record_writer_options {
    const char *schema;     /* JSON, see record_schema_parse */
    size_t schema_size;     /* 0: strlen(schema) */
    uint64_t shard_bytes;   /* a shard is closed before it grows past this; 0: no limit */
    uint64_t shard_records; /* a shard holds at most this many records; 0: no limit */
    bool overwrite;         /* replace files of the same names */
    bool no_sync;           /* do not wait for the disk: for tests and scratch data only */
};

struct record_summary {
    uint64_t records;
    uint64_t bytes; /* of all shard files */
    uint32_t shards;
    uint64_t set_id;
};

/* prefix: folder and NAME of the files to be. The same records, schema and limits give the same bytes. */
struct record_writer *record_writer_new(const char *prefix, const struct record_writer_options *options,
                                        struct record_err *err);
/* values: one per field of the schema, in its order. A refused value changes nothing: the caller may go on.
 * After RECORD_E_IO the writer refuses everything but free. */
bool record_writer_add(struct record_writer *w, const struct record_value *values, size_t n,
                       struct record_err *err);
/* Seals, syncs and renames the shards, number 0 last: a set whose shard 0 has its name is whole. */
bool record_writer_finish(struct record_writer *w, struct record_summary *ret, struct record_err *err);
void record_writer_free(struct record_writer *w);

/* ---- reader ----------------------------------------------------------------------------------------------
 */

enum {
    RECORD_VERIFY = 1, /* check the index when opening and each record's checksum when it is first read */
};

struct record_reader;

/* A view of one record, valid until the reader is freed. */
struct record {
    const uint8_t *data; /* starts with the field table */
    uint32_t size;
    uint16_t fields;
    uint16_t ahead; /* reading in order: where the next but one begins, in units of RECORD_ALIGN; else 0 */
};

/* path: any one shard file, or folder and NAME without "-00000-of-00003.irec". All shards must be there. */
struct record_reader *record_reader_open(const char *path, unsigned flags, struct record_err *err);
/* One whole shard file in memory, which must outlive the reader. Only for sets of one shard. */
struct record_reader *record_reader_memory(const void *data, size_t size, unsigned flags,
                                           struct record_err *err);
/* One shard of a set alone, in memory as above: its records are numbered from 0; *ret_first (may be NULL) is
 * the number that the set gives to the first. */
struct record_reader *record_reader_shard(const void *data, size_t size, unsigned flags, uint64_t *ret_first,
                                          struct record_err *err);
void record_reader_free(struct record_reader *r);

const struct record_schema *record_reader_schema(const struct record_reader *r);
uint64_t record_reader_count(const struct record_reader *r);
void record_reader_summary(const struct record_reader *r, struct record_summary *ret);

/* Record number i of the set, 0 <= i < count. */
bool record_reader_get(struct record_reader *r, uint64_t i, struct record *ret, struct record_err *err);
/* n records at once, and a hint to the processor to fetch them: the fastest way to many small records is to
 * ask for the next 32 or so before the last 32 are used. */
bool record_reader_get_many(struct record_reader *r, const uint64_t *numbers, size_t n, struct record *ret,
                            struct record_err *err);
/* The n records from number first on: the fastest way to read in order. (After a failure of these two, some
 * of ret may have been written.) */
bool record_reader_get_range(struct record_reader *r, uint64_t first, size_t n, struct record *ret,
                             struct record_err *err);
/* The first record with this key. RECORD_E_NOT_FOUND: there is none; RECORD_E_ARG: the schema has no key. */
bool record_reader_find(struct record_reader *r, const void *key, size_t size, uint64_t *ret,
                        struct record_err *err);
/* Says why record_get refused. */
void record_get_failed(const struct record *rec, size_t field, struct record_err *err);

/* Field number field of a record, in place. Here because it is called once per value. */
static inline bool record_get(const struct record *rec, size_t field, struct record_value *ret,
                              struct record_err *err)
{
    uint32_t slot[2];
    if (field >= rec->fields) {
        record_get_failed(rec, field, err);
        return false;
    }
    memcpy(slot, rec->data + field * 8, 8);
    __builtin_prefetch(rec->data + (size_t)rec->ahead * RECORD_ALIGN);
    uint32_t offset = le32toh(slot[0]), size = le32toh(slot[1]);
    if (size == 0xFFFFFFFFu && offset == 0) {
        ret->data = NULL;
        ret->size = 0;
        return true;
    }
    if (offset < rec->fields * 8 || offset > rec->size || size > rec->size - offset) {
        record_get_failed(rec, field, err);
        return false;
    }
    ret->data = rec->data + offset;
    ret->size = size;
    return true;
}
bool record_get_int64(const struct record *rec, size_t field, int64_t *ret, struct record_err *err);
bool record_get_float64(const struct record *rec, size_t field, double *ret, struct record_err *err);

/* ---- checking --------------------------------------------------------------------------------------------
 */

/* Called for each fault found. record: number in the set, or UINT64_MAX if the fault is not in a record. */
typedef void record_fault_fn(void *ctx, const char *file, uint64_t record, const char *message);

/* Reads every byte of every shard; any changed byte is found. True: no fault. False: faults were reported
 * through fn (which may be NULL) and err holds the first one. */
bool record_verify(const char *path, record_fault_fn *fn, void *ctx, struct record_err *err);
bool record_verify_memory(const void *data, size_t size, record_fault_fn *fn, void *ctx,
                          struct record_err *err);
/* One shard of a set alone: whether the others fit is not looked at. */
bool record_verify_shard(const void *data, size_t size, record_fault_fn *fn, void *ctx,
                         struct record_err *err);

/* CRC-32C (Castagnoli) as the format uses it; crc of an empty start is 0. */
uint32_t record_crc32c(uint32_t crc, const void *data, size_t size);

#endif
