/* The library behind predict, without the server: what the pytest files of this folder and bench/predict.py
 * run. predict_driver predict FOLDER [NAME=VALUE...] -- FILE...   a line of JSON per file predict_driver time
 * FOLDER COUNT [NAME=VALUE...] -- FILE   CPU without the graph's run, per call predict_driver summary FILE |
 * compare FILE FILE | guess FILE... | manifest FILE | schema */
#include "infer/ort.h"
#include "infer/session.h"
#include "infer/task.h"

#include <stdio.h>
#include <time.h>

struct model {
    struct arena a;
    const char *folder;
    struct model_manifest m;
    struct session *sessions[MODEL_MAX_PARTS];
    uint64_t run_cpu_ns;
};

static bool read_whole(struct arena *a, const char *path, struct str *ret, struct err *err)
{
    auto_buf struct buf b = {0};
    FILE *f = fopen(path, "rb");
    char part[65536];
    if (!f)
        return err_set(err, ERR_NOT_FOUND, NULL, "%s cannot be opened", path);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        buf_add(&b, part, n);
    fclose(f);
    *ret = arena_str(a, b.n ? buf_view(&b) : STR(""));
    return true;
}

static bool read_asset(void *ctx, struct str path, size_t max, struct arena *a, struct str *ret,
                       struct err *err)
{
    struct model *model = ctx;
    return read_whole(a, arena_printf(a, "%s/" STR_FMT, model->folder, STR_ARG(path)), ret, err) &&
           (ret->n <= max || err_set(err, ERR_TOO_LARGE, NULL, "an asset is too large"));
}

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool run(void *ctx, size_t part, const struct tensor *inputs, size_t n_inputs,
                const char *const *names, struct tensor *ret, size_t n_names, struct arena *a,
                struct err *err)
{
    struct model *model = ctx;
    uint64_t start = cpu_ns();
    bool ok = session_fits(model->sessions[part], inputs, n_inputs, a, err) &&
              session_run(model->sessions[part], inputs, n_inputs, names, ret, n_names, a, err);
    model->run_cpu_ns += cpu_ns() - start;
    return ok;
}

static bool load(struct model *model, const char *folder, struct err *err)
{
    struct str text;
    model->folder = folder;
    if (!ort_start(NULL, 1, err) ||
        !read_whole(&model->a, arena_printf(&model->a, "%s/ingot-model.json", folder), &text, err) ||
        !model_manifest_parse(&model->a, text, &model->m, err) ||
        !model_manifest_assets(&model->m, &model->a, read_asset, model, err))
        return false;
    const struct onnx_summary *summaries[MODEL_MAX_PARTS] = {0};
    for (size_t i = 0; i < model->m.n_parts; i++) {
        struct onnx_summary *s = arena_new(&model->a, struct onnx_summary);
        if (!read_asset(model, model->m.parts[i].file, SIZE_MAX, &model->a, &text, err) ||
            !onnx_summarize(&model->a, text, s, err) || !(model->sessions[i] = session_new(text, err)))
            return false;
        summaries[i] = s;
    }
    return model_manifest_fits(&model->m, summaries, err);
}

static void unload(struct model *model)
{
    for (size_t i = 0; i < model->m.n_parts; i++)
        if (model->sessions[i])
            session_free(model->sessions[i]);
    arena_release(&model->a);
    ort_stop();
}

static void say_error(struct json_out *out, const struct err *err)
{
    json_object(out);
    json_kz(out, "error", err->message);
    json_kz(out, "code", err_info(err->code)->name);
    json_kz(out, "field", err->field);
    json_object_end(out);
}

static bool predict_one(struct model *model, const struct task_options *o, const char *path, bool show)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf b = {0}, line = {0};
    struct json_out out, whole;
    struct err err = {0};
    struct task_times times = {0};
    struct task_input in = {0};
    json_begin(&out, &b);
    json_begin(&whole, &line);
    bool ok = read_whole(&a, path, &in.bytes, &err) &&
              task_predict(&model->m, o, &in, run, model, &a, &out, &times, &err);
    if (ok) {
        json_object(&whole);
        json_key(&whole, "annotation");
        json_raw(&whole, buf_view(&b));
        json_kint(&whole, "width", times.width);
        json_kint(&whole, "height", times.height);
        json_object_end(&whole);
    } else {
        say_error(&whole, &err);
    }
    if (show)
        printf(STR_FMT "\n", STR_ARG(buf_view(&line)));
    return ok;
}

