#include "cli/args.h"

#include "cli/suggest.h"

const struct flag *args_flag(const struct flag *flags, size_t n, const char *name, size_t name_length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(flags[i].name) == name_length && memcmp(flags[i].name, name, name_length) == 0)
            return &flags[i];
    return NULL;
}

static const struct flag *by_letter(const struct flag *flags, size_t n, char letter)
{
    for (size_t i = 0; i < n; i++)
        if (flags[i].letter && flags[i].letter == letter)
            return &flags[i];
    return NULL;
}

static bool unknown(struct arena *a, const struct flag *flags, size_t n, const char *word, size_t length,
                    struct err *err)
{
    struct suggest s = suggest_for((struct str){word + 2, length - 2});
    for (size_t i = 0; i < n; i++)
        suggest_try(&s, flags[i].name);
    const char *near = suggest_best(&s);
    const char *hint = near ? arena_printf(a, "; did you mean --%s?", near) : "";
    return err_set(err, ERR_MALFORMED, NULL, "unknown flag %.*s%s", (int)length, word, hint);
}

/* Finds the flag of argv[i]; *value is what follows '=' or the letter, NULL when nothing does. */
static const struct flag *match(struct arena *a, const struct flag *flags, size_t n, const char *word,
                                const char **value, struct err *err)
{
    if (word[1] != '-') {
        const struct flag *f = by_letter(flags, n, word[1]);
        if (!f) {
            err_set(err, ERR_MALFORMED, NULL, "unknown flag -%c", word[1]);
            return NULL;
        }
        *value = word[2] ? word + 2 + (word[2] == '=') : NULL;
        return f;
    }
    size_t length = strcspn(word, "=");
    const struct flag *f = args_flag(flags, n, word + 2, length - 2);
    if (!f)
        unknown(a, flags, n, word, length, err);
    *value = word[length] ? word + length + 1 : NULL;
    return f;
}

/* How many flags the words can hold at most: letters of switches may stand together (-it). */
static size_t most_flags(int argc, char **argv)
{
    size_t n = 1;
    for (int i = 0; i < argc; i++)
        n += argv[i][0] == '-' ? strlen(argv[i]) : 0;
    return n;
}

/* The flag of argv[*i] and its value, which may be the next word. */
static bool take_flag(struct arena *a, const struct flag *flags, size_t flag_count, int argc, char **argv,
                      int *i, struct args *out, struct err *err)
{
    for (const char *word = argv[*i]; word;) {
        const char *value = NULL;
        const struct flag *f = match(a, flags, flag_count, word, &value, err);
        if (!f)
            return false;
        bool letters = word[1] != '-' && f->takes == FLAG_SWITCH && value && word[2] != '=';
        if (f->takes == FLAG_SWITCH && value && !letters)
            return err_set(err, ERR_MALFORMED, NULL, "--%s takes no value", f->name);
        if (f->takes == FLAG_VALUE && !value) {
            if (*i + 1 == argc)
                return err_set(err, ERR_MALFORMED, NULL, "--%s needs a value: --%s %s", f->name, f->name,
                               f->value ? f->value : "VALUE");
            value = argv[++*i];
        }
        out->given[out->given_count++] = (struct arg){f, letters ? NULL : value};
        word = letters ? arena_printf(a, "-%s", value) : NULL;
    }
    return true;
}

bool args_parse(struct arena *a, const struct flag *flags, size_t flag_count, int argc, char **argv,
                struct args *ret, struct err *err)
{
    struct args out = {.given = arena_array(a, struct arg, most_flags(argc, argv)),
                       .words = arena_array(a, const char *, (size_t)argc + 1)};
    bool ended = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (ended || word[0] != '-' || word[1] == 0)
            out.words[out.word_count++] = word;
        else if (strcmp(word, "--") == 0)
            ended = true;
        else if (!take_flag(a, flags, flag_count, argc, argv, &i, &out, err))
            return false;
    }
    *ret = out;
    return true;
}

static const struct arg *last(const struct args *args, const char *flag)
{
    for (size_t i = args->given_count; i-- > 0;)
        if (strcmp(args->given[i].flag->name, flag) == 0)
            return &args->given[i];
    return NULL;
}

const char *args_value(const struct args *args, const char *flag)
{
    const struct arg *g = last(args, flag);
    return g ? g->value : NULL;
}

bool args_has(const struct args *args, const char *flag)
{
    return last(args, flag) != NULL;
}

bool args_count(const struct args *args, size_t min, size_t max, const char *usage, struct err *err)
{
    if (args->word_count < min)
        return err_set(err, ERR_MALFORMED, NULL, "something is missing; usage: %s", usage);
    if (args->word_count > max)
        return err_set(err, ERR_MALFORMED, NULL, "\"%s\" is one word too many; usage: %s", args->words[max],
                       usage);
    return true;
}

bool args_int(const struct args *args, const char *flag, int64_t min, int64_t max, int64_t *ret,
              struct err *err)
{
    const char *text = args_value(args, flag);
    if (!text)
        return true;
    int64_t v;
    if (!str_to_i64(str_of(text), &v) || v < min || v > max)
        return err_set(err, ERR_MALFORMED, NULL, "--%s: \"%s\" is not a number from %lld to %lld", flag, text,
                       (long long)min, (long long)max);
    *ret = v;
    return true;
}
