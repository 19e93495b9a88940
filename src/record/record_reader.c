/* The reader: shards are mapped; a record is found by its number or key and looked at in place. */
#include "record_internal.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Entries of the index that reading in order fetches in advance; copying records drives them out of the
 * caches. */
#define AHEAD 8

struct record_reader {
    struct record_shard *shards;
    size_t shard_count;
    struct record_schema *schema;
    uint32_t fields;
    uint64_t total;
    _Atomic uint64_t *checked; /* with RECORD_VERIFY: a bit per record whose checksum was found right */
};

static bool parse_schema(struct record_reader *r, struct record_err *err)
{
    const struct record_shard *s = &r->shards[0];
    struct record_err inner;
    r->schema = record_schema_parse((const char *)s->data + s->h.schema_offset, s->h.schema_size, &inner);
    if (!r->schema)
        return record_fail(err, inner.code == RECORD_E_MEMORY ? inner.code : RECORD_E_CORRUPT,
                           "%.200s: %.250s", s->file ? s->file : "(memory)", inner.message);
    r->fields = (uint32_t)record_schema_count(r->schema);
    if ((record_schema_key(r->schema) >= 0) != !!(s->h.flags & FLAG_KEYS))
        return record_fail(err, RECORD_E_CORRUPT, "%.200s: key table and schema do not agree",
                           s->file ? s->file : "(memory)");
    return true;
}

/* All shards must be parts of one set, in order. */
static bool check_set(struct record_reader *r, struct record_err *err)
{
    const struct record_header *a = &r->shards[0].h;
    uint64_t next = 0;
    for (size_t i = 0; i < r->shard_count; i++) {
        const struct record_header *h = &r->shards[i].h;
        const char *file = r->shards[i].file ? r->shards[i].file : "(memory)";
        if (h->shards != r->shard_count || h->shard != i)
            return record_fail(err, RECORD_E_CORRUPT,
                               "%.200s: is shard %" PRIu32 " of %" PRIu32 ", not %zu of %zu", file, h->shard,
                               h->shards, i, r->shard_count);
        if (h->set_id != a->set_id || h->total != a->total || h->schema_size != a->schema_size ||
            h->schema_crc != a->schema_crc || h->flags != a->flags)
            return record_fail(err, RECORD_E_CORRUPT, "%.200s: belongs to another set than shard 0", file);
        if (h->first != next)
            return record_fail(err, RECORD_E_CORRUPT,
                               "%.200s: its records do not follow those of the shard before", file);
        next += h->records;
    }
    if (next != a->total)
        return record_fail(err, RECORD_E_CORRUPT, "%.200s: the shards have %" PRIu64 " records, not %" PRIu64,
                           r->shards[0].file ? r->shards[0].file : "(memory)", next, a->total);
    r->total = next;
    return true;
}

static bool start_verify(struct record_reader *r, struct record_err *err)
{
    for (size_t i = 0; i < r->shard_count; i++)
        if (!record_shard_check_index(&r->shards[i], err))
            return false;
    r->checked = calloc(r->total / 64 + 1, sizeof *r->checked);
    return r->checked || record_fail(err, RECORD_E_MEMORY, "out of memory");
}

static bool start(struct record_reader *r, unsigned flags, struct record_err *err)
{
    for (size_t i = 0; i < r->shard_count; i++)
        if (!record_shard_parse(&r->shards[i], err))
            return false;
    return check_set(r, err) && parse_schema(r, err) && (!(flags & RECORD_VERIFY) || start_verify(r, err));
}

static struct record_reader *reader_new(size_t shards, struct record_err *err)
{
    struct record_reader *r = calloc(1, sizeof *r);
    if (r)
        r->shards = calloc(shards, sizeof *r->shards);
    if (!r || !r->shards) {
        free(r);
        return record_fail(err, RECORD_E_MEMORY, "out of memory"), NULL;
    }
    return r;
}

struct record_reader *record_reader_open(const char *path, unsigned flags, struct record_err *err)
{
    size_t n;
    char **files = record_files_find(path, &n, err);
    if (!files)
        return NULL;
    struct record_reader *r = reader_new(n, err);
    bool ok = r;
    for (size_t i = 0; ok && i < n; i++) {
        r->shard_count = i + 1;
        ok = record_shard_map(&r->shards[i], files[i], err);
    }
    record_files_free(files, n);
    if (ok && start(r, flags, err))
        return r;
    record_reader_free(r);
    return NULL;
}

struct record_reader *record_reader_memory(const void *data, size_t size, unsigned flags,
                                           struct record_err *err)
{
    struct record_reader *r = reader_new(1, err);
    if (!r)
        return NULL;
    r->shard_count = 1;
    r->shards[0].data = data;
    r->shards[0].size = size;
    if (start(r, flags, err))
        return r;
    record_reader_free(r);
    return NULL;
}

