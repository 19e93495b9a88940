#include "cli/help.h"

#include "cli/scope.h"

#define COLUMN 26

static void line(FILE *out, const char *left, const char *right)
{
    int pad = COLUMN - (int)strlen(left);
    fprintf(out, "  %s%*s%s\n", left, pad > 1 ? pad : 2, "", right);
}

static void print_flags(struct arena *a, FILE *out, const struct flag *flags, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct flag *f = &flags[i];
        const char *letter = f->letter ? arena_printf(a, "-%c, ", f->letter) : "";
        const char *value =
            f->takes == FLAG_VALUE ? arena_printf(a, " %s", f->value ? f->value : "VALUE") : "";
        line(out, arena_printf(a, "%s--%s%s", letter, f->name, value), f->help);
    }
}

static void print_indented(FILE *out, const char *lines)
{
    struct str rest = str_of(lines);
    while (rest.n) {
        struct str l = str_cut(rest, '\n', &rest);
        fprintf(out, "  " STR_FMT "\n", STR_ARG(l));
    }
}

static const char *kind_title(struct arena *a, const struct kind *k)
{
    const char *title = k->titles.en ? k->titles.en : k->plural;
    const struct kind *parent = k->scope == SCOPE_CHILD ? kind_by_name(str_of(k->parent)) : NULL;
    return parent ? arena_printf(a, "%s (--%s NAME)", title, scope_kind_word(a, parent)) : title;
}

void help_all(struct arena *a, FILE *out)
{
    fputs("Ingot: from raw data to a running service.\n\nUsage:\n"
          "  ingot COMMAND [words] [flags]\n"
          "  ingot KIND VERB [name] [flags]\n\nCommands:\n",
          out);
    for (const struct command *c = commands; c->name; c++)
        if (!c->hidden)
            line(out, c->name, c->summary);
    fputs("\nKinds (verbs: list, get, create, update, delete and actions):\n", out);
    for (size_t i = 0; i < kind_count; i++)
        line(out, scope_kind_word(a, kinds[i]), kind_title(a, kinds[i]));
    fputs("\nExamples:\n"
          "  ingot login http://127.0.0.1:8080 --name admin\n"
          "  ingot project list\n"
          "  ingot help user create\n",
          out);
}

static void example(struct arena *a, FILE *out, const struct kind *k)
{
    const char *word = scope_kind_word(a, k);
    const char *where = "";
    if (k->scope == SCOPE_CHILD)
        where = arena_printf(a, " --%s NAME", k->parent);
    else if (k->scope == SCOPE_PROJECT)
        where = " --project NAME";
    if (k->verbs & VERB_LIST)
        fprintf(out, "  ingot %s list%s -o json\n", word, where);
    if (k->verbs & VERB_CREATE)
        fprintf(out, "  ingot %s create%s NAME\n", word, where);
    if (k->verbs & VERB_UPDATE)
        fprintf(out, "  ingot %s update%s NAME --set FIELD=VALUE\n", word, where);
}

void help_kind(struct arena *a, FILE *out, const struct kind *k)
{
    const char *word = scope_kind_word(a, k);
    fprintf(out, "%s", k->titles.en ? k->titles.en : k->plural);
    if (k->help.en && *k->help.en)
        fprintf(out, ": %s", k->help.en);
    fprintf(out, "\n\nUsage:\n  ingot %s VERB [name] [flags]\n\nVerbs:\n", word);
    for (const char **v = verb_names(a, k); *v; v++) {
        struct verb_use use;
        if (verb_find(a, k, str_of(*v), &use))
            line(out, *v, use.summary);
    }
    fputs("\nExamples:\n", out);
    example(a, out, k);
    fprintf(out, "\n`ingot help %s VERB` lists the flags.\n", word);
}

void help_verb(struct arena *a, FILE *out, const struct verb_use *use)
{
    fprintf(out, "%s\n\nUsage:\n  %s\n\nFlags:\n", use->summary, use->usage);
    print_flags(a, out, use->flags, use->flag_count);
}

void help_command(struct arena *a, FILE *out, const struct command *c)
{
    fprintf(out, "%s\n\nUsage:\n  ingot %s%s%s [flags]\n", c->summary, c->name, c->usage ? " " : "",
            c->usage ? c->usage : "");
    if (!c->program) {
        fputs("\nFlags:\n", out);
        print_flags(a, out, c->flags, c->flag_count);
        print_flags(a, out, cli_flags, cli_flag_count);
    }
    if (c->examples) {
        fputs("\nExamples:\n", out);
        print_indented(out, c->examples);
    }
}

bool help_run(struct cli *cli, const struct args *args, struct err *err)
{
    struct arena *a = &cli->arena;
    if (!args_count(args, 0, 2, "ingot help [COMMAND | KIND [VERB]]", err))
        return false;
    if (args->word_count == 0) {
        help_all(a, stdout);
        return true;
    }
    for (const struct command *c = commands; c->name; c++) {
        if (strcmp(c->name, args->words[0]) == 0) {
            help_command(a, stdout, c);
            return true;
        }
    }
    const struct kind *k = scope_kind(str_of(args->words[0]));
    struct verb_use use;
    if (!k)
        return err_set(err, ERR_MALFORMED, NULL, "there is no command or kind \"%s\"", args->words[0]);
    if (args->word_count == 1)
        help_kind(a, stdout, k);
    else if (verb_find(a, k, str_of(args->words[1]), &use))
        help_verb(a, stdout, &use);
    else
        return err_set(err, ERR_MALFORMED, NULL, "%s has no verb \"%s\"", args->words[0], args->words[1]);
    return true;
}
