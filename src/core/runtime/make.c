/* The task that makes a runtime: fetch, begin an image, install in it, save it.
 *
 * One that was killed is run again. While the row names a job that is not over, everything before is done and
 * it goes on with waiting for it; else it begins anew, with what was fetched still in the cache. */
#include "base/fs.h"
#include "base/messages_runtime.h"
#include "core/build/save.h"
#include "core/compute/spec.h"
#include "core/image/assemble.h"
#include "core/image/layer_write.h"
#include "core/runtime/runtime_own.h"

#include <errno.h>
#include <unistd.h>

#define PIECE      (256 << 10)
#define ROOM_TIMES 6 /* of the packages' bytes: fetched, unpacked, as image layers, running */
#define ROOM_LEAST (INT64_C(1) << 30)    /* where the bytes are not known */
#define MEMORY     (INT64_C(1000) << 20) /* of the spec that it is installed with */
#define HOURS      3

struct make {
    struct task *task;
    struct object runtime;
    struct runtime_plan plan;
    int64_t project, job;
    const char *version; /* that it becomes */
    int log;
};

static bool set_phase(struct make *m, const char *phase, struct err *err)
{
    dprintf(m->log, "--- %s\n", phase);
    return engine_write_status(m->task->core, &kind_runtime, m->runtime.id,
                               ENGINE_STATUSES(status_set("phase", db_textz(phase))), err);
}

static bool open_log(struct make *m, bool anew, struct err *err)
{
    struct task *t = m->task;
    const char *path = runtime_log_path(t->core, t->arena, m->runtime.id);
    if (!fs_mkdirs(arena_printf(t->arena, "%s/runtimes", t->core->data), 0755, err))
        return false;
    m->log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (anew ? O_TRUNC : 0), 0600);
    return m->log >= 0 || err_errno(err, errno, "cannot write %s", path);
}

static bool has_room(struct make *m, struct err *err)
{
    const int64_t bytes = object_int(&m->runtime, "bytes") * ROOM_TIMES;
    const int64_t wanted = bytes > ROOM_LEAST ? bytes : ROOM_LEAST;
    const int64_t there = (int64_t)fs_free_bytes(m->task->core->data);
    return there >= wanted ||
           err_message(err, ERR_QUOTA, NULL, MESSAGE_RUNTIME_ROOM, (double)wanted / 1e9, (double)there / 1e9);
}

/* --- the image it begins with --- */

static bool add_file(struct make *m, struct layer_writer *w, struct err *err)
{
    struct task *t = m->task;
    const char *path =
        arena_printf(t->arena, "%s/seed.tar", runtime_folder(t->core, t->arena, m->runtime.id));
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    auto_free char *space = base_alloc(PIECE);
    ssize_t n = -1;
    while (fd >= 0 && (n = read(fd, space, PIECE)) > 0)
        if (!layer_writer_add(w, (struct str){space, (size_t)n}, err) ||
            !task_progress(t, m->plan.bytes, 2 * m->plan.bytes, err))
            return false;
    return n == 0 || err_errno(err, errno, "cannot read %s", path);
}

static bool make_layer(struct make *m, struct oci_descriptor *ret, struct digest *ret_diff, struct err *err)
{
    struct layer_writer *w = layer_writer_new(m->task->core->store, err);
    if (!w)
        return false;
    if (add_file(m, w, err))
        return layer_writer_finish(w, ret, ret_diff, err);
    layer_writer_abort(w);
    return false;
}

static bool push_seed(struct make *m, const char **ret_image, struct err *err)
{
    struct task *t = m->task;
    struct str name = object_text(&m->runtime, "name");
    struct oci_descriptor layer;
    struct digest diff;
    struct repository_pushed pushed;
    char digest[REFERENCE_DIGEST];
    yyjson_val *env = json_parse(t->arena,
                                 STR("{\"PATH\": \"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
                                     "/sbin:/bin\", \"LANG\": \"C.UTF-8\"}"),
                                 err),
               *cmd = json_parse(t->arena, STR("[\"/bin/bash\"]"), err);
    struct assembly x = {.core = t->core,
                         .caller = &t->caller,
                         .version = STR(RUNTIME_UNFINISHED),
                         .description = object_text(&m->runtime, "description"),
                         .layer = &layer,
                         .diff = &diff,
                         .change = {.arch = image_arch(), .env = env, .cmd = cmd, .comment = "Debian"}};
    if (!env || !cmd || !assemble_target(t->core, m->project, name, t->arena, &x.target, err) ||
        !make_layer(m, &layer, &diff, err) || !assemble_push(&x, t->arena, &pushed, err))
        return false;
    *ret_image = arena_printf(t->arena, STR_FMT "@%s", STR_ARG(name), reference_text(&pushed.digest, digest));
    return true;
}