struct record_reader *record_reader_shard(const void *data, size_t size, unsigned flags, uint64_t *ret_first,
                                          struct record_err *err)
{
    struct record_reader *r = reader_new(1, err);
    if (!r)
        return NULL;
    struct record_shard *s = &r->shards[0];
    r->shard_count = 1;
    s->data = data;
    s->size = size;
    if (record_shard_parse(s, err)) {
        uint64_t first = s->h.first;
        s->h.first = 0;
        r->total = s->h.records;
        if (parse_schema(r, err) && (!(flags & RECORD_VERIFY) || start_verify(r, err))) {
            if (ret_first)
                *ret_first = first;
            return r;
        }
    }
    record_reader_free(r);
    return NULL;
}

void record_reader_free(struct record_reader *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->shard_count; i++)
        record_shard_release(&r->shards[i]);
    free(r->shards);
    free(r->checked);
    record_schema_free(r->schema);
    free(r);
}

const struct record_schema *record_reader_schema(const struct record_reader *r)
{
    return r->schema;
}

uint64_t record_reader_count(const struct record_reader *r)
{
    return r->total;
}

void record_reader_summary(const struct record_reader *r, struct record_summary *ret)
{
    *ret = (struct record_summary){
        .records = r->total, .shards = (uint32_t)r->shard_count, .set_id = r->shards[0].h.set_id};
    for (size_t i = 0; i < r->shard_count; i++)
        ret->bytes += r->shards[i].size;
}

/* The shard that holds record i < total. */
static const struct record_shard *find_shard(const struct record_reader *r, uint64_t i)
{
    size_t low = 0, high = r->shard_count;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (r->shards[mid].h.first <= i)
            low = mid;
        else
            high = mid;
    }
    return &r->shards[low];
}

static bool check_once(struct record_reader *r, uint64_t i, const struct record_shard *s,
                       const struct record *rec, uint32_t crc, struct record_err *err)
{
    uint64_t bit = (uint64_t)1 << (i & 63);
    if (atomic_load_explicit(&r->checked[i >> 6], memory_order_relaxed) & bit)
        return true;
    if (record_crc32c(0, rec->data, rec->size) != crc)
        return record_fail(err, RECORD_E_CORRUPT, "%.300s: record %" PRIu64 ": its checksum is wrong",
                           s->file ? s->file : "(memory)", i);
    atomic_fetch_or_explicit(&r->checked[i >> 6], bit, memory_order_relaxed);
    return true;
}

static inline bool get(struct record_reader *r, const struct record_shard *s, uint64_t i, struct record *ret,
                       struct record_err *err)
{
    struct record rec;
    uint32_t crc;
    if (!record_shard_record(s, i - s->h.first, r->fields, &rec, &crc, err))
        return false;
    if (r->checked && !check_once(r, i, s, &rec, crc, err))
        return false;
    *ret = rec;
    return true;
}

static bool no_such_record(const struct record_reader *r, uint64_t i, struct record_err *err)
{
    return record_fail(err, RECORD_E_ARG, "record %" PRIu64 ": the set has %" PRIu64 " records", i, r->total);
}

bool record_reader_get(struct record_reader *r, uint64_t i, struct record *ret, struct record_err *err)
{
    if (i >= r->total)
        return no_such_record(r, i, err);
    return get(r, find_shard(r, i), i, ret, err);
}

bool record_reader_get_many(struct record_reader *r, const uint64_t *numbers, size_t n, struct record *ret,
                            struct record_err *err)
{
    for (size_t k = 0; k < n; k++) {
        if (numbers[k] >= r->total)
            return no_such_record(r, numbers[k], err);
        const struct record_shard *s = find_shard(r, numbers[k]);
        __builtin_prefetch(s->data + s->h.index_offset + (numbers[k] - s->h.first) * ENTRY_SIZE);
    }
    for (size_t k = 0; k < n; k++) {
        if (!get(r, find_shard(r, numbers[k]), numbers[k], &ret[k], err))
            return false;
        __builtin_prefetch(ret[k].data);
        __builtin_prefetch(ret[k].data + RECORD_ALIGN);
    }
    return true;
}

/* Whether the checksums of the n records from first on were found right (or need not be checked). */
static bool all_checked(const struct record_reader *r, uint64_t first, size_t n)
{
    for (uint64_t i = first; r->checked && i < first + n; i = (i | 63) + 1) {
        uint64_t left = first + n - i, room = 64 - (i & 63);
        uint64_t mask = left < room ? ((uint64_t)1 << left) - 1 : UINT64_MAX >> (i & 63);
        uint64_t bits = atomic_load_explicit(&r->checked[i >> 6], memory_order_relaxed) >> (i & 63);
        if ((bits & mask) != mask)
            return false;
    }
    return true;
}

