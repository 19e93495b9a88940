#include "record_testing.h"

#include <dirent.h>
#include <ftw.h>
#include <unistd.h>

int folder_setup(void **state)
{
    char template[] = "/tmp/record-test-XXXXXX";
    assert_non_null(mkdtemp(template));
    *state = strdup(template);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int folder_teardown(void **state)
{
    int rc = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return rc;
}

size_t folder_count(const char *folder, const char *suffix)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        size_t len = strlen(e->d_name), tail = strlen(suffix);
        n += e->d_name[0] != '.' && len >= tail && strcmp(e->d_name + len - tail, suffix) == 0;
    }
    closedir(d);
    return n;
}

const char *in_folder(void **state, const char *name)
{
    static char paths[4][300];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", (const char *)*state, name);
    return path;
}

const struct record_value *sample_values(unsigned i)
{
    static struct record_value v[6];
    static char key[32], json[64];
    static uint8_t image[4096];
    static int64_t label;
    static double score;
    static float pixels[64];
    size_t image_size = i * 37 % 300;
    for (size_t k = 0; k < image_size; k++)
        image[k] = (uint8_t)(i * 31 + k * 7);
    for (size_t k = 0; k < 64; k++)
        pixels[k] = (float)(i + k);
    label = (int64_t)i * -3;
    score = i / 8.0;
    v[0] = (struct record_value){key, (size_t)snprintf(key, sizeof key, "sample/%u", i)};
    v[1] = (struct record_value){image, image_size};
    v[2] = i % 5 == 4 ? (struct record_value){NULL, 0} : (struct record_value){&label, 8};
    v[3] = (struct record_value){&score, 8};
    v[4] =
        (struct record_value){json, (size_t)snprintf(json, sizeof json, "{\"n\":[%u,null,\"\\u00e9\"]}", i)};
    v[5] = (struct record_value){pixels, (size_t)(i % 4 * 8)};
    return v;
}

void sample_write(const char *prefix, unsigned n, uint64_t shard_records)
{
    struct record_err err;
    struct record_writer_options o = {.schema = SCHEMA, .shard_records = shard_records, .no_sync = true};
    struct record_writer *w;
    assert_ok((w = record_writer_new(prefix, &o, &err)));
    for (unsigned i = 0; i < n; i++)
        assert_ok(record_writer_add(w, sample_values(i), 6, &err));
    assert_ok(record_writer_finish(w, NULL, &err));
    record_writer_free(w);
}

void sample_check(struct record_reader *r, uint64_t i)
{
    struct record_err err;
    struct record rec;
    const struct record_value *wanted = sample_values((unsigned)i);
    assert_ok(record_reader_get(r, i, &rec, &err));
    assert_int_equal((uintptr_t)rec.data % RECORD_ALIGN, 0);
    for (size_t f = 0; f < 6; f++) {
        struct record_value v;
        assert_ok(record_get(&rec, f, &v, &err));
        assert_int_equal(v.size, wanted[f].size);
        assert_int_equal(!v.data, !wanted[f].data);
        if (v.size)
            assert_memory_equal(v.data, wanted[f].data, v.size);
    }
}

uint8_t *file_load(const char *path, size_t *ret_size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *ret_size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*ret_size);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *ret_size, f), *ret_size);
    fclose(f);
    return data;
}

void file_store(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}
