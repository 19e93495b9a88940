#include "cli/serve.h"

#include "api/api.h"
#include "api/gateway/gateway.h"
#include "api/job_listen.h"
#include "api/lasting.h"
#include "api/rest/events.h"
#include "api/tools/tools.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/handed.h"
#include "core/environment/tools.h"
#include "core/serve/route.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>

#define DRAIN_MS 10000

struct serve {
    struct core_options core;
    struct http_options http;
    const char *tools_listen, *gateway_listen, *access_log;
    /* Where each is when the default is taken; NULL: it may not be elsewhere. */
    const char *tools_any, *gateway_any;
    struct handed handed;
};

static const char usage[] =
    "usage: ingot serve [options]\n"
    "  --data DIR           where everything is kept (default ./data)\n"
    "  --listen HOST:PORT   default 127.0.0.1:8080; port 0 takes a free one\n"
    "  --db URL             postgresql://user@host/name instead of SQLite in the data folder\n"
    "  --db-wait SECONDS    how long another server on that database is waited for (default 30)\n"
    "  --public-url URL     how browsers reach it, when behind another server\n"
    "  --tools-listen HOST:PORT  where notebooks and other tools are served; default: the port after "
    "--listen's\n"
    "  --tools-url URL      how browsers reach that; https://*.tools.example gives each job a host of its "
    "own\n"
    "  --gateway-listen HOST:PORT  where services answer; default: the port after the tools'\n"
    "  --gateway-url URL    how clients reach that\n"
    "  --tools DIR          where scripts/tools.sh put JupyterLab and others (default: tools in the data "
    "folder)\n"
    "  --ssh-listen HOST    address of the environments' ssh ports (default: --listen's)\n"
    "  --ssh-ports A-B      their range (default: any free ports)\n"
    "  --cert FILE          certificate chain (PEM), with\n"
    "  --key FILE           its private key: serve HTTPS; both are read again when they change\n"
    "  --threads N          loop threads (default: one per core)\n"
    "  --access-log FILE    one line per request; - for standard output\n"
    "  --config FILE        sign-in providers and more (default: config.json in the data folder)\n"
    "  --store URL          s3://bucket/prefix: files are kept in this bucket instead of the data folder, "
    "with\n"
    "                       AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment\n"
    "  --s3-endpoint URL    of another service than AWS, http(s)://host:port (path style)\n"
    "  --s3-region NAME     default us-east-1\n"
    "  --s3-ca FILE         certificate authority of the service, when it is not a public one\n"
    "  --cache-size SIZE    for local copies of the bucket's files, 500M or 20G (default 20G)\n"
    "  --log-level LEVEL    debug, info, warn or error\n";

enum {
    OPT_DATA = 1,
    OPT_LISTEN,
    OPT_DB,
    OPT_DB_WAIT,
    OPT_PUBLIC,
    OPT_TOOLS_LISTEN,
    OPT_TOOLS_URL,
    OPT_GATEWAY_LISTEN,
    OPT_GATEWAY_URL,
    OPT_TOOLS,
    OPT_SSH_LISTEN,
    OPT_SSH_PORTS,
    OPT_CERT,
    OPT_KEY,
    OPT_THREADS,
    OPT_LOG,
    OPT_CONFIG,
    OPT_LEVEL,
    OPT_STORE,
    OPT_S3_ENDPOINT,
    OPT_S3_REGION,
    OPT_S3_CA,
    OPT_CACHE,
    OPT_HELP
};

static const struct option options[] = {
    {"data", required_argument, NULL, OPT_DATA},
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"db", required_argument, NULL, OPT_DB},
    {"db-wait", required_argument, NULL, OPT_DB_WAIT},
    {"public-url", required_argument, NULL, OPT_PUBLIC},
    {"tools-listen", required_argument, NULL, OPT_TOOLS_LISTEN},
    {"tools-url", required_argument, NULL, OPT_TOOLS_URL},
    {"gateway-listen", required_argument, NULL, OPT_GATEWAY_LISTEN},
    {"gateway-url", required_argument, NULL, OPT_GATEWAY_URL},
    {"tools", required_argument, NULL, OPT_TOOLS},
    {"ssh-listen", required_argument, NULL, OPT_SSH_LISTEN},
    {"ssh-ports", required_argument, NULL, OPT_SSH_PORTS},
    {"cert", required_argument, NULL, OPT_CERT},
    {"key", required_argument, NULL, OPT_KEY},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"access-log", required_argument, NULL, OPT_LOG},
    {"config", required_argument, NULL, OPT_CONFIG},
    {"log-level", required_argument, NULL, OPT_LEVEL},
    {"store", required_argument, NULL, OPT_STORE},
    {"s3-endpoint", required_argument, NULL, OPT_S3_ENDPOINT},
    {"s3-region", required_argument, NULL, OPT_S3_REGION},
    {"s3-ca", required_argument, NULL, OPT_S3_CA},
    {"cache-size", required_argument, NULL, OPT_CACHE},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

