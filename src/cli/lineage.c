#include "cli/lineage.h"

#include "cli/remote.h"
#include "cli/scope.h"
#include "net/url.h"

#define DEPTH_MAX 20

const struct flag lineage_flags[] = {
    {"direction", 0, FLAG_VALUE, "both|up|down", "up: what it was made from; down: what was made of it",
     NULL},
    {"depth", 0, FLAG_VALUE, "N", "steps away from it at most (6)", NULL},
    {"project", 'p', FLAG_VALUE, "NAME", "where it is", NULL},
};

/* --- which object --- */

/* People say "model fruit:v3", and mean a version. */
static const struct {
    const char *word, *kind;
} words[] = {
    {"dataset", "dataset_version"}, {"model", "model_version"},     {"algorithm", "algorithm_version"},
    {"image", "image_version"},     {"service", "service_version"}, {"training", "training_instance"},
    {"run", "training_instance"},
};

static const struct kind *kind_of(const char *word)
{
    for (size_t i = 0; i < countof(words); i++)
        if (strcmp(word, words[i].word) == 0)
            return kind_by_name(str_of(words[i].kind));
    return scope_kind(str_of(word));
}

struct start {
    const char *kind;
    int64_t id;
};

static bool find_request(struct cli *cli, const char *id, struct start *ret, struct err *err)
{
    yyjson_val *found;
    const char *path = arena_printf(&cli->arena, "/requests/%s", url_encode(&cli->arena, str_of(id)));
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &found, err))
        return false;
    *ret = (struct start){"service_version", yyjson_get_sint(yyjson_obj_get(found, "version"))};
    return ret->id || err_set(err, ERR_NOT_FOUND, NULL, "no version answered this request");
}

static bool find(struct cli *cli, const struct args *args, struct start *ret, struct err *err)
{
    const char *word = args->words[0], *name = args->words[1];
    const struct kind *k = kind_of(word);
    if (strcmp(word, "request") == 0)
        return find_request(cli, name, ret, err);
    if (strcmp(word, "sample") == 0) {
        ret->kind = "sample";
        return str_to_i64(str_of(name), &ret->id) ||
               err_set(err, ERR_MALFORMED, NULL, "a sample is named by its id");
    }
    if (!k)
        return err_set(err, ERR_MALFORMED, NULL, "there is no kind \"%s\"", word);
    ret->kind = k->name;
    return scope_id(cli, k, NULL, name, &ret->id, err);
}

/* --- the trees --- */

struct tree {
    struct cli *cli;
    yyjson_val *nodes, *edges;
    bool up;
    bool *printed; /* by the node's place */
};

static size_t place_of(const struct tree *t, struct str key)
{
    yyjson_val *n;
    size_t i, max;
    yyjson_arr_foreach(t->nodes, i, max, n) if (str_eq(json_str(yyjson_obj_get(n, "key")), key)) return i;
    return SIZE_MAX;
}

static void print_node(const struct tree *t, yyjson_val *n, bool again)
{
    struct str kind = json_str(yyjson_obj_get(n, "kind")), name = json_str(yyjson_obj_get(n, "name")),
               state = json_str(yyjson_obj_get(n, "state"));
    yyjson_val *of = yyjson_obj_get(n, "of"), *project = yyjson_obj_get(n, "project");
    const struct kind *k = kind_by_name(kind);
    char *word = k ? scope_kind_word(&t->cli->arena, k) : "sample";
    if (yyjson_get_bool(yyjson_obj_get(n, "deleted"))) {
        printf("%s %lld (deleted)\n", word, (long long)yyjson_get_sint(yyjson_obj_get(n, "id")));
        return;
    }
    if (!yyjson_get_bool(yyjson_obj_get(n, "visible"))) {
        printf("%s (not visible to you)\n", word);
        return;
    }
    printf("%s ", word);
    if (yyjson_is_obj(of))
        printf(STR_FMT ":", STR_ARG(json_str(yyjson_obj_get(of, "name"))));
    printf(STR_FMT, STR_ARG(name));
    if (state.n)
        printf(" (" STR_FMT ")", STR_ARG(state));
    if (yyjson_is_obj(project))
        printf("  " STR_FMT, STR_ARG(json_str(yyjson_obj_get(project, "name"))));
    puts(again ? "  ..." : "");
}

/* What stands below a node in this direction. One that has been there is not unfolded again. */
static void print_below(struct tree *t, size_t place, int depth)
{
    struct str key = json_str(yyjson_obj_get(yyjson_arr_get(t->nodes, place), "key"));
    yyjson_val *e;
    size_t i, max;
    yyjson_arr_foreach(t->edges, i, max, e)
    {
        struct str near = json_str(yyjson_obj_get(e, t->up ? "to" : "from")),
                   far = json_str(yyjson_obj_get(e, t->up ? "from" : "to"));
        size_t other = str_eq(near, key) ? place_of(t, far) : SIZE_MAX;
        int64_t steps = yyjson_get_sint(yyjson_obj_get(yyjson_arr_get(t->nodes, other), "depth"));
        if (other == SIZE_MAX || (t->up ? steps >= 0 : steps <= 0))
            continue;
        bool again = t->printed[other];
        t->printed[other] = true;
        printf("%*s" STR_FMT ": ", depth * 2, "", STR_ARG(json_str(yyjson_obj_get(e, "as"))));
        print_node(t, yyjson_arr_get(t->nodes, other), again);
        if (!again && depth <= DEPTH_MAX)
            print_below(t, other, depth + 1);
    }
}

static void print_trees(struct cli *cli, yyjson_val *found)
{
    struct tree t = {
        .cli = cli, .nodes = yyjson_obj_get(found, "nodes"), .edges = yyjson_obj_get(found, "edges")};
    t.printed = arena_array(&cli->arena, bool, yyjson_arr_size(t.nodes) + 1);
    print_node(&t, yyjson_arr_get(t.nodes, 0), false);
    for (int i = 0; i < 2; i++) {
        t.up = i == 0;
        bool any = false;
        yyjson_val *n;
        size_t k, max;
        yyjson_arr_foreach(t.nodes, k, max, n)
        {
            int64_t steps = yyjson_get_sint(yyjson_obj_get(n, "depth"));
            any = any || (t.up ? steps < 0 : steps > 0);
        }
        if (any) {
            puts(t.up ? "made from" : "used by");
            print_below(&t, 0, 1);
        }
    }
    if (yyjson_get_bool(yyjson_obj_get(found, "more")))
        fputs("There is more: ask with --depth or --direction, or about one of these.\n", stderr);
}

bool lineage_run(struct cli *cli, const struct args *args, struct err *err)
{
    struct start start;
    yyjson_val *found;
    int64_t depth = 6;
    const char *direction = args_value(args, "direction");
    if (!args_count(args, 2, 2, "ingot lineage KIND NAME[:VERSION] | sample ID | request ID", err) ||
        !args_int(args, "depth", 1, DEPTH_MAX, &depth, err) || !find(cli, args, &start, err))
        return false;
    const char *path = arena_printf(&cli->arena, "/lineage?kind=%s&id=%lld&depth=%lld&direction=%s",
                                    start.kind, (long long)start.id, (long long)depth,
                                    direction ? url_encode(&cli->arena, str_of(direction)) : "both");
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &found, err))
        return false;
    if (cli->output == OUTPUT_JSON) {
        auto_buf struct buf text = {0};
        struct json_out o;
        json_begin(&o, &text);
        json_value(&o, found);
        printf(STR_FMT "\n", STR_ARG(buf_view(&text)));
        return true;
    }
    print_trees(cli, found);
    return true;
}
