/* What can be done with a version's files: list, compare, change, publish. */
#include "base/messages.h"
#include "core/folder/actions.h"
#include "core/folder/algorithm_file.h"
#include "store/upload.h"

static void write_item(struct json_out *out, const struct manifest_item *it)
{
    json_object(out);
    json_kstr(out, "name", it->name);
    json_kbool(out, "folder", it->folder);
    json_kint(out, "size", it->size);
    json_kint(out, "files", it->files);
    if (it->entry) {
        char hex[SHA256_HEX + 1];
        digest_hex(&it->entry->blob, hex);
        json_kbool(out, "executable", it->entry->executable);
        json_kz(out, "digest", hex);
    }
    json_object_end(out);
}

bool folder_run_files(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)status;
    struct manifest m;
    struct manifest_item *items;
    size_t n;
    struct str folder = input[0].type == DB_TEXT ? input[0].s : STR("");
    if (!folder_manifest(op->core, o, op->arena, &m, err) ||
        !manifest_list(op->arena, &m, folder, &items, &n, err))
        return false;
    json_object(out);
    json_kstr(out, "path", folder);
    json_kint(out, "files", (int64_t)m.n);
    json_kint(out, "bytes", m.bytes);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < n; i++)
        write_item(out, &items[i]);
    json_array_end(out);
    json_object_end(out);
    return true;
}

static void write_diff(struct json_out *out, const struct manifest_diff *d)
{
    static const char *const words[] = {"added", "removed", "changed"};
    json_object(out);
    json_kstr(out, "path", (d->after ? d->after : d->before)->path);
    json_kz(out, "change", words[d->change]);
    json_key(out, "before");
    d->before ? json_int(out, d->before->size) : json_null(out);
    json_key(out, "after");
    d->after ? json_int(out, d->after->size) : json_null(out);
    json_object_end(out);
}

/* input[0] is the other version: what was there before. */
bool folder_run_compare(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)status;
    struct object other;
    struct manifest before, after;
    struct manifest_diff *diff;
    size_t n;
    if (!engine_get(op->core, op->caller, op->kind, 0, input[0].i, op->arena, &other, err) ||
        !folder_manifest(op->core, &other, op->arena, &before, err) ||
        !folder_manifest(op->core, o, op->arena, &after, err))
        return false;
    manifest_compare(op->arena, &before, &after, &diff, &n);
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < n; i++)
        write_diff(out, &diff[i]);
    json_array_end(out);
    json_object_end(out);
    return true;
}

/* The bytes of a file to put: of a finished upload, or a blob that the version has already. */
static bool find_bytes(struct op *op, const struct object *o, yyjson_val *v, struct folder_change *c,
                       struct err *err)
{
    struct upload u;
    struct str id = json_str(yyjson_obj_get(v, "upload"));
    if (!id.p)
        return err_set(err, ERR_INVALID, "add", "\"" STR_FMT "\" names no upload", STR_ARG(c->path));
    if (!upload_take(op->core->store, id, op->caller->user, o->project, "add", op->arena, &u, err))
        return false;
    c->blob = u.blob;
    c->size = u.length;
    return true;
}

static bool read_add(struct op *op, const struct object *o, yyjson_val *v, struct folder_change *ret,
                     struct err *err)
{
    *ret = (struct folder_change){.what = FOLDER_PUT, .path = json_str(yyjson_obj_get(v, "path"))};
    if (!ret->path.p)
        return err_set(err, ERR_INVALID, "add", "each file has a path and an upload");
    ret->executable = yyjson_get_bool(yyjson_obj_get(v, "executable"));
    return find_bytes(op, o, v, ret, err);
}

static bool read_move(yyjson_val *v, struct folder_change *ret, struct err *err)
{
    *ret = (struct folder_change){.what = FOLDER_MOVE,
                                  .path = json_str(yyjson_obj_get(v, "from")),
                                  .to = json_str(yyjson_obj_get(v, "to"))};
    return (ret->path.p && ret->to.p) || err_set(err, ERR_INVALID, "move", "each move has a from and a to");
}

static yyjson_val *list_of(struct op *op, const struct db_value *v, const char *field, struct err *err)
{
    if (v->type == DB_NULL)
        return json_parse(op->arena, STR("[]"), err);
    yyjson_val *list = json_parse(op->arena, v->s, err);
    if (list && !yyjson_is_arr(list))
        return err_set(err, ERR_INVALID, field, "%s is a list", field), NULL;
    return list;
}

/* input: remove (texts), move, add; in this order, so that a folder can be replaced in one step. */
bool folder_run_change(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    yyjson_val *remove = list_of(op, &input[0], "remove", err),
               *move = remove ? list_of(op, &input[1], "move", err) : NULL,
               *add = move ? list_of(op, &input[2], "add", err) : NULL, *v;
    if (!add)
        return false;
    size_t all = yyjson_arr_size(remove) + yyjson_arr_size(move) + yyjson_arr_size(add), n = 0, i, max;
    if (all == 0 || all > FOLDER_MAX_CHANGES)
        return err_set(err, ERR_INVALID, "add", "a change has 1 to %d files, this one has %zu",
                       FOLDER_MAX_CHANGES, all);
    struct folder_change *c = arena_array(op->arena, struct folder_change, all);
    yyjson_arr_foreach(remove, i, max, v) c[n++] =
        (struct folder_change){.what = FOLDER_REMOVE, .path = json_str(v)};
    yyjson_arr_foreach(move, i, max, v) if (!read_move(v, &c[n++], err)) return false;
    yyjson_arr_foreach(add, i, max, v) if (!read_add(op, o, v, &c[n++], err)) return false;
    return folder_apply(op->core, op->caller, o, c, n, op->arena, err) && engine_answer(op, o, out, err);
}

static bool publish_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, now;
    bool found;
    if (!engine_load_row(op, o->kind, o->id, &now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    if (object_int(&now, "published"))
        return err_set(err, ERR_CONFLICT, "published", "the version is published already");
    if (object_int(&now, "files") == 0)
        return err_set(err, ERR_CONFLICT, "files",
                       "the version has no files yet: add some before publishing it");
    *object_value(&now, "published") = db_int(1);
    if (!engine_update_row(op, &now, err))
        return false;
    *o = now;
    return true;
}

bool folder_run_publish(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)input;
    (void)status;
    return engine_write(op->core, op->caller, op->arena, publish_write, o, err) &&
           engine_answer(op, o, out, err);
}

const struct field folder_files_fields[] = {
    {.name = "path", .type = FIELD_TEXT, .flags = FIELD_CREATE, .max = 1024, .title = {"Folder", "文件夹"}},
    {0},
};

const struct field folder_change_fields[] = {
    {.name = "remove",
     .type = FIELD_TEXTS,
     .flags = FIELD_CREATE,
     .max = 10000,
     .item_max = 1024,
     .title = {"Remove", "删除"}},
    {.name = "move", .type = FIELD_JSON, .flags = FIELD_CREATE, .max = 1 << 20, .title = {"Move", "移动"}},
    {.name = "add", .type = FIELD_JSON, .flags = FIELD_CREATE, .max = 1 << 20, .title = {"Add", "添加"}},
    {0},
};

static const struct field with_algorithm[] = {FOLDER_WITH_FIELD("algorithm_version"), {0}};

const struct action folder_algorithm_actions[] = {
    FOLDER_ACTIONS("algorithm_version", with_algorithm),
    {.name = "functions",
     .permission = "algorithm_version.read",
     .read_only = true,
     .answer = "AlgorithmFunctions",
     .title = {"Functions", "功能"},
     .run = algorithm_run_functions},
    {0},
};
