#include "cli/fetch.h"

#include "base/fs.h"
#include "base/proc.h"
#include "cli/builtin.h"
#include "cli/fetch_part.h"
#include "cli/interrupt.h"
#include "cli/table.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>

#define TABLE_MAX  (1 << 20)
#define OUTPUT_MAX (64 << 10)

const struct flag fetch_flags[FETCH_FLAGS] = {
    {"archive", 0, FLAG_VALUE, "FILE", "write the models into a file for offline machines, install nothing",
     NULL},
    {"from", 0, FLAG_VALUE, "FILE", "install the models of such a file", NULL},
    {"update", 0, FLAG_SWITCH, NULL, "make those that are installed again, as after an upgrade", NULL},
};

struct fetch {
    struct cli *cli;
    const char *scripts; /* the folder of fetch.py and table.json */
    yyjson_val *rows;
    char folder[PATH_MAX]; /* where models are made; empty: not yet there */
};

/* --- what there is --- */

static bool find_scripts(struct fetch *f, struct err *err)
{
    struct arena *a = &f->cli->arena;
    f->scripts = getenv("INGOT_MODELS");
    if (f->scripts && *f->scripts)
        return access(arena_printf(a, "%s/table.json", f->scripts), R_OK) == 0 ||
               err_set(err, ERR_MALFORMED, NULL, "INGOT_MODELS: %s has no table.json", f->scripts);
    const char *table = proc_beside(a, "../share/ingot/models/table.json", "../../scripts/models/table.json");
    if (!table)
        return err_set(
            err, ERR_NOT_FOUND, NULL,
            "the scripts of built-in models are not beside this program: install it with `make install`");
    f->scripts = arena_strz(a, (struct str){table, (size_t)(strrchr(table, '/') - table)});
    return true;
}

static bool read_table(struct fetch *f, struct err *err)
{
    struct arena *a = &f->cli->arena;
    struct str text;
    if (!find_scripts(f, err) ||
        !fs_read(a, arena_printf(a, "%s/table.json", f->scripts), TABLE_MAX, &text, err))
        return false;
    yyjson_val *v = json_parse(a, text, err);
    f->rows = yyjson_obj_get(v, "models");
    return v != NULL;
}

static yyjson_val *row_of(const struct fetch *f, const char *name)
{
    size_t i, n;
    yyjson_val *row;
    yyjson_arr_foreach(f->rows, i, n, row)
    {
        if (str_is(json_str(yyjson_obj_get(row, "name")), name))
            return row;
    }
    return NULL;
}

const char *const *fetch_names(struct cli *cli)
{
    struct fetch f = {.cli = cli};
    struct err ignored = {0};
    yyjson_val *row;
    size_t i, n;
    bool ok = read_table(&f, &ignored);
    const size_t models = ok ? yyjson_arr_size(f.rows) : 0;
    const char *const *tools = fetch_part_tools(cli);
    for (n = 0; tools[n];)
        n++;
    const char **names = arena_array(&cli->arena, const char *, models + n + 1);
    memcpy(names + models, tools, n * sizeof *tools);
    if (ok)
        yyjson_arr_foreach(f.rows, i, n, row) names[i] =
            arena_strz(&cli->arena, json_str(yyjson_obj_get(row, "name")));
    return names;
}

static int64_t download_of(yyjson_val *row)
{
    size_t i, n;
    yyjson_val *package;
    int64_t bytes = 0;
    yyjson_arr_foreach(yyjson_obj_get(row, "packages"), i, n, package)
    {
        bytes += yyjson_get_sint(yyjson_obj_get(package, "bytes"));
    }
    return bytes;
}

static struct str megabytes(struct arena *a, int64_t bytes)
{
    return str_of(arena_printf(a, "%.1f MB", (double)bytes / 1e6));
}

static void print_json(yyjson_val *row, const char *installed, struct json_out *o)
{
    static const char *const shown[] = {"name", "task", "title", "licence"};
    json_object(o);
    for (size_t i = 0; i < countof(shown); i++)
        json_kstr(o, shown[i], json_str(yyjson_obj_get(row, shown[i])));
    json_kint(o, "bytes", yyjson_get_sint(yyjson_obj_get(row, "bytes")));
    json_kint(o, "download_bytes", download_of(row));
    json_key(o, "installed");
    installed ? json_z(o, installed) : json_null(o);
    json_object_end(o);
}

static void list_parts(struct fetch *f, const struct fetch_part *parts, size_t n, struct table *t,
                       struct json_out *o)
{
    struct arena *a = &f->cli->arena;
    for (const struct fetch_part *p = parts; p < parts + n; p++) {
        const bool ready = strcmp(p->state, "ready") == 0;
        json_object(o);
        json_kz(o, "name", p->name);
        json_kz(o, "task", p->what);
        json_kstr(o, "title", p->title);
        json_kint(o, "bytes", p->installed_bytes);
        json_kint(o, "download_bytes", p->bytes);
        json_key(o, "minutes");
        json_real(o, p->minutes);
        json_key(o, "installed");
        ready ? json_z(o, p->state) : json_null(o);
        json_object_end(o);
        table_cell(t, str_of(p->name));
        table_cell(t, str_of(p->what));
        table_cell(t, p->installed_bytes ? megabytes(a, p->installed_bytes) : STR("-"));
        table_cell(t, megabytes(a, p->bytes));
        table_cell(t, str_of(arena_printf(a, "%.0f", p->minutes)));
        table_cell(t, STR("-"));
        table_cell(t, str_of(ready ? "yes" : "-"));
        if (f->cli->output == OUTPUT_NAME)
            puts(p->name);
    }
}

