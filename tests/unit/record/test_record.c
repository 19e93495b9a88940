/* Writing and reading back: fields, shards, keys, refusals. */
#include "record_testing.h"

#include <pthread.h>
#include <unistd.h>

static void test_round_trip(void **state)
{
    struct record_err err;
    sample_write(in_folder(state, "set"), 100, 0);
    assert_int_equal(folder_count(*state, ""), 1);
    struct record_reader *r;
    assert_ok((r = record_reader_open(in_folder(state, "set"), RECORD_VERIFY, &err)));
    assert_int_equal(record_reader_count(r), 100);
    size_t n;
    assert_string_equal(record_schema_json(record_reader_schema(r), &n), SCHEMA);
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 100; i--;)
            sample_check(r, i);
    struct record rec;
    int64_t label;
    double score;
    assert_ok(record_reader_get(r, 3, &rec, &err));
    assert_ok(record_get_int64(&rec, 2, &label, &err));
    assert_int_equal(label, -9);
    assert_ok(record_get_float64(&rec, 3, &score, &err));
    assert_true(score == 0.375);
    assert_err(record_get_int64(&rec, 4, &label, &err), RECORD_E_ARG, "a number has 8");
    assert_err(record_get_int64(&rec, 6, &label, &err), RECORD_E_ARG, "the record has 6 fields");
    assert_ok(record_reader_get(r, 4, &rec, &err));
    assert_err(record_get_int64(&rec, 2, &label, &err), RECORD_E_NOT_FOUND, "absent");
    assert_err(record_reader_get(r, 100, &rec, &err), RECORD_E_ARG, "the set has 100 records");
    record_reader_free(r);
    assert_ok(record_verify(in_folder(state, "set"), NULL, NULL, &err));
}

static void test_empty_set(void **state)
{
    struct record_err err;
    struct record rec;
    uint64_t i;
    sample_write(in_folder(state, "none"), 0, 0);
    struct record_reader *r;
    assert_ok((r = record_reader_open(in_folder(state, "none-00000-of-00001.irec"), RECORD_VERIFY, &err)));
    assert_int_equal(record_reader_count(r), 0);
    assert_err(record_reader_get(r, 0, &rec, &err), RECORD_E_ARG, "0 records");
    assert_err(record_reader_find(r, "x", 1, &i, &err), RECORD_E_NOT_FOUND, "\"x\"");
    record_reader_free(r);
    assert_ok(record_verify(in_folder(state, "none"), NULL, NULL, &err));
}

static void test_shards(void **state)
{
    struct record_err err;
    sample_write(in_folder(state, "s"), 25, 10);
    assert_int_equal(folder_count(*state, "-of-00003.irec"), 3);
    struct record_reader *r;
    assert_ok((r = record_reader_open(in_folder(state, "s-00001-of-00003.irec"), 0, &err)));
    struct record_summary sum;
    record_reader_summary(r, &sum);
    assert_int_equal(sum.records, 25);
    assert_int_equal(sum.shards, 3);
    for (uint64_t i = 0; i < 25; i++) {
        uint64_t found;
        const struct record_value *v = sample_values((unsigned)i);
        assert_ok(record_reader_find(r, v[0].data, v[0].size, &found, &err));
        assert_int_equal(found, i);
        sample_check(r, i);
    }
    uint64_t numbers[] = {24, 0, 9, 10, 19, 20}, found;
    struct record many[6], one;
    assert_ok(record_reader_get_many(r, numbers, 6, many, &err));
    for (size_t k = 0; k < 6; k++) {
        assert_ok(record_reader_get(r, numbers[k], &one, &err));
        assert_ptr_equal(one.data, many[k].data);
    }
    struct record range[25];
    assert_ok(record_reader_get_range(r, 0, 25, range, &err));
    for (size_t k = 0; k < 6; k++)
        assert_ptr_equal(range[numbers[k]].data, many[k].data);
    assert_ok(record_reader_get_range(r, 25, 0, range, &err));
    assert_ok(record_reader_get_range(r, 9, 2, range, &err));
    assert_ptr_equal(range[1].data, many[3].data);
    record_reader_free(r);
    assert_ok((r = record_reader_open(in_folder(state, "s"), RECORD_VERIFY, &err)));
    for (int pass = 0; pass < 2; pass++) { /* checked one by one, then known to be right */
        assert_ok(record_reader_get_range(r, 3, 21, range, &err));
        for (size_t k = 0; k < 21; k++) {
            assert_ok(record_reader_get(r, 3 + k, &one, &err));
            assert_ptr_equal(one.data, range[k].data);
        }
    }
    assert_err(record_reader_get_range(r, 20, 6, range, &err), RECORD_E_ARG, "record 25");
    assert_err(record_reader_get_range(r, 26, 0, range, &err), RECORD_E_ARG, "record 26");
    numbers[3] = 25;
    assert_err(record_reader_get_many(r, numbers, 6, many, &err), RECORD_E_ARG, "record 25");
    assert_err(record_reader_find(r, "sample/25", 9, &found, &err), RECORD_E_NOT_FOUND, "sample/25");
    record_reader_free(r);
    assert_ok(record_verify(in_folder(state, "s"), NULL, NULL, &err));
}

