#include "core/training/built_in.h"

#include "base/fs.h"
#include "base/messages.h"
#include "base/messages_learn.h"
#include "core/folder/folder.h"
#include "core/folder/walk.h"
#include "core/kinds.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_MAX  (4 << 20)
#define FILES_MAX 1000

/* Folders beside each other, and where their files are in the version. */
static const struct {
    const char *folder, *prefix;
} parts[] = {{BUILT_IN_ONE_CLICK, ""}, {"ingot_learn", "ingot_learn/"}};

/* --- files --- */

static bool has_files(const char *folder)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/" BUILT_IN_ONE_CLICK "/ingot-algorithm.json", folder) <
               (int)sizeof path &&
           access(path, R_OK) == 0;
}

/* Beside the installed program (bin, share/ingot/algorithms), or in the repository it was built in
 * (build/MODE, algorithms). */
static bool find_files(struct arena *a, const char **ret, struct err *err)
{
    static const char *const places[] = {"../share/ingot/algorithms", "../../algorithms"};
    char self[PATH_MAX];
    const char *given = getenv("INGOT_ALGORITHMS");
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    *ret = given;
    if (given && *given && has_files(given))
        return true;
    if (n > 0 && !(given && *given)) {
        self[n] = 0;
        *strrchr(self, '/') = 0;
        for (size_t i = 0; i < countof(places); i++) {
            *ret = arena_printf(a, "%s/%s", self, places[i]);
            if (has_files(*ret))
                return true;
        }
    }
    return err_message(err, ERR_CONFLICT, NULL, MESSAGE_ONE_CLICK_FILES);
}

struct reading {
    struct core *core;
    struct arena *a;
    const char *folder, *prefix;
    struct manifest_entry entry[FILES_MAX];
    size_t n;
};

/* What Python leaves behind is not part of it. */
static bool is_source(const char *path)
{
    size_t n = strlen(path);
    return !strstr(path, "__pycache__") && !(n > 4 && strcmp(path + n - 4, ".pyc") == 0) && path[0] != '.';
}

static bool read_one(void *ctx, const struct walk_file *f, struct err *err)
{
    struct reading *r = ctx;
    struct str text;
    if (!is_source(f->path))
        return true;
    if (r->n == FILES_MAX)
        return err_set(err, ERR_TOO_LARGE, NULL, "%s has more than %d files", r->folder, FILES_MAX);
    struct manifest_entry *e = &r->entry[r->n];
    *e = (struct manifest_entry){.path = str_of(arena_printf(r->a, "%s%s", r->prefix, f->path)),
                                 .size = f->size};
    if (!fs_read(r->a, arena_printf(r->a, "%s/%s", r->folder, f->path), FILE_MAX, &text, err) ||
        !blob_put(r->core->store, text, &e->blob, err))
        return false;
    e->size = (int64_t)text.n;
    r->n++;
    return true;
}

static bool read_all(struct core *core, struct arena *a, struct manifest *ret, struct err *err)
{
    struct reading *r = arena_array(a, struct reading, 1);
    const char *top;
    r->core = core;
    r->a = a;
    if (!find_files(a, &top, err))
        return false;
    for (size_t i = 0; i < countof(parts); i++) {
        struct walk w = {.file = read_one, .ctx = r};
        r->folder = arena_printf(a, "%s/%s", top, parts[i].folder);
        r->prefix = parts[i].prefix;
        if (!walk_path(&w, r->folder, err))
            return false;
    }
    return manifest_build(a, r->entry, r->n, ret, err);
}

/* --- project and set --- */

static bool find_or_make(struct core *core, struct arena *a, const struct kind *k, const char *sql,
                         struct db_args args, struct str body, int64_t *ret, struct err *err)
{
    struct db_row row;
    struct object made;
    struct err failed = {0};
    bool found;
    if (!db_query_one(core->db, a, sql, args, &row, &found, err))
        return false;
    if (!found) {
        yyjson_val *v = json_parse(a, body, err);
        if (!v)
            return false;
        if (engine_create(core, &caller_system, k, 0, v, a, &made, &failed)) {
            *ret = made.id;
            return true;
        }
        /* Another made it just now. */
        if (!db_query_one(core->db, a, sql, args, &row, &found, err))
            return false;
        if (!found) {
            *err = failed;
            return false;
        }
    }
    *ret = row.v[0].i;
    return true;
}

