/* ingot-infer: serves models over HTTP until SIGTERM or SIGINT, then drains and ends with 0. SIGHUP loads the
 * models again. `ingot-infer predict` is program/predict.c. */
#include "base/clock.h"
#include "base/log.h"
#include "infer/confine.h"
#include "infer/cpus.h"
#include "infer/ort.h"
#include "infer/program/predict.h"
#include "infer/server.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#define MAX_BODY    ((size_t)256 << 20)
#define MAX_GIVEN   256
#define DRAIN_S     30
#define MAX_THREADS 256
#define EXIT_USAGE  2

struct given {
    struct server_options server;
    struct served_options served;
    const char *models[MAX_GIVEN]; /* as on the command line */
    size_t n_models;
    const char *folder, *ort, *access_log;
    unsigned threads, drain_s, max_body_mb;
    bool unconfined, try;
};

static const char usage[] =
    "usage: ingot-infer [options] [FILE.onnx | FOLDER]...\n"
    "       ingot-infer predict --model DIR --out FILE FOLDER|LIST   (predict --help)\n"
    "  --listen HOST:PORT   default 127.0.0.1:8000; port 0 takes a free one\n"
    "  --model NAME=PATH[,version=N]  a model: an ONNX file, or a folder with ingot-model.json or "
    "model.onnx;\n"
    "                       again for others. Plain FILE and FOLDER arguments are named after the file\n"
    "  --models DIR         every folder in DIR is a model; versions are folders 1, 2 ... in it\n"
    "  --threads N          of a run, and loops for connections (default: the container's processors)\n"
    "  --instances N        runs of one model at once (default: as many; 1 with --batch)\n"
    "  --batch N            rows that requests may share a run with (default 1: they do not)\n"
    "  --delay-us N         how long a request waits for others to share its run (default 0)\n"
    "  --queue N            requests that may wait for a model; beyond, 429 (default 256)\n"
    "  --timeout-ms N       how long one may wait (default 0: as long as it takes)\n"
    "  --max-body MB        of a request (default 256)\n"
    "  --allow-load         v2 repository load and unload\n"
    "  --try                one --model, loaded at its first predict; one may bring a manifest of its own\n"
    "  --drain-s N          how long requests may take to end after SIGTERM (default 30)\n"
    "  --cert FILE, --key FILE  serve HTTPS; both are read again when they change\n"
    "  --ort FILE           ONNX Runtime's library (default: beside the program)\n"
    "  --access-log FILE    one line per request, with its trace id; - for standard output\n"
    "  --log-level LEVEL    debug, info, warn or error\n"
    "  --unconfined         do without the filter of system calls\n";

enum {
    OPT_LISTEN = 1,
    OPT_MODEL,
    OPT_MODELS,
    OPT_THREADS,
    OPT_INSTANCES,
    OPT_BATCH,
    OPT_DELAY,
    OPT_QUEUE,
    OPT_TIMEOUT,
    OPT_BODY,
    OPT_LOAD,
    OPT_TRY,
    OPT_DRAIN,
    OPT_CERT,
    OPT_KEY,
    OPT_ORT,
    OPT_LOG,
    OPT_LEVEL,
    OPT_UNCONFINED,
    OPT_VERSION,
    OPT_HELP
};

static const struct option options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"model", required_argument, NULL, OPT_MODEL},
    {"models", required_argument, NULL, OPT_MODELS},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"instances", required_argument, NULL, OPT_INSTANCES},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"delay-us", required_argument, NULL, OPT_DELAY},
    {"queue", required_argument, NULL, OPT_QUEUE},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT},
    {"max-body", required_argument, NULL, OPT_BODY},
    {"allow-load", no_argument, NULL, OPT_LOAD},
    {"try", no_argument, NULL, OPT_TRY},
    {"drain-s", required_argument, NULL, OPT_DRAIN},
    {"cert", required_argument, NULL, OPT_CERT},
    {"key", required_argument, NULL, OPT_KEY},
    {"ort", required_argument, NULL, OPT_ORT},
    {"access-log", required_argument, NULL, OPT_LOG},
    {"log-level", required_argument, NULL, OPT_LEVEL},
    {"unconfined", no_argument, NULL, OPT_UNCONFINED},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