/* --- the job --- */

struct starting {
    struct make *make;
    struct job_new job;
};

/* The smallest spec that is large enough; else the largest there is. */
static bool choose_spec(struct op *op, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!spec_smallest(op, MEMORY, ret, err))
        return false;
    if (*ret)
        return true;
    if (!conn_query_one(op->conn, op->arena, "SELECT id FROM specs ORDER BY memory DESC, id LIMIT 1",
                        DB_NO_ARGS, &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return found || err_message(err, ERR_CONFLICT, NULL, MESSAGE_RUNTIME_SPEC);
}

static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct starting *s = ctx;
    struct make *m = s->make;
    return choose_spec(op, &s->job.spec, err) && job_create(op, &s->job, &m->job, err) &&
           engine_set_status(
               op, &kind_runtime, m->runtime.id,
               ENGINE_STATUSES(status_set("job", db_int(m->job)), status_set("making", db_textz(m->version))),
               err);
}

static bool start_job(struct make *m, const char *image, struct err *err)
{
    struct task *t = m->task;
    struct str name = object_text(&m->runtime, "name");
    struct starting s = {
        .make = m,
        .job = {.project = m->project,
                .owner_kind = runtime_owner.kind,
                .owner = m->runtime.id,
                .name = str_of(arena_printf(t->arena, STR_FMT " %s", STR_ARG(name), m->version)),
                .image = str_of(image),
                .command = STR("/bin/sh " RUNTIME_PLACE "/configure.sh"),
                .hours = HOURS}};
    if (!engine_write(t->core, &t->caller, t->arena, start_write, &s, err))
        return false;
    jobs_wake(t->core->jobs);
    return true;
}

/* Up to a job that installs; *ret_same when what is there is made of just the same. */
static bool begin(struct make *m, bool *ret_same, struct err *err)
{
    struct task *t = m->task;
    const char *image;
    struct str have =
        object_text(&m->runtime, "image").n ? object_text(&m->runtime, "fingerprint") : STR_NULL;
    *ret_same = false;
    if (!has_room(m, err) || !set_phase(m, "fetching", err) ||
        !runtime_script(t, "fetch", &m->runtime, have, m->log, &m->plan, err))
        return false;
    if (m->plan.same) {
        *ret_same = true;
        return true;
    }
    return set_phase(m, "configuring", err) &&
           runtime_next_version(t->core, m->project, object_text(&m->runtime, "name"), t->arena, &m->version,
                                err) &&
           push_seed(m, &image, err) && start_job(m, image, err);
}

/* The row names a job that is not over: everything before it was done. */
static bool goes_on(struct make *m)
{
    struct task *t = m->task;
    struct object job;
    struct err ignored = {0};
    m->job = object_int(&m->runtime, "job");
    m->version = arena_strz(t->arena, object_text(&m->runtime, "making"));
    return m->job && *m->version &&
           engine_get(t->core, &caller_system, &kind_job, 0, m->job, t->arena, &job, &ignored) &&
           !job_is_over(job_state_of(&job)) && runtime_read_plan(t, &m->plan, &ignored);
}

/* --- saving --- */

static bool save(struct make *m, struct err *err)
{
    struct task saving = *m->task;
    struct object job;
    auto_buf struct buf params = {0};
    struct json_out o;
    if (!engine_get(m->task->core, &caller_system, &kind_job, 0, m->job, m->task->arena, &job, err))
        return false;
    json_begin(&o, &params);
    json_object(&o);
    json_kint(&o, "job", job.id);
    json_kint(&o, "attempt", object_int(&job, "attempt"));
    json_kint(&o, "rank", 0);
    json_kstr(&o, "base", object_text(&job, "image"));
    json_kstr(&o, "name", object_text(&m->runtime, "name"));
    json_kz(&o, "version", m->version);
    json_object_end(&o);
    saving.params = json_parse(m->task->arena, arena_str(m->task->arena, buf_view(&params)), err);
    return saving.params && assemble_saved(&saving, "packages of Debian and Python", err);
}

static void clean_up(struct make *m, bool saved)
{
    struct task *t = m->task;
    struct err ignored = {0};
    if (m->job)
        runtime_release(t, m->job, saved);
    runtime_drop_version(t->core, m->project, object_text(&m->runtime, "name"), STR(RUNTIME_UNFINISHED),
                         &ignored);
    fs_remove_tree(AT_FDCWD, runtime_folder(t->core, t->arena, m->runtime.id), &ignored);
    engine_write_status(t->core, &kind_runtime, m->runtime.id,
                        ENGINE_STATUSES(status_set("job", db_int(0)), status_set("making", db_textz("")),
                                        status_set("phase", db_null())),
                        &ignored);
}

