/* The platform with routes that the test writes: each line of standard input is a JSON array of routes, which
 * is published and answered with "ok". A replica is a port of 127.0.0.1 instead of one inside of a container;
 * everything else is the real thing. Ends at the end of its input.
 *
 *     gateway_test_server DATA [THREADS]      prints "API-PORT GATEWAY-PORT" */
#include "api/api.h"
#include "api/gateway/gateway.h"
#include "api/lasting.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "core/controllers.h"
#include "core/job/job.h"
#include "core/serve/gate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

/* The linker puts it in the place of attach_connect (exec/local/own.h): nothing is changed while it runs. */
int __wrap_attach_connect(struct exec *x, struct exec_id id, uint16_t port, struct err *err);
int __wrap_attach_connect(struct exec *x, struct exec_id id, uint16_t port, struct err *err)
{
    (void)x, (void)id;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS))
        return fd;
    err_errno(err, errno, "port %u", port);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* --- routes out of JSON --- */

static int64_t number(yyjson_val *o, const char *name)
{
    return yyjson_get_sint(yyjson_obj_get(o, name));
}

static const char *text(yyjson_val *o, const char *name)
{
    return yyjson_get_str(yyjson_obj_get(o, name));
}

static const char *const *texts(struct arena *a, yyjson_val *o, const char *name, size_t *ret_n)
{
    yyjson_val *list = yyjson_obj_get(o, name), *v;
    const char **ret = arena_array(a, const char *, yyjson_arr_size(list) + 1);
    size_t i, max;
    yyjson_arr_foreach(list, i, max, v)
    {
        ret[i] = yyjson_get_str(v);
    }
    *ret_n = yyjson_arr_size(list);
    return ret;
}

static struct serve_side side(struct arena *a, yyjson_val *o)
{
    yyjson_val *ports = yyjson_obj_get(o, "ports"), *v;
    struct serve_side s = {.version = number(o, "version"),
                           .generation = number(o, "generation"),
                           .model = yyjson_get_bool(yyjson_obj_get(o, "model")),
                           .model_name = text(o, "model_name"),
                           .n = yyjson_arr_size(ports)};
    struct serve_upstream *up = arena_array(a, struct serve_upstream, s.n + 1);
    size_t i, max;
    yyjson_arr_foreach(ports, i, max, v)
    {
        uint64_t port = yyjson_get_uint(v);
        up[i] = (struct serve_upstream){{(int64_t)port, 1, 0}, (uint16_t)port, s.version, port};
    }
    s.upstreams = up;
    return s;
}

static const struct serve_key *keys(struct arena *a, yyjson_val *o, size_t *ret_n)
{
    yyjson_val *list = yyjson_obj_get(o, "keys"), *v;
    struct serve_key *ret = arena_array(a, struct serve_key, yyjson_arr_size(list) + 1);
    size_t i, max;
    yyjson_arr_foreach(list, i, max, v)
    {
        ret[i] = (struct serve_key){.id = number(v, "id"),
                                    .expires_at = number(v, "expires_at"),
                                    .rate = yyjson_get_num(yyjson_obj_get(v, "rate")),
                                    .burst = number(v, "burst"),
                                    .concurrency = number(v, "concurrency")};
        sha256_of(str_of(text(v, "text")), ret[i].hash);
    }
    *ret_n = yyjson_arr_size(list);
    return ret;
}

static struct serve_route route(struct arena *a, yyjson_val *o)
{
    struct serve_route r = {
        .service = number(o, "service"),
        .project = number(o, "project"),
        .project_name = text(o, "project_name"),
        .name = text(o, "name"),
        .project_title = text(o, "project_name"),
        .title = text(o, "name"),
        .host = text(o, "host"),
        .share = number(o, "share"),
        .production = side(a, yyjson_obj_get(o, "production")),
        .canary = side(a, yyjson_obj_get(o, "canary")),
        .has_canary = yyjson_obj_get(o, "canary") != NULL,
        .state = text(o, "state"),
        .reason = text(o, "reason"),
        .reason_zh = text(o, "reason_zh"),
        .body_limit = number(o, "body_limit"),
        .header_limit = number(o, "header_limit"),
        .time_limit_ms = number(o, "time_limit_ms"),
        .resend = yyjson_get_bool(yyjson_obj_get(o, "resend")) ? SERVE_RESEND_ALL : SERVE_RESEND_SAFE,
    };
    r.aliases = texts(a, o, "aliases", &r.n_aliases);
    r.origins = texts(a, o, "origins", &r.n_origins);
    r.keys = keys(a, o, &r.n_keys);
    return r;
}

static bool publish(struct core *core, struct str line)
{
    auto_arena struct arena a;
    struct err err = {0};
    arena_init(&a);
    yyjson_val *doc = json_parse(&a, line, &err), *v;
    size_t i, max;
    if (!doc) {
        fprintf(stderr, "%s\n", err.message);
        return false;
    }
    struct serve_route *r = arena_array(&a, struct serve_route, yyjson_arr_size(doc) + 1);
    yyjson_arr_foreach(doc, i, max, v)
    {
        r[i] = route(&a, v);
    }
    serve_routes_publish(core, serve_routes_new(r, yyjson_arr_size(doc)));
    return true;
}

/* --- the program --- */

static void follow(struct core *core)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0 && publish(core, (struct str){line, (size_t)n})) {
        puts("ok");
        fflush(stdout);
    }
    free(line);
}

/* The platform's own routes (none) are published once, before the test's. */
static void wait_for_services(struct core *core)
{
    struct controller_state s = {0};
    while (controller_state(core, &controller_services, &s) && s.runs == 0)
        usleep(10000);
}

static struct http_server *listen_here(struct core *core, unsigned threads,
                                       void (*handler)(struct request *r, void *ctx))
{
    struct err err = {0};
    struct http_options o = {.listen = "127.0.0.1:0",
                             .threads = threads,
                             .handler = handler,
                             .ctx = core,
                             .access_log_fd = -1,
                             .limits.max_connections = GATEWAY_CONNECTIONS};
    struct http_server *s = http_start(&o, &err);
    if (!s)
        fprintf(stderr, "%s\n", err.message);
    return s;
}

int main(int argc, char **argv)
{
    auto_arena struct arena a;
    struct err err = {0};
    const char *password = NULL;
    arena_init(&a);
    if (argc < 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    log_set_level(LOG_ERROR);
    struct core *core = core_open(&(struct core_options){.data = argv[1]}, &a, &password, &err);
    if (!core || !jobs_exec_wait(core->jobs)) {
        fprintf(stderr, "%s\n", core ? "there is no executor" : err.message);
        return 1;
    }
    lasting_start(core);
    wait_for_services(core);
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    struct http_server *api = listen_here(core, 1, api_handle);
    struct http_server *gateway = api ? listen_here(core, threads, gateway_handle) : NULL;
    if (gateway) {
        printf("%u %u\n", http_port(api), http_port(gateway));
        fflush(stdout);
        follow(core);
        http_stop(gateway, 10000);
    }
    if (api)
        http_stop(api, 10000);
    lasting_stop();
    core_close(core);
    return gateway ? 0 : 1;
}
