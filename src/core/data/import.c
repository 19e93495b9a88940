/* The task "import": an upload (archive or file) becomes samples of a version (D3, D4). First everything is
 * read and kept aside (spool.h): until then nothing is changed. Then the samples are put, in batches, each of
 * which notes what it changes (import_undo.h): when the import fails or is cancelled, all of it is taken
 * back. The last files become durable meanwhile, and the import ends when they are. Repeating an import
 * changes nothing, so a server that was killed in the middle simply runs it again.
 */
#include "core/data/import.h"
#include "base/map.h"
#include "base/messages.h"
#include "core/data/database_in.h"
#include "core/data/folder_in.h"
#include "core/data/frames.h"
#include "core/data/import_own.h"
#include "core/data/relabel.h"
#include "core/data/s3_in.h"
#include "core/pending.h"
#include "store/upload.h"

#include <stdio.h>

bool import_progress(struct import *m, int64_t done, int64_t of, int quarter, struct err *err)
{
    int64_t total = of > 0 ? of : 1;
    return task_progress(m->task, (quarter * total + done) / 4, total, err);
}

/* --- reading --- */

static void input_problem(void *ctx, const struct codec_problem *p)
{
    struct import *m = ctx;
    char position[200];
    snprintf(position, sizeof position, STR_FMT, STR_ARG(p->position));
    task_problem(m->task, p->path, p->position.p ? position : NULL, "%s: %s", codec_problem_names[p->kind],
                 p->reason);
}

/* --- sources --- */

static bool take_upload(struct import *m, yyjson_val *v, struct err *err)
{
    struct task *t = m->task;
    struct str name = json_str(yyjson_obj_get(v, "name"));
    struct digest d;
    if (!digest_parse(json_str(yyjson_obj_get(v, "blob")), &d))
        return err_set(err, ERR_INTERNAL, NULL, "the task names no blob");
    return unpack(t, name, &d, &m->files, err);
}

static bool take_uploads(struct import *m, struct err *err)
{
    yyjson_val *v;
    size_t i, max;
    yyjson_arr_foreach(yyjson_obj_get(m->task->params, "files"), i, max, v)
    {
        if (!take_upload(m, v, err))
            return false;
    }
    return true;
}

/* Folders and videos: what was found becomes more files of the same list. */
static bool take_sources(struct import *m, struct err *err)
{
    yyjson_val *p = m->task->params;
    struct str directory = json_str(yyjson_obj_get(p, "directory"));
    yyjson_val *s3 = yyjson_obj_get(p, "s3"), *database = yyjson_obj_get(p, "database");
    struct media_frames how = {.every = yyjson_get_sint(yyjson_obj_get(p, "every")),
                               .per_second = yyjson_get_num(yyjson_obj_get(p, "per_second"))};
    if (!take_uploads(m, err) || (directory.p && !folder_in(m->task, directory, &m->files, err)) ||
        (s3 && !s3_in(m->task, s3, &m->files, err)) ||
        (database && !database_in(m->task, database, &m->files, err)))
        return false;
    if (annotation_types[m->set.type].data != ANNOTATION_IMAGE)
        return true;
    if (how.every <= 0 && !(how.per_second > 0))
        how.per_second = 1;
    return frames_expand(m->task, &m->files, &how, err);
}

static bool open_version(struct import *m, struct err *err)
{
    struct task *t = m->task;
    struct op op = {.core = t->core, .caller = &t->caller, .arena = t->arena};
    return engine_get(t->core, &caller_system, &kind_dataset_version, 0, t->subject, t->arena, &m->version,
                      err) &&
           sample_set_of(&op, &m->version, &m->set, err) && sample_set_open(&m->set, err) &&
           label_rules_of(m->task->core->db, NULL, m->task->arena, m->set.dataset, &m->rules, err);
}