/* Whoever is signed in nowhere sees the list of models all the same. */
static bool list(struct fetch *f, struct err *err)
{
    static const char *titles[] = {"name", "task", "size", "download", "minutes", "licence", "installed"};
    struct arena *a = &f->cli->arena;
    struct table t;
    size_t i, n, n_parts;
    yyjson_val *row;
    auto_buf struct buf text = {0};
    struct json_out o;
    struct fetch_part *parts;
    if (!fetch_parts(f->cli, &parts, &n_parts, err))
        return false;
    table_begin(&t, a, titles, countof(titles), 0);
    json_begin(&o, &text);
    json_array(&o);
    yyjson_arr_foreach(f->rows, i, n, row)
    {
        const char *installed = NULL, *name = arena_strz(a, json_str(yyjson_obj_get(row, "name")));
        if (f->cli->config.url && !builtin_version(f->cli, name, &installed, err))
            return false;
        print_json(row, installed, &o);
        table_cell(&t, str_of(name));
        table_cell(&t, json_str(yyjson_obj_get(row, "task")));
        table_cell(&t, megabytes(a, yyjson_get_sint(yyjson_obj_get(row, "bytes"))));
        table_cell(&t, megabytes(a, download_of(row)));
        table_cell(&t, STR("1"));
        table_cell(&t, json_str(yyjson_obj_get(row, "licence")));
        table_cell(&t, str_of(installed ? installed : "-"));
        if (f->cli->output == OUTPUT_NAME)
            puts(name);
    }
    list_parts(f, parts, n_parts, &t, &o);
    json_array_end(&o);
    if (f->cli->output == OUTPUT_JSON)
        printf(STR_FMT "\n", STR_ARG(buf_view(&text)));
    else if (f->cli->output == OUTPUT_TABLE)
        table_print(&t, stdout, true, f->cli->colour);
    return true;
}

/* --- making and installing --- */

/* The script's last line says why it failed. */
static bool run_script(struct fetch *f, const char *const *words, struct err *err)
{
    int status;
    struct str out;
    size_t n = 0;
    while (words[n])
        n++;
    const char **argv = arena_array(&f->cli->arena, const char *, n + 3);
    argv[0] = "/usr/bin/python3";
    argv[1] = arena_printf(&f->cli->arena, "%s/fetch.py", f->scripts);
    memcpy(argv + 2, words, n * sizeof *words);
    if (!proc_run(&f->cli->arena, (char *const *)argv, OUTPUT_MAX, &status, &out, err))
        return false;
    if (status == 0)
        return true;
    while (out.n && out.p[out.n - 1] == '\n')
        out.n--;
    for (const char *line; out.n && (line = memchr(out.p, '\n', out.n));)
        out = (struct str){line + 1, out.n - (size_t)(line + 1 - out.p)};
    return err_set(err, ERR_INTERNAL, NULL, "fetch.py ended with %d: " STR_FMT, status, STR_ARG(out));
}

