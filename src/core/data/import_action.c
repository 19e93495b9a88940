/* POST .../versions/7/import: checks what it can at once and leaves the rest to the task. */
#include "base/messages.h"
#include "codec/codec.h"
#include "core/data/database_in.h"
#include "core/data/folder_in.h"
#include "core/data/import.h"
#include "core/data/s3_in.h"
#include "store/upload.h"

#define MAX_UPLOADS 1000

const struct field import_fields[] = {
    {.name = "uploads",
     .type = FIELD_JSON,
     .flags = FIELD_CREATE,
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
    {.name = "directory",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 1024,
     .title = {"Folder of the server", "服务器目录"},
     .help = {"A mounted folder that the administrator allows.", "管理员允许的挂载目录。"}},
    {.name = "every",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .max = 1000000,
     .title = {"Every how many frames of a video", "视频每隔多少帧取一帧"}},
    {.name = "per_second",
     .type = FIELD_REAL,
     .flags = FIELD_CREATE,
     .max = 1000,
     .title = {"Frames per second of a video", "视频每秒取帧数"}},
    {.name = "s3",
     .type = FIELD_JSON,
     .flags = FIELD_CREATE,
     .max = 1 << 15,
     .title = {"Object store (S3)", "对象存储（S3）"},
     .help = {"{\"endpoint\", \"region\", \"bucket\", \"prefix\" or \"key\", \"access_key\", \"ca\"} of a "
              "host that "
              "the administrator allows.",
              "{\"endpoint\", \"region\", \"bucket\", \"prefix\" 或 \"key\", "
              "\"access_key\", \"ca\"}，主机须由管理员允许。"}},
    {.name = "database",
     .type = FIELD_JSON,
     .flags = FIELD_CREATE,
     .max = 1 << 16,
     .title = {"Database (MariaDB, MySQL)", "数据库（MariaDB、MySQL）"},
     .help = {"{\"host\", \"port\", \"user\", \"database\", \"table\" or \"query\"} and the names of "
              "columns: \"name\", "
              "\"content\" or \"file\", \"label\" or \"annotation\"; \"tls\": \"required\" and \"ca\" for "
              "an encrypted connection.",
              "{\"host\", \"port\", \"user\", \"database\", \"table\" 或 "
              "\"query\"}，以及列名：\"name\"、\"content\" 或 "
              "\"file\"、\"label\" 或 \"annotation\"；加密连接用 \"tls\": \"required\" 与 \"ca\"。"}},
    {.name = "secret",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_SECRET,
     .max = 1000,
     .title = {"Secret key or password", "密钥或密码"},
     .help = {"Of the object store or database; kept encrypted until the import is over.",
              "对象存储或数据库的密钥，加密保存至导入结束。"}},
    {.name = "replace",
     .type = FIELD_BOOL,
     .flags = FIELD_CREATE,
     .fallback = "false",
     .title = {"Replace what people labelled", "替换人工标注"},
     .help =
         {"Otherwise samples that a person labelled, accepted or rejected stay as they are. What is replaced "
          "is in the report and in the history of the sample.",
          "否则，人工标注、接受或驳回的样本保持不变。被替换的内容列在报告中，并保留在样本历史里。"}},
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
    if (!upload_take(op->core->store, id, op->caller->user, version->project, "uploads", op->arena, &u, err))
        return false;
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

static bool add_files(struct op *op, const struct object *version, yyjson_val *list, struct json_out *o,
                      struct str *ret_name, struct err *err)
{
    yyjson_val *v;
    size_t i, max;
    if (list && (!yyjson_is_arr(list) || yyjson_arr_size(list) > MAX_UPLOADS))
        return err_set(err, ERR_INVALID, "uploads", "uploads: a list of at most %d", MAX_UPLOADS);
    json_key(o, "files");
    json_array(o);
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!add_file(op, version, v, o, ret_name, err))
            return false;
    }
    json_array_end(o);
    return true;
}

enum { UPLOADS, FORMAT, DIRECTORY, EVERY, PER_SECOND, S3, DATABASE, SECRET, REPLACE };

static bool has_text(const struct db_value *v)
{
    return v->type == DB_TEXT && v->s.n;
}

