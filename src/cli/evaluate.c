#include "cli/evaluate.h"

#include "base/map.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "metric/evaluate.h"
#include "metric/resample.h"

#include <errno.h>
#include <inttypes.h>

const struct flag evaluate_flags[EVALUATE_FLAGS] = {
    {.name = "type",
     .takes = FLAG_VALUE,
     .value = "TYPE",
     .help = "annotation type, where the files do not say it"},
    {.name = "draws",
     .takes = FLAG_VALUE,
     .value = "N",
     .help = "how often samples are drawn anew for the intervals: 200; 0: no intervals"},
    {.name = "part",
     .takes = FLAG_VALUE,
     .value = "all|test",
     .help = "on the platform: all samples, or those that the model's split.json calls test"},
    {.name = "score",
     .takes = FLAG_VALUE,
     .value = "X",
     .help = "on the platform: from which score on found things count"},
    {.name = "name", .takes = FLAG_VALUE, .value = "NAME", .help = "on the platform: of the evaluation"},
    {.name = "project", .letter = 'p', .takes = FLAG_VALUE, .value = "NAME", .help = "where it is made"},
};

/* One line of a file: its header, or a sample. */
struct line {
    bool header;
    struct str file, type, annotation;
    uint32_t width, height;
};

struct reading {
    struct cli *cli;
    struct evaluate *evaluate; /* made when the type is known */
    struct map *found;         /* by file: struct str of the annotation; taken out when its truth comes */
    const char *type;
    size_t truths;
};

static uint32_t side_of(yyjson_val *v)
{
    uint64_t n = yyjson_get_uint(v);
    return n <= ANNOTATION_MAX_SIDE ? (uint32_t)n : 0;
}

static bool parse_line(struct arena *a, struct str text, struct line *ret, struct err *err)
{
    struct json_out o;
    struct buf b = {0};
    yyjson_val *v = json_parse(a, text, err), *annotation;
    if (!v)
        return false;
    *ret = (struct line){.header = yyjson_obj_get(v, "ingot") != NULL,
                         .file = json_str(yyjson_obj_get(v, "file")),
                         .type = json_str(yyjson_obj_get(v, "type")),
                         .annotation = STR("{}"),
                         .width = side_of(yyjson_obj_get(v, "width")),
                         .height = side_of(yyjson_obj_get(v, "height"))};
    if (!ret->header && !ret->file.n)
        return err_set(err, ERR_INVALID, "file", "a sample has a 'file'");
    if ((annotation = yyjson_obj_get(v, "annotation"))) {
        json_begin(&o, &b);
        json_value(&o, annotation);
        ret->annotation = arena_str(a, buf_view(&b));
        buf_release(&b);
    }
    return true;
}

typedef bool (*line_fn)(struct reading *r, const struct line *line, struct err *err);

static bool read_line(struct reading *r, struct str text, line_fn fn, struct err *err)
{
    auto_arena struct arena a;
    struct line line;
    arena_init(&a);
    return !text.n || (parse_line(&a, text, &line, err) && fn(r, &line, err));
}

/* Each line that is not empty; an error names file and line. */
static bool read_lines(struct reading *r, const char *path, line_fn fn, struct err *err)
{
    auto_free char *text = NULL;
    size_t cap = 0, number = 0;
    ssize_t n;
    bool ok = true;
    FILE *in = fopen(path, "re");
    if (!in)
        return err_set(err, ERR_NOT_FOUND, NULL, "%s: %s", path, strerror(errno));
    while (ok && (n = getline(&text, &cap, in)) >= 0) {
        number++;
        ok = read_line(r, str_trim((struct str){text, (size_t)n}), fn, err);
    }
    bool broken = ok && ferror(in);
    fclose(in);
    if (broken)
        return err_set(err, ERR_INTERNAL, NULL, "%s: it cannot be read", path);
    if (!ok) {
        struct err why = *err;
        err_set(err, why.code, NULL, "%s, line %zu: %s%s%s", path, number, why.field, *why.field ? ": " : "",
                why.message);
    }
    return ok;
}

static bool take_found(struct reading *r, const struct line *line, struct err *err)
{
    struct str *kept = arena_new(&r->cli->arena, struct str);
    if (line->header)
        return true;
    *kept = arena_str(&r->cli->arena, line->annotation);
    if (map_set(r->found, line->file, kept))
        return err_set(err, ERR_INVALID, "file", "'" STR_FMT "' comes twice", STR_ARG(line->file));
    return true;
}

