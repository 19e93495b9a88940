/* list and get. */
#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "core/kinds.h"
#include "net/url.h"

#define CELL_MAX 48 /* columns of a cell on a terminal */

/* Of a version that was named without its set: below the set that it has. */
static bool path_by_id(struct cli *cli, const struct kind *k, int64_t id, const char **ret, struct err *err)
{
    struct arena *a = &cli->arena;
    const struct kind *parent = kind_by_name(str_of(k->parent));
    char across[KIND_COLLECTION_MAX];
    const char *path = arena_printf(a, "/%s/%lld", kind_collection(k, across), (long long)id);
    yyjson_val *v;
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
        return false;
    int64_t of = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(v, parent->name), "id"));
    *ret = arena_printf(a, "/%s/%lld/%s/%lld", parent->plural, (long long)of, k->plural, (long long)id);
    return true;
}

bool verb_object_path(struct cli *cli, const struct kind *k, const struct args *args, const char *word,
                      const char **ret, struct err *err)
{
    int64_t id;
    const char *path;
    if (!scope_id(cli, k, args, word, &id, err))
        return false;
    if (scope_is_version_alone(cli, k, args))
        return path_by_id(cli, k, id, ret, err);
    if (!scope_path(cli, k, args, &path, err))
        return false;
    *ret = arena_printf(&cli->arena, "%s/%lld", path, (long long)id);
    return true;
}

static void print_json(yyjson_val *v)
{
    size_t n;
    auto_free char *text = yyjson_val_write(v, YYJSON_WRITE_PRETTY_TWO_SPACES, &n);
    if (text)
        puts(text);
}

static void print_name(const struct kind *k, yyjson_val *v)
{
    struct str name = scope_name(k, v);
    if (name.n)
        printf(STR_FMT "\n", STR_ARG(name));
    else
        printf("%lld\n", (long long)yyjson_get_sint(yyjson_obj_get(v, "id")));
}

/* {"items": [{...}, ...]}, as actions answer that tell of many things. */
static bool is_list(yyjson_val *v)
{
    yyjson_val *items = yyjson_obj_get(v, "items");
    return yyjson_obj_size(v) == 1 && yyjson_is_arr(items) &&
           (yyjson_arr_size(items) == 0 || yyjson_is_obj(yyjson_arr_get_first(items)));
}

void verb_show(struct cli *cli, const struct kind *k, yyjson_val *v)
{
    if (!v)
        return;
    if (cli->output == OUTPUT_JSON || !yyjson_is_obj(v))
        print_json(v);
    else if (cli->output == OUTPUT_NAME)
        print_name(k, v);
    else if (is_list(v))
        table_items(&cli->arena, stdout, yyjson_obj_get(v, "items"), cli->colour);
    else
        table_object(&cli->arena, stdout, v, k, cli->colour);
}

bool verb_get(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
              const struct args *args, struct err *err)
{
    const char *path;
    yyjson_val *v;
    if (!verb_object_path(cli, k, args, args->words[0], &path, err))
        return false;
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
        return false;
    verb_show(cli, k, v);
    return true;
}

/* --- list --- */

struct listing {
    const struct kind *kind;
    bool across;         /* of all parents: */
    struct field parent; /* a column for them */
    const struct field **columns;
    size_t column_count;
    struct table table;
    size_t shown;
    bool header_done;
};

static void choose_columns(struct arena *a, struct listing *l)
{
    size_t count = kind_field_count(l->kind);
    l->columns = arena_array(a, const struct field *, count + 2);
    for (size_t i = 0; i < count; i++) {
        const struct field *f = &l->kind->fields[i];
        if (i == 1 && l->across)
            l->columns[l->column_count++] = &l->parent;
        if ((f->flags & FIELD_LIST || i == 0) && !(f->flags & (FIELD_SECRET | FIELD_INTERNAL)))
            l->columns[l->column_count++] = f;
    }
}

static void table_start(struct cli *cli, struct listing *l)
{
    struct arena *a = &cli->arena;
    choose_columns(a, l);
    const char **titles = arena_array(a, const char *, l->column_count + 2);
    titles[0] = "id";
    for (size_t i = 0; i < l->column_count; i++)
        titles[i + 1] = l->columns[i]->name;
    table_begin(&l->table, a, titles, l->column_count + 1, isatty(STDOUT_FILENO) ? CELL_MAX : 0);
}

/* Each page has an arena of its own, so that --all over a million objects stays small. */
static void table_page(struct cli *cli, struct listing *l, yyjson_val *items, struct arena *page)
{
    size_t i, n;
    yyjson_val *item;
    l->table.arena = page;
    l->table.cells = NULL;
    l->table.cap = 0;
    yyjson_arr_foreach(items, i, n, item)
    {
        table_cell(&l->table, table_value(page, yyjson_obj_get(item, "id"), NULL));
        for (size_t c = 0; c < l->column_count; c++) {
            const struct field *f = l->columns[c];
            table_cell(&l->table, table_value(page, yyjson_obj_get(item, f->name), f));
        }
    }
    table_print(&l->table, stdout, !l->header_done, cli->colour);
    l->header_done = true;
}

static void json_page(struct listing *l, yyjson_val *items)
{
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(items, i, n, item)
    {
        auto_buf struct buf b = {0};
        struct json_out o;
        json_begin(&o, &b);
        json_value(&o, item);
        printf("%s\n" STR_FMT, l->shown + i ? "," : "{\"items\": [", STR_ARG(buf_view(&b)));
    }
}

