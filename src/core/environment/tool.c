#include "core/environment/tool.h"

#include "core/environment/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#define PROBE_MS 1000

/* The image's own Python when it is of the version the tool was installed with, else the server's. What is
 * set the first time: no news from outside, no assistants that need an account elsewhere. */
static const char jupyter_command[] =
    "python=$TOOLS/jupyter/bin/python\n"
    "$python -c 'import jupyterlab' 2>/dev/null || python=$TOOLS/jupyter/any/bin/python\n"
    "export JUPYTER_CONFIG_DIR=/workspace/.jupyter JUPYTER_DATA_DIR=/workspace/.local/share/jupyter\n"
    "set=$JUPYTER_CONFIG_DIR/labconfig/default_setting_overrides.json\n"
    "[ -e $set ] || { mkdir -p ${set%/*}; echo '{\"@jupyterlab/apputils-extension:notification\": "
    "{\"fetchNews\": \"false\", \"checkForUpdates\": false}}' >$set; }\n"
    "exec $python -m jupyterlab --no-browser --allow-root --ip=127.0.0.1 --port=$PORT "
    "--ServerApp.port_retries=0 --ServerApp.base_url=$BASE --ServerApp.root_dir=/workspace "
    "--IdentityProvider.token= --ServerApp.disable_check_xsrf=True --ServerApp.allow_remote_access=True "
    "--ServerApp.quit_button=False --LabApp.news_url=None "
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate";

static const char vscode_command[] =
    "set=/workspace/.local/share/code-server/User/settings.json\n"
    "[ -e $set ] || { mkdir -p ${set%/*}; echo '{\"chat.disableAIFeatures\": true, "
    "\"workbench.secondarySideBar.defaultVisibility\": \"hidden\"}' >$set; }\n"
    "exec $TOOLS/vscode/bin/node $TOOLS/vscode/node_modules/code-server --auth none "
    "--bind-addr 127.0.0.1:$PORT --disable-telemetry --disable-update-check "
    "--disable-getting-started-override --disable-workspace-trust /workspace";

static const char tensorboard_command[] =
    "python=$TOOLS/tensorboard/bin/python\n"
    "$python -c 'import tensorboard' 2>/dev/null || python=$TOOLS/tensorboard/any/bin/python\n"
    "exec $python -m tensorboard.main --host 127.0.0.1 --port $PORT --path_prefix ${BASE%/} "
    "--logdir \"${LOGDIR:-/workspace}\"";

/* Guarded by the platform, so that none asks for a password of its own; none listens but on the loopback. */
const struct tool tools[] = {
    {.name = "jupyter",
     .title = {"JupyterLab", "JupyterLab"},
     .owner_kind = "environment",
     .permission = "environment.open",
     .own_only = true,
     .port = 8888,
     .needs = "jupyter/installed",
     .page = "lab",
     .ready = "api",
     .polls = "api/",
     .command = jupyter_command},
    {.name = "vscode",
     .title = {"VS Code", "VS Code"},
     .owner_kind = "environment",
     .permission = "environment.open",
     .own_only = true,
     .port = 8889,
     .needs = "vscode/installed",
     .page = "",
     .ready = "healthz",
     .strips_prefix = true,
     .on_demand = true,
     .polls = "healthz",
     .command = vscode_command},
    {.name = "tensorboard",
     .title = {"TensorBoard", "TensorBoard"},
     .owner_kind = "tensorboard",
     .permission = "training.read",
     .port = 6006,
     .needs = "tensorboard/installed",
     .page = "",
     .ready = "data/environment",
     .command = tensorboard_command},
    {0},
};

const char *const tool_state_names[] = {"starting", "ready", "missing"};

const struct tool *tool_find(struct str name)
{
    for (const struct tool *t = tools; t->name; t++)
        if (str_is(name, t->name))
            return t;
    return NULL;
}

const struct words *tool_missing(struct core *core, const struct tool *t, struct arena *a)
{
    const char *path = arena_printf(a, "%s/%s", tools_dir(core->tools), t->needs);
    if (access(path, F_OK) == 0)
        return NULL;
    struct words *w = arena_new(a, struct words);
    const char *dir = tools_dir(core->tools);
    w->en =
        arena_printf(a, "%s is not installed: the administrator can install it with `scripts/tools.sh %s %s`",
                     t->title.en, dir, t->name);
    w->zh =
        arena_printf(a, "%s 未安装：管理员可执行 `scripts/tools.sh %s %s` 安装", t->title.zh, dir, t->name);
    return w;
}

bool tool_prepare(struct launch *u, const struct tool *t, struct err *err)
{
    struct arena *a = launch_arena(u);
    const struct words *missing = tool_missing(launch_core(u), t, a);
    if (missing)
        return err_set(err, ERR_CONFLICT, NULL, "%s", missing->en);
    const char *part = arena_strz(a, str_cut(str_of(t->needs), '/', &(struct str){0}));
    launch_mount(u, arena_printf(a, "%s/%s", tools_dir(launch_core(u)->tools), part),
                 arena_printf(a, TOOL_DIR "/%s", part), true);
    launch_port(u, t->port);
    return true;
}

const char *tool_command(struct arena *a, const struct tool *t, int64_t job)
{
    return arena_printf(a, "export TOOLS=" TOOL_DIR " BASE=/t/%lld/%s/ PORT=%u\n%s", (long long)job, t->name,
                        t->port, t->command);
}

/* --- does it answer? --- */

static bool wait_for(int fd, short what, int ms)
{
    struct pollfd p = {.fd = fd, .events = what};
    return poll(&p, 1, ms) == 1;
}

/* The status of an HTTP answer; 0 when none came. */
static int ask(int fd, const char *path)
{
    char text[512];
    int n =
        snprintf(text, sizeof text, "GET %s HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    if (n < 0 || n >= (int)sizeof text || !wait_for(fd, POLLOUT, PROBE_MS) ||
        send(fd, text, (size_t)n, MSG_NOSIGNAL) != n || !wait_for(fd, POLLIN, PROBE_MS))
        return 0;
    ssize_t got = recv(fd, text, 16, MSG_DONTWAIT);
    int64_t status;
    if (got < 12 || memcmp(text, "HTTP/1.", 7) != 0 || !str_to_i64((struct str){text + 9, 3}, &status))
        return 0;
    return (int)status;
}

enum tool_state tool_probe(struct core *core, const struct object *job, const struct tool *t)
{
    char path[256];
    struct err err = {0};
    struct exec *x = jobs_exec(core->jobs);
    struct exec_id id = {job->id, (int32_t)object_int(job, "attempt"), 0};
    auto_arena struct arena a;
    arena_init(&a);
    if (tool_missing(core, t, &a))
        return TOOL_MISSING;
    if (!x || job_state_of(job) != JOB_RUNNING)
        return TOOL_STARTING;
    auto_fd int fd = x->ops->connect(x, id, t->port, &err);
    if (fd < 0)
        return TOOL_STARTING;
    if (t->strips_prefix)
        snprintf(path, sizeof path, "/%s", t->ready);
    else
        snprintf(path, sizeof path, "/t/%lld/%s/%s", (long long)job->id, t->name, t->ready);
    int status = ask(fd, path);
    return status >= 200 && status < 500 ? TOOL_READY : TOOL_STARTING;
}
