#include "cli/complete.h"

#include "base/json.h"
#include "cli/dataset.h"
#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/verb.h"
#include "codec/codec.h"
#include "net/url.h"

#define COMPLETE_SECONDS 3

static const char bash_script[] =
    "_ingot() {\n"
    "    local IFS=$'\\n' words=() cur=${COMP_WORDS[COMP_CWORD]} cut= line i\n"
    "    # bash makes three words of --flag=value\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        if ((i > 1)) && [[ ${COMP_WORDS[i]} == = && ${words[-1]} == --* ]]; then\n"
    "            words[-1]+==\n"
    "        elif ((i > 1)) && [[ ${COMP_WORDS[i-1]} == = && ${words[-1]} == --*= ]]; then\n"
    "            words[-1]+=${COMP_WORDS[i]}\n"
    "        else\n"
    "            words+=(\"${COMP_WORDS[i]}\")\n"
    "        fi\n"
    "    done\n"
    "    [[ ${words[-1]} == \"$cur\" ]] || cut=${words[-1]%%=*}=\n"
    "    [[ $cur != = ]] || cur=\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        line=${line%%$'\\t'*}\n"
    "        COMPREPLY+=(\"$(printf '%q' \"${line#\"$cut\"}\")\")\n"
    "    done < <(ingot __complete \"${words[@]}\" 2>/dev/null)\n"
    "    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then\n"
    "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
    "    fi\n"
    "}\n"
    "complete -F _ingot ingot\n";

static const char zsh_script[] =
    "#compdef ingot\n"
    "_ingot() {\n"
    "    local -a found\n"
    "    local line value\n"
    "    while IFS= read -r line; do\n"
    "        value=${line%%$'\\t'*}\n"
    "        found+=(\"${value//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done < <(ingot __complete \"${(@)words[2,CURRENT-1]}\" \"$PREFIX\" 2>/dev/null)\n"
    "    if (( ${#found} )); then _describe ingot found; else _files; fi\n"
    "}\n"
    "compdef _ingot ingot\n";

static const char fish_script[] = "function __ingot_complete\n"
                                  "    set -l words (commandline -opc)\n"
                                  "    ingot __complete $words[2..-1] (commandline -ct) 2>/dev/null\n"
                                  "end\n"
                                  "complete -c ingot -f -a '(__ingot_complete)'\n";

bool complete_script(unused_ok struct cli *cli, const struct args *args, struct err *err)
{
    static const struct {
        const char *shell, *text;
    } scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
    if (!args_count(args, 1, 1, "ingot completion bash|zsh|fish", err))
        return false;
    for (size_t i = 0; i < countof(scripts); i++) {
        if (strcmp(args->words[0], scripts[i].shell) == 0) {
            fputs(scripts[i].text, stdout);
            return true;
        }
    }
    return err_set(err, ERR_MALFORMED, NULL, "\"%s\" is none of bash, zsh, fish", args->words[0]);
}

/* What is being completed. */
struct completion {
    struct cli *cli;
    const char *last; /* the word under the cursor */
};

static void offer(const struct completion *c, const char *prefix, struct str value, const char *about)
{
    size_t n = strlen(prefix);
    struct str last = str_of(c->last);
    if (last.n < n || memcmp(last.p, prefix, n) != 0)
        return;
    struct str typed = {last.p + n, last.n - n};
    if (value.n < typed.n || memcmp(value.p, typed.p, typed.n) != 0)
        return;
    if (memchr(value.p, '\n', value.n) || memchr(value.p, '\t', value.n))
        return;
    printf("%s" STR_FMT "\t%s\n", prefix, STR_ARG(value), about ? about : "");
}

static void offer_flags(const struct completion *c, const struct flag *flags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        offer(c, "", str_of(arena_printf(&c->cli->arena, "--%s", flags[i].name)), flags[i].help);
}