static bool make(struct make *m, struct err *err)
{
    struct task *t = m->task;
    bool same = false, resumed = goes_on(m);
    if (!open_log(m, !resumed, err) || (!resumed && !begin(m, &same, err)))
        return false;
    if (same) {
        dprintf(m->log, "nothing has changed: " STR_FMT " stays\n",
                STR_ARG(object_text(&m->runtime, "image")));
        return engine_write_status(t->core, &kind_runtime, m->runtime.id,
                                   ENGINE_STATUSES(status_set("state", db_textz("ready"))), err);
    }
    const struct runtime_made made = {m->project, m->version, m->plan.fingerprint, m->plan.bytes};
    return runtime_await(t, m->job, &m->plan, m->log, err) && set_phase(m, "storing", err) && save(m, err) &&
           runtime_finish(t, &m->runtime, &made, err);
}

/* What is told of a run that will not be gone on with; undo does the rest. */
static void keep_reason(struct make *m, const struct err *why)
{
    struct err ignored = {0};
    if (m->log >= 0)
        dprintf(m->log, "%s\n", why->message);
    if (why->code != ERR_UNAVAILABLE && !(why->id && strcmp(why->id, "task-cancelled") == 0))
        engine_write_status(m->task->core, &kind_runtime, m->runtime.id,
                            ENGINE_STATUSES(status_set("reason", db_textz(why->message)),
                                            status_set("reason_zh", db_textz(err_zh(why)))),
                            &ignored);
}

static bool run_build(struct task *t, struct err *err)
{
    struct make m = {.task = t, .project = t->project, .log = -1};
    if (!runtime_load(t, &m.runtime, err))
        return false;
    bool ok = make(&m, err);
    if (ok)
        clean_up(&m, true);
    else
        keep_reason(&m, err);
    if (m.log >= 0)
        close(m.log);
    return ok;
}

static void undo_build(struct task *t)
{
    struct make m = {.task = t, .project = t->project, .log = -1};
    struct err ignored = {0};
    if (!runtime_load(t, &m.runtime, &ignored))
        return;
    m.job = object_int(&m.runtime, "job");
    clean_up(&m, false);
    const char *state = object_text(&m.runtime, "reason").n  ? "failed"
                        : object_text(&m.runtime, "image").n ? "ready"
                                                             : "missing";
    engine_write_status(t->core, &kind_runtime, m.runtime.id,
                        ENGINE_STATUSES(status_set("state", db_textz(state))), &ignored);
}

const struct task_type task_runtime_build = {.name = "runtime_build",
                                             .title = {"Build a runtime", "构建运行环境"},
                                             .run = run_build,
                                             .undo = undo_build,
                                             .undo_always = true,
                                             .at_once = 1};

/* --- what it would cost --- */

/* As measured: so many bytes are fetched, installed and stored in a minute. */
#define BYTES_PER_MINUTE 50e6

static bool run_estimate(struct task *t, struct err *err)
{
    struct object o;
    struct runtime_plan plan;
    if (!runtime_load(t, &o, err))
        return false;
    auto_fd int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    bool ok = runtime_script(t, "estimate", &o, STR_NULL, log, &plan, err);
    struct err ignored = {0};
    fs_remove_tree(AT_FDCWD,
                   arena_printf(t->arena, "%s" RUNTIME_ASIDE, runtime_folder(t->core, t->arena, o.id)),
                   &ignored);
    if (ok)
        return engine_write_status(
            t->core, &kind_runtime, o.id,
            ENGINE_STATUSES(status_set("bytes", db_int(plan.bytes)),
                            status_set("minutes", db_real(1 + (double)plan.bytes / BYTES_PER_MINUTE)),
                            status_set("reason", db_textz("")), status_set("reason_zh", db_textz(""))),
            err);
    if (err->code != ERR_UNAVAILABLE)
        engine_write_status(t->core, &kind_runtime, o.id,
                            ENGINE_STATUSES(status_set("reason", db_textz(err->message)),
                                            status_set("reason_zh", db_textz(err_zh(err)))),
                            &ignored);
    return false;
}

const struct task_type task_runtime_estimate = {.name = "runtime_estimate",
                                                .title = {"Estimate a runtime", "估算运行环境"},
                                                .run = run_estimate,
                                                .at_once = 1};
