/* Damaged and hostile files: every flipped bit is found, every length is refused, nothing is read out of
 * bounds. */
#include "record_testing.h"

#include <unistd.h>

/* A sound one-shard file in memory. */
static uint8_t *sound(void **state, unsigned n, size_t *ret_size)
{
    sample_write(in_folder(state, "d"), n, 0);
    const char *file = in_folder(state, "d-00000-of-00001.irec");
    uint8_t *data = file_load(file, ret_size);
    unlink(file);
    return data;
}

/* Reads all there is, whatever it is: the sanitizers judge. */
static void read_everything(const uint8_t *data, size_t size, unsigned flags)
{
    struct record_err err;
    struct record_reader *r = record_reader_memory(data, size, flags, &err);
    uint64_t found, n = r ? record_reader_count(r) : 0;
    for (uint64_t i = 0; i < n && i < 1000; i++) {
        struct record rec;
        if (!record_reader_get(r, i, &rec, &err))
            continue;
        for (size_t f = 0; f < rec.fields; f++) {
            struct record_value v;
            if (record_get(&rec, f, &v, &err) && v.data)
                record_crc32c(0, v.data, v.size);
        }
    }
    static struct record range[1000];
    for (int pass = 0; r && n <= 1000 && pass < 2; pass++)
        if (record_reader_get_range(r, 0, (size_t)n, range, &err))
            for (uint64_t i = 0; i < n; i++)
                record_crc32c(0, range[i].data, range[i].size);
    if (r)
        record_reader_find(r, "sample/3", 8, &found, &err);
    record_reader_free(r);
}

static void test_each_bit(void **state)
{
    struct record_err err;
    size_t size;
    uint8_t *data = sound(state, 7, &size);
    assert_ok(record_verify_memory(data, size, NULL, NULL, &err));
    for (size_t i = 0; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            data[i] ^= (uint8_t)(1u << bit);
            if (record_verify_memory(data, size, NULL, NULL, &err))
                fail_msg("bit %u of byte %zu of %zu: not found", bit, i, size);
            data[i] ^= (uint8_t)(1u << bit);
        }
        data[i] ^= 0xFF;
        if (record_verify_memory(data, size, NULL, NULL, &err))
            fail_msg("byte %zu of %zu: not found", i, size);
        read_everything(data, size, i & 1 ? RECORD_VERIFY : 0);
        data[i] ^= 0xFF;
    }
    assert_ok(record_verify_memory(data, size, NULL, NULL, &err));
    free(data);
}

static void test_each_length(void **state)
{
    struct record_err err;
    size_t size;
    uint8_t *data = sound(state, 3, &size);
    for (size_t n = 0; n < size; n++) {
        uint8_t *part = malloc(n + 1);
        assert_non_null(part);
        part = realloc(part, n ? n : 1);
        assert_non_null(part);
        memcpy(part, data, n);
        if (record_reader_memory(part, n, 0, &err) || record_verify_memory(part, n, NULL, NULL, &err))
            fail_msg("%zu of %zu bytes: taken for whole", n, size);
        free(part);
    }
    uint8_t *longer = calloc(1, size + 64);
    assert_non_null(longer);
    memcpy(longer, data, size);
    assert_err(record_reader_memory(longer, size + 64, 0, &err), RECORD_E_CORRUPT, "cut off or grown");
    free(longer);
    free(data);
}

static void seal(uint8_t *data, size_t size)
{
    uint32_t crc = record_crc32c(0, data, 124);
    memcpy(data + 124, &crc, 4);
    uint8_t *footer = data + size - 64;
    memcpy(footer + 8, data + 16, 8);
    memcpy(footer + 16, data + 88, 8);
    memcpy(footer + 24, &crc, 4);
    crc = record_crc32c(0, footer, 60);
    memcpy(footer + 60, &crc, 4);
}