/* Those that take a number: where it goes, and its range. */
static bool number_option(struct given *g, int option, const char *text, bool *ret_ok)
{
    const struct {
        int option;
        unsigned *to, min, max;
    } table[] = {
        {OPT_THREADS, &g->threads, 1, MAX_THREADS},
        {OPT_INSTANCES, &g->served.batch.instances, 1, MAX_THREADS},
        {OPT_BATCH, &g->served.batch.max_rows, 1, BATCHER_MAX_ROWS},
        {OPT_DELAY, &g->served.batch.delay_us, 0, 10000000},
        {OPT_QUEUE, &g->served.batch.max_queue, 1, 1000000},
        {OPT_TIMEOUT, &g->served.batch.timeout_ms, 0, 3600000},
        {OPT_BODY, &g->max_body_mb, 1, 1024},
        {OPT_DRAIN, &g->drain_s, 0, 3600},
    };
    for (size_t i = 0; i < countof(table); i++) {
        uint64_t n;
        if (table[i].option != option)
            continue;
        *ret_ok = str_to_u64(str_of(text), &n) && n >= table[i].min && n <= table[i].max;
        if (*ret_ok)
            *table[i].to = (unsigned)n;
        else
            fprintf(stderr, "ingot-infer: --%s %s: must be a number of %u to %u\n", options[option - 1].name,
                    text, table[i].min, table[i].max);
        return true;
    }
    return false;
}

static bool add_model(struct given *g, const char *text)
{
    if (g->n_models == MAX_GIVEN) {
        fprintf(stderr, "ingot-infer: at most %d models can be named; --models takes a folder of more\n",
                MAX_GIVEN);
        return false;
    }
    g->models[g->n_models++] = text;
    return true;
}

static bool take_text(struct given *g, int option)
{
    const struct {
        int option;
        const char **to;
    } table[] = {
        {OPT_LISTEN, &g->server.http.listen}, {OPT_MODELS, &g->folder}, {OPT_CERT, &g->server.http.cert_file},
        {OPT_KEY, &g->server.http.key_file},  {OPT_ORT, &g->ort},       {OPT_LOG, &g->access_log},
    };
    for (size_t i = 0; i < countof(table); i++)
        if (table[i].option == option) {
            *table[i].to = optarg;
            return true;
        }
    return false;
}

static bool take_option(struct given *g, int option)
{
    bool ok;
    enum log_level level;
    if (take_text(g, option))
        return true;
    if (number_option(g, option, optarg, &ok))
        return ok;
    switch (option) {
    case OPT_MODEL:
        return add_model(g, optarg);
    case OPT_LOAD:
        return g->server.allow_load = true;
    case OPT_TRY:
        return g->try = true;
    case OPT_UNCONFINED:
        return g->unconfined = true;
    case OPT_LEVEL:
        if (log_level_from(optarg, &level)) {
            log_set_level(level);
            return true;
        }
        fprintf(stderr, "ingot-infer: --log-level %s: must be debug, info, warn or error\n", optarg);
        return false;
    default:
        return false;
    }
}

/* -1: go on; otherwise the exit code. */
static int parse(int argc, char **argv, struct given *g)
{
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == OPT_HELP || option == OPT_VERSION) {
            fputs(option == OPT_HELP ? usage : "ingot-infer " INGOT_VERSION "\n", stdout);
            return 0;
        }
        if (!take_option(g, option))
            return EXIT_USAGE;
    }
    while (optind < argc)
        if (!add_model(g, argv[optind++]))
            return EXIT_USAGE;
    if (!g->server.http.cert_file != !g->server.http.key_file) {
        fputs("ingot-infer: --cert and --key belong together\n", stderr);
        return EXIT_USAGE;
    }
    if (!g->n_models && !g->folder) {
        fprintf(stderr, "ingot-infer: no model is named\n%s", usage);
        return EXIT_USAGE;
    }
    if (g->try && (g->n_models != 1 || g->folder)) {
        fputs("ingot-infer: --try takes one model\n", stderr);
        return EXIT_USAGE;
    }
    return -1;
}

/* "NAME=PATH,version=2", or a path whose last part, without its ending, is the name. */
struct declared {
    const char *name, *path, *version; /* version NULL: none is told */
};

static struct declared declare(const char *text, struct arena *a)
{
    struct str version = STR_NULL, path, name = str_cut(str_of(text), '=', &path);
    if (!path.p || memchr(name.p, '/', name.n)) {
        path = str_of(text);
        while (path.n > 1 && path.p[path.n - 1] == '/')
            path.n--;
        const char *slash = memrchr(path.p, '/', path.n);
        name = slash ? (struct str){slash + 1, path.n - (size_t)(slash + 1 - path.p)} : path;
        if (str_ends(name, ".onnx"))
            name.n -= 5;
    }
    ptrdiff_t at = str_find(path, STR(",version="));
    if (at >= 0) {
        version = (struct str){path.p + at + 9, path.n - (size_t)at - 9};
        path.n = (size_t)at;
    }
    return (struct declared){arena_strz(a, name), arena_strz(a, path),
                             version.p ? arena_strz(a, version) : NULL};
}

