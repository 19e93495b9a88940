/* The commands, called as a function with standard output and error going to files. */
#include "record_testing.h"

#include "record/record_cli.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char out_text[200000], err_text[20000];
static size_t out_size;

static int redirect(int fd, const char *path)
{
    int saved = dup(fd), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(saved >= 0 && file >= 0 && dup2(file, fd) == fd);
    close(file);
    return saved;
}

static size_t restore(int fd, int saved, const char *path, char *text, size_t room)
{
    size_t size;
    assert_int_equal(dup2(saved, fd), fd);
    close(saved);
    uint8_t *data = file_load(path, &size);
    assert_true(size < room);
    memcpy(text, data, size);
    text[size] = 0;
    free(data);
    unlink(path);
    return size;
}

/* Arguments are separated by spaces; @ at the start of one stands for the test's folder and a slash. */
static int run(void **state, const char *line)
{
    char copy[1000], paths[16][400], *argv[16] = {"record"};
    char out_path[300], err_path[300];
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    snprintf(out_path, sizeof out_path, "%s/.out", (char *)*state);
    snprintf(err_path, sizeof err_path, "%s/.err", (char *)*state);
    for (char *save, *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save), argc++) {
        snprintf(paths[argc], sizeof paths[0], "%s%s%s", *word == '@' ? (char *)*state : "",
                 *word == '@' ? "/" : "", word + (*word == '@'));
        argv[argc] = paths[argc];
    }
    fflush(stdout);
    int out = redirect(1, out_path), err = redirect(2, err_path);
    int rc = record_cli(argc, argv);
    fflush(stdout);
    out_size = restore(1, out, out_path, out_text, sizeof out_text);
    restore(2, err, err_path, err_text, sizeof err_text);
    return rc;
}

static void expect(void **state, const char *line, int rc, const char *out, const char *err)
{
    int got = run(state, line);
    if (got != rc || !strstr(out_text, out) || !strstr(err_text, err))
        fail_msg("%s: status %d\nstdout: %s\nstderr: %s", line, got, out_text, err_text);
}

static void store_text(void **state, const char *name, const char *text)
{
    file_store(in_folder(state, name), text, strlen(text));
}

static void test_info_cat_verify(void **state)
{
    sample_write(in_folder(state, "s"), 12, 5);
    expect(state, "info @s", 0, "records  12\nshards   3\n", "");
    expect(state, "info @s", 0, "  pixels               array float32 [2, -1]\n", "");
    expect(state, "info @s --json", 0, "{\"version\":1,\"records\":12,\"shards\":3,", "");
    expect(state, "cat @s 3", 0,
           "{\"key\":\"sample/3\",\"image\":{\"bytes\":111},\"label\":-9,\"score\":0.375,"
           "\"notes\":{\"n\":[3,null,\"\\u00e9\"]},\"pixels\":{\"bytes\":24}}\n",
           "");
    expect(state, "cat @s 4", 0, "\"label\":null", "");
    expect(state, "cat @s --key sample/8 --field key", 0, "sample/8", "");
    expect(state, "cat @s --base64 --limit 2", 0, "\"image\":\"\"", "");
    assert_non_null(strstr(out_text, "\"image\":\"HyYtNDtCSVBXXmVsc3qBiI+WnaSrsrnAx87V3OPq8fj/Bg0UGw==\""));
    assert_null(strstr(out_text, "sample/2"));
    expect(state, "verify @s", 0, "every byte", "");
    expect(state, "verify @s --quiet", 0, "", "");
    assert_int_equal(out_size, 0);
    size_t size;
    uint8_t *data = file_load(in_folder(state, "s-00001-of-00003.irec"), &size);
    data[size / 2] ^= 1;
    file_store(in_folder(state, "s-00001-of-00003.irec"), data, size);
    free(data);
    expect(state, "verify @s", 1, "", "1 fault");
}