/* Header and footer with right checksums but any content. */
static void test_hostile_header(void **state)
{
    static const uint64_t values[] = {0,
                                      1,
                                      63,
                                      64,
                                      127,
                                      128,
                                      1000,
                                      1u << 20,
                                      UINT32_MAX,
                                      (uint64_t)1 << 32,
                                      (uint64_t)1 << 60,
                                      INT64_MAX,
                                      UINT64_MAX - 63,
                                      UINT64_MAX};
    struct record_err err;
    size_t size;
    uint8_t *data = sound(state, 7, &size), header[128];
    memcpy(header, data, 128);
    for (size_t at = 8; at < 124; at += 4) {
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            for (size_t width = 4; width <= 8; width += 4) {
                memcpy(data, header, 128);
                memcpy(data + at, &values[k], at + width > 124 ? 4 : width);
                seal(data, size);
                read_everything(data, size, 0);
                record_verify_memory(data, size, NULL, NULL, &err);
            }
        }
    }
    free(data);
}

/* The index says anything, with a right checksum. */
static void test_hostile_index(void **state)
{
    static const uint64_t values[] = {0, 1, 64, 128, 448, 4096, INT64_MAX, UINT64_MAX - 63, UINT64_MAX};
    struct record_err err;
    size_t size;
    uint8_t *data = sound(state, 7, &size);
    uint64_t index, keys;
    memcpy(&index, data + 40, 8);
    memcpy(&keys, data + 48, 8);
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    for (size_t at = 0; at < 2 * 7 * 16; at += 4) {
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            memcpy(copy, data, size);
            size_t place = (size_t)(at < 7 * 16 ? index + at : keys + at - 7 * 16);
            memcpy(copy + place, &values[k], at % 16 == 12 ? 4 : 8);
            uint32_t crc = record_crc32c(0, copy + index, 7 * 16);
            memcpy(copy + 104, &crc, 4);
            crc = record_crc32c(0, copy + keys, 7 * 16);
            memcpy(copy + 108, &crc, 4);
            seal(copy, size);
            read_everything(copy, size, RECORD_VERIFY);
            read_everything(copy, size, 0);
            if (memcmp(copy, data, size) != 0)
                assert_false(record_verify_memory(copy, size, NULL, NULL, &err));
        }
    }
    free(copy);
    free(data);
}

static void test_other_versions(void **state)
{
    struct record_err err;
    size_t size;
    uint8_t *data = sound(state, 1, &size);
    data[8] = 2;
    seal(data, size);
    assert_err(record_reader_memory(data, size, 0, &err), RECORD_E_VERSION,
               "version 2, this library reads version 1");
    data[8] = 1;
    data[12] |= 4;
    seal(data, size);
    assert_err(record_reader_memory(data, size, 0, &err), RECORD_E_VERSION, "unknown feature flags 0x4");
    free(data);
}

static void count_fault(void *ctx, const char *file, uint64_t record, const char *message)
{
    uint64_t *faults = ctx;
    assert_non_null(strstr(message, file));
    faults[0]++;
    if (record != UINT64_MAX)
        faults[1] += record;
}

/* verify names every damaged record, and reading checks lazily. */
static void test_faults_are_named(void **state)
{
    struct record_err err;
    uint64_t faults[2] = {0, 0};
    sample_write(in_folder(state, "f"), 20, 10);
    size_t size;
    const char *file = in_folder(state, "f-00001-of-00002.irec");
    uint8_t *data = file_load(file, &size);
    uint64_t index, offset;
    memcpy(&index, data + 40, 8);
    for (size_t n = 3; n <= 5; n += 2) {
        memcpy(&offset, data + index + n * 16, 8);
        data[offset + 48] ^= 1;
    }
    file_store(file, data, size);
    free(data);
    assert_err(record_verify(in_folder(state, "f"), count_fault, faults, &err), RECORD_E_CORRUPT,
               "record 13: its checksum is wrong");
    assert_int_equal(faults[0], 2);
    assert_int_equal(faults[1], 13 + 15);
    struct record_reader *r;
    struct record rec;
    assert_ok((r = record_reader_open(in_folder(state, "f"), RECORD_VERIFY, &err)));
    sample_check(r, 12);
    for (int pass = 0; pass < 2; pass++)
        assert_err(record_reader_get(r, 13, &rec, &err), RECORD_E_CORRUPT, "record 13");
    record_reader_free(r);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_bit),      TEST(test_each_length),    TEST(test_hostile_header),
        TEST(test_hostile_index), TEST(test_other_versions), TEST(test_faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
