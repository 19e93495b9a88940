#include "cli/dataset.h"

#include "cli/bundle.h"
#include "cli/dataset_version.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/sending.h"
#include "cli/waiting.h"
#include "net/url.h"

#define SHOWN_PROBLEMS 10

const struct flag dataset_import_flags[DATASET_IMPORT_FLAGS] = {
    {"version", 0, FLAG_VALUE, "VERSION", "into this version (v3), or `new`; otherwise the newest draft",
     NULL},
    {"type", 0, FLAG_VALUE, "TYPE", "make the dataset, with this annotation type, when there is none", NULL},
    {"report", 0, FLAG_VALUE, "FILE", "write everything that was skipped or repaired to a file", NULL},
};

const struct flag dataset_export_flags[DATASET_EXPORT_FLAGS] = {
    {"to", 'o', FLAG_VALUE, "FILE", "where to; - is standard output. Otherwise the export's own name", NULL},
    {"format", 0, FLAG_VALUE, "FORMAT", "coco, voc, yolo ...; otherwise Ingot's own", NULL},
    {"training", 0, FLAG_SWITCH, NULL, "training data in two parts instead of a format", NULL},
    {"seed", 0, FLAG_VALUE, "N", "with --training: another seed, another split", NULL},
    {"test-share", 0, FLAG_VALUE, "SHARE", "with --training: 0 to 0.9 (0.2 when absent)", NULL},
    {"states", 0, FLAG_VALUE, "STATE,...",
     "with --training: samples of these states (annotated,review,accepted when absent)", NULL},
    {"keep-split", 0, FLAG_SWITCH, NULL, "with --training: the split of the imported files", NULL},
    {"no-samples", 0, FLAG_SWITCH, NULL, "the annotations without the samples' files", NULL},
    {"reuse", 0, FLAG_SWITCH, NULL, "take the last one made if the version has not changed since", NULL},
    {"force", 0, FLAG_SWITCH, NULL, "overwrite the file", NULL},
    {"quiet", 0, FLAG_SWITCH, NULL, "no progress", NULL},
};

/* --- import --- */

/* What the flags say, and the upload; without one, the flags name what is imported. */
static bool with_upload(struct cli *cli, struct str flags, const char *upload, const char *name,
                        struct buf *out, struct err *err)
{
    struct json_out o;
    size_t i, n;
    yyjson_val *key, *value, *v = json_parse(&cli->arena, flags, err);
    if (!v)
        return false;
    json_begin(&o, out);
    json_object(&o);
    yyjson_obj_foreach(v, i, n, key, value)
    {
        json_key(&o, yyjson_get_str(key));
        json_value(&o, value);
    }
    json_key(&o, "uploads");
    json_array(&o);
    json_object(&o);
    json_kz(&o, "upload", upload);
    json_kz(&o, "name", name);
    json_object_end(&o);
    json_array_end(&o);
    json_object_end(&o);
    return true;
}

