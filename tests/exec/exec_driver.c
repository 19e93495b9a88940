/* exec_driver DIR NAME SUBNET [egress]: runs the local executor. Each line of standard input is {"op": ...,
 * "id": "1-1-0", ...}; each is answered by one line, {"ok": true, ...} or {"ok": false, "code": ...,
 * "message":
 * ...}. Bytes are base64-free: logs and terminals are answered as text with invalid UTF-8 replaced. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "exec/local/local.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#define ATTACHED 64

static struct exec *x;
static struct exec_attach attached[ATTACHED];
static size_t n_attached;
static long watched;

struct call {
    yyjson_val *q;
    struct arena *a;
    struct json_out *o;
    struct exec_id id;
    struct err *err;
};

static int64_t number(yyjson_val *q, const char *key)
{
    return yyjson_get_sint(yyjson_obj_get(q, key));
}

static const char *text(yyjson_val *q, const char *key)
{
    return yyjson_get_str(yyjson_obj_get(q, key));
}

static const char **texts(struct arena *a, yyjson_val *q, const char *key, size_t *n)
{
    yyjson_val *list = yyjson_obj_get(q, key), *item;
    size_t i, max;
    const char **all = arena_array(a, const char *, yyjson_arr_size(list) + 1);
    *n = yyjson_arr_size(list);
    yyjson_arr_foreach(list, i, max, item) all[i] = yyjson_get_str(item);
    return all;
}

static void on_change(void *ctx, const struct exec_status *s)
{
    (void)ctx;
    (void)s;
    __atomic_add_fetch(&watched, 1, __ATOMIC_SEQ_CST);
}

static void fill_lists(struct call *c, struct exec_spec *s)
{
    yyjson_val *list, *item;
    size_t i, max;
    list = yyjson_obj_get(c->q, "mounts");
    struct exec_mount *mounts = arena_array(c->a, struct exec_mount, yyjson_arr_size(list) + 1);
    yyjson_arr_foreach(list, i, max, item) mounts[i] = (struct exec_mount){
        text(item, "source"), text(item, "target"), yyjson_get_bool(yyjson_obj_get(item, "read_only"))};
    s->mounts = mounts;
    s->n_mounts = yyjson_arr_size(list);
    list = yyjson_obj_get(c->q, "files");
    struct exec_file *files = arena_array(c->a, struct exec_file, yyjson_arr_size(list) + 1);
    yyjson_arr_foreach(list, i, max, item) files[i] = (struct exec_file){
        text(item, "target"), json_str(yyjson_obj_get(item, "content")), (unsigned)number(item, "mode")};
    s->files = files;
    s->n_files = yyjson_arr_size(list);
    list = yyjson_obj_get(c->q, "peers");
    struct exec_peer *peers = arena_array(c->a, struct exec_peer, yyjson_arr_size(list) + 1);
    yyjson_arr_foreach(list, i, max, item)
    {
        exec_id_parse(json_str(yyjson_obj_get(item, "id")), &peers[i].id);
        peers[i].hostname = text(item, "hostname");
    }
    s->peers = peers;
    s->n_peers = yyjson_arr_size(list);
}

static bool op_start(struct call *c)
{
    struct exec_spec s = {.id = c->id,
                          .image = text(c->q, "image") ? text(c->q, "image") : "host",
                          .host = yyjson_get_bool(yyjson_obj_get(c->q, "host")),
                          .cwd = text(c->q, "cwd"),
                          .user = text(c->q, "user"),
                          .hostname = text(c->q, "hostname"),
                          .network = number(c->q, "network"),
                          .cpu_millis = number(c->q, "cpu_millis"),
                          .memory = number(c->q, "memory"),
                          .disk = number(c->q, "disk"),
                          .pids = number(c->q, "pids"),
                          .log_limit = number(c->q, "log_limit"),
                          .grace_s = number(c->q, "grace_s")};
    s.argv = texts(c->a, c->q, "argv", &s.n_argv);
    s.env = texts(c->a, c->q, "env", &s.n_env);
    s.layers = texts(c->a, c->q, "layers", &s.n_layers);
    s.devices = texts(c->a, c->q, "devices", &s.n_devices);
    fill_lists(c, &s);
    return x->ops->start(x, &s, c->err);
}

static void show(struct json_out *o, const struct exec_status *s)
{
    char name[EXEC_ID_MAX];
    json_kz(o, "id", exec_id_format(s->id, name));
    json_kz(o, "state", exec_state_name(s->state));
    json_kz(o, "end", exec_end_name(s->end));
    json_kint(o, "code", s->code);
    json_kint(o, "signal", s->signal);
    json_kbool(o, "oom", s->oom);
    json_kint(o, "started", s->started_us);
    json_kint(o, "ended", s->ended_us);
    json_kz(o, "address", s->address);
    json_kz(o, "reason", s->reason);
}

static bool op_status(struct call *c)
{
    struct exec_status s;
    if (!x->ops->status(x, c->a, c->id, &s, c->err))
        return false;
    show(c->o, &s);
    return true;
}

static bool op_list(struct call *c)
{
    struct exec_status *list;
    size_t n;
    if (!x->ops->list(x, c->a, &list, &n, c->err))
        return false;
    json_key(c->o, "list");
    json_array(c->o);
    for (size_t i = 0; i < n; i++) {
        json_object(c->o);
        show(c->o, &list[i]);
        json_object_end(c->o);
    }
    json_array_end(c->o);
    json_kint(c->o, "watched", __atomic_load_n(&watched, __ATOMIC_SEQ_CST));
    return true;
}

static bool op_stop(struct call *c)
{
    yyjson_val *grace = yyjson_obj_get(c->q, "grace_s");
    return x->ops->stop(x, c->id, grace ? yyjson_get_sint(grace) : -1, c->err);
}

static bool op_kill(struct call *c)
{
    return x->ops->kill(x, c->id, c->err);
}

static bool op_remove(struct call *c)
{
    return x->ops->remove(x, c->id, c->err);
}

static bool op_log(struct call *c)
{
    struct exec_log log;
    if (!x->ops->log(x, c->id, &log, c->err))
        return false;
    json_kint(c->o, "first", log.first);
    json_kint(c->o, "end", log.end);
    json_kint(c->o, "first_line", log.first_line);
    json_kint(c->o, "end_line", log.end_line);
    json_kbool(c->o, "closed", log.closed);
    return true;
}

/* Everything from offset on, or up to n bytes of it. "count" only counts: bytes, lines and whether every line
 * is whole.
 */