static void test_shard_bytes(void **state)
{
    struct record_err err;
    static uint8_t blob[100000];
    struct record_writer_options o = {.schema = "{\"fields\":[{\"name\":\"b\",\"type\":\"bytes\"}]}",
                                      .shard_bytes = 250000,
                                      .no_sync = true};
    struct record_writer *w;
    struct record_summary sum;
    assert_ok((w = record_writer_new(in_folder(state, "b"), &o, &err)));
    for (size_t i = 0; i < 10; i++) {
        struct record_value v = {blob, i == 5 ? 1 : sizeof blob};
        blob[0] = (uint8_t)i;
        assert_ok(record_writer_add(w, &v, 1, &err));
    }
    assert_ok(record_writer_finish(w, &sum, &err));
    record_writer_free(w);
    assert_int_equal(sum.records, 10);
    assert_int_equal(sum.shards, 5);
    size_t total = 0;
    for (unsigned i = 0; i < 5; i++) {
        char name[40];
        size_t size;
        snprintf(name, sizeof name, "b-%05u-of-00005.irec", i);
        free(file_load(in_folder(state, name), &size));
        assert_true(size <= 250000);
        total += size;
    }
    assert_int_equal(sum.bytes, total);
    struct record_reader *r;
    assert_ok((r = record_reader_open(in_folder(state, "b"), 0, &err)));
    uint64_t i;
    assert_err(record_reader_find(r, "x", 1, &i, &err), RECORD_E_ARG, "no key field");
    record_reader_free(r);
    assert_ok(record_verify(in_folder(state, "b"), NULL, NULL, &err));
}

static void test_same_bytes(void **state)
{
    size_t a, b;
    sample_write(in_folder(state, "one"), 30, 0);
    sample_write(in_folder(state, "two"), 30, 0);
    uint8_t *x = file_load(in_folder(state, "one-00000-of-00001.irec"), &a);
    uint8_t *y = file_load(in_folder(state, "two-00000-of-00001.irec"), &b);
    assert_int_equal(a, b);
    assert_memory_equal(x, y, a);
    free(x);
    free(y);
}

