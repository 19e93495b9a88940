/* Actions of images: copy, derive, import, pull, save. Each makes a version of the image it is asked of. */
#include "base/messages.h"
#include "core/build/build.h"
#include "core/build/save.h"

#include "core/folder/folder.h"
#include "core/image/assemble.h"
#include "core/image/pull.h"
#include "core/job/job.h"
#include "store/upload.h"

static struct json_out begin(struct buf *b, const struct object *image, struct str version)
{
    struct json_out o;
    json_begin(&o, b);
    json_object(&o);
    json_kstr(&o, "name", object_text(image, "name"));
    json_kstr(&o, "version", version);
    return o;
}

/* --- copy --- */

static const struct field copy_fields[] = {
    {.name = "from",
     .type = FIELD_REF,
     .ref = "image_version",
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .title = {"Version to copy", "要复制的版本"}},
    IMAGE_FIELD_VERSION,
    {0},
};

/* The version that an input names, with the caller's right to read it, and its repository. */
static bool find_from(struct op *op, int64_t id, struct object *version, struct repository *ret,
                      struct err *err)
{
    struct object image;
    if (!engine_get(op->core, op->caller, &kind_image_version, 0, id, op->arena, version, err) ||
        !engine_get(op->core, &caller_system, &kind_image, 0, version->parent, op->arena, &image, err))
        return false;
    *ret =
        (struct repository){.project = image.project, .image = image.id, .name = object_text(&image, "name")};
    return true;
}

static bool run_copy(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    struct object version;
    struct repository from;
    struct repository to = {.project = o->project, .image = o->id, .name = object_text(o, "name")};
    struct repository_pushed pushed;
    struct digest d;
    const struct reference at = {.tag = input[1].s};
    (void)status;
    return reference_tag(input[1].s, err) && find_from(op, input[0].i, &version, &from, err) &&
           reference_digest(object_text(&version, "digest"), &d, err) &&
           assemble_copy(op->core, op->caller, &from, &d, &to, &at, op->arena, &pushed, err) &&
           engine_answer_id(op, &kind_image_version, pushed.version, out, err);
}

/* --- derive --- */

enum { D_FROM, D_VERSION, D_ENV, D_COMMAND, D_ENTRYPOINT, D_CWD, D_ALGORITHM, D_FOLDER };

static const struct field derive_fields[] = {
    {.name = "from",
     .type = FIELD_REF,
     .ref = "image_version",
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .title = {"Version to start from", "基础版本"}},
    IMAGE_FIELD_VERSION,
    {.name = "env",
     .type = FIELD_JSON,
     .flags = FIELD_CREATE,
     .max = 65536,
     .title = {"Variables", "环境变量"},
     .help = {"{\"NAME\": \"value\"}; null removes one.", "{\"NAME\": \"value\"}；null 表示删除。"}},
    {.name = "command",
     .type = FIELD_TEXTS,
     .flags = FIELD_CREATE,
     .max = 100,
     .item_max = 3000,
     .title = {"Command", "命令"}},
    {.name = "entrypoint",
     .type = FIELD_TEXTS,
     .flags = FIELD_CREATE,
     .max = 100,
     .item_max = 3000,
     .title = {"Entry point", "入口"}},
    {.name = "cwd", .type = FIELD_TEXT, .flags = FIELD_CREATE, .max = 500, .title = {"Folder", "工作目录"}},
    {.name = "algorithm",
     .type = FIELD_REF,
     .ref = "algorithm_version",
     .flags = FIELD_CREATE,
     .title = {"Files of an algorithm", "算法文件"}},
    {.name = "folder",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 500,
     .fallback = "\"/opt/algorithm\"",
     .title = {"Where the files go", "文件位置"}},
    {0},
};

static bool good_path(const char *field, struct str path, struct err *err)
{
    struct err why;
    if (path.n > 1 && path.p[0] == '/' && manifest_check_path((struct str){path.p + 1, path.n - 1}, &why))
        return true;
    return err_set(err, ERR_INVALID, field, "%s: must be an absolute path without . and ..", field);
}

