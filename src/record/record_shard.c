/* One shard file: header, footer, bounds, and which files make up a set. */
#include "record_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const uint8_t record_magic[8] = {0x89, 'I', 'R', 'E', 'C', '\r', '\n', 0x1A};
const uint8_t record_end_magic[8] = {'I', 'R', 'E', 'C', 'E', 'N', 'D', '\n'};

void record_err_set(struct record_err *err, enum record_code code, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return;
    err->code = code;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
}

void record_err_errno(struct record_err *err, const char *fmt, ...)
{
    int saved = errno;
    va_list ap;
    if (!err)
        return;
    err->code = saved == ENOENT ? RECORD_E_NOT_FOUND : RECORD_E_IO;
    va_start(ap, fmt);
    int n = vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof err->message)
        snprintf(err->message + n, sizeof err->message - (size_t)n, ": %s", strerror(saved));
}

uint64_t record_key_hash(const void *key, size_t size)
{
    const uint8_t *p = key;
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 0x100000001B3u;
    return h;
}

void record_header_encode(const struct record_header *h, uint8_t out[HEADER_SIZE])
{
    memset(out, 0, HEADER_SIZE);
    memcpy(out, record_magic, 8);
    record_put32(out + 8, (uint32_t)h->major | (uint32_t)h->minor << 16);
    record_put32(out + 12, h->flags);
    record_put64(out + 16, h->file_size);
    record_put64(out + 24, h->schema_offset);
    record_put64(out + 32, h->data_offset);
    record_put64(out + 40, h->index_offset);
    record_put64(out + 48, h->keys_offset);
    record_put64(out + 56, h->records);
    record_put64(out + 64, h->first);
    record_put64(out + 72, h->total);
    record_put32(out + 80, h->shard);
    record_put32(out + 84, h->shards);
    record_put64(out + 88, h->set_id);
    record_put32(out + 96, h->schema_size);
    record_put32(out + 100, h->schema_crc);
    record_put32(out + 104, h->index_crc);
    record_put32(out + 108, h->keys_crc);
    record_put32(out + 124, record_crc32c(0, out, 124));
}

static void header_decode(const uint8_t *p, struct record_header *h)
{
    *h = (struct record_header){
        .major = (uint16_t)record_le32(p + 8),
        .minor = (uint16_t)(record_le32(p + 8) >> 16),
        .flags = record_le32(p + 12),
        .file_size = record_le64(p + 16),
        .schema_offset = record_le64(p + 24),
        .data_offset = record_le64(p + 32),
        .index_offset = record_le64(p + 40),
        .keys_offset = record_le64(p + 48),
        .records = record_le64(p + 56),
        .first = record_le64(p + 64),
        .total = record_le64(p + 72),
        .shard = record_le32(p + 80),
        .shards = record_le32(p + 84),
        .set_id = record_le64(p + 88),
        .schema_size = record_le32(p + 96),
        .schema_crc = record_le32(p + 100),
        .index_crc = record_le32(p + 104),
        .keys_crc = record_le32(p + 108),
    };
}

void record_footer_encode(const struct record_header *h, const uint8_t header[HEADER_SIZE],
                          uint8_t out[FOOTER_SIZE])
{
    memset(out, 0, FOOTER_SIZE);
    memcpy(out, record_end_magic, 8);
    record_put64(out + 8, h->file_size);
    record_put64(out + 16, h->set_id);
    memcpy(out + 24, header + 124, 4);
    record_put32(out + 60, record_crc32c(0, out, 60));
}

#define CORRUPT(s, err, ...) record_fail_file(s, err, RECORD_E_CORRUPT, __VA_ARGS__)

__attribute__((format(printf, 4, 5))) static bool record_fail_file(const struct record_shard *s,
                                                                   struct record_err *err,
                                                                   enum record_code code, const char *fmt,
                                                                   ...)
{
    char text[250];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return record_fail(err, code, "%.200s: %s", s->file ? s->file : "(memory)", text);
}