static void test_usage(void **state)
{
    sample_write(in_folder(state, "s"), 2, 0);
    expect(state, "", 2, "", "usage: record info");
    expect(state, "--help", 0, "usage: record info", "");
    expect(state, "list", 2, "", "usage: record info");
    expect(state, "info", 2, "", "usage: record info");
    expect(state, "info @s @s", 2, "", "usage: record info");
    expect(state, "info a b c", 2, "", "one argument too many: c");
    expect(state, "info @s --limit 1", 2, "", "unknown option --limit");
    expect(state, "cat @s --limit", 2, "", "--limit needs a value");
    expect(state, "cat @s --limit 0", 2, "", "--limit \"0\": a positive number is needed");
    expect(state, "cat @s x", 1, "", "\"x\" is not the number of a record");
    expect(state, "cat @s 2", 1, "", "record 2: the set has 2 records");
    expect(state, "cat @s --key nobody", 1, "", "no record has the key \"nobody\"");
    expect(state, "cat @s 0 --field x", 1, "", "--field x: the schema has no such field");
    expect(state, "cat @s --field key", 1, "", "--field needs the number");
    expect(state, "info @none", 1, "", "no such file or record set");
}

static void test_folder(void **state)
{
    assert_int_equal(mkdir(in_folder(state, "in"), 0700), 0);
    assert_int_equal(mkdir(in_folder(state, "in/b"), 0700), 0);
    store_text(state, "in/z.txt", "last");
    store_text(state, "in/b/one.txt", "first");
    store_text(state, "in/b/two.txt", "");
    assert_int_equal(symlink("/etc/passwd", in_folder(state, "in/link")), 0);
    expect(state, "convert @in/ @set", 0, "3 records in 1 shard", "a symbolic link");
    expect(state, "cat @set", 0,
           "{\"key\":\"b/one.txt\",\"data\":{\"bytes\":5}}\n{\"key\":\"b/two.txt\",\"data\":{\"bytes\":0}}\n"
           "{\"key\":\"z.txt\",\"data\":{\"bytes\":4}}\n",
           "");
    expect(state, "convert @in @set", 1, "", "there is such a file already");
    expect(state, "convert @in @set --overwrite", 0, "3 records", "");
    expect(state, "convert @in @set --schema @x", 1, "", "--schema is for .jsonl");
    expect(state, "convert @set @out", 0, "3 records", "");
    size_t size;
    uint8_t *data = file_load(in_folder(state, "out/b/one.txt"), &size);
    assert_int_equal(size, 5);
    assert_memory_equal(data, "first", 5);
    free(data);
    expect(state, "convert @set @out", 1, "", "b/one.txt: File exists");
    store_text(state, "x.zip", "PK");
    expect(state, "convert @x.zip @set", 1, "", "neither a folder nor a .tar, .jsonl or .irec file");
}

static void test_hostile_keys(void **state)
{
    static const char *keys[] = {"../x", "/x", "a/../../x", "", "a//b", "./x", "a/"};
    struct record_err err;
    struct record_writer_options o = {.schema = "{\"fields\":[{\"name\":\"key\",\"type\":\"utf8\"},"
                                                "{\"name\":\"data\",\"type\":\"bytes\"}],\"key\":\"key\"}",
                                      .overwrite = true,
                                      .no_sync = true};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct record_writer *w;
        struct record_value v[] = {{keys[i], strlen(keys[i])}, {"evil", 4}};
        assert_ok((w = record_writer_new(in_folder(state, "h"), &o, &err)));
        assert_ok(record_writer_add(w, v, 2, &err));
        assert_ok(record_writer_finish(w, NULL, &err));
        record_writer_free(w);
        expect(state, "convert @h @out", 1, "", "is no safe path");
    }
    assert_int_equal(folder_count(in_folder(state, "out"), ""), 0);
}