static void offer_objects(const struct completion *c, const char *prefix, const struct kind *k,
                          const struct args *args)
{
    struct cli *cli = c->cli;
    struct err ignored;
    const char *path;
    int64_t project = 0;
    if (!(k->verbs & VERB_LIST) || !scope_path(cli, k, args, &path, &ignored))
        return;
    if (k->scope == SCOPE_PROJECT && (!scope_project(cli, &project, &ignored) || !project))
        return;
    char *url = arena_printf(&cli->arena, "%s?limit=100", path);
    const char *typed = c->last + strlen(prefix);
    if (*typed && k->fields[0].flags & FIELD_FILTER) {
        auto_buf struct buf filter = {0};
        struct json_out o;
        buf_printf(&filter, "%s ~ ", k->fields[0].name);
        json_begin(&o, &filter);
        json_z(&o, typed);
        url = arena_printf(&cli->arena, "%s&filter=%s", url, url_encode(&cli->arena, buf_view(&filter)));
    }
    if (project)
        url = arena_printf(&cli->arena, "%s&project=%lld", url, (long long)project);
    yyjson_val *answer, *item;
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = url}, &answer, &ignored))
        return;
    size_t i, n;
    yyjson_arr_foreach(yyjson_obj_get(answer, "items"), i, n, item)
    {
        struct str name = scope_name(k, item);
        if (name.n)
            offer(c, prefix, name, k->title.en);
    }
}

static void offer_words(const struct completion *c, const char *prefix, const char *const *words)
{
    for (; *words; words++)
        offer(c, prefix, str_of(*words), NULL);
}

static void offer_sort(const struct completion *c, const char *prefix, const struct kind *k)
{
    for (const struct field *f = k->fields; f->name; f++) {
        if (!(f->flags & FIELD_SORT))
            continue;
        offer(c, prefix, str_of(f->name), f->title.en);
        offer(c, prefix, str_of(arena_printf(&c->cli->arena, "-%s", f->name)), f->title.en);
    }
}

/* The value of a flag: --flag VALUE or --flag=VALUE (then prefix is "--flag="). */
static void offer_value(const struct completion *c, const char *prefix, const struct verb_use *use,
                        const struct flag *flag, const struct args *args)
{
    static const char *const outputs[] = {"table", "json", "name", NULL};
    static const char *const booleans[] = {"true", "false", NULL};
    if (strcmp(flag->name, "output") == 0) {
        offer_words(c, prefix, outputs);
        return;
    }
    if (use && strcmp(flag->name, "sort") == 0) {
        offer_sort(c, prefix, use->kind);
        return;
    }
    const struct field *f = flag->tag;
    bool of_dataset = use && use->verb->run == dataset_import;
    if (of_dataset && strcmp(flag->name, "type") == 0)
        f = kind_field(kind_by_name(STR("dataset")), STR("annotation_type"), NULL);
    if (of_dataset && strcmp(flag->name, "format") == 0)
        for (size_t i = 0; i < codec_count; i++)
            offer(c, prefix, str_of(codec_table[i].name), NULL);
    const struct kind *k = f ? NULL : scope_kind(str_of(flag->name));
    if (f && (f->type == FIELD_REF || f->type == FIELD_REFS))
        k = kind_by_name(str_of(f->ref));
    if (k)
        offer_objects(c, prefix, k, args);
    if (f && f->type == FIELD_BOOL)
        offer_words(c, prefix, booleans);
    for (const struct choice *choice = f ? f->choices : NULL; choice && choice->value; choice++)
        offer(c, prefix, str_of(choice->value), choice->title.en);
}

/* One of both. */
struct asked {
    const struct verb_use *verb;
    const struct command *command;
};

/* The next word that is no flag. */
static void offer_word(const struct completion *c, const struct asked *asked, const struct args *args)
{
    const struct verb_use *use = asked->verb;
    const struct command *x = asked->command;
    if (use && use->takes_object && (args->word_count == 0 || use->verb->needs == VERB_DELETE))
        offer_objects(c, "", use->kind, args);
    if (x && x->words && args->word_count == 0)
        offer_words(c, "", x->words);
    if (x && x->offers)
        offer_words(c, "", x->offers(c->cli));
    bool runs = x && args->word_count && strcmp(args->words[0], "run") == 0; /* what follows is a command's */
    if (!x || runs || args->word_count != (x->words ? 1 : 0))
        return;
    for (size_t i = 0; i < countof(x->names) && x->names[i]; i++)
        offer_objects(c, "", kind_by_name(str_of(x->names[i])), args);
}