static void write_result(struct import *m, const struct codec *c, const struct codec_counts *n)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    json_kz(&o, "format", c->name);
    json_kint(&o, "files", (int64_t)m->files.n);
    json_kint(&o, "added", m->fated[SAMPLE_ADDED]);
    json_kint(&o, "changed", m->fated[SAMPLE_CHANGED] + m->fated[SAMPLE_REPLACED]);
    json_kint(&o, "same", m->fated[SAMPLE_SAME]);
    json_kint(&o, "kept", m->fated[SAMPLE_KEPT]);
    json_kint(&o, "replaced", m->fated[SAMPLE_REPLACED]);
    json_kint(&o, "annotations", m->annotated);
    json_kint(&o, "waiting", m->waited);
    json_kint(&o, "records", (int64_t)n->records);
    json_kint(&o, "taken", (int64_t)n->taken);
    json_kint(&o, "skipped", (int64_t)n->skipped);
    json_kint(&o, "repaired", (int64_t)n->repaired);
    json_object_end(&o);
    task_result(m->task, buf_view(&text));
}

/* After all else: until here the import may be taken back, and nothing ever needs a class to be unnamed. */
static bool put_classes(struct op *op, void *ctx, struct err *err)
{
    struct import *m = ctx;
    return classes_put(op, m->version.id, &m->classes, err);
}

/* An import that found nothing at all was given the wrong files, or the wrong format. */
static bool took_something(const struct import *m, struct err *err)
{
    struct str first = m->files.n ? m->files.file[0].path : STR("");
    return m->met > 0 || err_message(err, ERR_INVALID, "uploads", MESSAGE_IMPORT_NOTHING, m->codec->name,
                                     (long long)m->files.n, first.n > 100 ? 100 : (int)first.n, first.p,
                                     annotation_types[m->set.type].name);
}

static bool read_all(struct import *m, struct err *err)
{
    struct codec_input in = {.files = m->listing,
                             .file_count = m->listed,
                             .ctx = m,
                             .open = import_open,
                             .close = import_close,
                             .drop = import_drop,
                             .size =
                                 annotation_types[m->set.type].data == ANNOTATION_IMAGE ? import_size : NULL,
                             .sample = import_sample,
                             .label = import_label,
                             .problem = input_problem};
    struct str forced = json_str(yyjson_obj_get(m->task->params, "format"));
    const struct codec *c = forced.p ? codec_asked(forced, err) : codec_detect(&in, m->set.type, err);
    struct codec_counts counts;
    if (!c)
        return false;
    m->codec = c;
    if (!codec_read(c, &in, m->set.type, &counts, err) || !took_something(m, err) ||
        !import_progress(m, m->read, m->read, 2, err) || !import_put_all(m, err) ||
        !import_undo_forget(m->task, err) ||
        !engine_write(m->task->core, &m->task->caller, m->task->arena, put_classes, m, err) ||
        !relabel_version(m->task, m->version.id, err)) /* labels were renamed while it ran */
        return false;
    write_result(m, c, &counts);
    return true;
}

static bool run_import(struct task *t, struct err *err)
{
    struct import *m = base_zalloc(sizeof *m);
    m->task = t;
    m->replace = yyjson_get_bool(yyjson_obj_get(t->params, "replace"));
    m->by_path = map_new();
    m->unasked = map_new();
    m->renamed = map_new();
    arena_init(&m->batch_arena);
    m->spool = spool_new(t->core, err);
    bool ok = m->spool && open_version(m, err) && unpack_begin(&m->files, t, err) && take_sources(m, err) &&
              import_list(m, err) && import_look_for_waiting(m, err) && read_all(m, err);
    if (m->version.id)
        pending_tell_one(t->core, &m->version, "samples");
    arena_release(&m->batch_arena);
    map_free(m->by_path);
    map_free(m->unasked);
    map_free(m->renamed);
    unpack_end(&m->files);
    spool_free(m->spool);
    free(m);
    return ok;
}

/* Nothing of a failed or cancelled import stays. */
static void undo_import(struct task *t)
{
    struct import m = {.task = t};
    struct err err = {0};
    if (!open_version(&m, &err) || !import_undo_run(t, &m.set, &err)) {
        err_because(&err, err.code, NULL, &err, MESSAGE_NOT_TAKEN_BACK);
        task_note_err(t, STR("samples"), NULL, &err);
    }
    if (m.version.id)
        pending_tell_one(t->core, &m.version, "samples");
}

const struct task_type task_import = {
    .name = "import", .title = {"Import", "导入"}, .run = run_import, .undo = undo_import, .at_once = 4};
