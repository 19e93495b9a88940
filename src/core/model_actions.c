/* What can be done with a model version: its files, and what programs read in them. */
#include "core/environment/tools.h"
#include "core/folder/actions.h"
#include "core/folder/model_file.h"
#include "core/serve/trial.h"
#include "model/manifest.h"
#include "model/onnx.h"
#include "net/url.h"

static struct str text_of(const struct db_value *v)
{
    return v->type == DB_TEXT ? v->s : STR("");
}

/* --- the native summary of ONNX files --- */

static bool summarize_file(struct op *op, const struct manifest *m, struct str path, struct onnx_summary *ret,
                           struct err *err)
{
    struct str bytes;
    if (!folder_map(op->core, m, path, &bytes, err))
        return false;
    bool ok = onnx_summarize(op->arena, bytes, ret, err);
    folder_unmap(bytes);
    return ok;
}

static bool summarize(struct op *op, const struct object *version, struct str path, struct str *ret_path,
                      struct onnx_summary *ret, struct err *err)
{
    struct manifest m;
    const struct manifest_entry *e;
    if (!folder_manifest(op->core, version, op->arena, &m, err) ||
        !model_file_choose(&m, path, true, &e, err) || !summarize_file(op, &m, e->path, ret, err))
        return false;
    *ret_path = e->path;
    return true;
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

/* --- the manifest --- */

static bool write_manifest(struct op *op, const struct manifest *m, struct json_out *out, bool *ret_there,
                           struct err *err)
{
    const struct manifest_entry *e = manifest_find(m, STR(MODEL_MANIFEST_FILE));
    struct model_manifest parsed;
    struct str text;
    *ret_there = e != NULL;
    json_key(out, "manifest");
    if (!e) {
        json_null(out);
        return true;
    }
    if (!blob_read(op->core->store, op->arena, &e->blob, MODEL_MANIFEST_MAX_BYTES, &text, err) ||
        !model_manifest_parse(op->arena, text, &parsed, err))
        return false;
    model_manifest_write(&parsed, out);
    return true;
}

#define GUESS_FILES 1000 /* of a version, whose names are looked at */

/* From one file, the largest or that of the path; without a path also from the others, which may be parts of
 * the same model. One of these that cannot be read is no part of it: its own summary tells why. */
static bool guess_manifest(struct op *op, const struct manifest *m, struct str path, struct str *ret_path,
                           struct model_guess *ret, struct err *err)
{
    const struct manifest_entry *e;
    struct onnx_summary s[MODEL_MAX_PARTS];
    struct model_seen seen[MODEL_MAX_PARTS];
    struct str *files = arena_array(op->arena, struct str, GUESS_FILES);
    size_t n = 1, n_files = 0;
    if (!model_file_choose(m, path, true, &e, err) || !summarize_file(op, m, e->path, &s[0], err))
        return false;
    seen[0] = (struct model_seen){e->path, &s[0]};
    for (size_t i = 0; i < m->n && n_files < GUESS_FILES; i++) {
        struct str other = m->entry[i].path;
        struct err unread = {0};
        files[n_files++] = other;
        if (path.n || n == MODEL_MAX_PARTS || str_eq(other, e->path) || !str_ends(other, ".onnx") ||
            !summarize_file(op, m, other, &s[n], &unread))
            continue;
        seen[n] = (struct model_seen){other, &s[n]};
        n++;
    }
    model_manifest_guess(op->arena, seen, n, files, n_files, ret);
    *ret_path = e->path;
    return true;
}

/* What the version says of itself; where it says nothing, what can be seen in its ONNX files, and what a
 * person must add. */
static bool run_manifest(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                         int *status, struct err *err)
{
    (void)status;
    struct manifest m;
    struct model_guess guess = {0};
    struct str path = STR_NULL;
    bool there;
    if (!folder_manifest(op->core, o, op->arena, &m, err))
        return false;
    json_object(out);
    if (!write_manifest(op, &m, out, &there, err))
        return false;
    if (!there && !guess_manifest(op, &m, text_of(&input[0]), &path, &guess, err))
        return false;
    json_kstr(out, "path", path);
    json_key(out, "guess");
    if (guess.json.n)
        json_raw(out, guess.json);
    else
        json_null(out);
    json_key(out, "asked");
    json_array(out);
    for (size_t i = 0; i < guess.n_asked; i++)
        json_string(out, guess.asked[i]);
    json_array_end(out);
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
static const struct field path_fields[] = {PATH_FIELD("path"), {0}};
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
    {.name = "manifest",
     .permission = "model_version.read",
     .read_only = true,
     .fields = path_fields,
     .answer = "ModelManifest",
     .title = {"Manifest", "模型清单"},
     .run = run_manifest},
    {.name = "netron",
     .permission = "model_version.read",
     .for_readers = true,
     .fields = path_fields,
     .answer = "ToolAddress",
     .title = {"Structure", "模型结构"},
     .run = run_netron},
    {.name = "try",
     .permission = "model_version.read",
     .for_readers = true,
     .fields = trial_start_fields,
     .answer = "ModelTrial",
     .title = {"Try it", "试用"},
     .run = trial_start},
    {.name = "trial",
     .permission = "model_version.read",
     .read_only = true,
     .fields = trial_state_fields,
     .answer = "ModelTrial",
     .title = {"Trial", "试用状态"},
     .run = trial_state},
    {0},
};