static void print_page(struct cli *cli, struct listing *l, yyjson_val *items, struct arena *page)
{
    size_t i, n;
    yyjson_val *item;
    if (cli->output == OUTPUT_TABLE)
        table_page(cli, l, items, page);
    else if (cli->output == OUTPUT_JSON)
        json_page(l, items);
    else
        yyjson_arr_foreach(items, i, n, item) print_name(l->kind, item);
    l->shown += yyjson_arr_size(items);
}

/* answer: the last page. */
static void print_end(struct cli *cli, struct listing *l, struct str next, yyjson_val *answer)
{
    yyjson_val *total = yyjson_obj_get(answer, "total"), *sorted = yyjson_obj_get(answer, "sorted");
    bool many = yyjson_is_null(total);
    if (cli->output == OUTPUT_JSON) {
        printf("%s], \"next\": %s", l->shown ? "\n" : "{\"items\": [",
               next.p ? scope_quote(&cli->arena, next) : "null");
        if (total && !many)
            printf(", \"total\": %lld", (long long)yyjson_get_sint(total));
        fputs(many ? ", \"total\": null" : "", stdout);
        if (sorted)
            printf(", \"sorted\": %s", yyjson_get_bool(sorted) ? "true" : "false");
        puts("}");
        return;
    }
    if (total && !many)
        fprintf(stderr, "%lld in all\n", (long long)yyjson_get_sint(total));
    if (sorted && !yyjson_get_bool(sorted))
        fputs("Too many match to be sorted: the newest come first.\n", stderr);
    if (next.p && cli->output == OUTPUT_TABLE)
        fprintf(stderr, "There are more: --all shows them all, --cursor %.*s goes on here.\n", (int)next.n,
                next.p);
}

/* A list of children without --PARENT is that of the whole project. */
static const char *is_across(struct cli *cli, const struct kind *k, const struct args *args)
{
    char *path = arena_alloc(&cli->arena, KIND_COLLECTION_MAX);
    const struct kind *parent = k->parent ? kind_by_name(str_of(k->parent)) : NULL;
    if (!parent || args_value(args, scope_kind_word(&cli->arena, parent)))
        return NULL;
    return kind_collection(k, path);
}

static bool list_url(struct cli *cli, const struct kind *k, const struct args *args, struct buf *url,
                     struct err *err)
{
    static const char *const texts[] = {"q", "filter", "sort"};
    struct arena *a = &cli->arena;
    const char *path, *across = is_across(cli, k, args);
    int64_t project = 0, limit = args_has(args, "all") ? 200 : 20;
    bool by_project = across || k->scope == SCOPE_PROJECT;
    if (!args_int(args, "limit", 1, 200, &limit, err))
        return false;
    if (across)
        path = arena_printf(a, "/%s", across);
    else if (!scope_path(cli, k, args, &path, err))
        return false;
    if (by_project && !scope_project(cli, &project, err))
        return false;
    if (by_project && !project)
        return err_set(err, ERR_MALFORMED, NULL,
                       "no project is chosen: give --project NAME, or run `ingot use NAME` once");
    buf_printf(url, "%s?limit=%lld", path, (long long)limit);
    if (project)
        buf_printf(url, "&project=%lld", (long long)project);
    for (size_t i = 0; i < countof(texts); i++)
        if (args_value(args, texts[i]))
            buf_printf(url, "&%s=%s", texts[i], url_encode(a, str_of(args_value(args, texts[i]))));
    buf_z(url, args_has(args, "mine") ? "&mine=true" : "");
    buf_z(url, args_has(args, "count") ? "&count=true" : "");
    return true;
}

/* One page; the answer lives in page. */
static bool fetch(struct cli *cli, const char *url, struct arena *page, yyjson_val **ret, struct err *err)
{
    struct arena own = cli->arena;
    cli->arena = *page;
    bool ok = remote_json(cli, &(struct remote_call){.method = "GET", .path = url}, ret, err);
    *page = cli->arena;
    cli->arena = own;
    return ok;
}

bool verb_list(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
               const struct args *args, struct err *err)
{
    struct listing l = {.kind = k,
                        .across = is_across(cli, k, args) != NULL,
                        .parent = {.name = k->parent, .type = FIELD_REF}};
    auto_buf struct buf base = {0};
    if (!list_url(cli, k, args, &base, err))
        return false;
    if (cli->output == OUTPUT_TABLE)
        table_start(cli, &l);
    struct str cursor = str_of(args_value(args, "cursor"));
    do {
        struct arena page;
        arena_init(&page);
        char *url = base.p;
        if (cursor.p)
            url = arena_printf(&cli->arena, "%s&cursor=%s", base.p, url_encode(&cli->arena, cursor));
        yyjson_val *answer;
        if (!fetch(cli, url, &page, &answer, err)) {
            cli->problem = NULL; /* it lives in the page */
            arena_release(&page);
            return false;
        }
        print_page(cli, &l, yyjson_obj_get(answer, "items"), &page);
        struct str next = json_str(yyjson_obj_get(answer, "next"));
        cursor = next.p ? arena_str(&cli->arena, next) : STR_NULL;
        bool last = !cursor.p || !args_has(args, "all");
        if (last)
            print_end(cli, &l, cursor, answer);
        arena_release(&page);
        if (last)
            break;
    } while (true);
    return true;
}