static int read_options(char **argv, int at, struct task_options *o, struct err *err)
{
    for (; argv[at] && strcmp(argv[at], "--") != 0; at++) {
        struct str value, name = str_cut(str_of(argv[at]), '=', &value);
        if (!task_option(o, name, value, err))
            return -1;
    }
    return argv[at] ? at + 1 : at;
}

static bool predict(char **argv, struct err *err)
{
    struct model model = {0};
    struct task_options o = {0};
    int at = read_options(argv, 3, &o, err);
    bool ok = at >= 0 && load(&model, argv[2], err);
    for (; ok && argv[at]; at++)
        predict_one(&model, &o, argv[at], true);
    unload(&model);
    return ok;
}

static bool time_it(char **argv, struct err *err)
{
    struct model model = {0};
    struct task_options o = {0};
    int at = read_options(argv, 4, &o, err), count = atoi(argv[3]);
    bool ok = at >= 0 && load(&model, argv[2], err) && predict_one(&model, &o, argv[at], false);
    model.run_cpu_ns = 0;
    uint64_t start = cpu_ns();
    for (int i = 0; ok && i < count; i++)
        ok = predict_one(&model, &o, argv[at], false);
    if (ok)
        printf("%.6f\n", (double)(cpu_ns() - start - model.run_cpu_ns) / count / 1e9);
    unload(&model);
    return ok;
}

/* argv: the files of a version, the model's first. */
static bool guess(struct arena *a, const struct onnx_summary *first, char **argv, struct model_guess *ret,
                  struct err *err)
{
    struct onnx_summary s[MODEL_MAX_PARTS];
    struct model_seen seen[MODEL_MAX_PARTS];
    struct str files[64], text;
    size_t n = 0, n_files = 0;
    for (; *argv && n_files < countof(files); argv++) {
        const char *slash = strrchr(*argv, '/');
        struct str name = files[n_files++] = str_of(slash ? slash + 1 : *argv);
        if (!str_ends(name, ".onnx"))
            continue;
        if (n && (!read_whole(a, *argv, &text, err) || !onnx_summarize(a, text, &s[n], err)))
            return false;
        seen[n] = (struct model_seen){name, n ? &s[n] : first};
        n++;
    }
    model_manifest_guess(a, seen, n, files, n_files, ret);
    return true;
}

static bool describe(char **argv, struct arena *a, struct json_out *out, struct err *err)
{
    struct str text, other;
    struct onnx_summary s, second;
    struct model_manifest m;
    if (!strcmp(argv[1], "schema")) {
        model_manifest_schema(out);
        return true;
    }
    if (!argv[2] || !read_whole(a, argv[2], &text, err))
        return argv[2] ? false : err_set(err, ERR_INVALID, NULL, "which file?");
    if (!strcmp(argv[1], "manifest")) {
        if (!model_manifest_parse(a, text, &m, err))
            return false;
        model_manifest_write(&m, out);
        return true;
    }
    if (!onnx_summarize(a, text, &s, err))
        return false;
    if (!strcmp(argv[1], "summary")) {
        onnx_summary_write(&s, out);
    } else if (!strcmp(argv[1], "compare")) {
        if (!read_whole(a, argv[3], &other, err) || !onnx_summarize(a, other, &second, err))
            return false;
        onnx_summary_compare(&s, &second, a, out);
    } else {
        struct model_guess g;
        if (!guess(a, &s, argv + 2, &g, err))
            return false;
        json_object(out);
        json_key(out, "manifest");
        json_raw(out, g.json);
        json_key(out, "asked");
        json_array(out);
        for (size_t i = 0; i < g.n_asked; i++)
            json_string(out, g.asked[i]);
        json_array_end(out);
        json_object_end(out);
    }
    return true;
}

int main(int argc, char **argv)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf b = {0};
    struct json_out out;
    struct err err = {0};
    json_begin(&out, &b);
    bool ok = false;
    if (argc >= 3 && !strcmp(argv[1], "predict"))
        ok = predict(argv, &err);
    else if (argc >= 5 && !strcmp(argv[1], "time"))
        ok = time_it(argv, &err);
    else if (argc >= 2)
        ok = describe(argv, &a, &out, &err);
    if (!ok) {
        buf_clear(&b);
        json_begin(&out, &b);
        say_error(&out, &err);
    }
    if (b.n)
        printf(STR_FMT "\n", STR_ARG(buf_view(&b)));
    return ok ? 0 : 1;
}