static bool start_task(struct cli *cli, const char *path, struct str body, int64_t *ret, yyjson_val **ret_v,
                       struct err *err)
{
    struct remote_call call = {.method = "POST", .path = path, .body = body};
    if (!remote_json(cli, &call, ret_v, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(*ret_v, "id"));
    return *ret > 0 || err_set(err, ERR_UPSTREAM, NULL, "%s answered without a task", cli->config.url);
}

/* Everything that was skipped or repaired: to a file, else the first few lines. */
static bool tell_problems(struct cli *cli, const struct args *args, int64_t id, int64_t problems,
                          struct err *err)
{
    struct client_answer answer;
    const char *path = arena_printf(&cli->arena, "/tasks/%lld/report", (long long)id);
    const char *file = args_value(args, "report");
    if (file)
        return problems ? waiting_download(cli, path, file, true, err) : true;
    if (!problems || args_has(args, "quiet"))
        return true;
    if (!remote_do(cli, &(struct remote_call){.method = "GET", .path = path}, &answer, err)) {
        fprintf(stderr, "%lld records were skipped or repaired\n", (long long)problems);
        return err->code == ERR_UPSTREAM; /* too large to be shown */
    }
    struct str rest = answer.body;
    for (int i = 0; i < SHOWN_PROBLEMS && rest.n; i++) {
        yyjson_val *v = json_parse(&cli->arena, str_cut(rest, '\n', &rest), err);
        struct str name = json_str(yyjson_obj_get(v, "file")), at = json_str(yyjson_obj_get(v, "position"));
        fprintf(stderr, "  " STR_FMT "%s" STR_FMT ": " STR_FMT "\n", STR_ARG(name), at.n ? ", " : "",
                STR_ARG(at), STR_ARG(json_str(yyjson_obj_get(v, "reason"))));
    }
    if (problems > SHOWN_PROBLEMS)
        fprintf(stderr, "  and %lld more: --report FILE writes them all\n",
                (long long)(problems - SHOWN_PROBLEMS));
    return true;
}

static void print_value(yyjson_val *v)
{
    size_t n;
    auto_free char *text = yyjson_val_write(v, YYJSON_WRITE_PRETTY_TWO_SPACES, &n);
    if (text)
        puts(text);
}

static long long count_of(yyjson_val *result, const char *name)
{
    return yyjson_get_sint(yyjson_obj_get(result, name));
}

static void tell_import(struct cli *cli, const struct dataset_version *v, yyjson_val *task)
{
    yyjson_val *r = yyjson_obj_get(task, "result");
    if (cli->output == OUTPUT_JSON) {
        print_value(task);
        return;
    }
    if (cli->output == OUTPUT_NAME) {
        printf("%s:%s\n", v->dataset_name, v->name);
        return;
    }
    printf("%s:%s: %lld added, %lld changed, %lld as they were; %lld annotations; format " STR_FMT "\n",
           v->dataset_name, v->name, count_of(r, "added"), count_of(r, "changed"), count_of(r, "same"),
           count_of(r, "annotations"), STR_ARG(json_str(yyjson_obj_get(r, "format"))));
    if (count_of(r, "kept"))
        printf("%lld were labelled by people and stay as they are; --replace replaces them\n",
               count_of(r, "kept"));
    if (count_of(r, "replaced"))
        printf("%lld that people had labelled were replaced; their history keeps them\n",
               count_of(r, "replaced"));
}

static bool upload(struct cli *cli, struct bundle *b, const struct dataset_version *v,
                   const struct args *args, const char **ret, struct err *err)
{
    struct progress p;
    if (b->left_out)
        fprintf(stderr, "%zu links and special files are left out\n", b->left_out);
    progress_begin(&p, "Uploading", true, args_has(args, "quiet"));
    bool ok = sending_run(cli, b, v->project, &p, ret, err);
    progress_end(&p);
    bundle_close(b);
    return ok;
}

/* One import from a shell. */
struct bringing {
    const char *path; /* NULL: the flags name what is imported */
    struct bundle files;
    struct dataset_version version;
    struct str flags; /* as the body of the request */
};

/* Uploads and imports; *ret_task is the task as it ended, or as it began with --no-wait. */
static bool bring_in(struct cli *cli, struct bringing *b, const struct args *args, yyjson_val **ret_task,
                     int64_t *ret_id, struct err *err)
{
    const char *id, *path = arena_printf(&cli->arena, "%s/import", b->version.path);
    auto_buf struct buf body = {0};
    if (b->path && (!upload(cli, &b->files, &b->version, args, &id, err) ||
                    !with_upload(cli, b->flags, id, b->files.name, &body, err)))
        return false;
    if (!start_task(cli, path, b->path ? buf_view(&body) : b->flags, ret_id, ret_task, err))
        return false;
    if (b->path)
        sending_forget(cli, &b->files, b->version.project);
    return args_has(args, "no-wait") ||
           waiting_task(cli, *ret_id, "Importing", args_has(args, "quiet"), ret_task, err);
}

/* What Ctrl-C was pressed in ends first; then the program does as if it had not been caught. */
static bool finished(bool ok, const struct err *err)
{
    if (!ok && interrupt_wanted()) {
        fprintf(stderr, "%s\n", err->message);
        interrupt_end();
    }
    return ok;
}

/* Everything that can be wrong before a byte is sent. A dataset is only made when the rest is right. */
static bool begin_import(struct cli *cli, const struct kind *k, const struct action *act,
                         const struct args *args, struct bringing *b, struct err *err)
{
    static const char *const sources[] = {"uploads", "directory", "s3", "database", "file"};
    const struct input in = {.fields = act->fields, .ask = true};
    const char *name = args->words[0];
    bool named = false;
    auto_buf struct buf flags = {0};
    for (size_t i = 0; i < countof(sources); i++)
        named = named || args_has(args, sources[i]);
    if (args->word_count > 1)
        bundle_words(args->words, &b->path, &name);
    else if (!named)
        return err_set(
            err, ERR_MALFORMED, NULL,
            "what is to be imported? usage: ingot %s import PATH NAME[:VERSION], or NAME[:VERSION] "
            "with --s3, --database or --directory",
            scope_kind_word(&cli->arena, k));
    if (!input_body(cli, &in, args, &flags, err) ||
        (b->path && !bundle_open(&cli->arena, b->path, &b->files, err)))
        return false;
    b->flags = arena_str(&cli->arena, buf_view(&flags));
    return dataset_version_to_fill(cli, k, args, name, &b->version, err);
}

bool dataset_import(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                    struct err *err)
{
    struct bringing b = {0};
    yyjson_val *task;
    int64_t id;
    if (!begin_import(cli, k, act, args, &b, err))
        return false;
    interrupt_watch();
    if (!finished(bring_in(cli, &b, args, &task, &id, err), err))
        return false;
    if (args_has(args, "no-wait")) {
        if (cli->output == OUTPUT_JSON)
            print_value(task);
        else
            printf("task %lld imports into %s:%s\n", (long long)id, b.version.dataset_name, b.version.name);
        return true;
    }
    tell_import(cli, &b.version, task);
    return tell_problems(cli, args, id, yyjson_get_sint(yyjson_obj_get(task, "problems")), err);
}

/* --- export --- */

static bool number_flag(const struct args *args, const char *flag, struct json_out *o, const char *key,
                        struct err *err)
{
    const char *text = args_value(args, flag);
    char *end;
    if (!text)
        return true;
    double v = strtod(text, &end);
    if (!*text || *end || !(v > 0 && v <= 1e9))
        return err_set(err, ERR_MALFORMED, NULL, "--%s: \"%s\" is not a number above 0", flag, text);
    json_key(o, key);
    json_real(o, v);
    return true;
}

/* "a,b" as a list of texts. */
static void write_words(struct json_out *o, const char *key, const char *words)
{
    struct str rest = str_of(words);
    json_key(o, key);
    json_array(o);
    while (rest.n)
        json_string(o, str_trim(str_cut(rest, ',', &rest)));
    json_array_end(o);
}

static bool export_request(struct cli *cli, const struct dataset_version *v, const struct args *args,
                           struct buf *body, const char **ret_path, struct err *err)
{
    bool training = args_has(args, "training");
    int64_t seed = 0;
    struct json_out o;
    if (!args_int(args, "seed", 0, INT64_MAX, &seed, err))
        return false;
    static const char *const of_training[] = {"seed", "test-share", "states", "keep-split"};
    bool wrong = training && args_has(args, "format");
    for (size_t i = 0; !training && i < countof(of_training); i++)
        wrong = wrong || args_has(args, of_training[i]);
    if (wrong)
        return err_set(
            err, ERR_MALFORMED, NULL,
            "--training has --seed, --test-share, --states and --keep-split, an export has --format");
    json_begin(&o, body);
    json_object(&o);
    json_kbool(&o, "samples", !args_has(args, "no-samples"));
    json_kbool(&o, "reuse", args_has(args, "reuse"));
    if (training) {
        json_kint(&o, "seed", seed);
        if (!number_flag(args, "test-share", &o, "test_share", err))
            return false;
        json_kz(&o, "split", args_has(args, "keep-split") ? "imported" : "seed");
        if (args_has(args, "states"))
            write_words(&o, "states", args_value(args, "states"));
    } else {
        json_kz(&o, "format", args_has(args, "format") ? args_value(args, "format") : "ingot");
    }
    json_object_end(&o);
    *ret_path = arena_printf(&cli->arena, "%s/%s", v->path, training ? "training-data" : "export");
    return true;
}

/* `-o json`, as with other commands, would make a file called json. */
static bool target(const struct args *args, const char **ret, struct err *err)
{
    *ret = args_value(args, "to");
    if (!*ret)
        return true;
    if (strcmp(*ret, "json") == 0 || strcmp(*ret, "table") == 0 || strcmp(*ret, "name") == 0)
        return err_set(err, ERR_MALFORMED, NULL, "-o names the file of an export; write ./%s if you mean it",
                       *ret);
    if (strcmp(*ret, "-") == 0)
        return !isatty(STDOUT_FILENO) ||
               err_set(err, ERR_MALFORMED, NULL, "an archive is not for a terminal");
    return args_has(args, "force") || access(*ret, F_OK) != 0 ||
           err_set(err, ERR_EXISTS, NULL, "%s exists: --force overwrites it", *ret);
}

static bool take_out(struct cli *cli, const struct dataset_version *v, const struct args *args,
                     const char **to, yyjson_val **ret_task, struct err *err)
{
    auto_buf struct buf body = {0};
    const char *path;
    yyjson_val *task;
    int64_t id;
    bool quiet = args_has(args, "quiet");
    if (!export_request(cli, v, args, &body, &path, err) ||
        !start_task(cli, path, buf_view(&body), &id, &task, err) ||
        !waiting_task(cli, id, "Exporting", quiet, &task, err))
        return false;
    if (!*to) {
        *to = arena_strz(&cli->arena, json_str(yyjson_obj_get(task, "output_name")));
        if (strchr(*to, '/') || !**to)
            return err_set(err, ERR_UPSTREAM, NULL, "the export has no name: give -o FILE");
        if (access(*to, F_OK) == 0 && !args_has(args, "force"))
            return err_set(err, ERR_EXISTS, NULL, "%s exists: --force overwrites it", *to);
    }
    *ret_task = task;
    path = arena_printf(&cli->arena, "/tasks/%lld/download", (long long)id);
    return waiting_download(cli, path, *to, quiet, err);
}

bool dataset_export(struct cli *cli, unused_ok const struct kind *k, unused_ok const struct action *act,
                    const struct args *args, struct err *err)
{
    struct dataset_version v;
    const char *to;
    yyjson_val *task;
    if (!target(args, &to, err) || !dataset_version_find(cli, args, args->words[0], NULL, &v, err))
        return false;
    interrupt_watch();
    if (!finished(take_out(cli, &v, args, &to, &task, err), err))
        return false;
    if (cli->output == OUTPUT_JSON)
        print_value(task);
    else if (strcmp(to, "-") != 0)
        printf("%s\n", to);
    return true;
}

/* --- publish --- */

bool dataset_publish(struct cli *cli, unused_ok const struct kind *k, const struct action *act,
                     const struct args *args, struct err *err)
{
    struct dataset_version v;
    return dataset_version_find(cli, args, args->words[0], NULL, &v, err) &&
           verb_act_on(cli, kind_by_name(STR("dataset_version")), act, args, v.path, err);
}

/* --- create: with a version to fill --- */

bool dataset_create(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
                    const struct args *args, struct err *err)
{
    yyjson_val *made, *first;
    if (!verb_make(cli, k, args, &made, err))
        return false;
    const char *path =
        arena_printf(&cli->arena, "/datasets/%lld", (long long)yyjson_get_sint(yyjson_obj_get(made, "id")));
    struct remote_call version = {
        .method = "POST", .path = arena_printf(&cli->arena, "%s/versions", path), .body = STR("{}")};
    if (!remote_json(cli, &version, &first, err) ||
        !remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &made, err))
        return false;
    verb_show(cli, k, made);
    return true;
}

