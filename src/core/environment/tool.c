#include "core/environment/tool.h"

#include "core/environment/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define PROBE_MS   1000
#define ANSWER_MAX (64 << 10)

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

/* The machine's settings: what tools keep writing themselves is not watched, for each change would wake the
 * page. */
static const char vscode_command[] =
    "machine=/workspace/.local/share/code-server/Machine/settings.json\n"
    "[ -e $machine ] || { mkdir -p ${machine%/*}; echo '{\"files.watcherExclude\": {"
    "\"**/.local/share/**\": true, \"**/.jupyter/**\": true}}' >$machine; }\n"
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
     .about = {"Notebooks, a terminal and a file browser in environments",
               "开发环境中的笔记本、终端和文件浏览器"},
     .fetched = 47300000,
     .installed = 240000000,
     .minutes = 3,
     .owner_kind = "environment",
     .permission = "environment.open",
     .own_only = true,
     .port = 8888,
     .needs = "jupyter/installed",
     .page = "lab",
     .ready = "api",
     .polls = {{"GET HEAD", "api/"}, {"GET HEAD PUT", "lab/api/workspaces"}, {"WS", "api/events/"}},
     .busy = "api/kernels",
     .busy_sign = "\"execution_state\": \"busy\"",
     .command = jupyter_command},
    {.name = "vscode",
     .title = {"VS Code", "VS Code"},
     .about = {"VS Code in the browser, in environments; its parts are compiled, which takes a C++ compiler",
               "浏览器中的 VS Code，用于开发环境；部分组件需编译，要求有 C++ 编译器"},
     .fetched = 260000000,
     .installed = 430000000,
     .minutes = 3,
     .owner_kind = "environment",
     .permission = "environment.open",
     .own_only = true,
     .port = 8889,
     .needs = "vscode/installed",
     .page = "",
     .ready = "healthz",
     .strips_prefix = true,
     .on_demand = true,
     .polls = {{"GET HEAD", "healthz"}},
     .beat = 40, /* "telemetry ping"; a key that is typed has 51, its echo 43 */
     .command = vscode_command},
    {.name = "tensorboard",
     .title = {"TensorBoard", "TensorBoard"},
     .about = {"Shows what the code of training runs wrote for it",
               "展示训练运行代码写出的 TensorBoard 日志"},
     .fetched = 45800000,
     .installed = 180000000,
     .minutes = 2,
     .owner_kind = "tensorboard",
     .permission = "training.read",
     .port = 6006,
     .needs = "tensorboard/installed",
     .page = "",
     .ready = "data/environment",
     .command = tensorboard_command},
    {.name = "netron",
     .title = {"Netron", "Netron"},
     .about = {"Draws the graph of a model version", "绘制模型版本的计算图"},
     .fetched = 3700000,
     .installed = 30000000,
     .minutes = 1,
     .owner_kind = "model_version",
     .permission = "model_version.read",
     .needs = "netron/installed",
     .pages = "netron/lib/python3*/site-packages/netron",
     .page = ""},
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

static bool has_word(const char *list, struct str word)
{
    struct str rest = str_of(list);
    while (rest.n)
        if (str_eq(str_cut(rest, ' ', &rest), word))
            return true;
    return false;
}

bool tool_polls(const struct tool *t, struct str method, struct str path)
{
    for (size_t i = 0; i < TOOL_POLLS && t->polls[i].path; i++)
        if (str_starts(path, t->polls[i].path) && has_word(t->polls[i].methods, method))
            return true;
    return false;
}

const struct words *tool_missing(struct core *core, const struct tool *t, struct arena *a)
{
    const char *path = arena_printf(a, "%s/%s", tools_dir(core->tools), t->needs);
    if (access(path, F_OK) == 0)
        return NULL;
    struct words *w = arena_new(a, struct words);
    w->en = arena_printf(
        a, "%s is not installed: an administrator installs it on the page Tools or with `ingot fetch %s`",
        t->title.en, t->name);
    w->zh =
        arena_printf(a, "%s 未安装：管理员可在“工具”页面安装，或执行 `ingot fetch %s`", t->title.zh, t->name);
    return w;
}

bool tool_newer(struct core *core, const struct tool *t, const struct object *job, struct arena *a)
{
    struct stat st;
    const char *path = arena_printf(a, "%s/%s", tools_dir(core->tools), t->needs);
    return stat(path, &st) == 0 && object_int(job, "started_at") > 0 &&
           (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000 > object_int(job, "started_at");
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

/* Asks for a path of a port; -1 when it takes no question. */
static int ask_port(struct core *core, struct exec_id container, uint16_t port, const char *path)
{
    char text[512];
    struct err err = {0};
    struct exec *x = jobs_exec(core->jobs);
    auto_fd int fd = x ? x->ops->connect(x, container, port, &err) : -1;
    int n =
        snprintf(text, sizeof text, "GET %s HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    if (fd < 0 || n < 0 || n >= (int)sizeof text || !wait_for(fd, POLLOUT, PROBE_MS) ||
        send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        return -1;
    int asked = fd;
    fd = -1;
    return asked;
}

static int ask(struct core *core, struct exec_id container, const struct tool *t, const char *path)
{
    char full[256];
    if (t->strips_prefix)
        snprintf(full, sizeof full, "/%s", path);
    else
        snprintf(full, sizeof full, "/t/%lld/%s/%s", (long long)container.job, t->name, path);
    return ask_port(core, container, t->port, full);
}

/* The status of an HTTP answer; 0 when none came. */
static int status_of(int fd)
{
    char text[16];
    int64_t status;
    if (!wait_for(fd, POLLIN, PROBE_MS) || recv(fd, text, sizeof text, MSG_DONTWAIT) < 12 ||
        memcmp(text, "HTTP/1.", 7) != 0 || !str_to_i64((struct str){text + 9, 3}, &status))
        return 0;
    return (int)status;
}

int tool_status(struct core *core, struct exec_id container, uint16_t port, const char *path)
{
    auto_fd int fd = ask_port(core, container, port, path);
    return fd < 0 ? 0 : status_of(fd);
}

enum tool_state tool_probe(struct core *core, const struct object *job, const struct tool *t)
{
    struct exec_id id = {job->id, (int32_t)object_int(job, "attempt"), 0};
    auto_arena struct arena a;
    arena_init(&a);
    if (tool_missing(core, t, &a))
        return TOOL_MISSING;
    if (job_state_of(job) != JOB_RUNNING)
        return TOOL_STARTING;
    auto_fd int fd = ask(core, id, t, t->ready);
    int status = fd < 0 ? 0 : status_of(fd);
    return status >= 200 && status < 500 ? TOOL_READY : TOOL_STARTING;
}

bool tool_busy(struct core *core, struct exec_id container, const struct tool *t)
{
    char *text = base_alloc(ANSWER_MAX);
    size_t n = 0;
    auto_fd int fd = t->busy ? ask(core, container, t, t->busy) : -1;
    while (fd >= 0 && n < ANSWER_MAX && wait_for(fd, POLLIN, PROBE_MS)) {
        ssize_t got = recv(fd, text + n, ANSWER_MAX - n, MSG_DONTWAIT);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    bool busy = n && str_find((struct str){text, n}, str_of(t->busy_sign)) >= 0;
    free(text);
    return busy;
}
