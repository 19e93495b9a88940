/* The writer: records go to temporary files shard by shard; finish adds headers and footers and renames. */
#include "record_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_SIZE (1u << 20)

struct key_entry {
    uint64_t hash;
    uint32_t record;
};

/* A shard that is written; its header is complete but for totals and set id. */
struct done_shard {
    char *temp;
    char *file; /* set once it has its final name */
    struct record_header h;
};

struct record_writer {
    char *prefix;
    struct record_writer_options options;
    struct record_schema *schema;
    uint32_t schema_crc;
    bool failed, finished;

    struct done_shard *shards; /* the last one is being written while fd >= 0 */
    size_t shard_count;
    int fd;
    uint64_t offset; /* file position after all that was put, flushed or not */
    uint8_t *buffer;
    size_t buffered;

    uint8_t *index; /* of the current shard, encoded */
    struct key_entry *keys;
    size_t records, capacity;
    uint64_t total;
};

static bool out_of_memory(struct record_err *err)
{
    return record_fail(err, RECORD_E_MEMORY, "out of memory");
}

/* ---- bytes -----------------------------------------------------------------------------------------------
 */

static bool write_all(struct record_writer *w, const uint8_t *p, size_t n, struct record_err *err)
{
    while (n) {
        ssize_t k = write(w->fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return record_fail_errno(err, "%.300s: write", w->shards[w->shard_count - 1].temp);
        p += k;
        n -= (size_t)k;
    }
    return true;
}

static bool flush(struct record_writer *w, struct record_err *err)
{
    size_t n = w->buffered;
    w->buffered = 0;
    return write_all(w, w->buffer, n, err);
}

static bool put(struct record_writer *w, const void *data, size_t n, struct record_err *err)
{
    if (n > BUFFER_SIZE - w->buffered && !flush(w, err))
        return false;
    w->offset += n;
    if (n >= BUFFER_SIZE)
        return write_all(w, data, n, err);
    if (n)
        memcpy(w->buffer + w->buffered, data, n);
    w->buffered += n;
    return true;
}

static const uint8_t zeros[HEADER_SIZE];

static bool put_padding(struct record_writer *w, struct record_err *err)
{
    return put(w, zeros, (size_t)(record_align(w->offset) - w->offset), err);
}

/* ---- shards ----------------------------------------------------------------------------------------------
 */

static bool open_temp(struct record_writer *w, struct done_shard *s, struct record_err *err)
{
    static atomic_uint counter;
    for (int attempt = 0; attempt < 100; attempt++) {
        free(s->temp);
        if (asprintf(&s->temp, "%s-%05zu.irec.%ld-%u.tmp", w->prefix, w->shard_count, (long)getpid(),
                     atomic_fetch_add(&counter, 1)) < 0) {
            s->temp = NULL;
            return out_of_memory(err);
        }
        w->fd = open(s->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd >= 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    record_fail_errno(err, "%.300s", s->temp);
    free(s->temp);
    s->temp = NULL;
    return false;
}

static bool open_shard(struct record_writer *w, struct record_err *err)
{
    size_t size;
    const char *json = record_schema_json(w->schema, &size);
    if (w->shard_count == RECORD_MAX_SHARDS)
        return record_fail(err, RECORD_E_LIMIT, "%.300s: more than 99999 shards; make them larger",
                           w->prefix);
    struct done_shard *more = realloc(w->shards, (w->shard_count + 1) * sizeof *more);
    if (!more)
        return out_of_memory(err);
    w->shards = more;
    struct done_shard *s = &more[w->shard_count];
    *s = (struct done_shard){0};
    if (!open_temp(w, s, err))
        return false;
    w->shard_count++;
    w->offset = w->buffered = w->records = 0;
    s->h = (struct record_header){
        .major = RECORD_VERSION,
        .flags = record_schema_key(w->schema) >= 0 ? FLAG_KEYS : 0,
        .schema_offset = HEADER_SIZE,
        .data_offset = record_align(HEADER_SIZE + size),
        .first = w->total,
        .shard = (uint32_t)w->shard_count - 1,
        .schema_size = (uint32_t)size,
        .schema_crc = w->schema_crc,
    };
    return put(w, zeros, HEADER_SIZE, err) && put(w, json, size, err) && put_padding(w, err);
}

static int compare_keys(const void *a, const void *b)
{
    const struct key_entry *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

static bool put_keys(struct record_writer *w, struct record_header *h, struct record_err *err)
{
    if (w->records)
        qsort(w->keys, w->records, sizeof *w->keys, compare_keys);
    h->keys_offset = w->offset;
    for (size_t i = 0; i < w->records; i++) {
        uint8_t entry[ENTRY_SIZE] = {0};
        record_put64(entry, w->keys[i].hash);
        record_put32(entry + 8, w->keys[i].record);
        h->keys_crc = record_crc32c(h->keys_crc, entry, ENTRY_SIZE);
        if (!put(w, entry, ENTRY_SIZE, err))
            return false;
    }
    return put_padding(w, err);
}

/* Index, key table and room for the footer; closes the file. */
static bool seal_shard(struct record_writer *w, struct record_err *err)
{
    struct done_shard *s = &w->shards[w->shard_count - 1];
    size_t index_size = w->records * ENTRY_SIZE;
    if (!put_padding(w, err))
        return false;
    s->h.index_offset = w->offset;
    s->h.index_crc = record_crc32c(0, w->index, index_size);
    s->h.records = w->records;
    if (!put(w, w->index, index_size, err) || !put_padding(w, err))
        return false;
    if (s->h.flags & FLAG_KEYS && !put_keys(w, &s->h, err))
        return false;
    if (!put(w, zeros, FOOTER_SIZE, err) || !flush(w, err))
        return false;
    s->h.file_size = w->offset;
    int fd = w->fd;
    w->fd = -1;
    return close(fd) == 0 || record_fail_errno(err, "%.300s: close", s->temp);
}

/* ---- public ----------------------------------------------------------------------------------------------
 */

struct record_writer *record_writer_new(const char *prefix, const struct record_writer_options *options,
                                        struct record_err *err)
{
    const char *slash = strrchr(prefix, '/');
    if (!*(slash ? slash + 1 : prefix))
        return record_fail(err, RECORD_E_ARG, "\"%.300s\": a name is needed for the files", prefix), NULL;
    if (!options->schema)
        return record_fail(err, RECORD_E_ARG, "a schema is needed"), NULL;
    struct record_writer *w = calloc(1, sizeof *w);
    if (!w)
        return out_of_memory(err), NULL;
    w->fd = -1;
    w->options = *options;
    size_t size = options->schema_size ? options->schema_size : strlen(options->schema);
    w->schema = record_schema_parse(options->schema, size, err);
    if (!w->schema) {
        record_writer_free(w);
        return NULL;
    }
    w->schema_crc = record_crc32c(0, options->schema, size);
    w->options.schema = NULL;
    w->prefix = strdup(prefix);
    w->buffer = malloc(BUFFER_SIZE);
    if (!w->prefix || !w->buffer)
        out_of_memory(err);
    else if (open_shard(w, err))
        return w;
    record_writer_free(w);
    return NULL;
}

void record_writer_free(struct record_writer *w)
{
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    for (size_t i = 0; i < w->shard_count; i++) {
        if (!w->finished)
            unlink(w->shards[i].file ? w->shards[i].file : w->shards[i].temp);
        free(w->shards[i].temp);
        free(w->shards[i].file);
    }
    free(w->shards);
    free(w->index);
    free(w->keys);
    free(w->buffer);
    free(w->prefix);
    record_schema_free(w->schema);
    free(w);
}

/* The field table and the record's size; the values are checked. */
static bool lay_out(const struct record_writer *w, const struct record_value *values, uint8_t *table,
                    uint64_t *ret_size, struct record_err *err)
{
    size_t n = record_schema_count(w->schema);
    uint64_t at = n * 8;
    int key = record_schema_key(w->schema);
    for (size_t i = 0; i < n; i++) {
        const struct record_field *f = record_schema_field(w->schema, i);
        if (!record_value_check(f, &values[i], err))
            return false;
        if (!values[i].data) {
            if ((int)i == key)
                return record_fail(err, RECORD_E_ARG, "key field \"%.100s\" is absent", f->name);
            record_put32(table + i * 8, 0);
            record_put32(table + i * 8 + 4, ABSENT);
            continue;
        }
        uint64_t align = record_field_align(f);
        at = (at + align - 1) & ~(align - 1);
        if (values[i].size > RECORD_MAX_SIZE || at + values[i].size > RECORD_MAX_SIZE)
            return record_fail(err, RECORD_E_LIMIT, "field \"%.100s\": the record would be larger than 4 GiB",
                               f->name);
        record_put32(table + i * 8, (uint32_t)at);
        record_put32(table + i * 8 + 4, (uint32_t)values[i].size);
        at += values[i].size;
    }
    *ret_size = at;
    return true;
}

static bool make_room(struct record_writer *w, struct record_err *err)
{
    if (w->records < w->capacity)
        return true;
    size_t n = w->capacity ? w->capacity * 2 : 1024;
    uint8_t *index = realloc(w->index, n * ENTRY_SIZE);
    if (!index)
        return out_of_memory(err);
    w->index = index;
    struct key_entry *keys = realloc(w->keys, n * sizeof *keys);
    if (!keys)
        return out_of_memory(err);
    w->keys = keys;
    w->capacity = n;
    return true;
}

static bool shard_is_full(const struct record_writer *w, uint64_t size)
{
    const struct record_writer_options *o = &w->options;
    uint64_t grown =
        record_align(w->offset) + size + (w->records + 1) * 2 * ENTRY_SIZE + 3 * RECORD_ALIGN + FOOTER_SIZE;
    return w->records > 0 &&
           (w->records == UINT32_MAX || (o->shard_records && w->records >= o->shard_records) ||
            (o->shard_bytes && grown > o->shard_bytes));
}

static bool put_values(struct record_writer *w, const struct record_value *values, const uint8_t *table,
                       uint32_t *ret_crc, struct record_err *err)
{
    size_t n = record_schema_count(w->schema);
    uint64_t start = w->offset;
    uint32_t crc = record_crc32c(0, table, n * 8);
    if (!put(w, table, n * 8, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!values[i].data)
            continue;
        size_t pad = (size_t)(start + record_le32(table + i * 8) - w->offset);
        crc = record_crc32c(crc, zeros, pad);
        crc = record_crc32c(crc, values[i].data, values[i].size);
        if (!put(w, zeros, pad, err) || !put(w, values[i].data, values[i].size, err))
            return false;
    }
    *ret_crc = crc;
    return true;
}

static bool put_record(struct record_writer *w, const struct record_value *values, const uint8_t *table,
                       uint64_t size, struct record_err *err)
{
    uint32_t crc;
    int key = record_schema_key(w->schema);
    if (!put_padding(w, err))
        return false;
    uint8_t *entry = w->index + w->records * ENTRY_SIZE;
    record_put64(entry, w->offset);
    record_put32(entry + 8, (uint32_t)size);
    if (!put_values(w, values, table, &crc, err))
        return false;
    record_put32(entry + 12, crc);
    if (key >= 0)
        w->keys[w->records] =
            (struct key_entry){record_key_hash(values[key].data, values[key].size), (uint32_t)w->records};
    w->records++;
    w->total++;
    return true;
}

bool record_writer_add(struct record_writer *w, const struct record_value *values, size_t n,
                       struct record_err *err)
{
    uint8_t table[RECORD_MAX_FIELDS * 8];
    uint64_t size = 0;
    if (w->failed || w->finished)
        return record_fail(err, RECORD_E_ARG, "the writer has %s", w->failed ? "failed before" : "finished");
    if (n != record_schema_count(w->schema))
        return record_fail(err, RECORD_E_ARG, "%zu values, the schema has %zu fields", n,
                           record_schema_count(w->schema));
    if (!lay_out(w, values, table, &size, err))
        return false;
    w->failed = true;
    if (shard_is_full(w, size) && (!seal_shard(w, err) || !open_shard(w, err)))
        return false;
    if (!make_room(w, err) || !put_record(w, values, table, size, err))
        return false;
    w->failed = false;
    return true;
}

/* ---- finish ----------------------------------------------------------------------------------------------
 */

/* Equal contents give equal ids; shards of different sets can be told apart. */
static uint64_t make_set_id(const struct record_writer *w)
{
    uint64_t id = 0;
    for (size_t i = 0; i < w->shard_count; i++) {
        const struct record_header *h = &w->shards[i].h;
        uint8_t part[32];
        record_put64(part, id);
        record_put64(part + 8, h->file_size);
        record_put64(part + 16, h->records);
        record_put32(part + 24, h->schema_crc);
        record_put32(part + 28, h->index_crc);
        id = record_key_hash(part, sizeof part);
    }
    return id;
}

static bool put_at(int fd, const uint8_t *p, size_t n, uint64_t offset)
{
    while (n) {
        ssize_t k = pwrite(fd, p, n, (off_t)offset);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return false;
        p += k;
        n -= (size_t)k;
        offset += (uint64_t)k;
    }
    return true;
}

static bool complete_shard(const struct record_writer *w, const struct done_shard *s, struct record_err *err)
{
    uint8_t header[HEADER_SIZE], footer[FOOTER_SIZE];
    int fd = open(s->temp, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return record_fail_errno(err, "%.300s", s->temp);
    record_header_encode(&s->h, header);
    record_footer_encode(&s->h, header, footer);
    bool ok = put_at(fd, header, HEADER_SIZE, 0) &&
              put_at(fd, footer, FOOTER_SIZE, s->h.file_size - FOOTER_SIZE) &&
              (w->options.no_sync || fsync(fd) == 0);
    if (!ok)
        record_fail_errno(err, "%.300s: write", s->temp);
    if (close(fd) != 0 && ok)
        return record_fail_errno(err, "%.300s: close", s->temp);
    return ok;
}

static bool rename_shard(struct record_writer *w, struct done_shard *s, struct record_err *err)
{
    char *file;
    if (asprintf(&file, "%s-%05" PRIu32 "-of-%05zu.irec", w->prefix, s->h.shard, w->shard_count) < 0)
        return out_of_memory(err);
    int rc = w->options.overwrite ? rename(s->temp, file)
                                  : renameat2(AT_FDCWD, s->temp, AT_FDCWD, file, RENAME_NOREPLACE);
    if (rc < 0 && !w->options.overwrite && (errno == EINVAL || errno == ENOSYS)) /* a simple file system */
        rc = access(file, F_OK) == 0 ? (errno = EEXIST, -1) : rename(s->temp, file);
    if (rc == 0) {
        s->file = file;
        return true;
    }
    if (errno == EEXIST)
        record_fail(err, RECORD_E_EXISTS, "%.300s: there is such a file already", file);
    else
        record_fail_errno(err, "%.300s: rename", file);
    free(file);
    return false;
}

static bool sync_folder(const struct record_writer *w, struct record_err *err)
{
    const char *slash = strrchr(w->prefix, '/');
    char *folder = slash ? strndup(w->prefix, (size_t)(slash - w->prefix) + 1) : strdup(".");
    if (!folder)
        return out_of_memory(err);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        record_fail_errno(err, "%.300s: sync", folder);
    if (fd >= 0)
        close(fd);
    free(folder);
    return ok;
}

bool record_writer_finish(struct record_writer *w, struct record_summary *ret, struct record_err *err)
{
    if (w->failed || w->finished)
        return record_fail(err, RECORD_E_ARG, "the writer has %s", w->failed ? "failed before" : "finished");
    w->failed = true;
    if (!seal_shard(w, err))
        return false;
    struct record_summary sum = {
        .records = w->total, .shards = (uint32_t)w->shard_count, .set_id = make_set_id(w)};
    for (size_t i = 0; i < w->shard_count; i++) {
        struct record_header *h = &w->shards[i].h;
        h->total = w->total;
        h->shards = sum.shards;
        h->set_id = sum.set_id;
        sum.bytes += h->file_size;
        if (!complete_shard(w, &w->shards[i], err))
            return false;
    }
    for (size_t i = w->shard_count; i--;)
        if (!rename_shard(w, &w->shards[i], err))
            return false;
    if (!w->options.no_sync && !sync_folder(w, err))
        return false;
    w->failed = false;
    w->finished = true;
    if (ret)
        *ret = sum;
    return true;
}