static bool begin(struct reading *r, struct str type, struct err *err)
{
    enum annotation_type t;
    if (r->type)
        type = str_of(r->type);
    if (!type.n)
        return err_set(err, ERR_INVALID, "type", "the file does not say it; use --type");
    if (!annotation_type_of(type, &t))
        return err_set(err, ERR_INVALID, "type", "'" STR_FMT "' is none of the annotation types",
                       STR_ARG(type));
    r->evaluate = evaluate_new(t, err);
    return r->evaluate != NULL;
}

static bool take_truth(struct reading *r, const struct line *line, struct err *err)
{
    if (!r->evaluate && !begin(r, line->type, err))
        return false;
    if (line->header)
        return true;
    struct str *found = map_remove(r->found, line->file);
    r->truths++;
    return evaluate_add(r->evaluate, line->annotation, found ? *found : STR("{}"), line->width, line->height,
                        err);
}

static struct str share(struct arena *a, yyjson_val *v)
{
    return yyjson_is_num(v) ? str_of(arena_printf(a, "%.4f", yyjson_get_num(v))) : STR("-");
}

static void print_rows(struct cli *cli, yyjson_val *rows, const char **titles, size_t columns, size_t whole)
{
    struct table t;
    size_t i, n;
    yyjson_val *row;
    table_begin(&t, &cli->arena, titles, columns, 0);
    yyjson_arr_foreach(rows, i, n, row)
    {
        for (size_t k = 0; k < columns; k++) {
            yyjson_val *v = yyjson_obj_get(row, titles[k]);
            table_cell(&t, k < whole ? table_value(&cli->arena, v, NULL) : share(&cli->arena, v));
        }
    }
    table_print(&t, stdout, true, cli->colour);
}

void evaluate_print(struct cli *cli, yyjson_val *report)
{
    static const char *figures[] = {"name", "value", "low", "high"};
    static const char *labels[] = {"label",  "truths",    "hits",   "mistakes",
                                   "missed", "precision", "recall", "f1"};
    struct str type = json_str(yyjson_obj_get(report, "type"));
    printf("%" PRIu64 " samples, " STR_FMT "\n\n", yyjson_get_uint(yyjson_obj_get(report, "samples")),
           STR_ARG(type));
    print_rows(cli, yyjson_obj_get(report, "figures"), figures, countof(figures), 1);
    if (!yyjson_obj_get(report, "labels"))
        return;
    printf("\n");
    print_rows(cli, yyjson_obj_get(report, "labels"), labels, countof(labels), 5);
}

static bool show(struct cli *cli, struct evaluate *e, int64_t draws, struct err *err)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    evaluate_report(e, (uint32_t)draws, &o);
    yyjson_val *report = json_parse(&cli->arena, arena_str(&cli->arena, buf_view(&b)), err);
    if (!report)
        return false;
    if (cli->output == OUTPUT_JSON)
        verb_show(cli, NULL, report);
    else
        evaluate_print(cli, report);
    return true;
}

/* Or the name of one that is not there. */
static bool is_file(const char *word)
{
    return access(word, F_OK) == 0 || str_ends(str_of(word), ".jsonl") || str_ends(str_of(word), ".json");
}

bool evaluate_run(struct cli *cli, const struct args *args, struct err *err)
{
    struct reading r = {.cli = cli, .type = args_value(args, "type")};
    int64_t draws = RESAMPLE_DRAWS;
    if (!args_count(args, 2, 2, "ingot evaluate TRUTH FOUND", err))
        return false;
    if (!is_file(args->words[0]) && !is_file(args->words[1]))
        return evaluate_remote(cli, args, err);
    if (!args_int(args, "draws", 0, RESAMPLE_MAX_DRAWS, &draws, err))
        return false;
    r.found = map_new();
    bool ok =
        read_lines(&r, args->words[1], take_found, err) && read_lines(&r, args->words[0], take_truth, err);
    if (ok && !r.truths)
        ok = err_set(err, ERR_INVALID, "truth", "'%s' has no samples", args->words[0]);
    if (ok && map_count(r.found))
        fprintf(stderr, "ingot: %zu samples of %s are not in %s and do not count\n", map_count(r.found),
                args->words[1], args->words[0]);
    ok = ok && show(cli, r.evaluate, draws, err);
    map_free(r.found);
    evaluate_free(r.evaluate);
    return ok;
}