/* --- diff --- */

static const struct {
    const char *change, *words;
    char sign;
} changes[] = {{"added", "added", '+'},
               {"removed", "removed", '-'},
               {"changed", "changed", '~'},
               {"annotated", "annotated differently", '*'},
               {"split", "moved between parts of the split", '>'}};

static struct str part_of(yyjson_val *item, const char *key)
{
    struct str part = json_str(yyjson_obj_get(item, key));
    return part.p ? part : STR("none");
}

/* Of a sample that is in both versions, also when it changed otherwise. */
static void tell_parts(yyjson_val *item)
{
    struct str from = part_of(item, "split_before"), to = part_of(item, "split_after");
    bool both = yyjson_is_int(yyjson_obj_get(item, "before")) && yyjson_is_int(yyjson_obj_get(item, "after"));
    if (both && !str_eq(from, to))
        printf(" (" STR_FMT " -> " STR_FMT ")", STR_ARG(from), STR_ARG(to));
}

static void tell_changes(yyjson_val *v)
{
    yyjson_val *item;
    size_t i, n;
    yyjson_arr_foreach(yyjson_obj_get(v, "items"), i, n, item)
    {
        struct str change = json_str(yyjson_obj_get(item, "change"));
        char sign = '?';
        for (size_t s = 0; s < countof(changes); s++)
            sign = str_is(change, changes[s].change) ? changes[s].sign : sign;
        printf("%c " STR_FMT, sign, STR_ARG(json_str(yyjson_obj_get(item, "name"))));
        tell_parts(item);
        putchar('\n');
    }
}