static bool good_env(struct op *op, struct str text, struct err *err)
{
    size_t i, max;
    yyjson_val *key, *v, *doc = json_parse(op->arena, text, err);
    if (!doc)
        return false;
    if (!yyjson_is_obj(doc))
        return err_set(err, ERR_INVALID, "env", "env: must be an object of names and values");
    yyjson_obj_foreach(doc, i, max, key, v)
    {
        struct str name = json_str(key), value = json_str(v);
        if (!name.n || memchr(name.p, '=', name.n) || memchr(name.p, 0, name.n) ||
            !(yyjson_is_str(v) || yyjson_is_null(v)) || (value.n && memchr(value.p, 0, value.n)))
            return err_set(err, ERR_INVALID, "env", "env: names without = and texts as values (or null)");
    }
    return true;
}

static void raw_or_nothing(struct json_out *o, const char *key, const struct db_value *v)
{
    if (v->type != DB_TEXT)
        return;
    json_key(o, key);
    json_raw(o, v->s);
}

static bool run_derive(struct op *op, struct object *o, const struct db_value *in, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    struct object version, algorithm;
    struct repository from;
    auto_buf struct buf params = {0};
    struct str folder = in[D_FOLDER].type == DB_TEXT ? in[D_FOLDER].s : STR("/opt/algorithm");
    if (!find_from(op, in[D_FROM].i, &version, &from, err) || !good_path("folder", folder, err) ||
        (in[D_CWD].type == DB_TEXT && in[D_CWD].s.n && !good_path("cwd", in[D_CWD].s, err)) ||
        (in[D_ENV].type == DB_TEXT && !good_env(op, in[D_ENV].s, err)))
        return false;
    if (in[D_ALGORITHM].type == DB_INT && !engine_get(op->core, op->caller, &kind_algorithm_version, 0,
                                                      in[D_ALGORITHM].i, op->arena, &algorithm, err))
        return false;
    struct json_out p = begin(&params, o, in[D_VERSION].s);
    json_kint(&p, "from", version.id);
    json_kint(&p, "algorithm", in[D_ALGORITHM].type == DB_INT ? in[D_ALGORITHM].i : 0);
    json_kstr(&p, "folder", (struct str){folder.p + 1, folder.n - 1});
    if (in[D_CWD].type == DB_TEXT && in[D_CWD].s.n)
        json_kstr(&p, "cwd", in[D_CWD].s);
    raw_or_nothing(&p, "env", &in[D_ENV]);
    raw_or_nothing(&p, "command", &in[D_COMMAND]);
    raw_or_nothing(&p, "entrypoint", &in[D_ENTRYPOINT]);
    json_object_end(&p);
    return assemble_task(op, o, "image_derive",
                         task_name(op->arena, MESSAGE_NAME_IMAGE_DERIVE, STR_ARG(object_text(o, "name")),
                                   STR_ARG(in[D_VERSION].s)),
                         buf_view(&params), out, err);
}

/* --- import --- */

static const struct field import_fields[] = {
    {.name = "upload",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .max = 64,
     .title = {"Upload", "上传"},
     .help = {"A finished upload: what docker save, podman save or skopeo wrote.",
              "已完成的上传：docker save、podman save 或 skopeo 导出的文件。"}},
    IMAGE_FIELD_VERSION,
    {0},
};

static bool run_import(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    struct upload u;
    int64_t size;
    char hex[SHA256_HEX + 1];
    auto_buf struct buf params = {0};
    if (!upload_take(op->core->store, input[0].s, op->caller->user, o->project, "upload", op->arena, &u, err))
        return false;
    if (!blob_touch(op->core->store, &u.blob, &size, err))
        return false;
    digest_hex(&u.blob, hex);
    struct json_out p = begin(&params, o, input[1].s);
    json_kz(&p, "blob", hex);
    json_object_end(&p);
    return assemble_task(
        op, o, "image_import",
        task_name(op->arena, MESSAGE_NAME_IMAGE_IMPORT, STR_ARG(object_text(o, "name")), STR_ARG(input[1].s)),
        buf_view(&params), out, err);
}

/* --- pull --- */

