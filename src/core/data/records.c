#include "core/data/records.h"

#include "base/fs.h"
#include "base/messages.h"
#include "core/data/sample.h"
#include "record/record.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

/* What is small comes first: it is read without touching the picture. */
static const char schema[] =
    "{\"fields\":[{\"name\":\"name\",\"type\":\"utf8\"},{\"name\":\"width\",\"type\":\"int64\"},"
    "{\"name\":\"height\",\"type\":\"int64\"},{\"name\":\"annotation\",\"type\":\"json\"},"
    "{\"name\":\"data\",\"type\":\"bytes\"}],\"key\":\"name\"}";

struct writing {
    struct task *task;
    struct record_writer *writer;
    int64_t done, total;
};

static bool record_failed(const struct record_err *why, struct err *err)
{
    return err_set(err, why->code == RECORD_E_IO ? ERR_UNAVAILABLE : ERR_INTERNAL, NULL, "record files: %s",
                   why->message);
}

static bool add_sample(void *ctx, const struct sample *s, struct err *err)
{
    struct writing *w = ctx;
    struct record_err why;
    auto_fd int fd = blob_open(w->task->core->store, &s->blob, NULL, err);
    if (fd < 0)
        return false;
    void *map = s->size ? mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (map == MAP_FAILED)
        return err_errno(err, errno, "a sample cannot be mapped");
    uint64_t width = htole64((uint64_t)s->width), height = htole64((uint64_t)s->height);
    const struct record_value values[] = {{s->name.p, s->name.n},
                                          {&width, sizeof width},
                                          {&height, sizeof height},
                                          {s->annotation.p, s->annotation.n},
                                          {map ? map : "", (size_t)s->size}};
    bool ok = record_writer_add(w->writer, values, countof(values), &why);
    if (map)
        munmap(map, (size_t)s->size);
    w->done++;
    return ok ? task_progress(w->task, w->done, w->total, err) : record_failed(&why, err);
}

static bool write_files(struct task *t, const char *prefix, struct record_summary *ret, struct err *err)
{
    struct sample_counts counts;
    struct record_err why;
    int64_t shard = yyjson_get_sint(yyjson_obj_get(t->params, "shard_bytes"));
    if (!sample_counts(t->core->db, t->subject, &counts, err))
        return false;
    struct writing w = {.task = t, .total = counts.samples};
    w.writer = record_writer_new(
        prefix,
        &(struct record_writer_options){.schema = schema, .shard_bytes = (uint64_t)shard, .overwrite = true},
        &why);
    if (!w.writer)
        return record_failed(&why, err);
    bool ok = sample_each_by_name(t->core->db, t->subject, &(struct sample_query){.state = -1}, add_sample,
                                  &w, err);
    if (ok && !record_writer_finish(w.writer, ret, &why))
        ok = record_failed(&why, err);
    record_writer_free(w.writer);
    return ok;
}

/* --- from files to blobs to the version --- */

struct list {
    struct buf json;
    struct json_out out;
    struct digest blob[1000];
    size_t n;
};

static bool take_files(struct task *t, const char *folder, struct list *l, struct err *err)
{
    struct dirent **names;
    auto_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int n = fd < 0 ? -1 : scandirat(fd, ".", &names, NULL, alphasort);
    if (n < 0)
        return err_errno(err, errno, "cannot read %s", folder);
    bool ok = true;
    json_begin(&l->out, &l->json);
    json_array(&l->out);
    for (int i = 0; i < n; i++) {
        int64_t size;
        char hex[SHA256_HEX + 1];
        if (ok && names[i]->d_name[0] != '.' && l->n == countof(l->blob))
            ok = err_set(err, ERR_TOO_LARGE, "shard_bytes", "more than %zu files: choose larger shards",
                         countof(l->blob));
        if (ok && names[i]->d_name[0] != '.' &&
            (ok = blob_take_file(t->core->store, fd, names[i]->d_name, &l->blob[l->n], &size, err))) {
            digest_hex(&l->blob[l->n++], hex);
            json_object(&l->out);
            json_kz(&l->out, "name", names[i]->d_name);
            json_kz(&l->out, "digest", hex);
            json_kint(&l->out, "size", size);
            json_object_end(&l->out);
        }
        free(names[i]);
    }
    free(names);
    json_array_end(&l->out);
    return ok;
}

