/* POST .../versions/7/import: checks what it can at once and leaves the rest to the task. */
#include "codec/codec.h"
#include "core/data/import.h"
#include "store/upload.h"

#define MAX_UPLOADS 1000

const struct field import_fields[] = {
    {.name = "uploads",
     .type = FIELD_JSON,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .max = 1 << 19,
     .title = {"Uploads", "上传"},
     .help = {"Finished uploads: [{\"upload\": id, \"name\": \"a.zip\"}]. Archives are unpacked.",
              "已完成的上传：[{\"upload\": id, \"name\": \"a.zip\"}]，压缩包会自动解压。"}},
    {.name = "format",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 50,
     .title = {"Format", "格式"},
     .help = {"Empty: found out by itself.", "留空则自动识别。"}},
    {0},
};

/* Writes one file of the task's parameters; the blob is kept from the collector by the upload's row for a
 * day. */
static bool add_file(struct op *op, const struct object *version, yyjson_val *v, struct json_out *o,
                     struct str *ret_name, struct err *err)
{
    struct str id = json_str(yyjson_obj_get(v, "upload")), name = json_str(yyjson_obj_get(v, "name"));
    struct upload u;
    int64_t size;
    char hex[SHA256_HEX + 1];
    if (!id.p || !name.n)
        return err_set(err, ERR_INVALID, "uploads", "uploads: each has an upload and a name");
    if (!upload_get(op->core->store, id, op->caller->user, op->arena, &u, err))
        return false;
    if (!u.finished || u.project != version->project)
        return err_set(err, ERR_CONFLICT, "uploads",
                       "upload " STR_FMT " is not finished, or of another project", STR_ARG(id));
    if (!blob_touch(op->core->store, &u.blob, &size, err))
        return false;
    digest_hex(&u.blob, hex);
    json_object(o);
    json_kstr(o, "name", name);
    json_kz(o, "blob", hex);
    json_object_end(o);
    *ret_name = name;
    return true;
}

bool import_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    struct sample_set set;
    auto_buf struct buf params = {0};
    struct json_out o;
    yyjson_val *list = json_parse(op->arena, input[0].s, err), *v;
    size_t i, max, n = yyjson_arr_size(list);
    struct str name = STR_NULL;
    if (!list || !sample_set_of(op, version, &set, err) || !sample_set_open(&set, err))
        return false;
    if (!yyjson_is_arr(list) || n == 0 || n > MAX_UPLOADS)
        return err_set(err, ERR_INVALID, "uploads", "uploads: a list of 1 to %d", MAX_UPLOADS);
    if (input[1].type == DB_TEXT && input[1].s.n && !codec_named(input[1].s))
        return err_set(err, ERR_INVALID, "format", "format: there is no format \"" STR_FMT "\"",
                       STR_ARG(input[1].s));
    json_begin(&o, &params);
    json_object(&o);
    if (input[1].type == DB_TEXT && input[1].s.n)
        json_kstr(&o, "format", input[1].s);
    json_key(&o, "files");
    json_array(&o);
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!add_file(op, version, v, &o, &name, err))
            return false;
    }
    json_array_end(&o);
    json_object_end(&o);
    const char *title =
        n == 1 ? arena_printf(op->arena, "Import %.*s", (int)(name.n > 100 ? 100 : name.n), name.p)
               : arena_printf(op->arena, "Import %zu files", n);
    return version_start_task(op, version, "import", title, buf_view(&params), out, status, err);
}