static bool op_log_read(struct call *c)
{
    int64_t offset = number(c->q, "offset"), most = number(c->q, "n");
    bool count = yyjson_get_bool(yyjson_obj_get(c->q, "count"));
    auto_buf struct buf all = {0};
    static char chunk[1 << 16];
    int64_t bytes = 0, lines = 0;
    for (size_t n;;) {
        if (!x->ops->log_read(x, c->id, &offset, chunk, sizeof chunk, &n, c->err))
            return false;
        if (n == 0 || (most && bytes >= most))
            break;
        bytes += (int64_t)n;
        for (size_t i = 0; i < n; i++)
            lines += chunk[i] == '\n';
        if (!count)
            buf_add(&all, chunk, n);
    }
    json_kint(c->o, "offset", offset);
    json_kint(c->o, "bytes", bytes);
    json_kint(c->o, "lines", lines);
    if (!count)
        json_kstr(c->o, "text", all.p ? buf_view(&all) : STR(""));
    return true;
}

static bool op_log_line(struct call *c)
{
    int64_t offset;
    if (!x->ops->log_line(x, c->id, number(c->q, "line"), &offset, c->err))
        return false;
    json_kint(c->o, "offset", offset);
    return true;
}

static bool op_log_wait(struct call *c)
{
    return x->ops->log_wait(x, c->id, number(c->q, "offset"), number(c->q, "timeout_ms"), c->err);
}

