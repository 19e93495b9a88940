/* record_cli_internal.h: what the files of the record commands share. */
#ifndef INGOT_RECORD_CLI_INTERNAL_H
#define INGOT_RECORD_CLI_INTERNAL_H

#include "record/record.h"

#include <stdio.h>

struct record_args {
    const char *path[2];
    int paths;
    const char *field, *key, *schema;
    uint64_t limit, shard_bytes, shard_records;
    bool json, base64, overwrite, quiet;
};

/* One record as one JSON object in one line; bytes and arrays as base64 text or as their size. */
bool record_print_json(FILE *out, const struct record_schema *s, const struct record *rec, bool base64,
                       struct record_err *err);

/* The sources of convert; each adds to the writer and counts what it left out (and named on stderr). */
struct record_convert {
    const struct record_args *args;
    struct record_writer *writer;
    uint64_t skipped;
};

extern const char record_file_schema[]; /* of folders and tar files: key (the path) and data */
bool record_add_file(struct record_convert *c, const char *name, const void *data, size_t size,
                     struct record_err *err);
void record_skip(struct record_convert *c, const char *name, const char *why);
bool record_from_folder(struct record_convert *c, const char *folder, struct record_err *err);
bool record_from_tar(struct record_convert *c, const char *file, struct record_err *err);
bool record_from_jsonl(struct record_convert *c, const char *file, const struct record_schema *schema,
                       struct record_err *err);
bool record_convert_run(const struct record_args *args, struct record_err *err);

/* A whole regular file of at most max bytes, with a 0 behind it; to be freed. */
char *record_load(const char *file, size_t max, size_t *ret_size, struct record_err *err);

#endif
