#include "core/build/build.h"

#include "base/messages.h"
#include "core/build/save.h"

#include "base/clock.h"
#include "base/fs.h"
#include "core/image/assemble.h"
#include "core/job/fields.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define OWNER     "image_build"
#define PLACE     "/run/ingot-build"
#define PIPE      "pipe"
#define SAVED     "saved\n"
#define FAILED    "failed\n"
#define ANSWER_MS 30000

#define AUTHORITIES "/run/ingot-authorities.pem"
#define BUNDLE_MAX  (1 << 20)

/* --- asking for it --- */

enum { B_FROM, B_VERSION, B_SCRIPT, B_SPEC, B_ENV, B_HOURS };

const struct field image_build_fields[] = {
    [B_FROM] = {.name = "from",
                .type = FIELD_REF,
                .ref = "image_version",
                .flags = FIELD_CREATE,
                .title = {"Version to start from", "基础版本"},
                .help = {"Without one: this machine's own programs.", "不选则为本机自带的程序。"}},
    [B_VERSION] = IMAGE_FIELD_VERSION,
    [B_SCRIPT] = {.name = "script",
                  .type = FIELD_TEXT,
                  .flags = FIELD_CREATE | FIELD_REQUIRED | FIELD_LONG,
                  .min = 1,
                  .max = 3000,
                  .title = {"Script", "脚本"},
                  .help = {"Lines for /bin/sh, run as root; the first that fails ends it: pip install numpy",
                           "由 /bin/sh 以 root 身份逐行执行，出错即终止，如 pip install numpy"}},
    [B_SPEC] = JOB_FIELD_SPEC(FIELD_CREATE),
    [B_ENV] = {.name = "env",
               .type = FIELD_JSON,
               .flags = FIELD_CREATE,
               .max = 1 << 17,
               .check = job_env_check,
               .title = {"Variables of the script", "脚本的环境变量"},
               .help = {"They do not stay in the image.", "不会保留在镜像中。"}},
    [B_HOURS] = JOB_FIELD_HOURS(FIELD_CREATE, 100, "2"),
    {0},
};

struct asked {
    struct job_new job;
    struct str version;
    int64_t id;
};

static bool build_write(struct op *op, void *ctx, struct err *err)
{
    struct asked *b = ctx;
    return job_create(op, &b->job, &b->id, err) &&
           conn_exec(op->conn, "INSERT INTO image_builds (job, version) VALUES (?, ?)",
                     db_args(db_int(b->id), db_text(b->version)), NULL, err);
}

/* The exact content, as jobs name it. */
static bool base_name(struct op *op, int64_t id, int64_t project, struct str *ret, struct err *err)
{
    struct object version, image, other;
    *ret = STR("host");
    if (!id)
        return true;
    if (!engine_get(op->core, op->caller, &kind_image_version, 0, id, op->arena, &version, err) ||
        !engine_get(op->core, &caller_system, &kind_image, 0, version.parent, op->arena, &image, err) ||
        !engine_get(op->core, &caller_system, kind_by_name(STR("project")), 0, image.project, op->arena,
                    &other, err))
        return false;
    const char *above =
        image.project == project
            ? ""
            : arena_printf(op->arena, "%s/",
                           repository_project_text(op->arena, other.id, object_text(&other, "name")));
    *ret =
        str_of(arena_printf(op->arena, "%s" STR_FMT "@" STR_FMT, above, STR_ARG(object_text(&image, "name")),
                            STR_ARG(object_text(&version, "digest"))));
    return true;
}

bool image_build(struct op *op, struct object *o, const struct db_value *in, struct json_out *out,
                 int *status, struct err *err)
{
    (void)status;
    struct asked b = {.job = {.project = o->project,
                              .owner_kind = OWNER,
                              .owner = o->id,
                              .command = in[B_SCRIPT].s,
                              .env = in[B_ENV].type == DB_TEXT ? in[B_ENV].s : STR_NULL,
                              .spec = in[B_SPEC].i,
                              .hours = in[B_HOURS].r},
                      .version = in[B_VERSION].s};
    if (!reference_tag(b.version, err) || !caller_need(op->caller, "job.create", o->project, err) ||
        !base_name(op, in[B_FROM].type == DB_INT ? in[B_FROM].i : 0, o->project, &b.job.image, err))
        return false;
    const char *name = arena_printf(op->arena, "build " STR_FMT, STR_ARG(b.version));
    b.job.name = str_of(name);
    if (!engine_write(op->core, op->caller, op->arena, build_write, &b, err))
        return false;
    jobs_wake(op->core->jobs);
    return engine_answer_id(op, &kind_job, b.id, out, err);
}

/* --- the container --- */

/* The shell's own commands only: an image need not have more. */
static const char wrapper[] = "cd /\n"
                              "/bin/sh -ex -c \"$1\" </dev/null || exit $?\n"
                              "echo 'the script has ended; its changes are saved'\n"
                              "until read -r word <" PLACE "/" PIPE "; do :; done\n"
                              "[ \"$word\" = saved ] || { echo 'the image could not be saved'; exit 1; }\n"
                              "echo 'the image is saved'\n";

static const char *folder_of(const struct core *core, struct arena *a, int64_t job)
{
    return arena_printf(a, "%s/builds/%lld", core->data, (long long)job);
}

static const char *pipe_of(const struct core *core, struct arena *a, int64_t job)
{
    return arena_printf(a, "%s/" PIPE, folder_of(core, a, job));
}

/* The authorities that this machine trusts, for indexes and proxies that only its site knows: most programs
 * look for a variable. Neither stays in the image. */