/* n records of one shard, all tests in one: false if any entry of the index is impossible. */
static bool get_run(const struct record_shard *s, uint64_t n, uint32_t fields, size_t count,
                    struct record *ret)
{
    const uint8_t *data = s->data, *entry = data + s->h.index_offset + n * ENTRY_SIZE;
    uint64_t low = s->h.data_offset, high = s->h.index_offset, bad = 0;
    for (size_t k = 0; k < count; k++, entry += ENTRY_SIZE) {
        uint64_t offset = record_le64(entry);
        uint32_t size = record_le32(entry + 8);
        /* Behind the last entry it still is inside the file or does no harm. */
        __builtin_prefetch(entry + AHEAD * ENTRY_SIZE);
        bad |= (offset < low) | (offset > high) | (offset % RECORD_ALIGN) | (size > high - offset) |
               (size < fields * 8);
        /* The field table of one that comes soon is fetched when this one is read: not all at once, which
         * would hold up the copying of records. Behind the index there is at least the footer. */
        uint64_t lines = (record_le64(entry + 2 * ENTRY_SIZE) - offset) / RECORD_ALIGN;
        ret[k] = (struct record){(const uint8_t *)((uintptr_t)data + offset), size, (uint16_t)fields,
                                 lines <= UINT16_MAX ? (uint16_t)lines : 0};
    }
    return !bad;
}

bool record_reader_get_range(struct record_reader *r, uint64_t first, size_t n, struct record *ret,
                             struct record_err *err)
{
    if (first > r->total || n > r->total - first)
        return no_such_record(r, first > r->total ? first : r->total, err);
    for (size_t k = 0; k < n;) {
        const struct record_shard *s = find_shard(r, first + k);
        uint64_t left = s->h.first + s->h.records - (first + k);
        size_t count = left < n - k ? (size_t)left : n - k;
        if (!all_checked(r, first + k, count) ||
            !get_run(s, first + k - s->h.first, r->fields, count, ret + k)) {
            for (size_t i = k; i < k + count; i++)
                if (!get(r, s, first + i, &ret[i], err))
                    return false;
        }
        k += count;
    }
    return true;
}

/* The first entry of the key table whose hash is not less than hash. */
static uint64_t lower_bound(const struct record_shard *s, uint64_t hash)
{
    const uint8_t *keys = s->data + s->h.keys_offset;
    uint64_t low = 0, high = s->h.records;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (record_le64(keys + mid * ENTRY_SIZE) < hash)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* 1 found, 0 not in this shard, -1 damage. */
static int find_in_shard(struct record_reader *r, const struct record_shard *s, const void *key, size_t size,
                         uint64_t hash, uint64_t *ret, struct record_err *err)
{
    size_t field = (size_t)record_schema_key(r->schema);
    for (uint64_t k = lower_bound(s, hash); k < s->h.records; k++) {
        const uint8_t *entry = s->data + s->h.keys_offset + k * ENTRY_SIZE;
        struct record rec;
        struct record_value v;
        if (record_le64(entry) != hash)
            return 0;
        uint32_t n = record_le32(entry + 8);
        if (n >= s->h.records)
            return record_fail(err, RECORD_E_CORRUPT, "%.200s: impossible record number in the key table",
                               s->file ? s->file : "(memory)"),
                   -1;
        if (!record_reader_get(r, s->h.first + n, &rec, err) || !record_get(&rec, field, &v, err))
            return -1;
        if (v.data && v.size == size && memcmp(v.data, key, size) == 0) {
            *ret = s->h.first + n;
            return 1;
        }
    }
    return 0;
}

bool record_reader_find(struct record_reader *r, const void *key, size_t size, uint64_t *ret,
                        struct record_err *err)
{
    if (record_schema_key(r->schema) < 0)
        return record_fail(err, RECORD_E_ARG, "the schema names no key field");
    uint64_t hash = record_key_hash(key, size);
    for (size_t i = 0; i < r->shard_count; i++) {
        int found = find_in_shard(r, &r->shards[i], key, size, hash, ret, err);
        if (found)
            return found > 0;
    }
    return record_fail(err, RECORD_E_NOT_FOUND, "no record has the key \"%.*s\"",
                       size > 200 ? 200 : (int)size, (const char *)key);
}

void record_get_failed(const struct record *rec, size_t field, struct record_err *err)
{
    if (field >= rec->fields)
        record_err_set(err, RECORD_E_ARG, "field %zu: the record has %" PRIu32 " fields", field, rec->fields);
    else
        record_err_set(err, RECORD_E_CORRUPT, "field %zu: impossible offset or length", field);
}

static bool get_eight(const struct record *rec, size_t field, uint64_t *ret, struct record_err *err)
{
    struct record_value v;
    if (!record_get(rec, field, &v, err))
        return false;
    if (!v.data)
        return record_fail(err, RECORD_E_NOT_FOUND, "field %zu is absent", field);
    if (v.size != 8)
        return record_fail(err, RECORD_E_ARG, "field %zu: %zu bytes, a number has 8", field, v.size);
    *ret = record_le64(v.data);
    return true;
}

bool record_get_int64(const struct record *rec, size_t field, int64_t *ret, struct record_err *err)
{
    uint64_t bits = 0;
    if (!get_eight(rec, field, &bits, err))
        return false;
    memcpy(ret, &bits, 8);
    return true;
}

bool record_get_float64(const struct record *rec, size_t field, double *ret, struct record_err *err)
{
    uint64_t bits = 0;
    if (!get_eight(rec, field, &bits, err))
        return false;
    memcpy(ret, &bits, 8);
    return true;
}
