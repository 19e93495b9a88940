/* What can be done with a model version: its files, and what programs read in them. */
#include "core/environment/tools.h"
#include "core/folder/actions.h"
#include "core/folder/model_file.h"
#include "model/onnx.h"
#include "net/url.h"

static struct str text_of(const struct db_value *v)
{
    return v->type == DB_TEXT ? v->s : STR("");
}

/* --- the native summary of ONNX files --- */

static bool summarize(struct op *op, const struct object *version, struct str path, struct str *ret_path,
                      struct onnx_summary *ret, struct err *err)
{
    struct manifest m;
    const struct manifest_entry *e;
    struct str bytes;
    if (!folder_manifest(op->core, version, op->arena, &m, err) ||
        !model_file_choose(&m, path, true, &e, err) || !folder_map(op->core, &m, e->path, &bytes, err))
        return false;
    bool ok = onnx_summarize(op->arena, bytes, ret, err);
    folder_unmap(bytes);
    *ret_path = e->path;
    return ok;
}

/* input: path, and another version to compare with, whose file may have another path. */
static bool run_summary(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)status;
    struct onnx_summary s, other;
    struct object with;
    struct str path, with_path = STR_NULL;
    if (!summarize(op, o, text_of(&input[0]), &path, &s, err))
        return false;
    if (input[1].type == DB_INT &&
        (!engine_get(op->core, op->caller, op->kind, 0, input[1].i, op->arena, &with, err) ||
         !summarize(op, &with, text_of(&input[2]), &with_path, &other, err)))
        return false;
    json_object(out);
    json_kstr(out, "path", path);
    json_key(out, "summary");
    onnx_summary_write(&s, out);
    json_kstr(out, "with_path", with_path);
    json_key(out, "compare");
    if (with_path.p)
        onnx_summary_compare(&other, &s, op->arena, out);
    else
        json_null(out);
    json_object_end(out);
    return true;
}

/* --- Netron --- */

static void write_tool(struct json_out *out, enum tool_state state, const char *url,
                       const struct words *reason)
{
    json_object(out);
    json_kz(out, "state", tool_state_names[state]);
    json_kz(out, "url", url);
    json_kz(out, "reason", reason ? reason->en : NULL);
    json_kz(out, "reason_zh", reason ? reason->zh : NULL);
    json_object_end(out);
}

static bool run_netron(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    const struct tool *netron = tool_find(STR("netron"));
    const struct words *missing = tool_missing(op->core, netron, op->arena);
    struct manifest m;
    const struct manifest_entry *e;
    if (missing) {
        write_tool(out, TOOL_MISSING, NULL, missing);
        return true;
    }
    if (!folder_manifest(op->core, o, op->arena, &m, err) ||
        !model_file_choose(&m, text_of(&input[0]), false, &e, err))
        return false;
    const char *url =
        arena_printf(op->arena, "%s&file=%s", tool_url(op->core, op->caller, o->id, netron, op->arena),
                     url_encode(op->arena, e->path));
    write_tool(out, TOOL_READY, url, NULL);
    return true;
}

/* --- the table --- */

#define PATH_FIELD(n)                                                                                        \
    {                                                                                                        \
        .name = n, .type = FIELD_TEXT, .flags = FIELD_CREATE, .max = 1024, .title = {"File", "文件"},        \
        .help = {                                                                                            \
            "Without it the version's largest model file.",                                                  \
            "不填则取该版本中最大的模型文件。"                                               \
        }                                                                                                    \
    }

static const struct field with_model[] = {FOLDER_WITH_FIELD("model_version"), {0}};
static const struct field netron_fields[] = {PATH_FIELD("path"), {0}};
static const struct field summary_fields[] = {
    PATH_FIELD("path"),
    {.name = "with",
     .type = FIELD_REF,
     .flags = FIELD_CREATE,
     .ref = "model_version",
     .title = {"Compare with", "比较对象"}},
    PATH_FIELD("with_path"),
    {0},
};

const struct action folder_model_actions[] = {
    FOLDER_ACTIONS("model_version", with_model),
    {.name = "summary",
     .permission = "model_version.read",
     .read_only = true,
     .fields = summary_fields,
     .answer = "ModelSummary",
     .title = {"Summary", "模型概要"},
     .run = run_summary},
    {.name = "netron",
     .permission = "model_version.read",
     .fields = netron_fields,
     .answer = "TensorBoard",
     .title = {"Structure", "模型结构"},
     .run = run_netron},
    {0},
};