static void test_bad_values(void **state)
{
    struct record_err err;
    struct record_writer_options o = {.schema = SCHEMA, .no_sync = true};
    struct record_writer *w;
    assert_ok((w = record_writer_new(in_folder(state, "v"), &o, &err)));
    static const struct {
        size_t field;
        const void *data;
        size_t size;
        const char *message;
    } cases[] = {
        {0, "\xFF", 1, "\"key\": not valid UTF-8"},
        {0, NULL, 0, "\"key\" is absent"},
        {2, "1234567", 7, "\"label\": 7 bytes"},
        {3, "", 0, "\"score\": 0 bytes"},
        {4, "{", 1, "\"notes\": not valid JSON"},
        {5, "1234", 4, "\"pixels\": 4 bytes are not a multiple of the 8"},
        {1, NULL, 5, "\"image\": no data, but a size"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct record_value v[6];
        memcpy(v, sample_values(0), sizeof v);
        v[cases[i].field] = (struct record_value){cases[i].data, cases[i].size};
        assert_err(record_writer_add(w, v, 6, &err), RECORD_E_ARG, cases[i].message);
    }
    assert_err(record_writer_add(w, sample_values(0), 5, &err), RECORD_E_ARG, "5 values, the schema has 6");
    assert_ok(record_writer_add(w, sample_values(0), 6, &err));
    assert_ok(record_writer_finish(w, NULL, &err));
    assert_err(record_writer_add(w, sample_values(0), 6, &err), RECORD_E_ARG, "finished");
    record_writer_free(w);
    assert_ok(record_verify(in_folder(state, "v"), NULL, NULL, &err));
}

static void test_writer_leaves_nothing(void **state)
{
    struct record_err err;
    struct record_writer_options o = {.schema = SCHEMA, .shard_records = 2};
    struct record_writer *w;
    assert_ok((w = record_writer_new(in_folder(state, "gone"), &o, &err)));
    for (unsigned i = 0; i < 5; i++)
        assert_ok(record_writer_add(w, sample_values(i), 6, &err));
    assert_int_equal(folder_count(*state, ".tmp"), 3);
    assert_int_equal(folder_count(*state, ".irec"), 0);
    record_writer_free(w);
    assert_int_equal(folder_count(*state, ""), 0);
    assert_err(record_writer_new(in_folder(state, "no/such/x"), &o, &err), RECORD_E_NOT_FOUND, "no/such");
    assert_err(record_writer_new(in_folder(state, ""), &o, &err), RECORD_E_ARG, "a name is needed");
    o.schema = "{}";
    assert_err(record_writer_new(in_folder(state, "x"), &o, &err), RECORD_E_ARG, "schema");
    o.schema = NULL;
    assert_err(record_writer_new(in_folder(state, "x"), &o, &err), RECORD_E_ARG, "a schema is needed");
}

static void test_no_overwriting(void **state)
{
    struct record_err err;
    struct record_writer_options o = {.schema = SCHEMA, .shard_records = 2};
    sample_write(in_folder(state, "x"), 4, 2);
    for (int pass = 0; pass < 2; pass++) {
        struct record_writer *w;
        o.overwrite = pass;
        assert_ok((w = record_writer_new(in_folder(state, "x"), &o, &err)));
        for (unsigned i = 10; i < 14; i++)
            assert_ok(record_writer_add(w, sample_values(i), 6, &err));
        if (pass)
            assert_ok(record_writer_finish(w, NULL, &err));
        else
            assert_err(record_writer_finish(w, NULL, &err), RECORD_E_EXISTS, "x-00001-of-00002.irec");
        record_writer_free(w);
        assert_int_equal(folder_count(*state, ""), 2);
        struct record_reader *r;
        uint64_t i;
        assert_ok((r = record_reader_open(in_folder(state, "x"), 0, &err)));
        assert_ok(record_reader_find(r, pass ? "sample/13" : "sample/3", pass ? 9 : 8, &i, &err));
        assert_int_equal(i, 3);
        record_reader_free(r);
    }
}

static void test_open_refusals(void **state)
{
    struct record_err err;
    assert_err(record_reader_open(in_folder(state, "x"), 0, &err), RECORD_E_NOT_FOUND,
               "no such file or record set");
    file_store(in_folder(state, "text"), "hello, world", 12);
    assert_err(record_reader_open(in_folder(state, "text"), 0, &err), RECORD_E_FORMAT, "not a record file");
    file_store(in_folder(state, "empty"), "", 0);
    assert_err(record_reader_open(in_folder(state, "empty"), 0, &err), RECORD_E_FORMAT, "not a record file");
    sample_write(in_folder(state, "x"), 6, 2);
    sample_write(in_folder(state, "x"), 8, 2);
    assert_err(record_reader_open(in_folder(state, "x"), 0, &err), RECORD_E_ARG, "more than one set");
    assert_int_equal(unlink(in_folder(state, "x-00001-of-00004.irec")), 0);
    assert_err(record_reader_open(in_folder(state, "x-00000-of-00004.irec"), 0, &err), RECORD_E_NOT_FOUND,
               "x-00001-of-00004.irec");
    sample_write(in_folder(state, "y"), 7, 2);
    assert_int_equal(
        rename(in_folder(state, "y-00001-of-00004.irec"), in_folder(state, "x-00001-of-00004.irec")), 0);
    assert_err(record_reader_open(in_folder(state, "x-00000-of-00004.irec"), 0, &err), RECORD_E_CORRUPT,
               "another set");
    assert_err(record_verify(in_folder(state, "x-00000-of-00004.irec"), NULL, NULL, &err), RECORD_E_CORRUPT,
               "another set");
    assert_int_equal(
        rename(in_folder(state, "x-00002-of-00004.irec"), in_folder(state, "x-00001-of-00004.irec")), 0);
    assert_int_equal(
        rename(in_folder(state, "y-00002-of-00004.irec"), in_folder(state, "x-00002-of-00004.irec")), 0);
    assert_err(record_reader_open(in_folder(state, "x-00000-of-00004.irec"), 0, &err), RECORD_E_CORRUPT,
               "is shard 2 of 4, not 1 of 4");
}

struct worker {
    struct record_reader *r;
    unsigned start;
    int wrong;
};

static void *read_all(void *arg)
{
    struct worker *w = arg;
    uint64_t n = record_reader_count(w->r);
    for (uint64_t k = 0; k < n; k++) {
        uint64_t i = (k * 7 + w->start) % n;
        struct record rec;
        struct record_value v;
        char key[32];
        int len = snprintf(key, sizeof key, "sample/%llu", (unsigned long long)i);
        if (!record_reader_get(w->r, i, &rec, NULL) || !record_get(&rec, 0, &v, NULL) ||
            v.size != (size_t)len || memcmp(v.data, key, v.size) != 0)
            w->wrong++;
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct record_err err;
    sample_write(in_folder(state, "t"), 1000, 300);
    struct record_reader *r;
    assert_ok((r = record_reader_open(in_folder(state, "t"), RECORD_VERIFY, &err)));
    pthread_t threads[4];
    struct worker workers[4];
    for (unsigned i = 0; i < 4; i++) {
        workers[i] = (struct worker){r, i * 250, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &workers[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    record_reader_free(r);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_empty_set),
        TEST(test_shards),
        TEST(test_shard_bytes),
        TEST(test_same_bytes),
        TEST(test_bad_values),
        TEST(test_writer_leaves_nothing),
        TEST(test_no_overwriting),
        TEST(test_open_refusals),
        TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