static bool op_attach(struct call *c)
{
    struct exec_attach_spec s = {.cwd = text(c->q, "cwd"),
                                 .user = text(c->q, "user"),
                                 .tty = yyjson_get_bool(yyjson_obj_get(c->q, "tty")),
                                 .rows = (unsigned)number(c->q, "rows"),
                                 .cols = (unsigned)number(c->q, "cols")};
    s.argv = texts(c->a, c->q, "argv", &s.n_argv);
    s.env = texts(c->a, c->q, "env", &s.n_env);
    if (n_attached == ATTACHED)
        return err_set(c->err, ERR_TOO_MANY, NULL, "too many");
    if (!x->ops->attach(x, c->id, &s, &attached[n_attached], c->err))
        return false;
    json_kint(c->o, "handle", (int64_t)n_attached++);
    return true;
}

static struct exec_attach *handle(struct call *c)
{
    int64_t i = number(c->q, "handle");
    return &attached[i >= 0 && i < ATTACHED ? i : 0];
}

static bool op_attach_write(struct call *c)
{
    struct str s = json_str(yyjson_obj_get(c->q, "text"));
    if (write(handle(c)->fd, s.p, s.n) != (ssize_t)s.n)
        return err_errno(c->err, errno, "cannot write");
    if (yyjson_get_bool(yyjson_obj_get(c->q, "end")))
        shutdown(handle(c)->fd, SHUT_WR);
    return true;
}

/* Until `until` was seen, the end, or two minutes. */
static bool read_fd(struct call *c, int fd)
{
    const char *until = text(c->q, "until");
    auto_buf struct buf all = {0};
    char chunk[4096];
    bool end = false;
    for (uint64_t stop = clock_mono() + UINT64_C(120000000000); clock_mono() < stop;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (until && all.n > 0 && strstr(all.p, until))
            break;
        if (poll(&p, 1, 1000) <= 0)
            continue;
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        end = n <= 0;
        if (end)
            break;
        buf_add(&all, chunk, (size_t)n);
    }
    json_kbool(c->o, "end", end);
    json_kstr(c->o, "text", all.p ? buf_view(&all) : STR(""));
    return true;
}

static bool op_attach_read(struct call *c)
{
    return read_fd(c, handle(c)->fd);
}

static bool op_attach_resize(struct call *c)
{
    return x->ops->attach_resize(handle(c), (unsigned)number(c->q, "rows"), (unsigned)number(c->q, "cols"),
                                 c->err);
}

static bool op_attach_wait(struct call *c)
{
    int code;
    if (!x->ops->attach_wait(handle(c), &code, c->err))
        return false;
    json_kint(c->o, "code", code);
    return true;
}

static bool op_attach_close(struct call *c)
{
    x->ops->attach_close(handle(c));
    return true;
}

static bool op_connect(struct call *c)
{
    auto_fd int fd = x->ops->connect(x, c->id, (uint16_t)number(c->q, "port"), c->err);
    if (fd < 0)
        return false;
    struct str s = json_str(yyjson_obj_get(c->q, "text"));
    if (send(fd, s.p, s.n, MSG_NOSIGNAL) != (ssize_t)s.n)
        return err_errno(c->err, errno, "cannot write");
    return read_fd(c, fd);
}

static bool op_folder(struct call *c)
{
    int fd = x->ops->folder(x, c->id, text(c->q, "path"), c->err);
    if (fd < 0)
        return false;
    DIR *d = fdopendir(fd);
    if (!d)
        return err_errno(c->err, errno, "cannot read it");
    json_key(c->o, "names");
    json_array(c->o);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            json_string(c->o, str_of(e->d_name));
    json_array_end(c->o);
    closedir(d);
    return true;
}