static bool find_set(struct core *core, struct arena *a, int64_t *ret_project, int64_t *ret, struct err *err)
{
    if (!find_or_make(
            core, a, kind_by_name(STR("project")), "SELECT id FROM projects WHERE name = ?",
            db_args(db_textz(BUILT_IN_PROJECT)),
            STR("{\"name\":\"" BUILT_IN_PROJECT "\",\"description\":\"What comes with the platform.\"}"),
            ret_project, err))
        return false;
    const char *body =
        arena_printf(a,
                     "{\"name\":\"" BUILT_IN_ONE_CLICK "\",\"project\":%lld,\"public\":true,"
                     "\"description\":\"One-click training: pictures, texts and sounds to a model.\"}",
                     (long long)*ret_project);
    return find_or_make(core, a, &kind_algorithm_set,
                        "SELECT id FROM algorithm_sets WHERE project = ? AND name = ?",
                        db_args(db_int(*ret_project), db_textz(BUILT_IN_ONE_CLICK)), str_of(body), ret, err);
}

/* --- the version --- */

struct installing {
    int64_t project, set;
    struct manifest manifest;
    struct digest digest;
    char *hex;
    struct object version;
};

static bool newest(struct op *op, struct installing *in, bool *ret_same, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT id FROM algorithm_versions WHERE algorithm_set = ? AND published <> 0"
                        " ORDER BY number DESC LIMIT 1",
                        db_args(db_int(in->set)), &row, &found, err))
        return false;
    *ret_same = false;
    if (!found)
        return true;
    if (!engine_load_row(op, &kind_algorithm_version, row.v[0].i, &in->version, &found, err))
        return false;
    *ret_same = found && str_is(object_text(&in->version, "digest"), in->hex);
    return true;
}

static bool install_write(struct op *op, void *ctx, struct err *err)
{
    struct installing *in = ctx;
    bool same;
    if (!newest(op, in, &same, err))
        return false;
    if (same)
        return true;
    struct object o = engine_object(op->arena, &kind_algorithm_version);
    o.project = in->project;
    o.parent = in->set;
    op->kind = &kind_algorithm_version;
    if (!kind_algorithm_version.before_create(op, &o, err))
        return false;
    *object_value(&o, "published") = db_int(1);
    *object_value(&o, "files") = db_int((int64_t)in->manifest.n);
    *object_value(&o, "bytes") = db_int(in->manifest.bytes);
    *object_value(&o, "digest") = db_textz(in->hex);
    if (!manifest_count(op->conn, o.project, &in->digest, 1, err) || !engine_insert_row(op, &o, err))
        return false;
    in->version = o;
    return true;
}

bool built_in_algorithm(struct core *core, struct arena *a, struct object *ret, struct err *err)
{
    struct installing in = {0};
    if (!read_all(core, a, &in.manifest, err) || !find_set(core, a, &in.project, &in.set, err) ||
        !manifest_save(core->store, &in.manifest, &in.digest, err))
        return false;
    in.hex = arena_alloc(a, SHA256_HEX + 1);
    digest_hex(&in.digest, in.hex);
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, a,
                      "SELECT id, digest FROM algorithm_versions WHERE algorithm_set = ? AND published <> 0"
                      " ORDER BY number DESC LIMIT 1",
                      db_args(db_int(in.set)), &row, &found, err))
        return false;
    if (found && row.v[1].type == DB_TEXT && str_is(row.v[1].s, in.hex))
        return engine_get(core, &caller_system, &kind_algorithm_version, 0, row.v[0].i, a, ret, err);
    if (!manifest_hold(core->store, in.project, &in.manifest, &in.digest, err))
        return false;
    bool ok = engine_write(core, &caller_system, a, install_write, &in, err);
    manifest_settle(core->store, in.project, &in.digest);
    if (ok)
        *ret = in.version;
    return ok;
}

bool built_in_model(struct core *core, struct arena *a, const char *set, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(
            core->db, a,
            "SELECT v.id FROM model_versions v JOIN model_sets s ON s.id = v.model_set"
            " JOIN projects p ON p.id = s.project WHERE p.name = ? AND s.name = ? AND v.published <> 0"
            " AND s.public <> 0 ORDER BY v.number DESC LIMIT 1",
            db_args(db_textz(BUILT_IN_PROJECT), db_textz(set)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}
