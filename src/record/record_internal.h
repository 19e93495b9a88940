/* record_internal.h: what the files of this library share; not for users of it. The layout is
 * docs/record-format.md. */
#ifndef INGOT_RECORD_INTERNAL_H
#define INGOT_RECORD_INTERNAL_H

#include "record/record.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define HEADER_SIZE 128u
#define FOOTER_SIZE 64u
#define ENTRY_SIZE  16u /* of the index and of the key table */
#define FLAG_KEYS   1u
#define ABSENT      0xFFFFFFFFu

extern const uint8_t record_magic[8];
extern const uint8_t record_end_magic[8];

/* The header of one shard, decoded. */
struct record_header {
    uint16_t major, minor;
    uint32_t flags;
    uint64_t file_size, schema_offset, data_offset, index_offset, keys_offset;
    uint64_t records, first, total;
    uint32_t shard, shards;
    uint64_t set_id;
    uint32_t schema_size, schema_crc, index_crc, keys_crc;
};

/* One mapped shard. */
struct record_shard {
    const uint8_t *data;
    size_t size;
    bool mapped;
    char *file; /* name for messages */
    struct record_header h;
};

static inline uint64_t record_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return le64toh(v);
}

static inline uint32_t record_le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return le32toh(v);
}

static inline void record_put64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, 8);
}

static inline void record_put32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, 4);
}

static inline uint64_t record_align(uint64_t n)
{
    return (n + RECORD_ALIGN - 1) & ~(uint64_t)(RECORD_ALIGN - 1);
}

/* Fill err (if there is one); the second adds ": " and the text of errno. */
__attribute__((format(printf, 3, 4))) void record_err_set(struct record_err *err, enum record_code code,
                                                          const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void record_err_errno(struct record_err *err, const char *fmt, ...);

/* The same as an expression that is false, so that a failing function can end with `return record_fail(...)`;
 * macros, so that the compiler sees the constant. */
#define record_fail(...)                                                                                     \
    ({                                                                                                       \
        record_err_set(__VA_ARGS__);                                                                         \
        false;                                                                                               \
    })
#define record_fail_errno(...)                                                                               \
    ({                                                                                                       \
        record_err_errno(__VA_ARGS__);                                                                       \
        false;                                                                                               \
    })

void record_header_encode(const struct record_header *h, uint8_t out[HEADER_SIZE]);
void record_footer_encode(const struct record_header *h, const uint8_t header[HEADER_SIZE],
                          uint8_t out[FOOTER_SIZE]);
/* Checks everything about s->data that takes constant time, and fills s->h. */
bool record_shard_parse(struct record_shard *s, struct record_err *err);
bool record_shard_map(struct record_shard *s, const char *file, struct record_err *err);
void record_shard_release(struct record_shard *s);
/* The index and the key table against their checksums. */
bool record_shard_check_index(const struct record_shard *s, struct record_err *err);
/* Says that entry n of the index is impossible. */
void record_shard_bad_entry(const struct record_shard *s, uint64_t n, struct record_err *err);

/* Record n of the shard: bounds only, no checksum. */
static inline bool record_shard_record(const struct record_shard *s, uint64_t n, uint32_t fields,
                                       struct record *ret, uint32_t *ret_crc, struct record_err *err)
{
    const uint8_t *entry = s->data + s->h.index_offset + n * ENTRY_SIZE;
    uint64_t offset = record_le64(entry);
    uint32_t size = record_le32(entry + 8);
    if (offset < s->h.data_offset || offset > s->h.index_offset || offset % RECORD_ALIGN ||
        size > s->h.index_offset - offset || size < fields * 8) {
        record_shard_bad_entry(s, n, err);
        return false;
    }
    *ret = (struct record){s->data + offset, size, (uint16_t)fields, 0};
    if (ret_crc)
        *ret_crc = record_le32(entry + 12);
    return true;
}

/* The files of the set that path names (see record_reader_open), shard 0 first; free with record_files_free.
 */
char **record_files_find(const char *path, size_t *ret_n, struct record_err *err);
void record_files_free(char **files, size_t n);

/* 64-bit FNV-1a. */
uint64_t record_key_hash(const void *key, size_t size);

bool record_utf8_valid(const void *data, size_t size);
/* One JSON value (RFC 8259, at most 128 levels) and nothing else. */
bool record_json_valid(const char *text, size_t size);
/* Checks one value against its field; what names the place in the message. */
bool record_value_check(const struct record_field *f, const struct record_value *v, struct record_err *err);
unsigned record_field_align(const struct record_field *f);

#endif
