#include "cli/predict.h"

#include "base/fs.h"
#include "base/hash.h"
#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/table.h"
#include "cli/waiting.h"
#include "net/url.h"

#include <strings.h>

#define INPUT_MAX    (INT64_C(256) << 20)
#define MANIFEST_MAX (INT64_C(4) << 20)

const struct flag predict_flags[] = {
    {"version", 0, FLAG_VALUE, "production|canary", "which of a service's two answers (as the share says)",
     NULL},
    {"manifest", 0, FLAG_VALUE, "FILE", "of a model version: instead of its ingot-model.json", NULL},
    {"threshold", 0, FLAG_VALUE, "NAME=X", "in place of the model's own: score, iou, mask, text or point",
     NULL},
    {"project", 'p', FLAG_VALUE, "NAME", "where the service or model is", NULL},
};

/* Who is asked, and how. */
struct asking {
    const char *path;    /* of predict */
    const char *version; /* of a service: which of both; NULL: as the share says */
    struct str manifest; /* of a model version: instead of its own; STR_NULL: none */
};

/* --- a model version --- */

static bool try_version(struct cli *cli, const char *version, int64_t project, struct err *err)
{
    static const struct waiting_states states = {
        .good = "ready", .bad = "failed", .bad_too = "none", .sentence = "the model could not be started: "};
    const char *body = project ? arena_printf(&cli->arena, "{\"project\":%lld}", (long long)project) : "{}",
               *look = project
                           ? arena_printf(&cli->arena, "%s/trial?project=%lld", version, (long long)project)
                           : arena_printf(&cli->arena, "%s/trial", version);
    struct remote_call start = {
        .method = "POST", .path = arena_printf(&cli->arena, "%s/try", version), .body = str_of(body)};
    yyjson_val *now;
    return remote_json(cli, &start, &now, err) && waiting_state(cli, look, &states, err);
}

/* "fruit:v3": starts it and waits until it answers. */
static bool find_version(struct cli *cli, const char *text, const struct args *args, struct asking *ret,
                         struct err *err)
{
    int64_t id, project;
    yyjson_val *found;
    const char *manifest = args_value(args, "manifest");
    if (!scope_project(cli, &project, err) ||
        !scope_id(cli, kind_by_name(STR("model_version")), NULL, text, &id, err) ||
        !remote_json(
            cli,
            &(struct remote_call){.method = "GET",
                                  .path = arena_printf(&cli->arena, "/model-versions/%lld", (long long)id)},
            &found, err))
        return false;
    int64_t set = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(found, "model_set"), "id"));
    const char *version =
        arena_printf(&cli->arena, "/model-sets/%lld/versions/%lld", (long long)set, (long long)id);
    *ret = (struct asking){
        .path = project ? arena_printf(&cli->arena, "%s/predict?project=%lld", version, (long long)project)
                        : arena_printf(&cli->arena, "%s/predict", version)};
    if (manifest && !fs_read(&cli->arena, manifest, MANIFEST_MAX, &ret->manifest, err))
        return false;
    return try_version(cli, version, project, err);
}

static bool find_service(struct cli *cli, const char *text, const struct args *args, struct asking *ret,
                         struct err *err)
{
    int64_t id;
    if (args_has(args, "manifest"))
        return err_set(err, ERR_MALFORMED, NULL, "--manifest is for a model version: MODEL:VERSION");
    if (!scope_id(cli, kind_by_name(STR("service")), NULL, text, &id, err))
        return false;
    *ret = (struct asking){.path = arena_printf(&cli->arena, "/services/%lld/predict", (long long)id),
                           .version = args_value(args, "version")};
    return true;
}

/* The path with each --threshold in its query; what it may be the model's server knows. */
static bool add_thresholds(struct cli *cli, const struct args *args, struct asking *to, struct err *err)
{
    for (size_t i = 0; i < args->given_count; i++) {
        struct str rest = STR_NULL, name;
        if (strcmp(args->given[i].flag->name, "threshold") != 0)
            continue;
        name = str_cut(str_of(args->given[i].value), '=', &rest);
        if (!name.n || !rest.p)
            return err_set(err, ERR_MALFORMED, NULL, "--threshold needs a name and a number: score=0.3");
        to->path = arena_printf(&cli->arena, "%s%c%s=%s", to->path, strchr(to->path, '?') ? '&' : '?',
                                url_encode(&cli->arena, name), url_encode(&cli->arena, rest));
    }
    return true;
}

/* --- one input --- */

static const struct {
    const char *end, *type;
} types[] = {
    {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".png", "image/png"},   {".webp", "image/webp"},
    {".txt", "text/plain"}, {".wav", "audio/wav"},   {".flac", "audio/flac"}, {".json", "application/json"},
};

