/* `record convert`: folders, tar files and JSON lines to record files; records to a folder. */
#include "record_cli_internal.h"
#include "record_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 200

const char record_file_schema[] = "{\"fields\":[{\"name\":\"key\",\"type\":\"utf8\"},{\"name\":\"data\","
                                  "\"type\":\"bytes\"}],\"key\":\"key\"}";

void record_skip(struct record_convert *c, const char *name, const char *why)
{
    fprintf(stderr, "left out: %s: %s\n", name, why);
    c->skipped++;
}

char *record_load(const char *file, size_t max, size_t *ret_size, struct record_err *err)
{
    struct stat st;
    char *data = NULL;
    size_t used = 0;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return record_fail_errno(err, "%.300s", file), NULL;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        record_fail(err, RECORD_E_ARG, "%.300s: not a regular file", file);
    else if ((uint64_t)st.st_size > max)
        record_fail(err, RECORD_E_LIMIT, "%.300s: larger than %zu bytes", file, max);
    else if (!(data = malloc((size_t)st.st_size + 1)))
        record_fail(err, RECORD_E_MEMORY, "%.300s: out of memory", file);
    ssize_t n = 1;
    while (data && used < (size_t)st.st_size && (n = read(fd, data + used, (size_t)st.st_size - used)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    if (data && used < (size_t)st.st_size) {
        if (n < 0)
            record_fail_errno(err, "%.300s", file);
        else
            record_fail(err, RECORD_E_IO, "%.300s: became shorter while it was read", file);
        free(data);
        data = NULL;
    }
    close(fd);
    if (!data)
        return NULL;
    data[used] = 0;
    *ret_size = used;
    return data;
}

bool record_add_file(struct record_convert *c, const char *name, const void *data, size_t size,
                     struct record_err *err)
{
    struct record_err inner;
    struct record_value v[2] = {{name, strlen(name)}, {data ? data : "", size}};
    if (record_writer_add(c->writer, v, 2, &inner))
        return true;
    return record_fail(err, inner.code, "%.200s: %.250s", name, inner.message);
}

/* ---- a folder --------------------------------------------------------------------------------------------
 */

static int without_dots(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_folder(struct record_convert *c, const char *path, size_t root, int depth,
                       struct record_err *err);

static bool add_entry(struct record_convert *c, const char *path, size_t root, int depth,
                      struct record_err *err)
{
    struct stat st;
    size_t size;
    if (lstat(path, &st) < 0)
        return record_fail_errno(err, "%.300s", path);
    if (S_ISDIR(st.st_mode))
        return add_folder(c, path, root, depth + 1, err);
    if (!S_ISREG(st.st_mode)) {
        record_skip(c, path, S_ISLNK(st.st_mode) ? "a symbolic link" : "not a regular file");
        return true;
    }
    char *data = record_load(path, RECORD_MAX_SIZE, &size, err);
    bool ok = data && record_add_file(c, path + root, data, size, err);
    free(data);
    return ok;
}

static bool add_folder(struct record_convert *c, const char *path, size_t root, int depth,
                       struct record_err *err)
{
    struct dirent **list;
    bool ok = true;
    if (depth > MAX_DEPTH)
        return record_fail(err, RECORD_E_LIMIT, "%.300s: folders are nested too deeply", path);
    int n = scandir(path, &list, without_dots, by_bytes);
    if (n < 0)
        return record_fail_errno(err, "%.300s", path);
    for (int i = 0; i < n; i++) {
        char *inside = NULL;
        if (ok && asprintf(&inside, "%s/%s", path, list[i]->d_name) < 0)
            ok = record_fail(err, RECORD_E_MEMORY, "out of memory"), inside = NULL;
        ok = ok && add_entry(c, inside, root, depth, err);
        free(inside);
        free(list[i]);
    }
    free(list);
    return ok;
}

bool record_from_folder(struct record_convert *c, const char *folder, struct record_err *err)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    char *path = strndup(folder, n);
    bool ok = path ? add_folder(c, path, n + 1, 0, err) : record_fail(err, RECORD_E_MEMORY, "out of memory");
    free(path);
    return ok;
}

/* ---- to a folder -----------------------------------------------------------------------------------------
 */

static bool safe_path(const char *key)
{
    const char *at = key;
    for (;;) {
        size_t n = strcspn(at, "/");
        if (n == 0 || n > 255 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        if (!at[n])
            return true;
        at += n + 1;
    }
}

/* Makes the folders of key under root and returns a descriptor of the new file; no link is followed. */
static int create_file(int root, char *key, struct record_err *err)
{
    int dir = dup(root);
    char *at = key, *slash;
    while (dir >= 0 && (slash = strchr(at, '/'))) {
        *slash = 0;
        int next = mkdirat(dir, at, 0777) < 0 && errno != EEXIST
                       ? -1
                       : openat(dir, at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int saved = errno;
        close(dir);
        errno = saved;
        *slash = '/';
        dir = next;
        at = slash + 1;
    }
    int fd = dir < 0 ? -1 : openat(dir, at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        record_fail_errno(err, "%.300s", key);
    if (dir >= 0)
        close(dir);
    return fd;
}

static bool write_file(int root, char *key, const struct record_value *v, struct record_err *err)
{
    const char *p = v->data;
    size_t left = v->size;
    int fd = create_file(root, key, err);
    if (fd < 0)
        return false;
    while (left) {
        ssize_t n = write(fd, p, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            record_fail_errno(err, "%.300s", key);
            close(fd);
            return false;
        }
        p += n;
        left -= (size_t)n;
    }
    return close(fd) == 0 || record_fail_errno(err, "%.300s", key);
}

static bool write_record(struct record_reader *r, uint64_t i, size_t field, int root, struct record_err *err)
{
    struct record rec;
    struct record_value v, key;
    char name[4096];
    int key_field = record_schema_key(record_reader_schema(r));
    if (!record_reader_get(r, i, &rec, err) || !record_get(&rec, field, &v, err))
        return false;
    if (!v.data)
        return true;
    snprintf(name, sizeof name, "%012" PRIu64, i);
    if (key_field >= 0) {
        if (!record_get(&rec, (size_t)key_field, &key, err))
            return false;
        if (!key.data || key.size >= sizeof name || memchr(key.data, 0, key.size))
            return record_fail(err, RECORD_E_ARG, "record %" PRIu64 ": its key cannot be the name of a file",
                               i);
        memcpy(name, key.data, key.size);
        name[key.size] = 0;
        if (!safe_path(name))
            return record_fail(err, RECORD_E_ARG, "record %" PRIu64 ": its key \"%.200s\" is no safe path", i,
                               name);
    }
    return write_file(root, name, &v, err);
}

static int choose_field(const struct record_schema *s, const char *name, struct record_err *err)
{
    int only = -1;
    if (name) {
        only = record_schema_find(s, name);
        if (only < 0)
            record_fail(err, RECORD_E_ARG, "--field %.100s: the schema has no such field", name);
        return only;
    }
    for (size_t i = 0; i < record_schema_count(s); i++) {
        if (record_schema_field(s, i)->type != RECORD_BYTES || (int)i == record_schema_key(s))
            continue;
        if (only >= 0)
            return record_fail(err, RECORD_E_ARG, "there are several bytes fields: choose one with --field"),
                   -1;
        only = (int)i;
    }
    if (only < 0)
        record_fail(err, RECORD_E_ARG, "there is no bytes field: choose a field with --field");
    return only;
}

static bool to_folder(const struct record_args *a, struct record_err *err)
{
    struct record_reader *r = record_reader_open(a->path[0], RECORD_VERIFY, err);
    int field = r ? choose_field(record_reader_schema(r), a->field, err) : -1;
    int root = -1;
    bool ok = field >= 0;
    if (ok && mkdir(a->path[1], 0777) < 0 && errno != EEXIST)
        ok = record_fail_errno(err, "%.300s", a->path[1]);
    if (ok && (root = open(a->path[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        ok = record_fail_errno(err, "%.300s", a->path[1]);
    for (uint64_t i = 0; ok && i < record_reader_count(r); i++)
        ok = write_record(r, i, (size_t)field, root, err);
    if (root >= 0)
        close(root);
    if (ok)
        printf("%" PRIu64 " records\n", record_reader_count(r));
    record_reader_free(r);
    return ok;
}

/* ---- which way -------------------------------------------------------------------------------------------
 */

static bool ends_with(const char *text, const char *tail)
{
    size_t n = strlen(text), k = strlen(tail);
    return n >= k && strcmp(text + n - k, tail) == 0;
}

static bool read_source(struct record_convert *c, const struct record_schema *schema, struct record_err *err)
{
    const char *source = c->args->path[0];
    struct stat st;
    if (stat(source, &st) < 0)
        return record_fail_errno(err, "%.300s", source);
    if (S_ISDIR(st.st_mode))
        return record_from_folder(c, source, err);
    return ends_with(source, ".tar") ? record_from_tar(c, source, err)
                                     : record_from_jsonl(c, source, schema, err);
}

/* The folder of the record files, which may be new: so is the one that records are written to. */
static bool make_folder(const char *target, struct record_err *err)
{
    const char *slash = strrchr(target, '/');
    if (!slash || slash == target)
        return true;
    char *folder = strndup(target, (size_t)(slash - target));
    bool ok = folder && (mkdir(folder, 0777) == 0 || errno == EEXIST);
    if (!ok)
        record_fail_errno(err, "%.300s", folder ? folder : target);
    free(folder);
    return ok;
}

static bool from_source(const struct record_args *a, char *json, size_t size, struct record_err *err)
{
    struct record_convert c = {.args = a};
    struct record_summary sum;
    struct record_writer_options o = {.schema = json,
                                      .schema_size = size,
                                      .shard_bytes = a->shard_bytes,
                                      .shard_records = a->shard_records,
                                      .overwrite = a->overwrite};
    struct record_schema *schema = record_schema_parse(json, size, err);
    if (!schema)
        return false;
    c.writer = make_folder(a->path[1], err) ? record_writer_new(a->path[1], &o, err) : NULL;
    bool ok = c.writer && read_source(&c, schema, err) && record_writer_finish(c.writer, &sum, err);
    record_writer_free(c.writer);
    record_schema_free(schema);
    if (ok)
        printf("%" PRIu64 " records in %" PRIu32 " shard%s, %" PRIu64 " bytes, %" PRIu64 " left out\n",
               sum.records, sum.shards, sum.shards == 1 ? "" : "s", sum.bytes, c.skipped);
    return ok;
}

bool record_convert_run(const struct record_args *a, struct record_err *err)
{
    static const char json_schema[] = "{\"fields\":[{\"name\":\"value\",\"type\":\"json\"}]}";
    struct stat st;
    bool there = stat(a->path[0], &st) == 0, lines = ends_with(a->path[0], ".jsonl");
    if (!there || ends_with(a->path[0], ".irec"))
        return to_folder(a, err);
    if (!S_ISDIR(st.st_mode) && !lines && !ends_with(a->path[0], ".tar"))
        return record_fail(err, RECORD_E_ARG, "%.300s: neither a folder nor a .tar, .jsonl or .irec file",
                           a->path[0]);
    if (a->field)
        return record_fail(err, RECORD_E_ARG, "--field is for converting records to a folder");
    if (a->schema && !lines)
        return record_fail(err, RECORD_E_ARG,
                           "--schema is for .jsonl files; this source has the fields key and data");
    size_t size = 0;
    char *json = a->schema ? record_load(a->schema, RECORD_MAX_SCHEMA, &size, err)
                           : strdup(lines ? json_schema : record_file_schema);
    if (!json)
        return a->schema ? false : record_fail(err, RECORD_E_MEMORY, "out of memory");
    bool ok = from_source(a, json, a->schema ? size : strlen(json), err);
    free(json);
    return ok;
}