/* The counts: with the first page, or of large versions by a task. */
static bool take_counts(struct cli *cli, const struct dataset_version *before,
                        const struct dataset_version *after, yyjson_val *first, yyjson_val **ret,
                        struct err *err)
{
    yyjson_val *task;
    int64_t id;
    *ret = first;
    if (yyjson_obj_get(first, changes[0].change))
        return true;
    const char *path = arena_printf(&cli->arena, "%s/changes", after->path),
               *body = arena_printf(&cli->arena, "{\"with\":%lld}", (long long)before->id);
    interrupt_watch();
    if (!start_task(cli, path, str_of(body), &id, &task, err) ||
        !finished(waiting_task(cli, id, "Comparing", false, &task, err), err))
        return false;
    *ret = yyjson_obj_get(task, "result");
    return true;
}

/* All pages, then the counts. */
static bool tell_diff(struct cli *cli, const char *path, yyjson_val *first, yyjson_val *counts,
                      struct err *err)
{
    tell_changes(first);
    for (yyjson_val *page = first; yyjson_is_str(yyjson_obj_get(page, "next"));) {
        const char *next = arena_printf(&cli->arena, "%s&after=%s", path,
                                        url_encode(&cli->arena, json_str(yyjson_obj_get(page, "next"))));
        if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = next}, &page, err))
            return false;
        tell_changes(page);
    }
    for (size_t s = 0; s < countof(changes); s++)
        printf("%s%lld %s", s ? ", " : "",
               (long long)yyjson_get_sint(yyjson_obj_get(counts, changes[s].change)), changes[s].words);
    putchar('\n');
    return true;
}

bool dataset_diff(struct cli *cli, unused_ok const struct kind *k, unused_ok const struct action *act,
                  const struct args *args, struct err *err)
{
    struct dataset_version before, after;
    yyjson_val *answer, *counts;
    if (!dataset_version_find(cli, args, args->words[0], NULL, &before, err) ||
        !dataset_version_find(cli, args, args->words[1], &before, &after, err))
        return false;
    const char *path = arena_printf(&cli->arena, "%s/compare?with=%lld", after.path, (long long)before.id);
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &answer, err))
        return false;
    if (cli->output == OUTPUT_JSON) {
        print_value(answer);
        return true;
    }
    return take_counts(cli, &before, &after, answer, &counts, err) &&
           tell_diff(cli, path, answer, counts, err);
}
