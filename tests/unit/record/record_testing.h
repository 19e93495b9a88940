/* What the record tests share: a temporary folder, a sample schema and files made from it. */
#ifndef RECORD_TESTING_H
#define RECORD_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/record.h"

#define SCHEMA                                                                                               \
    "{\"fields\":[{\"name\":\"key\",\"type\":\"utf8\"},{\"name\":\"image\",\"type\":\"bytes\"},"             \
    "{\"name\":\"label\",\"type\":\"int64\"},{\"name\":\"score\",\"type\":\"float64\"},"                     \
    "{\"name\":\"notes\",\"type\":\"json\"},"                                                                \
    "{\"name\":\"pixels\",\"type\":\"array\",\"dtype\":\"float32\",\"shape\":[2,-1]}],"                      \
    "\"key\":\"key\",\"title\":\"a test\"}"

#define assert_ok(call)                                                                                      \
    do {                                                                                                     \
        memset(&err, 0, sizeof err);                                                                         \
        if (!(call))                                                                                         \
            fail_msg("%s: %s", #call, err.message);                                                          \
    } while (0)

#define assert_err(call, wanted, text)                                                                       \
    do {                                                                                                     \
        memset(&err, 0, sizeof err);                                                                         \
        if (call)                                                                                            \
            fail_msg("%s went well", #call);                                                                 \
        if (err.code != (wanted) || !strstr(err.message, text))                                              \
            fail_msg("%s: code %d, message \"%s\"", #call, (int)err.code, err.message);                      \
    } while (0)

/* cmocka fixtures: *state is the path of a new folder; the teardown removes it with all in it. */
int folder_setup(void **state);
int folder_teardown(void **state);
size_t folder_count(const char *folder, const char *suffix);

/* folder/name; the result lives until the fourth next call. */
const char *in_folder(void **state, const char *name);

/* Record number i of the sample set; its values live until the next call. */
const struct record_value *sample_values(unsigned i);
/* Writes n sample records. */
void sample_write(const char *prefix, unsigned n, uint64_t shard_records);
/* Reads record i of the set back and compares every field. */
void sample_check(struct record_reader *r, uint64_t i);

/* A whole file in memory of exactly its size. */
uint8_t *file_load(const char *path, size_t *ret_size);
void file_store(const char *path, const void *data, size_t size);

#endif
