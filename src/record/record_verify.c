/* verify: every byte of every shard is compared with a checksum, with what it must be, or with zero. */
#include "record_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

struct check {
    record_fault_fn *fn;
    void *ctx;
    struct record_err first;
    const struct record_shard *shard;
};

static void report(struct check *c, const char *file, uint64_t record, const struct record_err *e)
{
    if (c->first.code == RECORD_OK)
        c->first = *e;
    if (c->fn)
        c->fn(c->ctx, file, record, e->message);
}

__attribute__((format(printf, 3, 4))) static void fault(struct check *c, uint64_t record, const char *fmt,
                                                        ...)
{
    struct record_err e;
    char text[300];
    const char *file = c->shard->file ? c->shard->file : "(memory)";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (record == UINT64_MAX)
        record_fail(&e, RECORD_E_CORRUPT, "%.180s: %s", file, text);
    else
        record_fail(&e, RECORD_E_CORRUPT, "%.150s: record %" PRIu64 ": %s", file, record, text);
    report(c, file, record, &e);
}

static void check_zero(struct check *c, uint64_t from, uint64_t to, const char *what)
{
    for (uint64_t i = from; i < to; i++) {
        if (c->shard->data[i]) {
            fault(c, UINT64_MAX, "byte %" PRIu64 " after %s must be zero", i, what);
            return;
        }
    }
}

static void check_values(struct check *c, const struct record_schema *schema, uint64_t number,
                         const struct record *rec)
{
    struct record_err e;
    struct record_value v;
    for (size_t i = 0; i < rec->fields; i++) {
        if (!record_get(rec, i, &v, &e) || !record_value_check(record_schema_field(schema, i), &v, &e))
            fault(c, number, "%.250s", e.message);
        else if (!v.data && (int)i == record_schema_key(schema))
            fault(c, number, "its key is absent");
    }
}

static void check_records(struct check *c, const struct record_schema *schema)
{
    const struct record_header *h = &c->shard->h;
    uint32_t fields = (uint32_t)record_schema_count(schema);
    uint64_t at = h->data_offset;
    for (uint64_t n = 0; n < h->records; n++) {
        struct record rec;
        struct record_err e;
        uint32_t crc;
        if (!record_shard_record(c->shard, n, fields, &rec, &crc, &e)) {
            report(c, c->shard->file ? c->shard->file : "(memory)", h->first + n, &e);
            return;
        }
        if ((uint64_t)(rec.data - c->shard->data) != at) {
            fault(c, h->first + n, "it does not follow the record before it");
            return;
        }
        if (record_crc32c(0, rec.data, rec.size) != crc)
            fault(c, h->first + n, "its checksum is wrong");
        else
            check_values(c, schema, h->first + n, &rec);
        check_zero(c, at + rec.size, record_align(at + rec.size), "a record");
        at = record_align(at + rec.size);
    }
    if (at != h->index_offset)
        fault(c, UINT64_MAX, "the index does not follow the last record");
}

/* Sorted, each record once, and each hash that of the record's key. */
static void check_keys(struct check *c, const struct record_schema *schema)
{
    const struct record_header *h = &c->shard->h;
    uint8_t *seen = calloc(h->records / 8 + 1, 1);
    uint64_t last_hash = 0, last_n = 0;
    if (!seen) {
        record_fail(&c->first, RECORD_E_MEMORY, "out of memory");
        return;
    }
    for (uint64_t k = 0; k < h->records; k++) {
        const uint8_t *entry = c->shard->data + h->keys_offset + k * ENTRY_SIZE;
        uint64_t hash = record_le64(entry);
        uint32_t n = record_le32(entry + 8);
        struct record rec;
        struct record_value v;
        if (n >= h->records || record_le32(entry + 12) || seen[n / 8] & 1 << n % 8 ||
            (k && (hash < last_hash || (hash == last_hash && n <= last_n)))) {
            fault(c, UINT64_MAX, "entry %" PRIu64 " of the key table is impossible", k);
            break;
        }
        seen[n / 8] |= (uint8_t)(1 << n % 8);
        last_hash = hash;
        last_n = n;
        if (record_shard_record(c->shard, n, (uint32_t)record_schema_count(schema), &rec, NULL, NULL) &&
            record_get(&rec, (size_t)record_schema_key(schema), &v, NULL) && v.data &&
            record_key_hash(v.data, v.size) != hash)
            fault(c, h->first + n, "its key does not fit the key table");
    }
    free(seen);
}