static bool make_folder(struct fetch *f, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(f->folder, sizeof f->folder, "%s/ingot-models-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(f->folder))
        return true;
    int error = errno;
    f->folder[0] = 0;
    return err_errno(err, error, "cannot make a folder for the models");
}

static bool install(struct fetch *f, const char *name, struct err *err)
{
    struct builtin b = {.name = name, .folder = arena_printf(&f->cli->arena, "%s/%s", f->folder, name)};
    yyjson_val *row = row_of(f, name);
    if (!row)
        return err_set(err, ERR_INVALID, NULL, "the archive holds \"%s\", which this program does not know",
                       name);
    b.title = json_str(yyjson_obj_get(row, "title"));
    b.scenario = json_str(yyjson_obj_get(row, "scenario"));
    if (!builtin_install(f->cli, &b, err))
        return false;
    if (f->cli->output == OUTPUT_NAME)
        printf("%s:%s\n", name, b.version);
    else
        printf("%s:%s: %s\n", name, b.version, b.was_there ? "was there already" : "installed");
    return true;
}

static bool install_all(struct fetch *f, struct err *err)
{
    struct dirent **list;
    int n = scandir(f->folder, &list, NULL, alphasort);
    bool ok = n >= 0 || err_errno(err, errno, "cannot list %s", f->folder);
    for (int i = 0; i < n; i++) {
        ok = ok && (list[i]->d_name[0] == '.' || install(f, list[i]->d_name, err));
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return ok;
}

static bool make_and_install(struct fetch *f, const char *name, struct err *err)
{
    yyjson_val *row = row_of(f, name);
    fprintf(stderr, "%s: fetching " STR_FMT " of packages, converting\n", name,
            STR_ARG(megabytes(&f->cli->arena, download_of(row))));
    return run_script(f, (const char *const[]){"make", f->folder, name, NULL}, err) && install(f, name, err);
}

/* Newer scripts may make something else of what is installed. */
static bool update(struct fetch *f, struct err *err)
{
    size_t i, n;
    yyjson_val *row;
    yyjson_arr_foreach(f->rows, i, n, row)
    {
        const char *installed = NULL,
                   *name = arena_strz(&f->cli->arena, json_str(yyjson_obj_get(row, "name")));
        if (!builtin_version(f->cli, name, &installed, err) || (installed && !make_and_install(f, name, err)))
            return false;
    }
    return true;
}

static bool write_archive(struct fetch *f, const char *file, const struct args *args, struct err *err)
{
    const char **words = arena_array(&f->cli->arena, const char *, args->word_count + 3);
    words[0] = "archive";
    words[1] = file;
    memcpy(words + 2, args->words, args->word_count * sizeof *words);
    if (!run_script(f, words, err))
        return false;
    fprintf(stderr, "%s: install it with `ingot fetch --from`\n", file);
    return true;
}

static bool check_words(const struct args *args, struct err *err)
{
    bool others = args_has(args, "from") || args_has(args, "update");
    bool archive = args_has(args, "archive");
    size_t tools = 0;
    if (args_has(args, "from") + args_has(args, "update") + archive > 1 || (others && args->word_count) ||
        (archive && !args->word_count))
        return err_set(err, ERR_MALFORMED, NULL,
                       "usage: ingot fetch [NAME... [--archive FILE] | --from FILE | --update]");
    for (size_t i = 0; i < args->word_count; i++)
        tools += fetch_part_is_tool(args->words[i]);
    return !archive || tools == 0 || tools == args->word_count ||
           err_set(err, ERR_MALFORMED, NULL, "--archive: models and tools go into files of their own");
}

/* A part of the server's by that name, or NULL for a model. */
static bool find_part(struct fetch *f, const char *name, const struct fetch_part **ret, struct err *err)
{
    struct fetch_part *parts;
    size_t n;
    *ret = NULL;
    if (row_of(f, name))
        return true;
    if (!fetch_parts(f->cli, &parts, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(parts[i].name, name) == 0)
            *ret = &parts[i];
    return *ret || err_set(err, ERR_NOT_FOUND, NULL,
                           "there is nothing named \"%s\"; `ingot fetch` lists what there is", name);
}

static bool bring(struct fetch *f, const char *name, struct err *err)
{
    const struct fetch_part *part;
    return find_part(f, name, &part, err) &&
           (part ? fetch_part_bring(f->cli, part, err) : make_and_install(f, name, err));
}

/* All names are known before anything is fetched. */
static bool check_names(struct fetch *f, const struct args *args, struct err *err)
{
    const struct fetch_part *ignored;
    for (size_t i = 0; i < args->word_count; i++)
        if (!find_part(f, args->words[i], &ignored, err))
            return false;
    return true;
}

static bool archive_names(struct fetch *f, const char *file, const struct args *args, struct err *err)
{
    if (fetch_part_is_tool(args->words[0]))
        return fetch_part_archive(f->cli, file, args, err);
    for (size_t i = 0; i < args->word_count; i++)
        if (!row_of(f, args->words[i]))
            return err_set(
                err, ERR_NOT_FOUND, NULL,
                "there is no built-in model or tool \"%s\"; runtimes are written by `ingot runtime export`",
                args->words[i]);
    return write_archive(f, file, args, err);
}

static bool run(struct fetch *f, const char *from, const struct args *args, struct err *err)
{
    bool ok = true;
    if (from && fetch_part_is_archive(from))
        return fetch_part_import(f->cli, from, err);
    if (!make_folder(f, err))
        return false;
    if (from)
        ok =
            run_script(f, (const char *const[]){"unpack", from, f->folder, NULL}, err) && install_all(f, err);
    else if (args_has(args, "update"))
        ok = update(f, err);
    for (size_t i = 0; ok && i < args->word_count; i++)
        ok = bring(f, args->words[i], err);
    struct err ignored = {0};
    fs_remove_tree(AT_FDCWD, f->folder, &ignored);
    return ok;
}

bool fetch_run(struct cli *cli, const struct args *args, struct err *err)
{
    struct fetch f = {.cli = cli};
    const char *from = args_value(args, "from"), *archive = args_value(args, "archive");
    if (!read_table(&f, err) || !check_words(args, err))
        return false;
    if (archive)
        return archive_names(&f, archive, args, err);
    if (!args->word_count && !from && !args_has(args, "update"))
        return list(&f, err);
    if (!builtin_may(cli, err) || !check_names(&f, args, err))
        return false;
    interrupt_watch();
    bool ok = run(&f, from, args, err);
    if (!ok && interrupt_wanted())
        interrupt_end();
    return ok;
}