static void complete_use(const struct completion *c, const struct asked *asked, const struct flag *flags,
                         size_t n, int argc, char **argv)
{
    struct arena *a = &c->cli->arena;
    struct args args = {0};
    struct err ignored;
    /* A flag that waits for its value is completed by the value, and is no part of the rest. */
    const char *before = argc ? argv[argc - 1] : "";
    const struct flag *waiting = NULL;
    if (before[0] == '-' && before[1] == '-')
        waiting = args_flag(flags, n, before + 2, strlen(before + 2));
    else if (before[0] == '-' && before[1] && !before[2])
        for (size_t i = 0; i < n; i++)
            waiting = flags[i].letter == before[1] ? &flags[i] : waiting;
    if (waiting && waiting->takes != FLAG_VALUE)
        waiting = NULL;
    if (!args_parse(a, flags, n, waiting ? argc - 1 : argc, argv, &args, &ignored))
        return;
    if (!cli_take_globals(c->cli, &args, &ignored))
        return;
    const char *equals = strchr(c->last, '=');
    if (waiting) {
        offer_value(c, "", asked->verb, waiting, &args);
    } else if (c->last[0] == '-' && c->last[1] == '-' && equals) {
        const struct flag *f = args_flag(flags, n, c->last + 2, (size_t)(equals - c->last) - 2);
        if (f)
            offer_value(c, arena_printf(a, "%.*s", (int)(equals - c->last) + 1, c->last), asked->verb, f,
                        &args);
    } else if (c->last[0] == '-') {
        offer_flags(c, flags, n);
    } else {
        offer_word(c, asked, &args);
    }
}

static void complete_first(const struct completion *c)
{
    for (const struct command *x = commands; x->name; x++)
        if (!x->hidden)
            offer(c, "", str_of(x->name), x->summary);
    for (size_t i = 0; i < kind_count; i++)
        offer(c, "", str_of(scope_kind_word(&c->cli->arena, kinds[i])), kinds[i]->titles.en);
}

static void complete_kind(const struct completion *c, const struct kind *k, int argc, char **argv)
{
    struct arena *a = &c->cli->arena;
    struct verb_use use;
    if (argc == 0) {
        for (const char **v = verb_names(a, k); *v; v++)
            if (verb_find(a, k, str_of(*v), &use))
                offer(c, "", str_of(*v), use.summary);
        return;
    }
    if (verb_find(a, k, str_of(argv[0]), &use))
        complete_use(c, &(struct asked){.verb = &use}, use.flags, use.flag_count, argc - 1, argv + 1);
}

static void complete_command(const struct completion *c, const struct command *x, int argc, char **argv)
{
    struct arena *a = &c->cli->arena;
    const struct kind *k = argc == 1 ? scope_kind(str_of(argv[0])) : NULL;
    if (x->words && x->program && argc == 0)
        offer_words(c, "", x->words);
    if (strcmp(x->name, "help") == 0 && argc == 0)
        complete_first(c);
    else if (strcmp(x->name, "help") == 0 && k)
        complete_kind(c, k, 0, NULL);
    const struct flag *flags = cli_join_flags(a, x->flags, x->flag_count, cli_flags, cli_flag_count);
    if (!x->program)
        complete_use(c, &(struct asked){.command = x}, flags, x->flag_count + cli_flag_count, argc, argv);
}

int complete_program(int argc, char **argv)
{
    struct cli cli = {.timeout_s = COMPLETE_SECONDS, .quiet = true};
    struct completion c = {&cli, argc > 1 ? argv[argc - 1] : ""};
    arena_init(&cli.arena);
    /* argv[0] is __complete, the last word is being typed; words are what is between. */
    int words = argc - 2;
    if (words <= 0) {
        complete_first(&c);
    } else {
        const struct command *x = commands;
        while (x->name && strcmp(x->name, argv[1]) != 0)
            x++;
        const struct kind *k = scope_kind(str_of(argv[1]));
        if (x->name)
            complete_command(&c, x, words - 1, argv + 2);
        else if (k)
            complete_kind(&c, k, words - 1, argv + 2);
    }
    arena_release(&cli.arena);
    return 0;
}
