#include "cli/cli.h"

#include "cli/env.h"
#include "cli/help.h"
#include "cli/scope.h"
#include "cli/suggest.h"
#include "cli/verb.h"

#include <locale.h>
#include <signal.h>

const struct flag cli_flags[] = {
    {"output", 'o', FLAG_VALUE, "table|json|name", "how the answer is shown", NULL},
    {"url", 0, FLAG_VALUE, "URL", "another server than the one of `ingot login`", NULL},
    {"no-color", 0, FLAG_SWITCH, NULL, "no colours on a terminal", NULL},
    {"help", 'h', FLAG_SWITCH, NULL, "explain this command", NULL},
};
const size_t cli_flag_count = countof(cli_flags);

const struct flag *cli_join_flags(struct arena *a, const struct flag *x, size_t nx, const struct flag *y,
                                  size_t ny)
{
    struct flag *out = arena_array(a, struct flag, nx + ny + 1);
    if (nx)
        memcpy(out, x, nx * sizeof *x);
    if (ny)
        memcpy(out + nx, y, ny * sizeof *y);
    return out;
}

static bool take_timeout(struct cli *cli, struct err *err)
{
    const char *text = getenv("INGOT_TIMEOUT");
    uint64_t seconds;
    if (!text || !*text)
        return true;
    if (!str_to_u64(str_of(text), &seconds) || seconds < 1 || seconds > 86400)
        return err_set(err, ERR_MALFORMED, NULL,
                       "INGOT_TIMEOUT: \"%s\" is not a number of seconds from 1 to 86400", text);
    cli->timeout_s = (unsigned)seconds;
    return true;
}

bool cli_take_globals(struct cli *cli, const struct args *args, struct err *err)
{
    static const char *const outputs[] = {
        [OUTPUT_TABLE] = "table", [OUTPUT_JSON] = "json", [OUTPUT_NAME] = "name"};
    const char *o = args_value(args, "output");
    for (size_t i = 0; o && i < countof(outputs); i++) {
        if (strcmp(o, outputs[i]) == 0) {
            cli->output = (enum output)i;
            o = NULL;
        }
    }
    if (o)
        return err_set(err, ERR_MALFORMED, NULL, "--output: \"%s\" is none of table, json, name", o);
    if (!take_timeout(cli, err))
        return false;
    cli->colour = isatty(STDOUT_FILENO) && !args_has(args, "no-color") && !getenv("NO_COLOR");
    cli->project = args_value(args, "project");
    return config_effective(&cli->arena, args_value(args, "url"), &cli->config, err);
}

static void print_references(yyjson_val *problem)
{
    size_t i, n;
    yyjson_val *ref;
    yyjson_arr_foreach(yyjson_obj_get(problem, "references"), i, n, ref)
    {
        struct str kind = json_str(yyjson_obj_get(ref, "kind"));
        fprintf(stderr, "  used by %lld " STR_FMT ":",
                (long long)yyjson_get_sint(yyjson_obj_get(ref, "count")), STR_ARG(kind));
        size_t j, m;
        yyjson_val *example;
        yyjson_arr_foreach(yyjson_obj_get(ref, "examples"), j, m, example)
        {
            struct str name = json_str(yyjson_obj_get(example, "name"));
            fprintf(stderr, "%s %lld " STR_FMT, j ? "," : "",
                    (long long)yyjson_get_sint(yyjson_obj_get(example, "id")), STR_ARG(name));
        }
        fputc('\n', stderr);
    }
}

static int fail(const struct cli *cli, const struct err *err)
{
    bool red = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    fprintf(stderr, "%sError:%s ", red ? "\033[31m" : "", red ? "\033[0m" : "");
    bool named = err->field[0] && strncmp(err->message, err->field, strlen(err->field)) != 0;
    fprintf(stderr, "%s%s%s\n", named ? err->field : "", named ? ": " : "", err->message);
    if (cli->problem)
        print_references(cli->problem);
    if (err->code == ERR_UNAUTHORIZED && cli->config.url)
        fprintf(stderr, "Sign in with: ingot login %s\n", cli->config.url);
    return err_info(err->code)->exit_code;
}

static bool unknown_command(struct cli *cli, const char *word, struct err *err)
{
    struct suggest s = suggest_for(str_of(word));
    for (const struct command *c = commands; c->name; c++)
        if (!c->hidden)
            suggest_try(&s, c->name);
    for (size_t i = 0; i < kind_count; i++)
        suggest_try(&s, scope_kind_word(&cli->arena, kinds[i]));
    const char *near = suggest_best(&s);
    return err_set(err, ERR_MALFORMED, NULL, "there is no command \"%s\"%s%s%s", word,
                   near ? "; did you mean \"ingot " : "; `ingot help` lists them", near ? near : "",
                   near ? "\"?" : "");
}