static bool open_access_log(struct given *g, struct err *err)
{
    g->server.http.access_log_fd = -1;
    if (!g->access_log)
        return true;
    g->server.http.access_log_fd = strcmp(g->access_log, "-") == 0
                                       ? STDOUT_FILENO
                                       : open(g->access_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    return g->server.http.access_log_fd >= 0 || err_errno(err, errno, "%s", g->access_log);
}

static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void wait_for_end(const sigset_t *set, struct models *models)
{
    int number = 0;
    while (sigwait(set, &number) != 0 || number == SIGHUP) {
        struct err err = {0};
        if (number == SIGHUP && models_load_all(models, &err))
            log_info("the models were loaded again");
        else if (number == SIGHUP)
            log_warn("not all models were loaded again: %s", err.message);
        number = 0;
    }
    log_info("signal %d: ending", number);
}

static void announce(const struct given *g, uint16_t port)
{
    const char *listen = g->server.http.listen, *colon = strrchr(listen, ':');
    printf("ingot-infer is ready at %s://%.*s:%u\n", g->server.http.cert_file ? "https" : "http",
           colon ? (int)(colon - listen) : 0, listen, port);
    fflush(stdout);
}

static bool declare_all(struct given *g, struct models *models, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < g->n_models; i++) {
        struct declared d = declare(g->models[i], &a);
        if (!models_add(models, d.name, d.path, d.version, err))
            return false;
    }
    if (g->folder)
        models_folder(models, g->folder);
    return true;
}

/* A model that is named must load; of a folder of models the others are served. */
static bool load(struct given *g, struct models *models, struct err *err)
{
    uint64_t began = clock_mono();
    bool ok = models_load_all(models, err);
    if (!ok && g->n_models)
        return false;
    if (!ok)
        log_warn("not all models are served: %s", err->message);
    log_info("models were loaded in %llu ms; %u threads, ONNX Runtime %s",
             (unsigned long long)((clock_mono() - began) / 1000000), g->threads, ort_version());
    return true;
}

static bool serve(struct given *g, const sigset_t *signals, struct err *err)
{
    struct models *models = models_new(&g->served);
    auto_arena struct arena a;
    bool ok = false;
    arena_init(&a);
    g->server.models = models;
    if (g->try) {
        struct declared d = declare(g->models[0], &a);
        g->server.trial = trial_new(models, d.name, d.path, d.version ? d.version : "1", &g->served);
    }
    struct server *server = g->try || declare_all(g, models, err) ? server_start(&g->server, err) : NULL;
    if (server && (g->try || load(g, models, err))) {
        server_set_ready(server, true);
        announce(g, server_port(server));
        wait_for_end(signals, models);
        server_set_ready(server, false);
        ok = true;
    }
    if (server)
        server_stop(server, g->drain_s * 1000);
    trial_free(g->server.trial);
    models_free(models);
    return ok;
}

int main(int argc, char **argv)
{
    struct given g = {.server = {.http = {.listen = "127.0.0.1:8000"}},
                      .served = {.batch = {.max_rows = 1, .max_queue = 256}},
                      .drain_s = DRAIN_S,
                      .max_body_mb = MAX_BODY >> 20};
    struct err err = {0};
    sigset_t signals;
    if (argc > 1 && strcmp(argv[1], "predict") == 0)
        return predict_main(argc - 1, argv + 1);
    int code = parse(argc, argv, &g);
    if (code >= 0)
        return code;
    g.served.cpus = cpus_count();
    g.threads = g.threads ? g.threads : g.served.cpus;
    g.served.cpus = g.threads;
    g.served.max_file = ONNX_MAX_BYTES;
    g.server.http.threads = g.threads;
    g.server.max_body = (size_t)g.max_body_mb << 20;
    g.server.http.limits.max_kept = 4 * g.server.max_body;
    g.server.threads = g.threads + g.served.batch.max_rows;
    g.server.max_queue = g.served.batch.max_queue;
    block_signals(&signals);
    pthread_setname_np(pthread_self(), "ingot-infer"); /* not the loader's, when that was called with it */
    bool ok = open_access_log(&g, &err) && (g.unconfined || confine_self(NULL, &err)) &&
              ort_start(g.ort, g.threads, &err) && serve(&g, &signals, &err);
    if (!ok)
        fprintf(stderr, "ingot-infer: %s\n", err.message);
    ort_stop();
    return ok ? 0 : err_info(err.code)->exit_code;
}