static bool op_stats(struct call *c)
{
    struct exec_stats s;
    if (!x->ops->stats(x, c->id, &s, c->err))
        return false;
    json_kint(c->o, "cpu_ns", s.cpu_ns);
    json_kint(c->o, "memory", s.memory);
    json_kint(c->o, "memory_limit", s.memory_limit);
    json_kint(c->o, "net_rx", s.net_rx);
    json_kint(c->o, "net_tx", s.net_tx);
    json_kint(c->o, "disk", s.disk);
    json_kint(c->o, "disk_limit", s.disk_limit);
    json_kint(c->o, "pids", s.pids);
    return true;
}

static bool op_nodes(struct call *c)
{
    struct exec_node *n;
    size_t count;
    if (!x->ops->nodes(x, c->a, &n, &count, c->err))
        return false;
    json_kz(c->o, "name", n->name);
    json_kz(c->o, "arch", n->arch);
    json_kint(c->o, "cpu_millis", n->cpu_millis);
    json_kint(c->o, "memory", n->memory);
    json_kz(c->o, "reason", n->reason);
    json_kint(c->o, "devices", (int64_t)n->n_devices);
    json_key(c->o, "report");
    json_raw(c->o, local_report(x, c->a));
    return true;
}

static const struct {
    const char *name;
    bool (*run)(struct call *c);
} ops[] = {{"start", op_start},
           {"status", op_status},
           {"list", op_list},
           {"stop", op_stop},
           {"kill", op_kill},
           {"remove", op_remove},
           {"log", op_log},
           {"log_read", op_log_read},
           {"log_line", op_log_line},
           {"log_wait", op_log_wait},
           {"attach", op_attach},
           {"attach_write", op_attach_write},
           {"attach_read", op_attach_read},
           {"attach_resize", op_attach_resize},
           {"attach_wait", op_attach_wait},
           {"attach_close", op_attach_close},
           {"connect", op_connect},
           {"folder", op_folder},
           {"stats", op_stats},
           {"nodes", op_nodes}};

static bool dispatch(struct call *c)
{
    const char *name = text(c->q, "op");
    struct str id = json_str(yyjson_obj_get(c->q, "id"));
    if (id.p && !exec_id_parse(id, &c->id))
        return err_set(c->err, ERR_INVALID, "id", "bad id");
    for (size_t i = 0; name && i < countof(ops); i++) {
        if (strcmp(name, ops[i].name) == 0)
            return ops[i].run(c);
    }
    return err_set(c->err, ERR_INVALID, "op", "no such operation");
}

static void answer(struct str line)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf out = {0}, failure = {0};
    struct err err = {0};
    struct json_out o;
    json_begin(&o, &out);
    json_object(&o);
    struct call c = {.a = &a, .o = &o, .err = &err, .q = json_parse(&a, line, &err)};
    bool ok = c.q && dispatch(&c);
    if (ok) {
        json_kbool(&o, "ok", true);
        json_object_end(&o);
    } else {
        json_begin(&o, &failure);
        json_object(&o);
        json_kbool(&o, "ok", false);
        json_kz(&o, "code", err_info(err.code)->name);
        json_kz(&o, "field", err.field);
        json_kz(&o, "message", err.message);
        json_object_end(&o);
    }
    puts(ok ? out.p : failure.p);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5)
        return 2;
    struct err err;
    struct local_options o = {.dir = argv[1], .name = argv[2], .subnet = argv[3], .egress = argc == 5};
    x = local_new(&o, &err);
    if (!x) {
        printf("{\"ok\": false, \"message\": \"%s\"}\n", err.message);
        return 1;
    }
    x->ops->watch(x, on_change, NULL);
    puts("{\"ok\": true}");
    fflush(stdout);
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;)
        answer((struct str){line, (size_t)n});
    free(line);
    for (size_t i = 0; i < n_attached; i++) {
        if (attached[i].own)
            x->ops->attach_close(&attached[i]);
    }
    x->ops->watch(x, NULL, NULL);
    x->ops->free(x);
    return 0;
}
