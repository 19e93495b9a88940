/* The container of an evaluation: ingot-infer predict over the samples, and how its row follows the job. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/messages_evaluate.h"
#include "core/controller.h"
#include "core/data/sample.h"
#include "core/evaluate/evaluate.h"
#include "core/folder/folder.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define INFER         "ingot-infer"
#define MODEL_PLACE   "/model"
#define DATASET_PLACE "/dataset"
#define OUT_PLACE     "/out"

/* --- its folder --- */

struct listing {
    FILE *out;
    int64_t count;
};

static bool list_one(void *ctx, const struct sample *s, struct err *err)
{
    struct listing *l = ctx;
    auto_buf struct buf line = {0};
    struct json_out o;
    json_begin(&o, &line);
    json_object(&o);
    json_kstr(&o, "file", s->name);
    json_object_end(&o);
    buf_char(&line, '\n');
    l->count++;
    return fwrite(line.p, 1, line.n, l->out) == line.n || err_errno(err, errno, "the list of files");
}

static bool write_list(struct core *core, const struct object *o, const char *path, struct err *err)
{
    struct evaluation_part *part;
    struct listing l = {.out = fopen(path, "we")};
    if (!l.out)
        return err_errno(err, errno, "cannot make %s", path);
    bool ok = evaluation_part_open(core, o, &part, err);
    if (ok) {
        ok = evaluation_part_each(part, list_one, &l, err);
        evaluation_part_close(part);
    }
    if (fclose(l.out) != 0 && ok)
        ok = err_errno(err, errno, "cannot write %s", path);
    return ok && (l.count || err_message(err, ERR_CONFLICT, "dataset_version", MESSAGE_EVALUATION_EMPTY));
}

/* Images may have a user of their own; other people of this machine stay out. */
static bool make_folder(struct launch *u, const struct object *o, const char **ret, struct err *err)
{
    struct arena *a = launch_arena(u);
    struct core *core = launch_core(u);
    const char *all = evaluation_path(core, a, o, ""), *out = evaluation_path(core, a, o, "out");
    if (!fs_remove_tree(AT_FDCWD, all, err) || !fs_mkdirs(out, 0755, err))
        return false;
    if (chmod(all, 0700) != 0 || chmod(out, 0777) != 0)
        return err_errno(err, errno, "cannot open %s to its container", out);
    *ret = out;
    return write_list(core, o, evaluation_path(core, a, o, "out/" EVALUATION_LIST), err);
}

static bool prepare(struct launch *u, struct err *err)
{
    struct arena *a = launch_arena(u);
    struct core *core = launch_core(u);
    struct op op = {.core = core, .caller = &caller_system, .arena = a};
    struct object o;
    int64_t model;
    const char *out;
    if (!engine_get(core, &caller_system, &kind_evaluation, 0, object_int(launch_job(u), "owner"), a, &o,
                    err))
        return err->code == ERR_NOT_FOUND && err_message(err, ERR_CONFLICT, NULL, MESSAGE_EVALUATION_GONE);
    if (!evaluation_model(&op, &o, &model, err) || !make_folder(u, &o, &out, err) ||
        !launch_program(u, INFER, err) || !launch_version(u, &kind_model_version, model, MODEL_PLACE, err) ||
        !launch_dataset(u, object_int(&o, "dataset_version"), DATASET_PLACE, err))
        return false;
    launch_mount(u, out, OUT_PLACE, false);
    const char *argv[] = {EXEC_PROGRAMS "/bin/" INFER,
                          "predict",
                          "--model",
                          MODEL_PLACE,
                          "--root",
                          DATASET_PLACE,
                          "--out",
                          OUT_PLACE "/" EVALUATION_FOUND,
                          "--progress",
                          OUT_PLACE "/" EVALUATION_PROGRESS,
                          OUT_PLACE "/" EVALUATION_LIST};
    launch_argv(u, argv, countof(argv));
    return true;
}

/* --- states --- */

/* One that is completed is still to be held against the truth. */
static const char *const state_of[] = {
    [JOB_QUEUED] = "pending",    [JOB_STARTING] = "pending",  [JOB_RUNNING] = "running",
    [JOB_STOPPING] = "stopping", [JOB_COMPLETED] = "running", [JOB_FAILED] = "failed",
    [JOB_STOPPED] = "stopped"};

static bool follow(struct op *op, const struct object *job, enum job_state from, struct err *err)
{
    (void)from;
    struct object o;
    bool found;
    enum job_state s = job_state_of(job);
    if (!engine_load_row(op, &kind_evaluation, object_int(job, "owner"), &o, &found, err))
        return false;
    if (!found || object_int(&o, "job") != job->id || evaluation_is_over(&o))
        return true;
    bool same = str_is(object_text(&o, "state"), state_of[s]);
    if (same && s != JOB_COMPLETED)
        return true;
    *object_value(&o, "state") = db_textz(state_of[s]);
    if (!object_int(&o, "started_at"))
        *object_value(&o, "started_at") = *object_value(job, "started_at");
    if (s == JOB_FAILED || s == JOB_STOPPED) {
        *object_value(&o, "ended_at") = db_int(clock_now());
        *object_value(&o, "note") = *object_value(job, "reason");
        *object_value(&o, "note_zh") = *object_value(job, "reason_zh");
    }
    return (s != JOB_COMPLETED || evaluation_compare(op, &o, err)) && engine_update_row(op, &o, err);
}

/* How far it is, from the file that the program writes over and over. */
static bool running(struct core *core, const struct object *job, struct arena *a, struct err *err)
{
    struct object o;
    struct err absent = {0};
    struct str text;
    long long done, total;
    if (!engine_get(core, &caller_system, &kind_evaluation, 0, object_int(job, "owner"), a, &o, &absent) ||
        !fs_read(a, evaluation_path(core, a, &o, "out/" EVALUATION_PROGRESS), 4096, &text, &absent) ||
        sscanf(arena_strz(a, text), "%lld %lld", &done, &total) != 2 || done < 0 || total < done ||
        (object_int(&o, "done") == done && object_int(&o, "total") == total))
        return true;
    return engine_write_status(
        core, &kind_evaluation, o.id,
        ENGINE_STATUSES(status_set("done", db_int(done)), status_set("total", db_int(total))), err);
}

const struct job_owner evaluation_owner = {
    .kind = "evaluation", .no_platform = true, .prepare = prepare, .changed = follow, .running = running};

/* --- folders of deleted ones --- */

static bool remove_folder(struct core *core, const struct db_value *v, struct arena *a, struct err *err)
{
    const struct object gone = {.id = v[0].i, .created_at = v[1].i};
    return fs_remove_tree(AT_FDCWD, evaluation_path(core, a, &gone, ""), err);
}

static bool collect(struct core *core, struct err *err)
{
    return purge_rows(core, &(struct purge){"evaluation_purges", "evaluation", ", created_at", remove_folder},
                      err);
}

const struct controller controller_collect_evaluations = {
    .name = "collect-evaluations",
    .title = {"Removes the folders of deleted evaluations", "清除已删除评估的文件"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .woken_by = {{"evaluation", "delete"}},
    .tick = collect,
};
