#include "infer/program/predict.h"

#include "base/clock.h"
#include "base/fs.h"
#include "infer/confine.h"
#include "infer/cpus.h"
#include "infer/ort.h"
#include "infer/predict_files.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#define EXIT_USAGE  2
#define MAX_THREADS 256
#define SCORE       "0.01" /* low ones are wanted: curves are made of them */
#define READ_MAX    8

static const char usage[] =
    "usage: ingot-infer predict --model DIR --out FILE [options] FOLDER|LIST\n"
    "  --model DIR      an ONNX file's folder with ingot-model.json\n"
    "  --out FILE       found annotations, a line of JSON per file (as ingot.jsonl); - for standard output\n"
    "  --root DIR       what the paths of a LIST start from (default: the list's own folder)\n"
    "  --score X        below it nothing is told (default " SCORE ")\n"
    "  --option NAME=X  another threshold: iou, mask, text, point\n"
    "  --threads N      files at a time (default: the container's processors)\n"
    "  --progress FILE  how many of how many are done, written over about once a second\n"
    "  --ort FILE       ONNX Runtime's library (default: beside the program)\n"
    "  --unconfined     do without the filter of system calls\n"
    "LIST is a file with a path a line, or lines of JSON with \"file\".\n";

struct given {
    const char *model, *out, *root, *ort, *progress, *from;
    struct task_options options;
    unsigned threads;
    bool unconfined;
    int out_fd, progress_fd;
    uint64_t began;
    char processor[100];
};

enum {
    OPT_MODEL = 1,
    OPT_OUT,
    OPT_ROOT,
    OPT_SCORE,
    OPT_OPTION,
    OPT_THREADS,
    OPT_PROGRESS,
    OPT_ORT,
    OPT_UNCONFINED,
    OPT_HELP
};

static const struct option options[] = {
    {"model", required_argument, NULL, OPT_MODEL},
    {"out", required_argument, NULL, OPT_OUT},
    {"root", required_argument, NULL, OPT_ROOT},
    {"score", required_argument, NULL, OPT_SCORE},
    {"option", required_argument, NULL, OPT_OPTION},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"progress", required_argument, NULL, OPT_PROGRESS},
    {"ort", required_argument, NULL, OPT_ORT},
    {"unconfined", no_argument, NULL, OPT_UNCONFINED},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

static bool take_threads(struct given *g, struct err *err)
{
    uint64_t n;
    if (!str_to_u64(str_of(optarg), &n) || n < 1 || n > MAX_THREADS)
        return err_set(err, ERR_INVALID, "threads", "--threads %s: must be a number of 1 to %d", optarg,
                       MAX_THREADS);
    g->threads = (unsigned)n;
    return true;
}

static bool take_threshold(struct given *g, struct err *err)
{
    struct str value, name = str_cut(str_of(optarg), '=', &value);
    return (value.p || err_set(err, ERR_INVALID, "option", "--option %s: must be NAME=VALUE", optarg)) &&
           task_option(&g->options, name, value, err);
}

static bool take_option(struct given *g, int option, struct err *err)
{
    const struct {
        int option;
        const char **to;
    } texts[] = {{OPT_MODEL, &g->model},
                 {OPT_OUT, &g->out},
                 {OPT_ROOT, &g->root},
                 {OPT_ORT, &g->ort},
                 {OPT_PROGRESS, &g->progress}};
    for (size_t i = 0; i < countof(texts); i++)
        if (texts[i].option == option) {
            *texts[i].to = optarg;
            return true;
        }
    switch (option) {
    case OPT_SCORE:
        return task_option(&g->options, STR("score"), str_of(optarg), err);
    case OPT_OPTION:
        return take_threshold(g, err);
    case OPT_THREADS:
        return take_threads(g, err);
    case OPT_UNCONFINED:
        return g->unconfined = true;
    default:
        return err_set(err, ERR_INVALID, NULL, "see ingot-infer predict --help");
    }
}