static void test_jsonl(void **state)
{
    store_text(state, "schema.json", SCHEMA);
    store_text(state, "x.jsonl",
               "{\"key\":\"\\u4e2d\",\"image\":\"aGVsbG8=\",\"label\":-9223372036854775808,\"score\":1e3,"
               "\"notes\":[1, 2],\"pixels\":\"AAAAAAAAgD8=\"}\n\n{\"key\":\"b\",\"label\":null}\r\n");
    expect(state, "convert @x.jsonl @set --schema @schema.json", 0, "2 records", "");
    expect(state, "cat @set --base64", 0,
           "{\"key\":\"\xE4\xB8\xAD\",\"image\":\"aGVsbG8=\",\"label\":-9223372036854775808,\"score\":1000,"
           "\"notes\":[1, 2],\"pixels\":\"AAAAAAAAgD8=\"}\n"
           "{\"key\":\"b\",\"image\":null,\"label\":null,\"score\":null,\"notes\":null,\"pixels\":null}\n",
           "");
    expect(state, "convert @x.jsonl @plain", 0, "2 records", "");
    expect(state, "cat @plain 1", 0, "{\"value\":{\"key\":\"b\",\"label\":null}}", "");
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"{\"key\":\"a\"}\n{\"key\":1}", "line 2: \"key\": a string is needed"},
        {"{\"key\":\"a\",\"x\":1}", "line 1: \"x\": the schema has no such field"},
        {"{\"key\":\"a\",\"key\":\"b\"}", "\"key\": stands there twice"},
        {"{\"key\":\"a\",\"label\":1.5}", "\"label\": a whole number of 64 bits is needed"},
        {"{\"key\":\"a\",\"label\":9223372036854775808}", "\"label\": a whole number of 64 bits is needed"},
        {"{\"key\":\"a\",\"score\":true}", "\"score\": a number is needed"},
        {"{\"key\":\"a\",\"image\":\"x\"}", "\"image\": base64 is needed"},
        {"{\"key\":\"a\",\"pixels\":\"AAAA\"}", "\"pixels\": 3 bytes are not a multiple"},
        {"{\"label\":1}", "line 1: key field \"key\" is absent"},
        {"[1]", "an object is needed"},
        {"{\"key\":", "line 1: not valid JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        store_text(state, "bad.jsonl", cases[i].line);
        expect(state, "convert @bad.jsonl @bad --schema @schema.json", 1, "", cases[i].message);
    }
    assert_int_equal(folder_count(*state, ".tmp"), 0);
}

/* One tar entry with its header; returns the bytes it takes. */
static size_t tar_entry(uint8_t *at, const char *name, char type, const void *data, size_t size)
{
    unsigned sum = 0;
    memset(at, 0, 512);
    snprintf((char *)at, 100, "%s", name);
    snprintf((char *)at + 124, 12, "%011zo", size);
    memset(at + 148, ' ', 8);
    at[156] = (uint8_t)type;
    memcpy(at + 257, "ustar\00000", 8);
    for (size_t i = 0; i < 512; i++)
        sum += at[i];
    snprintf((char *)at + 148, 8, "%06o", sum);
    if (size)
        memcpy(at + 512, data, size);
    return 512 + (size + 511) / 512 * 512;
}

static void test_tar(void **state)
{
    static uint8_t tar[16384];
    size_t n = 0;
    char name[200];
    memset(name, 'n', sizeof name);
    name[199] = 0;
    n += tar_entry(tar + n, "folder/", '5', NULL, 0);
    n += tar_entry(tar + n, "./folder/a.txt", '0', "hello", 5);
    n += tar_entry(tar + n, "link", '2', NULL, 0);
    n += tar_entry(tar + n, "././@LongLink", 'L', name, 200);
    n += tar_entry(tar + n, "short", '0', "long", 4);
    n += tar_entry(tar + n, "pax", 'x', "19 path=pax/name.b\n12 size=600\n", 31);
    n += tar_entry(tar + n, "short", '0', NULL, 0);
    memset(tar + n, 'x', 600);
    n += 1024;
    file_store(in_folder(state, "t.tar"), tar, n + 1024);
    expect(state, "convert @t.tar @t", 0, "3 records in 1 shard", "link: a link");
    expect(state, "cat @t --key folder/a.txt --field data", 0, "hello", "");
    expect(state, "cat @t --key pax/name.b", 0, "{\"bytes\":600}", "");
    expect(state, "cat @t 1", 0, name, "");
    file_store(in_folder(state, "cut.tar"), tar, 1200);
    expect(state, "convert @cut.tar @cut", 1, "", "ends in the middle of an entry");
    tar[600] ^= 1;
    file_store(in_folder(state, "bad.tar"), tar, n + 1024);
    expect(state, "convert @bad.tar @bad", 1, "", "no tar header at byte 512");
    assert_int_equal(folder_count(*state, ".tmp"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_info_cat_verify), TEST(test_usage), TEST(test_folder),
        TEST(test_hostile_keys),    TEST(test_jsonl), TEST(test_tar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