static const char *type_of(const char *file)
{
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < countof(types); i++)
        if (strcasecmp(dot, types[i].end) == 0)
            return types[i].type;
    return "application/octet-stream";
}

/* Both as parts of one body; returns its type. */
static const char *join_parts(struct cli *cli, struct str manifest, const char *file, struct str content,
                              struct buf *out)
{
    char boundary[64];
    random_text(24, boundary);
    buf_printf(out,
               "--%s\r\nContent-Disposition: form-data; name=\"manifest\"\r\nContent-Type: application/json"
               "\r\n\r\n",
               boundary);
    buf_str(out, manifest);
    buf_printf(out,
               "\r\n--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"input\"\r\n"
               "Content-Type: %s\r\n\r\n",
               boundary, type_of(file));
    buf_str(out, content);
    buf_printf(out, "\r\n--%s--\r\n", boundary);
    return arena_printf(&cli->arena, "multipart/form-data; boundary=%s", boundary);
}

static bool predict_one(struct cli *cli, const struct asking *to, const char *file, struct client_answer *ret,
                        struct err *err)
{
    struct client_request q;
    struct client_header headers[4];
    struct str content;
    auto_buf struct buf joined = {0};
    if (!fs_read(&cli->arena, file, INPUT_MAX, &content, err) ||
        !remote_prepare(cli, "POST", to->path, &q, headers, err))
        return false;
    const char *type = type_of(file);
    if (to->manifest.p) {
        type = join_parts(cli, to->manifest, file, content, &joined);
        content = buf_view(&joined);
    }
    headers[q.header_count++] = (struct client_header){"Content-Type", type};
    if (to->version)
        headers[q.header_count++] = (struct client_header){"X-Ingot-Version", to->version};
    q.headers = headers;
    q.body = content.p ? content : STR("");
    if (!client_do(&cli->arena, &q, ret, err))
        return false;
    return ret->status < 400 || remote_refused(cli, ret->status, ret->body, err);
}

/* --- the answer --- */

/* One line for each label, box or text of an annotation; whatever else there is as JSON. */
static void print_shape(struct cli *cli, const char *file, yyjson_val *shape)
{
    auto_buf struct buf line = {0};
    yyjson_val *key, *v;
    size_t i, max;
    yyjson_obj_foreach(shape, i, max, key, v)
    {
        struct str text = table_value(&cli->arena, v, NULL);
        buf_printf(&line, "%s" STR_FMT "=" STR_FMT, line.n ? "  " : "", STR_ARG(json_str(key)),
                   (int)(text.n < 120 ? text.n : 120), text.p);
    }
    printf("%s: " STR_FMT "\n", file, STR_ARG(buf_view(&line)));
}

static void print_answer(struct cli *cli, const char *file, struct str body)
{
    struct err ignored = {0};
    yyjson_val *doc = json_parse(&cli->arena, body, &ignored);
    yyjson_val *annotation = yyjson_obj_get(doc, "annotation"), *key, *v, *one;
    size_t i, max, k, n;
    bool shown = false;
    if (annotation)
        yyjson_obj_foreach(annotation, i, max, key, v)
        {
            if (!yyjson_is_arr(v))
                continue;
            yyjson_arr_foreach(v, k, n, one) if (yyjson_is_obj(one))
            {
                print_shape(cli, file, one);
                shown = true;
            }
        }
    if (!shown)
        printf("%s: " STR_FMT "\n", file, STR_ARG(str_trim(body)));
}

bool predict_run(struct cli *cli, const struct args *args, struct err *err)
{
    struct asking to;
    if (!args_count(args, 2, 10000, "ingot predict SERVICE|MODEL:VERSION FILE...", err))
        return false;
    /* A service's name has no colon. */
    const char *who = args->words[0];
    if (strchr(who, ':') ? !find_version(cli, who, args, &to, err) : !find_service(cli, who, args, &to, err))
        return false;
    if (!add_thresholds(cli, args, &to, err))
        return false;
    for (size_t i = 1; i < args->word_count; i++) {
        struct arena kept = cli->arena;
        struct client_answer answer;
        arena_init(&cli->arena);
        bool ok = predict_one(cli, &to, args->words[i], &answer, err);
        if (ok && cli->output == OUTPUT_JSON)
            printf(STR_FMT "\n", STR_ARG(str_trim(answer.body)));
        else if (ok)
            print_answer(cli, args->words[i], answer.body);
        cli->problem = NULL;
        arena_release(&cli->arena);
        cli->arena = kept;
        if (!ok)
            return false;
    }
    return true;
}