static bool check_header(const struct record_shard *s, struct record_err *err)
{
    const struct record_header *h = &s->h;
    if (h->major != RECORD_VERSION)
        return record_fail_file(s, err, RECORD_E_VERSION, "version %u, this library reads version %u",
                                h->major, RECORD_VERSION);
    if (record_crc32c(0, s->data, 124) != record_le32(s->data + 124))
        return CORRUPT(s, err, "the header's checksum is wrong");
    if (h->flags & ~FLAG_KEYS)
        return record_fail_file(s, err, RECORD_E_VERSION, "unknown feature flags %#x", h->flags & ~FLAG_KEYS);
    if (h->file_size != s->size)
        return CORRUPT(s, err, "%zu bytes, the header says %" PRIu64 ": cut off or grown", s->size,
                       h->file_size);
    if (h->shards == 0 || h->shards > RECORD_MAX_SHARDS || h->shard >= h->shards)
        return CORRUPT(s, err, "impossible shard %" PRIu32 " of %" PRIu32, h->shard, h->shards);
    if (h->records > UINT32_MAX || h->records > h->total || h->first > h->total - h->records)
        return CORRUPT(s, err, "impossible record counts");
    return true;
}

/* Everything that follows lies inside the file if this holds. */
static bool check_layout(const struct record_shard *s, struct record_err *err)
{
    const struct record_header *h = &s->h;
    bool keys = h->flags & FLAG_KEYS;
    if (h->schema_offset != HEADER_SIZE || h->schema_size > RECORD_MAX_SCHEMA ||
        h->data_offset != record_align(HEADER_SIZE + (uint64_t)h->schema_size))
        return CORRUPT(s, err, "impossible place of the schema");
    if (h->index_offset < h->data_offset || h->index_offset > s->size || h->index_offset % RECORD_ALIGN)
        return CORRUPT(s, err, "impossible place of the index");
    uint64_t end = record_align(h->index_offset + h->records * ENTRY_SIZE);
    if (keys ? h->keys_offset != end : h->keys_offset != 0 || h->keys_crc != 0)
        return CORRUPT(s, err, "impossible place of the key table");
    if (keys)
        end = record_align(h->keys_offset + h->records * ENTRY_SIZE);
    if (s->size < FOOTER_SIZE || end != s->size - FOOTER_SIZE)
        return CORRUPT(s, err, "the parts do not add up to the file's size");
    return true;
}

bool record_shard_parse(struct record_shard *s, struct record_err *err)
{
    uint8_t footer[FOOTER_SIZE];
    if (s->size < 8 || memcmp(s->data, record_magic, 8) != 0)
        return record_fail_file(s, err, RECORD_E_FORMAT, "not a record file");
    if (s->size < HEADER_SIZE + FOOTER_SIZE)
        return CORRUPT(s, err, "%zu bytes are too short for a record file", s->size);
    header_decode(s->data, &s->h);
    if (!check_header(s, err) || !check_layout(s, err))
        return false;
    record_footer_encode(&s->h, s->data, footer);
    if (memcmp(footer, s->data + s->size - FOOTER_SIZE, FOOTER_SIZE) != 0)
        return CORRUPT(s, err, "the footer does not belong to the header");
    if (record_crc32c(0, s->data + s->h.schema_offset, s->h.schema_size) != s->h.schema_crc)
        return CORRUPT(s, err, "the schema's checksum is wrong");
    return true;
}

bool record_shard_map(struct record_shard *s, const char *file, struct record_err *err)
{
    struct stat st;
    *s = (struct record_shard){.file = strdup(file)};
    if (!s->file)
        return record_fail(err, RECORD_E_MEMORY, "out of memory");
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return record_fail_errno(err, "%.300s", file);
    if (fstat(fd, &st) < 0) {
        record_fail_errno(err, "%.300s", file);
        close(fd);
        return false;
    }
    if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        close(fd);
        return record_fail_file(s, err, RECORD_E_FORMAT, "not a record file");
    }
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    int saved = errno;
    close(fd);
    if (p == MAP_FAILED) {
        errno = saved;
        return record_fail_errno(err, "%.300s: mmap", file);
    }
    s->data = p;
    s->size = (size_t)st.st_size;
    s->mapped = true;
    return true;
}

void record_shard_release(struct record_shard *s)
{
    if (s->mapped)
        munmap((void *)(uintptr_t)s->data, s->size);
    free(s->file);
    *s = (struct record_shard){0};
}