/* -1: go on; otherwise the exit code. */
static int parse(int argc, char **argv, struct given *g)
{
    int option;
    struct err err = {0};
    bool ok = task_option(&g->options, STR("score"), STR(SCORE), &err);
    while (ok && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == OPT_HELP) {
            fputs(usage, stdout);
            return 0;
        }
        ok = take_option(g, option, &err);
    }
    if (ok && optind != argc - 1)
        ok = err_set(&err, ERR_INVALID, NULL, "name one folder, or one list of files");
    if (ok && (!g->model || !g->out))
        ok = err_set(&err, ERR_INVALID, NULL, "--model and --out are needed");
    if (!ok)
        fprintf(stderr, "ingot-infer predict: %s\n", err.message);
    g->from = ok ? argv[optind] : NULL;
    g->options.exact = true;
    return ok ? -1 : EXIT_USAGE;
}

static bool open_out(const char *path, int *ret, struct err *err)
{
    *ret = !path                    ? -1
           : strcmp(path, "-") == 0 ? STDOUT_FILENO
                                    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return !path || *ret >= 0 || err_errno(err, errno, "%s", path);
}

/* The program's own folder, which has ONNX Runtime in it or beside it. */
static const char *own_folder(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    if (n <= 0)
        return "/usr";
    path[n] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash && slash != path)
            *slash = 0;
    }
    return path;
}

static bool confine(const struct given *g, const struct file_list *files, struct err *err)
{
    char path[PATH_MAX];
    const char *read[READ_MAX] = {g->model, files->folder, own_folder(path, sizeof path)};
    size_t n = 3;
    if (g->ort)
        read[n++] = g->ort;
    struct confine_more more = {.read = read, .n_read = n, .offline = true};
    return g->unconfined || confine_self(&more, err);
}

static void progress(void *ctx, size_t done, size_t failed, size_t total)
{
    const struct given *g = ctx;
    double seconds = (double)(clock_mono() - g->began) / 1e9;
    char text[64];
    int n = snprintf(text, sizeof text, "%20zu %20zu\n", done, total);
    if (g->progress_fd >= 0 && pwrite(g->progress_fd, text, (size_t)n, 0) < 0)
        fputs("ingot-infer predict: the file of progress cannot be written\n", stderr);
    fprintf(stderr, "%zu of %zu files, %zu failed, %.1f per second\n", done, total, failed,
            seconds > 0 ? (double)done / seconds : 0);
}

static bool predict(struct given *g, const struct file_list *files, struct err *err)
{
    size_t failed;
    struct served_options o = {.batch = {.instances = g->threads, .max_rows = 1, .max_queue = MAX_THREADS},
                               .cpus = g->threads,
                               .max_file = ONNX_MAX_BYTES};
    struct served *model = served_load("model", "1", g->model, &o, err);
    if (!model)
        return false;
    bool ok =
        model->manifest || err_set(err, ERR_INVALID, "model",
                                   "%s has no " MODEL_MANIFEST_FILE ", which predict follows", g->model);
    struct predict_files p = {.model = model,
                              .files = files,
                              .options = g->options,
                              .threads = g->threads,
                              .processor = *g->processor ? g->processor : NULL,
                              .out = g->out_fd,
                              .progress = progress,
                              .ctx = g};
    g->began = clock_mono();
    ok = ok && task_can_predict(model->manifest, err) && predict_files(&p, &failed, err);
    if (ok && fsync(g->out_fd) != 0 && errno != EINVAL && errno != EROFS)
        ok = err_errno(err, errno, "%s", g->out);
    served_free(model);
    return ok;
}

int predict_main(int argc, char **argv)
{
    struct given g = {.out_fd = -1, .progress_fd = -1};
    struct file_list files;
    struct err err = {0};
    int code = parse(argc, argv, &g);
    if (code >= 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    g.threads = g.threads ? g.threads : cpus_count();
    cpus_name(g.processor, sizeof g.processor);
    /* One thread a run: as many files at a time use the processors better than parts of one. */
    bool ok = file_list_open(&files, g.from, g.root, &err) && open_out(g.out, &g.out_fd, &err) &&
              open_out(g.progress, &g.progress_fd, &err) && confine(&g, &files, &err) &&
              ort_start(g.ort, 1, &err) && predict(&g, &files, &err);
    if (!ok)
        fprintf(stderr, "ingot-infer predict: %s\n", err.message);
    ort_stop();
    file_list_close(&files);
    return ok ? 0 : err_info(err.code)->exit_code;
}