static const struct field pull_fields[] = {
    {.name = "from",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .max = 500,
     .title = {"Image outside", "外部镜像"},
     .help = {"host/name:version of a registry that the administrator allows.",
              "管理员允许的外部仓库中的镜像：主机/名称:版本。"}},
    IMAGE_FIELD_VERSION,
    {.name = "user", .type = FIELD_TEXT, .flags = FIELD_CREATE, .max = 200, .title = {"User", "用户名"}},
    {.name = "password",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_SECRET,
     .max = 2000,
     .title = {"Password", "密码"}},
    {.name = "every",
     .type = FIELD_BOOL,
     .flags = FIELD_CREATE,
     .fallback = "false",
     .title = {"Every architecture", "所有架构"},
     .help = {"Of an image for several; else what this machine can run.",
              "适用于多架构镜像；否则仅拉取本机可运行的架构。"}},
    {0},
};

static bool run_pull(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)status;
    struct pull_source source;
    auto_buf struct buf params = {0};
    if (!pull_parse(op->core, input[0].s, op->arena, &source, err))
        return false;
    struct json_out p = begin(&params, o, input[1].s);
    json_kstr(&p, "from", input[0].s);
    json_kbool(&p, "every", input[4].i != 0);
    if (input[2].type == DB_TEXT && input[2].s.n)
        json_kz(&p, "secret",
                images_keep_secret(
                    op->core->images,
                    arena_printf(op->arena, STR_FMT ":" STR_FMT, STR_ARG(input[2].s), STR_ARG(input[3].s)),
                    op->arena));
    json_object_end(&p);
    return assemble_task(op, o, "image_pull",
                         task_name(op->arena, MESSAGE_NAME_IMAGE_PULL,
                                   (int)(input[0].s.n > 150 ? 150 : input[0].s.n), input[0].s.p),
                         buf_view(&params), out, err);
}

/* --- save --- */

static const struct field save_fields[] = {
    {.name = "job",
     .type = FIELD_REF,
     .ref = "job",
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .title = {"Running job", "运行中的作业"}},
    IMAGE_FIELD_VERSION,
    {.name = "rank", .type = FIELD_INT, .flags = FIELD_CREATE, .max = 10000, .title = {"Rank", "节点序号"}},
    {0},
};

static bool run_save(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)status;
    struct object job;
    int64_t id;
    if (!engine_get(op->core, op->caller, &kind_job, 0, input[0].i, op->arena, &job, err))
        return false;
    if (job.project != o->project)
        return err_set(err, ERR_INVALID, "job", "job: belongs to another project than the image");
    const struct image_save s = {
        .container = {job.id, (int32_t)object_int(&job, "attempt"), (int32_t)input[2].i},
        .project = o->project,
        .base = arena_strz(op->arena, object_text(&job, "image")),
        .name = object_text(o, "name"),
        .version = input[1].s,
        .subject_kind = "image",
        .subject = o->id};
    return image_save(op->core, op->caller, &s, op->arena, &id, err) &&
           engine_answer_id(op, &kind_task, id, out, err);
}

const struct action image_actions[] = {
    {.name = "copy",
     .permission = "image.update",
     .fields = copy_fields,
     .answer = "ImageVersion",
     .status = 201,
     .title = {"Copy a version into it", "复制版本到此镜像"},
     .run = run_copy},
    {.name = "derive",
     .permission = "image.update",
     .fields = derive_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Derive a version", "派生版本"},
     .run = run_derive},
    {.name = "build",
     .permission = "image.update",
     .fields = image_build_fields,
     .answer = "Job",
     .status = 201,
     .title = {"Build with a script", "用脚本构建"},
     .run = image_build},
    {.name = "import",
     .permission = "image.update",
     .fields = import_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Import a saved archive", "导入镜像文件"},
     .run = run_import},
    {.name = "pull",
     .permission = "image.update",
     .fields = pull_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Pull from another registry", "从外部仓库拉取"},
     .run = run_pull},
    {.name = "save",
     .permission = "image.update",
     .fields = save_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Save a running job", "保存运行中的作业"},
     .run = run_save},
    {0},
};
