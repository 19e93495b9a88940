/* Parameters that stand in a command. Quotes are undone, nothing is run or expanded. */
#include "core/training/summary.h"

#include <math.h>
#include <stdlib.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One word as a shell splits them, without its quotes; STR_NULL at the end. A separator of commands is a word
 * of its own. */
static struct str next_word(struct arena *a, struct str command, size_t *at)
{
    while (*at < command.n && is_space(command.p[*at]))
        ++*at;
    if (*at == command.n)
        return STR_NULL;
    char *word = arena_alloc(a, command.n - *at + 1), quote = 0;
    size_t n = 0;
    if (strchr(";&|", command.p[*at])) {
        word[n++] = command.p[(*at)++];
        return (struct str){word, n};
    }
    for (; *at < command.n && (quote || (!is_space(command.p[*at]) && !strchr(";&|", command.p[*at])));
         ++*at) {
        char c = command.p[*at];
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else if (c == '\\' && quote != '\'' && *at + 1 < command.n)
            word[n++] = command.p[++*at];
        else
            word[n++] = c;
    }
    return (struct str){word, n};
}

static bool is_name(struct str s)
{
    bool ok = s.n > 0 && s.n <= METRIC_NAME && strchr("abcdefghijklmnopqrstuvwxyz", s.p[0] | 0x20);
    for (size_t i = 0; ok && i < s.n; i++)
        ok = s.p[i] == '_' || s.p[i] == '-' || s.p[i] == '.' || (s.p[i] >= '0' && s.p[i] <= '9') ||
             ((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z');
    return ok;
}

static bool number_of(struct arena *a, struct str s, double *ret)
{
    char *end;
    if (!s.n || !strchr("0123456789+-.", s.p[0]))
        return false;
    *ret = strtod(arena_strz(a, s), &end);
    return *end == '\0' && isfinite(*ret);
}

static void add(struct arena *a, struct str name, struct str value, struct parameters *all)
{
    size_t at = 0;
    double number = 0;
    while (at < all->n && !str_eq(all->list[at].name, name))
        at++;
    if (at == SUMMARY_PARAMETERS || value.n > SUMMARY_VALUE || (value.n && memchr(value.p, 0, value.n))) {
        all->left++;
        return;
    }
    bool is_number = number_of(a, value, &number);
    all->list[at] = (struct parameter){.name = name, .text = value, .is_number = is_number, .number = number};
    all->n += at == all->n;
}

static bool ends_option(struct arena *a, struct str word)
{
    double number;
    return !word.p || strchr(";&|", word.n ? word.p[0] : 'x') ||
           (word.n && word.p[0] == '-' && !number_of(a, word, &number));
}

void summary_command(struct arena *a, struct str command, struct parameters *all)
{
    size_t at = 0;
    struct str word = next_word(a, command, &at);
    while (word.p) {
        struct str here = word;
        word = next_word(a, command, &at);
        if (!str_starts(here, "--"))
            continue;
        struct str name = {here.p + 2, here.n - 2}, value = STR("true");
        const char *equals = name.n ? memchr(name.p, '=', name.n) : NULL;
        if (equals) {
            value = (struct str){equals + 1, name.n - (size_t)(equals + 1 - name.p)};
            name.n = (size_t)(equals - name.p);
        } else if (!ends_option(a, word)) {
            value = word;
            word = next_word(a, command, &at);
        }
        if (is_name(name))
            add(a, name, value, all);
    }
}