static void add_authorities(struct launch *u)
{
    static const char *const bundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                          "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                          "/etc/ssl/cert.pem"};
    static const char *const names[] = {"SSL_CERT_FILE",  "PIP_CERT",       "REQUESTS_CA_BUNDLE",
                                        "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS"};
    struct str text = STR_NULL;
    struct err ignored = {0};
    for (size_t i = 0; !text.n && i < countof(bundles); i++)
        if (!fs_read(launch_arena(u), bundles[i], BUNDLE_MAX, &text, &ignored))
            text = STR_NULL;
    if (!text.n)
        return;
    launch_file(u, AUTHORITIES, text, 0644);
    for (size_t i = 0; i < countof(names); i++)
        launch_env_default(u, names[i], AUTHORITIES);
}

static bool prepare(struct launch *u, struct err *err)
{
    const struct object *job = launch_job(u);
    const char *folder = folder_of(launch_core(u), launch_arena(u), job->id);
    const char *pipe = pipe_of(launch_core(u), launch_arena(u), job->id);
    if (!fs_mkdirs(folder, 0755, err))
        return false;
    if (mkfifo(pipe, 0644) != 0 && errno != EEXIST)
        return err_errno(err, errno, "cannot make %s", pipe);
    if (chmod(pipe, 0644) != 0)
        return err_errno(err, errno, "cannot make %s readable", pipe);
    const char *const argv[] = {"/bin/sh", "-c", wrapper, "build",
                                arena_strz(launch_arena(u), object_text(job, "command"))};
    launch_argv(u, argv, countof(argv));
    launch_mount(u, folder, PLACE, true);
    launch_env(u, "HOME", "/root");
    launch_env(u, "DEBIAN_FRONTEND", "noninteractive");
    launch_env(u, "PIP_BREAK_SYSTEM_PACKAGES", "1");
    add_authorities(u);
    return true;
}

static bool changed(struct op *op, const struct object *job, enum job_state from, struct err *err)
{
    (void)from;
    if (!job_is_over(job_state_of(job)))
        return true;
    unlink(pipe_of(op->core, op->arena, job->id));
    rmdir(folder_of(op->core, op->arena, job->id));
    return conn_exec(op->conn, "DELETE FROM image_builds WHERE job = ?", db_args(db_int(job->id)), NULL, err);
}

/* --- saving --- */

static void write_params(const struct object *job, struct str image, struct str version, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_kint(&o, "job", job->id);
    json_kint(&o, "attempt", object_int(job, "attempt"));
    json_kint(&o, "rank", 0);
    json_kstr(&o, "base", object_text(job, "image"));
    json_kstr(&o, "name", image);
    json_kstr(&o, "version", version);
    json_object_end(&o);
}

/* One task per job, in the name of the user that asked for the build. */
static bool task_write(struct op *op, void *ctx, struct err *err)
{
    const struct object *job = ctx;
    struct object image;
    struct db_row row;
    bool found;
    auto_buf struct buf params = {0};
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT b.version, (SELECT MAX(t.state) FROM tasks t WHERE t.type = 'image_build' AND"
                        " t.subject_kind = 'job' AND t.subject = b.job) FROM image_builds b WHERE b.job = ?",
                        db_args(db_int(job->id)), &row, &found, err))
        return false;
    if (found && row.v[1].type == DB_TEXT && str_is(row.v[1].s, "cancelled"))
        return job_stop(op, job->id, "the saving of its changes was cancelled", err);
    if (!found || row.v[1].type == DB_TEXT)
        return true;
    if (!engine_load_row(op, &kind_image, object_int(job, "owner"), &image, &found, err))
        return false;
    if (!found)
        return job_stop(op, job->id, "its image was deleted", err);
    write_params(job, object_text(&image, "name"), row.v[0].s, &params);
    const struct task_new t = {.type = task_image_build.name,
                               .project = job->project,
                               .subject_kind = "job",
                               .subject = job->id,
                               .name = task_name(op->arena, MESSAGE_NAME_IMAGE_BUILD,
                                                 STR_ARG(object_text(&image, "name")), STR_ARG(row.v[0].s)),
                               .params = buf_view(&params)};
    int64_t id;
    return task_create(op, &t, &id, err);
}

static bool running(struct core *core, const struct object *job, struct arena *a, struct err *err)
{
    auto_fd int fd = open(pipe_of(core, a, job->id), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) /* the pipe has no reader yet: the script still runs */
        return true;
    return engine_write(core, &caller_system, a, task_write, (void *)(uintptr_t)job, err);
}

const struct job_owner image_build_owner = {
    .kind = OWNER, .no_platform = true, .prepare = prepare, .changed = changed, .running = running};

/* The container may be between two looks at the pipe. One that is gone needs no answer. */
static void answer(struct task *t, const char *word)
{
    const char *pipe = pipe_of(t->core, t->arena, t->subject);
    const uint64_t until = clock_mono() + ANSWER_MS * UINT64_C(1000000);
    do {
        auto_fd int fd = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && write(fd, word, strlen(word)) == (ssize_t)strlen(word))
            return;
        if (fd < 0 && errno != ENXIO)
            return;
        usleep(20000);
    } while (clock_mono() < until);
}

static bool run_build(struct task *t, struct err *err)
{
    struct object job;
    if (!engine_get(t->core, &caller_system, &kind_job, 0, t->subject, t->arena, &job, err))
        return false;
    if (job_state_of(&job) == JOB_COMPLETED) /* the server was killed after the answer */
        return true;
    if (!assemble_saved(t, "built by a script", err))
        return false;
    answer(t, SAVED);
    return true;
}

static void undo_build(struct task *t)
{
    answer(t, FAILED);
}

const struct task_type task_image_build = {.name = "image_build",
                                           .title = {"Build an image", "构建镜像"},
                                           .run = run_build,
                                           .undo = undo_build,
                                           .at_once = 8};