static bool number_option(const char *option, const char *text, unsigned min, unsigned max, unsigned *ret)
{
    uint64_t n;
    if (!str_to_u64(str_of(text), &n) || n < min || n > max) {
        fprintf(stderr, "ingot serve: --%s %s: must be a number of %u to %u\n", option, text, min, max);
        return false;
    }
    *ret = (unsigned)n;
    return true;
}

static bool size_option(const char *text, int64_t *ret)
{
    static const char units[] = "KMGT";
    struct str number = str_of(text);
    const char *unit = number.n ? strchr(units, number.p[number.n - 1]) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    uint64_t n;
    number.n -= unit ? 1 : 0;
    if (!str_to_u64(number, &n) || n < 1 || n > (uint64_t)INT64_MAX >> shift) {
        fprintf(stderr, "ingot serve: --cache-size %s: must be a number, with K, M, G or T behind it\n",
                text);
        return false;
    }
    *ret = (int64_t)(n << shift);
    return true;
}

static bool ports_option(const char *text, struct core_options *o)
{
    uint64_t first, last;
    struct str rest, head = str_cut(str_of(text), '-', &rest);
    if (!str_to_u64(head, &first) || !str_to_u64(rest, &last) || first < 1 || first > last || last > 65535) {
        fprintf(stderr, "ingot serve: --ssh-ports %s: must be a range as in 30000-30999\n", text);
        return false;
    }
    o->ssh_port_first = (uint16_t)first;
    o->ssh_port_last = (uint16_t)last;
    return true;
}

static bool level_option(const char *text)
{
    enum log_level level;
    if (!log_level_from(text, &level)) {
        fprintf(stderr, "ingot serve: --log-level %s: must be debug, info, warn or error\n", text);
        return false;
    }
    log_set_level(level);
    return true;
}

static bool take_other_option(struct serve *s, int option)
{
    switch (option) {
    case OPT_GATEWAY_LISTEN:
        s->gateway_listen = optarg;
        return true;
    case OPT_GATEWAY_URL:
        s->core.gateway_url = optarg;
        return true;
    case OPT_STORE:
        s->core.store = optarg;
        return true;
    case OPT_S3_ENDPOINT:
        s->core.s3_endpoint = optarg;
        return true;
    case OPT_S3_REGION:
        s->core.s3_region = optarg;
        return true;
    case OPT_S3_CA:
        s->core.s3_ca = optarg;
        return true;
    case OPT_CACHE:
        return size_option(optarg, &s->core.cache_bytes);
    default:
        return false;
    }
}

static bool take_option(struct serve *s, int option)
{
    switch (option) {
    case OPT_DATA:
        s->core.data = optarg;
        return true;
    case OPT_LISTEN:
        s->http.listen = optarg;
        return true;
    case OPT_DB:
        s->core.db_url = optarg;
        return true;
    case OPT_DB_WAIT:
        return number_option("db-wait", optarg, 0, 86400, &s->core.db_wait_s);
    case OPT_PUBLIC:
        s->core.public_url = optarg;
        return true;
    case OPT_TOOLS_LISTEN:
        s->tools_listen = optarg;
        return true;
    case OPT_TOOLS_URL:
        s->core.tools_url = optarg;
        return true;
    case OPT_TOOLS:
        s->core.tools_dir = optarg;
        return true;
    case OPT_SSH_LISTEN:
        s->core.ssh_listen = optarg;
        return true;
    case OPT_SSH_PORTS:
        return ports_option(optarg, &s->core);
    case OPT_CERT:
        s->http.cert_file = optarg;
        return true;
    case OPT_KEY:
        s->http.key_file = optarg;
        return true;
    case OPT_THREADS:
        return number_option("threads", optarg, 1, 256, &s->http.threads);
    case OPT_LOG:
        s->access_log = optarg;
        return true;
    case OPT_CONFIG:
        s->core.config = optarg;
        return true;
    case OPT_LEVEL:
        return level_option(optarg);
    default:
        return take_other_option(s, option);
    }
}

/* 0: go on; otherwise the exit code + 1. */
static int parse(int argc, char **argv, struct serve *s)
{
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == OPT_HELP) {
            fputs(usage, stdout);
            return 1;
        }
        if (!take_option(s, option))
            return 3;
    }
    if (optind < argc) {
        fprintf(stderr, "ingot serve: there is no argument \"%s\"\n%s", argv[optind], usage);
        return 3;
    }
    if (!s->http.cert_file != !s->http.key_file) {
        fputs("ingot serve: --cert and --key belong together\n", stderr);
        return 3;
    }
    return 0;
}