static void check_shard(struct check *c, struct record_shard *s)
{
    struct record_err e;
    const struct record_header *h = &s->h;
    const char *file = s->file ? s->file : "(memory)";
    c->shard = s;
    if (!record_shard_parse(s, &e)) {
        report(c, file, UINT64_MAX, &e);
        return;
    }
    struct record_schema *schema =
        record_schema_parse((const char *)s->data + h->schema_offset, h->schema_size, &e);
    if (!schema) {
        fault(c, UINT64_MAX, "%.250s", e.message);
        return;
    }
    bool keys = h->flags & FLAG_KEYS;
    uint64_t index_end = h->index_offset + h->records * ENTRY_SIZE;
    check_zero(c, h->schema_offset + h->schema_size, h->data_offset, "the schema");
    check_zero(c, index_end, keys ? h->keys_offset : s->size - FOOTER_SIZE, "the index");
    if (keys)
        check_zero(c, h->keys_offset + h->records * ENTRY_SIZE, s->size - FOOTER_SIZE, "the key table");
    if (keys != (record_schema_key(schema) >= 0))
        fault(c, UINT64_MAX, "key table and schema do not agree");
    else if (!record_shard_check_index(s, &e))
        report(c, file, UINT64_MAX, &e);
    else {
        check_records(c, schema);
        if (keys && c->first.code == RECORD_OK)
            check_keys(c, schema);
    }
    record_schema_free(schema);
}

static bool finish(struct check *c, struct record_err *err)
{
    if (c->first.code == RECORD_OK)
        return true;
    if (err)
        *err = c->first;
    return false;
}

bool record_verify_memory(const void *data, size_t size, record_fault_fn *fn, void *ctx,
                          struct record_err *err)
{
    struct check c = {.fn = fn, .ctx = ctx};
    struct record_shard s = {.data = data, .size = size};
    check_shard(&c, &s);
    if (c.first.code == RECORD_OK && s.h.shards != 1)
        fault(&c, UINT64_MAX, "one shard of %" PRIu32, s.h.shards);
    return finish(&c, err);
}

bool record_verify_shard(const void *data, size_t size, record_fault_fn *fn, void *ctx,
                         struct record_err *err)
{
    struct check c = {.fn = fn, .ctx = ctx};
    struct record_shard s = {.data = data, .size = size};
    check_shard(&c, &s);
    return finish(&c, err);
}

bool record_verify(const char *path, record_fault_fn *fn, void *ctx, struct record_err *err)
{
    struct check c = {.fn = fn, .ctx = ctx};
    struct record_err e;
    size_t n;
    char **files = record_files_find(path, &n, &e);
    if (!files) {
        report(&c, path, UINT64_MAX, &e);
        return finish(&c, err);
    }
    for (size_t i = 0; i < n; i++) {
        struct record_shard s;
        if (record_shard_map(&s, files[i], &e))
            check_shard(&c, &s);
        else
            report(&c, files[i], UINT64_MAX, &e);
        record_shard_release(&s);
    }
    record_files_free(files, n);
    if (c.first.code == RECORD_OK) { /* each shard is sound: are they one set? */
        struct record_reader *r = record_reader_open(path, 0, &e);
        if (!r)
            report(&c, path, UINT64_MAX, &e);
        record_reader_free(r);
    }
    return finish(&c, err);
}