static bool unknown_verb(struct cli *cli, const struct kind *k, const char *word, struct err *err)
{
    struct suggest s = suggest_for(str_of(word));
    auto_buf struct buf all = {0};
    for (const char **v = verb_names(&cli->arena, k); *v; v++) {
        suggest_try(&s, *v);
        buf_printf(&all, "%s%s", all.n ? ", " : "", *v);
    }
    const char *near = suggest_best(&s);
    const char *kind = scope_kind_word(&cli->arena, k);
    if (near)
        return err_set(err, ERR_MALFORMED, NULL, "%s has no verb \"%s\"; did you mean \"ingot %s %s\"?", kind,
                       word, kind, near);
    return err_set(err, ERR_MALFORMED, NULL, "%s has no verb \"%s\", only " STR_FMT, kind, word,
                   STR_ARG(buf_view(&all)));
}

static bool run_kind(struct cli *cli, const struct kind *k, int argc, char **argv, struct err *err)
{
    if (argc < 1 || strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        help_kind(&cli->arena, stdout, k);
        return argc >= 1 || err_set(err, ERR_MALFORMED, NULL, "a verb is missing after %s",
                                    scope_kind_word(&cli->arena, k));
    }
    struct verb_use use;
    if (!verb_find(&cli->arena, k, str_of(argv[0]), &use))
        return unknown_verb(cli, k, argv[0], err);
    struct args args;
    if (!args_parse(&cli->arena, use.flags, use.flag_count, argc - 1, argv + 1, &args, err))
        return false;
    if (args_has(&args, "help")) {
        help_verb(&cli->arena, stdout, &use);
        return true;
    }
    return cli_take_globals(cli, &args, err) && verb_run(cli, &use, &args, err);
}

static bool run_command(struct cli *cli, const struct command *c, int argc, char **argv, struct err *err)
{
    const struct flag *flags =
        cli_join_flags(&cli->arena, c->flags, c->flag_count, cli_flags, cli_flag_count);
    struct args args;
    if (!args_parse(&cli->arena, flags, c->flag_count + cli_flag_count, argc, argv, &args, err))
        return false;
    if (args_has(&args, "help")) {
        help_command(&cli->arena, stdout, c);
        return true;
    }
    return cli_take_globals(cli, &args, err) && c->run(cli, &args, err);
}

/* Flags before the command go behind it: `ingot -o json user list`. */
static char **rotate(struct arena *a, int argc, char **argv)
{
    int lead = 1;
    while (lead < argc && argv[lead][0] == '-' && argv[lead][1]) {
        bool takes = strcmp(argv[lead], "-o") == 0 || strcmp(argv[lead], "--output") == 0 ||
                     strcmp(argv[lead], "--url") == 0 || strcmp(argv[lead], "--project") == 0 ||
                     strcmp(argv[lead], "-p") == 0;
        lead += takes ? 2 : 1;
    }
    char **out = arena_array(a, char *, (size_t)argc + 1);
    int n = 0;
    out[n++] = argv[0];
    if (lead >= argc) {
        memcpy(out, argv, (size_t)argc * sizeof *argv);
        return out;
    }
    /* Behind the verb of a kind, before its words, so that "--" among them stays the end of the flags. */
    int words = scope_kind(str_of(argv[lead])) && lead + 1 < argc ? 2 : 1;
    for (int i = lead; i < lead + words; i++)
        out[n++] = argv[i];
    for (int i = 1; i < lead; i++)
        out[n++] = argv[i];
    for (int i = lead + words; i < argc; i++)
        out[n++] = argv[i];
    return out;
}

static bool dispatch(struct cli *cli, int argc, char **argv, int *ret_exit, struct err *err)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        help_all(&cli->arena, argc > 1 ? stdout : stderr);
        *ret_exit = argc > 1 ? 0 : 2;
        return true;
    }
    if (strcmp(word, "--version") == 0)
        word = "version";
    for (const struct command *c = commands; c->name; c++) {
        if (strcmp(c->name, word) != 0)
            continue;
        if (!c->program)
            return run_command(cli, c, argc - 2, argv + 2, err);
        *ret_exit = c->program(argc - 1, argv + 1);
        return true;
    }
    const struct kind *k = scope_kind(str_of(word));
    return k ? run_kind(cli, k, argc - 2, argv + 2, err) : unknown_command(cli, word, err);
}

int cli_main(int argc, char **argv)
{
    struct cli cli = {0};
    struct err err = {0};
    int code = 0;
    if (env_answer_ssh())
        return 0;
    setlocale(LC_CTYPE, "C.UTF-8");     /* libarchive gives and takes names in the locale's encoding */
    setenv("TZ", ":/etc/localtime", 0); /* without it the C library looks for that file at each use */
    arena_init(&cli.arena);
    signal(SIGPIPE, SIG_IGN);
    if (!dispatch(&cli, argc, rotate(&cli.arena, argc, argv), &code, &err))
        code = fail(&cli, &err);
    else if (code == 0)
        code = cli.exit_code;
    /* A full disk or a closed pipe behind standard output is a failure too. */
    if (fflush(stdout) != 0 && code == 0)
        code = err_info(ERR_INTERNAL)->exit_code;
    arena_release(&cli.arena);
    return code;
}