static bool open_access_log(struct serve *s, struct err *err)
{
    s->http.access_log_fd = -1;
    if (!s->access_log)
        return true;
    if (strcmp(s->access_log, "-") == 0) {
        s->http.access_log_fd = STDOUT_FILENO;
        return true;
    }
    s->http.access_log_fd = open(s->access_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    return s->http.access_log_fd >= 0 || err_errno(err, errno, "%s", s->access_log);
}

static struct str host_of(const char *listen)
{
    const char *colon = strrchr(listen, ':');
    return (struct str){listen, colon ? (size_t)(colon - listen) : 0};
}

/* Once more where it is seen: at the end, with all that one needs to sign in. */
static void announce_sign_in(const char *password, const char *scheme, struct str host, uint16_t port)
{
    if (!password)
        return;
    printf("\n  address   %s://" STR_FMT ":%u\n  user      admin\n  password  %s\n\n", scheme, STR_ARG(host),
           port, password);
    puts("A new one, on this machine: ingot admin password");
}

static void announce(const struct serve *s, uint16_t port, uint16_t tools, uint16_t gateway,
                     const char *password)
{
    struct str host = host_of(s->http.listen), other = host_of(s->tools_listen),
               third = host_of(s->gateway_listen);
    const char *scheme = s->http.cert_file ? "https" : "http";
    log_info("Ingot " INGOT_VERSION " is ready at %s://" STR_FMT ":%u", scheme, STR_ARG(host), port);
    printf("Tools are at %s://" STR_FMT ":%u\n", scheme, STR_ARG(other), tools);
    printf("Services are at %s://" STR_FMT ":%u\n", scheme, STR_ARG(third), gateway);
    printf("Ingot is ready at %s://" STR_FMT ":%u\n", scheme, STR_ARG(host), port);
    announce_sign_in(password, scheme, host, port);
    fflush(stdout);
}

/* Beside the platform: the same host, a port after its own (any, when the platform takes any). */
static const char *beside(struct arena *a, struct str host, uint64_t port, unsigned distance)
{
    return arena_printf(a, STR_FMT ":%u", STR_ARG(host),
                        port && port + distance <= 65535 ? (unsigned)port + distance : 0);
}

static void default_addresses(struct serve *s, struct arena *a)
{
    struct str host = host_of(s->http.listen), tools;
    uint64_t port = 0;
    str_to_u64(str_of(s->http.listen + host.n + (s->http.listen[host.n] == ':')), &port);
    if (!s->tools_listen) {
        s->tools_any = beside(a, host, 0, 0);
        s->tools_listen = beside(a, host, port, 1);
    }
    if (!s->gateway_listen) {
        tools = host_of(s->tools_listen);
        str_to_u64(str_of(s->tools_listen + tools.n + (s->tools_listen[tools.n] == ':')), &port);
        s->gateway_any = beside(a, host, 0, 0);
        s->gateway_listen = beside(a, host, port, 1);
    }
    if (!s->core.ssh_listen && host.n > 2 && host.p[0] == '[')
        host = (struct str){host.p + 1, host.n - 2};
    if (!s->core.ssh_listen)
        s->core.ssh_listen = host.n ? arena_strz(a, host) : "0.0.0.0";
    s->core.tls = s->http.cert_file != NULL;
}

/* Sockets that were handed to us win over --listen, --tools-listen and --gateway-listen. */
static bool take_sockets(struct serve *s, struct arena *a, struct err *err)
{
    if (!handed_take(a, &s->handed, err))
        return false;
    s->http.socket = s->handed.socket[HANDED_PLATFORM];
    if (s->handed.address[HANDED_PLATFORM])
        s->http.listen = s->handed.address[HANDED_PLATFORM];
    if (s->handed.address[HANDED_TOOLS])
        s->tools_listen = s->handed.address[HANDED_TOOLS];
    if (s->handed.address[HANDED_GATEWAY])
        s->gateway_listen = s->handed.address[HANDED_GATEWAY];
    return true;
}

/* At once: it is told only this one time, whatever fails afterwards. */
static void announce_password(const char *password)
{
    if (!password)
        return;
    printf("The first administrator is admin, the password is %s\n", password);
    fflush(stdout);
}

static void wait_for_end(void)
{
    sigset_t set;
    int number = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    while (sigwait(&set, &number) != 0)
        ;
    log_info("signal %d: ending", number);
}

/* Another server has the database: this one ends as it would by a signal. */
static void end_self(void)
{
    kill(getpid(), SIGTERM);
}

/* Blocked in all threads (they are made later), so that only sigwait takes them. */
static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* A listener beside the platform's. any: where else it may be, or NULL: nobody asked for just this port. */
static struct http_server *start_beside(struct http_options o, const char *any, struct err *err)
{
    struct http_server *server = http_start(&o, err);
    if (server || !any)
        return server;
    log_warn("%s; another port is taken", err->message);
    *err = (struct err){0};
    o.listen = any;
    return http_start(&o, err);
}

/* Notebooks, boards and editors, on an origin of their own. */
static struct http_server *start_tools(const struct serve *s, struct core *core, struct err *err)
{
    struct http_options o = s->http;
    o.listen = s->tools_listen;
    o.socket = s->handed.socket[HANDED_TOOLS];
    o.handler = tools_handle;
    o.ctx = core;
    struct http_server *server = start_beside(o, s->tools_any, err);
    if (server)
        tools_listening(core->tools, http_port(server));
    return server;
}

/* Services, where the platform's session does not exist. */
static struct http_server *start_gateway(const struct serve *s, struct core *core, struct err *err)
{
    struct http_options o = s->http;
    o.listen = s->gateway_listen;
    o.socket = s->handed.socket[HANDED_GATEWAY];
    o.handler = gateway_handle;
    o.ctx = core;
    o.limits.max_connections = GATEWAY_CONNECTIONS;
    serve_routes_wait(core);
    struct http_server *server = start_beside(o, s->gateway_any, err);
    if (server)
        core->gateway_port = http_port(server);
    return server;
}

/* An address of this machine that a listener is at: of those on all of them its loopback. */
static const char *own_url(struct arena *a, const char *listen, uint16_t port)
{
    struct str host = host_of(listen);
    if (!host.n || str_is(host, "0.0.0.0") || str_is(host, "[::]") || str_is(host, "*"))
        host = str_is(host, "[::]") ? STR("[::1]") : STR("127.0.0.1");
    return arena_printf(a, "http://" STR_FMT ":%u", STR_ARG(host), port);
}

/* Programs that the platform runs itself reach it over plain HTTP: at the platform's listener, or, where that
 * speaks TLS under whatever names its certificate has, at one of their own, on the loopback only. */
static bool start_own(const struct serve *s, struct core *core, struct http_server *server, struct arena *a,
                      struct http_server **ret, struct err *err)
{
    const char *any = "127.0.0.1:0";
    *ret = NULL;
    if (s->http.cert_file) {
        struct http_options o = s->http;
        o.listen = any;
        o.socket = 0;
        o.cert_file = o.key_file = NULL;
        o.threads = 1;
        *ret = http_start(&o, err);
        if (!*ret)
            return false;
    }
    atomic_store(&core->own_url, own_url(a, *ret ? any : s->http.listen, http_port(*ret ? *ret : server)));
    return true;
}

static bool serve(struct serve *s, struct err *err)
{
    auto_arena struct arena a;
    const char *password = NULL;
    arena_init(&a);
    if (!open_access_log(s, err) || !take_sockets(s, &a, err))
        return false;
    default_addresses(s, &a);
    struct core *core = core_open(&s->core, &a, &password, err);
    if (!core)
        return false;
    announce_password(password);
    lasting_start(core);
    events_start(core);
    s->http.handler = api_handle;
    s->http.ctx = core;
    struct http_server *tools = start_tools(s, core, err);
    struct http_server *server = tools ? http_start(&s->http, err) : NULL;
    struct job_listeners *inside = server ? job_listeners_start(core, &s->http) : NULL;
    struct http_server *gateway = server ? start_gateway(s, core, err) : NULL;
    struct http_server *own = NULL;
    const bool up = gateway && start_own(s, core, server, &a, &own, err);
    if (up) {
        announce(s, http_port(server), http_port(tools), http_port(gateway), password);
        wait_for_end();
        /* A hold that is lost for now ends with this process anyway. */
        db_may_write(core->db, err);
    }
    events_stop();
    job_listeners_stop(inside);
    if (own)
        http_stop(own, DRAIN_MS);
    if (server)
        http_stop(server, DRAIN_MS);
    if (gateway)
        http_stop(gateway, DRAIN_MS);
    if (tools)
        http_stop(tools, DRAIN_MS);
    lasting_stop();
    core_close(core);
    return up && err->code != ERR_HELD;
}

int serve_main(int argc, char **argv)
{
    struct serve s = {.core = {.data = "./data", .db_wait_s = 30, .taken = end_self},
                      .http = {.listen = "127.0.0.1:8080"}};
    struct err err = {0};
    int done = parse(argc, argv, &s);
    if (done)
        return done - 1;
    block_signals();
    if (serve(&s, &err))
        return 0;
    fprintf(stderr, "ingot serve: %s\n", err.message);
    return err_info(err.code)->exit_code;
}
