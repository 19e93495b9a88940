/* The kinds `image` and `image_version`. */
#include "base/clock.h"
#include "core/fields.h"
#include "core/image/image.h"
#include "core/image/repository.h"

static bool check_name(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    (void)a;
    (void)f;
    return value->type != DB_TEXT || reference_name(value->s, err);
}

static const struct field image_fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags =
         FIELD_REQUIRED | FIELD_CREATE | FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_UNIQUE | FIELD_LIST,
     .rule = "image-name",
     .check = check_name,
     .title = {"Name", "名称"},
     .help = {"a-z, 0-9 and single - . _ / between them: tools/train",
              "小写字母、数字，中间可用单个 - . _ /，如 tools/train"}},
    FIELD_DESCRIPTION,
    {.name = "specs",
     .type = FIELD_REFS,
     .flags = FIELD_EDIT,
     .ref = "spec",
     .max = 50,
     .fallback = "[]",
     .title = {"Compute specs", "适用规格"},
     .help = {"What it is made for; none: every spec. Nothing else runs in it.",
              "镜像适用的计算规格；为空表示不限。其他规格不能运行该镜像。"}},
    {.name = "public",
     .type = FIELD_BOOL,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .fallback = "false",
     .title = {"Public", "公开"},
     .help = {"Every project may pull and run it.", "所有项目可拉取和运行。"}},
    {.name = "repository",
     .type = FIELD_TEXT,
     .flags = FIELD_VIRTUAL,
     .max = 200,
     .title = {"Repository", "仓库"},
     .help = {"What clients of the registry call it, after the host.",
              "镜像仓库客户端使用的名称（主机名之后）。"}},
    {.name = "versions",
     .type = FIELD_INT,
     .flags = FIELD_VIRTUAL | FIELD_LIST,
     .title = {"Versions", "版本数"}},
    {.name = "pushed_at",
     .type = FIELD_TIME,
     .flags = FIELD_VIRTUAL | FIELD_LIST,
     .title = {"Last push", "最近推送"}},
    {0},
};

static void show_time(struct json_out *out, const char *key, const struct db_value *v)
{
    char text[CLOCK_TEXT_MAX];
    json_kz(out, key, v->type == DB_INT ? clock_format(v->i, text) : NULL);
}

static bool show_image(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(
            op->core->db, op->arena,
            "SELECT p.name, (SELECT count(*) FROM image_versions v WHERE v.image = ?), (SELECT"
            " MAX(v.pushed_at) FROM image_versions v WHERE v.image = ?) FROM projects p WHERE p.id = ?",
            db_args(db_int(o->id), db_int(o->id), db_int(o->project)), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the image's project was deleted");
    const char *project = repository_project_text(op->arena, o->project, row.v[0].s);
    json_kz(out, "repository",
            arena_printf(op->arena, "%s/" STR_FMT, project, STR_ARG(object_text(o, "name"))));
    json_kint(out, "versions", row.v[1].i);
    show_time(out, "pushed_at", &row.v[2]);
    return true;
}

/* Its versions go with it. */
static bool image_before_delete(struct op *op, struct object *o, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT id FROM image_versions WHERE image = ?",
                    db_args(db_int(o->id)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object version;
        bool found;
        if (!engine_load_row(op, &kind_image_version, rows.row[i].v[0].i, &version, &found, err) ||
            (found && !engine_delete_row(op, &version, err)))
            return false;
    }
    return repository_drop_all(op, o->id, err);
}

const struct kind kind_image = {
    .name = "image",
    .plural = "images",
    .table = "images",
    .title = {"Image", "镜像"},
    .titles = {"Images", "镜像"},
    .help = {"Container images of the project, pushed with docker, podman or skopeo.",
             "项目的容器镜像，可用 docker、podman 或 skopeo 推送。"},
    .menu = "build",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .public_too = true,
    .fields = image_fields,
    .actions = image_actions,
    .before_delete = image_before_delete,
    .show = show_image,
    .extra_sql = repository_sql,
};

static const struct field version_fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_UNIQUE | FIELD_LIST,
     .max = REFERENCE_TAG_MAX,
     .title = {"Version", "版本"}},
    {.name = "digest",
     .type = FIELD_TEXT,
     .flags = FIELD_FILTER | FIELD_LIST,
     .max = 71,
     .title = {"Digest", "摘要"}},
    {.name = "media_type", .type = FIELD_TEXT, .max = 255, .title = {"Media type", "媒体类型"}},
    {.name = "size",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_SORT,
     .unit = "bytes",
     .title = {"Size", "大小"}},
    {.name = "arch",
     .type = FIELD_TEXT,
     .flags = FIELD_LIST | FIELD_FILTER,
     .max = 120,
     .title = {"Architecture", "架构"}},
    {.name = "layers", .type = FIELD_INT, .flags = FIELD_LIST, .title = {"Layers", "层数"}},
    {.name = "base", .type = FIELD_TEXT, .max = 50, .title = {"Above the built-in image", "基于内置镜像"}},
    {.name = "pushed_at",
     .type = FIELD_TIME,
     .flags = FIELD_LIST | FIELD_SORT,
     .title = {"Pushed", "推送时间"}},
    {.name = "pulled_at", .type = FIELD_TIME, .flags = FIELD_STATUS, .title = {"Last pulled", "最近拉取"}},
    {.name = "pulls",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_STATUS,
     .fallback = "0",
     .title = {"Pulls", "拉取次数"}},
    {0},
};

static bool version_after_delete(struct op *op, struct object *o, struct err *err)
{
    struct digest d;
    return reference_digest(object_text(o, "digest"), &d, err) && repository_unname(op, o->parent, &d, err);
}

const struct kind kind_image_version = {
    .name = "image_version",
    .plural = "versions",
    .table = "image_versions",
    .title = {"Version", "版本"},
    .titles = {"Versions", "版本"},
    .scope = SCOPE_CHILD,
    .parent = "image",
    .permission_as = "image",
    .verbs = VERB_LIST | VERB_READ | VERB_DELETE,
    .fields = version_fields,
    .after_delete = version_after_delete,
};