struct keeping {
    int64_t version;
    const struct list *list;
};

static bool keep_write(struct op *op, void *ctx, struct err *err)
{
    struct keeping *k = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, k->version, &now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    if (!records_drop(op, &now, err))
        return false;
    for (size_t i = 0; i < k->list->n; i++)
        if (!store_use(op->conn, now.project, &k->list->blob[i], 1, err))
            return false;
    *object_value(&now, "records") = db_text(buf_view(&k->list->json));
    return engine_update_row(op, &now, err);
}

static bool run_records(struct task *t, struct err *err)
{
    const char *folder = arena_printf(t->arena, "%s/blobs/new/records-%lld", t->core->data, (long long)t->id);
    struct object version;
    struct record_summary sum;
    if (!engine_get(t->core, &caller_system, &kind_dataset_version, 0, t->subject, t->arena, &version, err))
        return false;
    const char *prefix =
        arena_printf(t->arena, "%s/" STR_FMT, folder, STR_ARG(object_text(&version, "name")));
    struct list *l = base_zalloc(sizeof *l);
    struct err ignored = {0};
    bool ok = fs_remove_tree(AT_FDCWD, folder, err) && fs_mkdirs(folder, 0700, err) &&
              write_files(t, prefix, &sum, err) && take_files(t, folder, l, err) &&
              engine_write(t->core, &t->caller, t->arena, keep_write, &(struct keeping){t->subject, l}, err);
    fs_remove_tree(AT_FDCWD, folder, &ignored);
    if (ok)
        task_result(t, str_of(arena_printf(t->arena, "{\"records\":%llu,\"bytes\":%llu,\"shards\":%u}",
                                           (unsigned long long)sum.records, (unsigned long long)sum.bytes,
                                           sum.shards)));
    buf_release(&l->json);
    free(l);
    return ok;
}

const struct task_type task_records = {
    .name = "records", .title = {"Write record files", "生成记录文件"}, .run = run_records};

/* --- the list of a version --- */

static yyjson_val *list_of(struct arena *a, const struct object *version)
{
    struct str text = object_text(version, "records");
    struct err ignored = {0};
    return text.p ? json_parse(a, text, &ignored) : NULL;
}

bool records_find(struct arena *a, const struct object *version, struct str name, struct digest *ret,
                  struct err *err)
{
    yyjson_val *v;
    size_t i, max;
    yyjson_arr_foreach(list_of(a, version), i, max, v)
    {
        if (str_eq(json_str(yyjson_obj_get(v, "name")), name) &&
            digest_parse(json_str(yyjson_obj_get(v, "digest")), ret))
            return true;
    }
    return err_set(err, ERR_NOT_FOUND, NULL, "the version has no record file \"" STR_FMT "\"", STR_ARG(name));
}

bool records_drop(struct op *op, const struct object *version, struct err *err)
{
    yyjson_val *v;
    size_t i, max;
    struct digest d;
    yyjson_arr_foreach(list_of(op->arena, version), i, max, v)
    {
        if (digest_parse(json_str(yyjson_obj_get(v, "digest")), &d) &&
            !store_use(op->conn, version->project, &d, -1, err))
            return false;
    }
    return true;
}

const struct field records_fields[] = {
    {.name = "shard_bytes",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1 << 16,
     .max = INT64_C(1) << 40,
     .fallback = "268435456",
     .unit = "bytes",
     .title = {"Size of a file", "单个文件大小"}},
    {0},
};

bool records_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)status;
    if (object_int(version, "samples") == 0)
        return err_set(err, ERR_CONFLICT, "samples", "the version has no samples yet");
    const char *params = arena_printf(op->arena, "{\"shard_bytes\":%lld}", (long long)input[0].i);
    return version_start_task(op, version, "records", task_name(op->arena, MESSAGE_NAME_RECORDS),
                              str_of(params), out, err);
}
