/* The record reader and verify over any bytes. The checksums are made right first, in a copy, so that the
 * mutations get past them; the bytes are also tried as they are. */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

static void read_everything(const uint8_t *data, size_t size, unsigned flags)
{
    struct record_err err;
    struct record_reader *r = record_reader_memory(data, size, flags, &err);
    if (!r)
        r = record_reader_shard(data, size, flags, NULL, &err);
    if (!r)
        return;
    uint64_t found, n = record_reader_count(r);
    struct record_value key = {"a", 1};
    for (uint64_t i = 0; i < n && i < 64; i++) {
        struct record rec;
        if (!record_reader_get(r, i, &rec, &err))
            continue;
        for (size_t f = 0; f < rec.fields; f++) {
            struct record_value v;
            if (!record_get(&rec, f, &v, &err) || !v.data)
                continue;
            record_crc32c(0, v.data, v.size);
            key = v;
        }
    }
    struct record range[64];
    size_t count = n < 64 ? (size_t)n : 64;
    for (int pass = 0; pass < 2; pass++)
        if (record_reader_get_range(r, 0, count, range, &err))
            for (size_t i = 0; i < count; i++)
                record_crc32c(0, range[i].data, range[i].size);
    record_reader_find(r, key.data, key.size, &found, &err);
    record_reader_free(r);
}

static uint64_t get64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static void put_crc(uint8_t *data, size_t size, size_t place, uint64_t from, uint64_t length)
{
    if (from > size || length > size - from)
        return;
    uint32_t crc = record_crc32c(0, data + from, length);
    memcpy(data + place, &crc, 4);
}

static void seal(uint8_t *data, size_t size)
{
    uint32_t schema_size;
    uint64_t records = get64(data + 56), size64 = size;
    memcpy(&schema_size, data + 96, 4);
    memcpy(data + 16, &size64, 8);
    put_crc(data, size, 100, 128, schema_size);
    if (records <= size / 16) {
        put_crc(data, size, 104, get64(data + 40), records * 16);
        if (data[12] & 1)
            put_crc(data, size, 108, get64(data + 48), records * 16);
    }
    put_crc(data, size, 124, 0, 124);
    uint8_t *footer = data + size - 64;
    memset(footer, 0, 64);
    memcpy(footer, "IRECEND\n", 8);
    memcpy(footer + 8, data + 16, 8);
    memcpy(footer + 16, data + 88, 8);
    memcpy(footer + 24, data + 124, 4);
    put_crc(data, size, size - 4, size - 64, 60);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_err err;
    struct record_schema *schema = record_schema_parse((const char *)data, size, &err);
    record_schema_free(schema);
    record_verify_memory(data, size, NULL, NULL, &err);
    if (size < 192)
        return 0;
    uint8_t *copy = malloc(size);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    seal(copy, size);
    read_everything(copy, size, 0);
    read_everything(copy, size, RECORD_VERIFY);
    record_verify_memory(copy, size, NULL, NULL, &err);
    free(copy);
    return 0;
}