/* A source elsewhere: whether the administrator allows it is said at once, whether it answers by the task. */
static bool check_remote(struct op *op, const struct db_value *input, struct err *err)
{
    yyjson_val *v = NULL;
    struct str secret = has_text(&input[SECRET]) ? input[SECRET].s : STR_NULL;
    if (has_text(&input[S3]) &&
        (!(v = json_parse(op->arena, input[S3].s, err)) || !s3_in_check(op, v, secret, err)))
        return false;
    return !has_text(&input[DATABASE]) ||
           ((v = json_parse(op->arena, input[DATABASE].s, err)) && database_in_check(op, v, err));
}

static bool check_input(struct op *op, const struct db_value *input, size_t uploads, struct err *err)
{
    int sources =
        (uploads > 0) + has_text(&input[DIRECTORY]) + has_text(&input[S3]) + has_text(&input[DATABASE]);
    if (sources == 0)
        return err_set(err, ERR_INVALID, "uploads",
                       "uploads: name at least one upload, or a directory, s3 or database");
    if (has_text(&input[S3]) && has_text(&input[DATABASE]))
        return err_set(err, ERR_INVALID, "s3", "s3 and database: one import takes from one of them");
    if (!check_remote(op, input, err))
        return false;
    if (has_text(&input[FORMAT]) && !codec_asked(input[FORMAT].s, err))
        return false;
    if (input[EVERY].i < 0 || input[PER_SECOND].r < 0)
        return err_set(err, ERR_INVALID, "every", "every and per_second must not be negative");
    return !has_text(&input[DIRECTORY]) || folder_in_check(op->core, input[DIRECTORY].s, err);
}

static bool write_sources(struct op *op, struct json_out *o, const struct db_value *input, struct err *err)
{
    const char *sealed;
    if (has_text(&input[S3])) {
        json_key(o, "s3");
        json_raw(o, input[S3].s);
    }
    if (has_text(&input[DATABASE])) {
        json_key(o, "database");
        json_raw(o, input[DATABASE].s);
    }
    if (!has_text(&input[SECRET]))
        return true;
    if (!sources_seal(op->core, op->arena, input[SECRET].s, &sealed, err))
        return false;
    json_kz(o, "sealed", sealed);
    return true;
}

static void write_options(struct json_out *o, const struct db_value *input)
{
    if (has_text(&input[FORMAT]))
        json_kstr(o, "format", input[FORMAT].s);
    if (has_text(&input[DIRECTORY]))
        json_kstr(o, "directory", input[DIRECTORY].s);
    json_kbool(o, "replace", input[REPLACE].i != 0);
    json_kint(o, "every", input[EVERY].i);
    json_key(o, "per_second");
    json_real(o, input[PER_SECOND].type == DB_INT ? (double)input[PER_SECOND].i : input[PER_SECOND].r);
}

static struct words title_of(struct op *op, size_t uploads, struct str name, const struct db_value *input)
{
    if (uploads > 1)
        return task_name(op->arena, MESSAGE_NAME_IMPORT_FILES, uploads);
    struct str what = uploads ? name : has_text(&input[DIRECTORY]) ? input[DIRECTORY].s : STR_NULL;
    yyjson_val *s3 = has_text(&input[S3]) ? json_parse(op->arena, input[S3].s, NULL) : NULL;
    yyjson_val *database = has_text(&input[DATABASE]) ? json_parse(op->arena, input[DATABASE].s, NULL) : NULL;
    if (!what.p && s3)
        return task_name(op->arena, MESSAGE_NAME_IMPORT_S3, yyjson_get_str(yyjson_obj_get(s3, "bucket")));
    if (!what.p && database)
        return task_name(op->arena, MESSAGE_NAME_IMPORT_DATABASE,
                         yyjson_get_str(yyjson_obj_get(database, "database")));
    return task_name(op->arena, MESSAGE_NAME_IMPORT, (int)(what.n > 100 ? 100 : what.n), what.p);
}

bool import_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    (void)status;
    struct sample_set set;
    auto_buf struct buf params = {0};
    struct json_out o;
    struct str name = STR_NULL;
    yyjson_val *list = NULL;
    if (input[UPLOADS].type == DB_TEXT && !(list = json_parse(op->arena, input[UPLOADS].s, err)))
        return false;
    size_t n = yyjson_arr_size(list);
    if (!sample_set_of(op, version, &set, err) || !sample_set_open(&set, err) ||
        !check_input(op, input, n, err))
        return false;
    json_begin(&o, &params);
    json_object(&o);
    write_options(&o, input);
    if (!write_sources(op, &o, input, err) || !add_files(op, version, list, &o, &name, err))
        return false;
    json_object_end(&o);
    return version_start_task(op, version, "import", title_of(op, n, name, input), buf_view(&params), out,
                              err);
}