bool record_shard_check_index(const struct record_shard *s, struct record_err *err)
{
    const struct record_header *h = &s->h;
    if (record_crc32c(0, s->data + h->index_offset, h->records * ENTRY_SIZE) != h->index_crc)
        return CORRUPT(s, err, "the index's checksum is wrong");
    if (h->flags & FLAG_KEYS &&
        record_crc32c(0, s->data + h->keys_offset, h->records * ENTRY_SIZE) != h->keys_crc)
        return CORRUPT(s, err, "the key table's checksum is wrong");
    return true;
}

void record_shard_bad_entry(const struct record_shard *s, uint64_t n, struct record_err *err)
{
    CORRUPT(s, err, "record %" PRIu64 ": impossible offset or length in the index", s->h.first + n);
}

/* ---- the files of a set ----------------------------------------------------------------------------------
 */

/* The length of what stands before "-00000-of-00003.irec", or -1; the two numbers. */
static int split_name(const char *name, unsigned *shard, unsigned *shards)
{
    static const char pattern[] = "-00000-of-00000.irec";
    size_t n = strlen(name), tail = sizeof pattern - 1;
    if (n <= tail)
        return -1;
    const char *p = name + n - tail;
    for (size_t i = 0; i < tail; i++)
        if (pattern[i] == '0' ? p[i] < '0' || p[i] > '9' : p[i] != pattern[i])
            return -1;
    *shard = (unsigned)strtoul(p + 1, NULL, 10);
    *shards = (unsigned)strtoul(p + 10, NULL, 10);
    return (int)(n - tail);
}

static char **file_list(const char *prefix, int prefix_len, unsigned shards, size_t *ret_n,
                        struct record_err *err)
{
    char **files = calloc(shards ? shards : 1, sizeof *files);
    for (unsigned i = 0; files && i < shards; i++) {
        if (asprintf(&files[i], "%.*s-%05u-of-%05u.irec", prefix_len, prefix, i, shards) < 0) {
            files[i] = NULL;
            record_files_free(files, i);
            files = NULL;
        }
    }
    if (!files)
        return record_fail(err, RECORD_E_MEMORY, "out of memory"), NULL;
    *ret_n = shards;
    return files;
}

void record_files_free(char **files, size_t n)
{
    for (size_t i = 0; files && i < n; i++)
        free(files[i]);
    free(files);
}

/* How many shards the one set named prefix has; 0 with err if there is none or more than one. */
static unsigned find_prefix(const char *prefix, struct record_err *err)
{
    const char *slash = strrchr(prefix, '/'), *base = slash ? slash + 1 : prefix;
    char *folder = slash ? strndup(prefix, (size_t)(slash - prefix) + 1) : strdup(".");
    unsigned found = 0, shard, shards;
    bool two = false;
    if (!folder)
        return record_fail(err, RECORD_E_MEMORY, "out of memory"), 0;
    DIR *d = opendir(folder);
    free(folder);
    if (!d)
        return record_fail_errno(err, "%.300s", prefix), 0;
    for (struct dirent *e; (e = readdir(d));) {
        int n = split_name(e->d_name, &shard, &shards);
        if (n < 0 || (size_t)n != strlen(base) || memcmp(e->d_name, base, (size_t)n) != 0 || !shards)
            continue;
        two |= found && found != shards;
        found = shards;
    }
    closedir(d);
    if (two)
        return record_fail(err, RECORD_E_ARG,
                           "%.300s: there is more than one set of this name; name one file of it", prefix),
               0;
    if (!found)
        record_fail(err, RECORD_E_NOT_FOUND, "%.300s: no such file or record set", prefix);
    return found;
}

char **record_files_find(const char *path, size_t *ret_n, struct record_err *err)
{
    struct stat st;
    unsigned shard, shards;
    if (stat(path, &st) < 0 || S_ISDIR(st.st_mode)) {
        shards = find_prefix(path, err);
        return shards ? file_list(path, (int)strlen(path), shards, ret_n, err) : NULL;
    }
    int n = split_name(path, &shard, &shards);
    if (n >= 0 && shards > 0)
        return file_list(path, n, shards, ret_n, err);
    char **files = calloc(1, sizeof *files);
    if (files && !(files[0] = strdup(path))) {
        free(files);
        files = NULL;
    }
    if (!files)
        return record_fail(err, RECORD_E_MEMORY, "out of memory"), NULL;
    *ret_n = 1;
    return files;
}
