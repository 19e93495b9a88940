#include "core/training/metric.h"

#include "base/json.h"

#include <ctype.h>
#include <math.h>

static const char *const step_names[] = {"epoch", "iter", "iteration", "global_step", "step"};
static const char *const known[] = {
    "acc",       "accuracy", "auc",    "bleu", "cer",  "err",   "error", "f1",   "iou",        "loss",
    "lr",        "mae",      "map",    "miou", "mse",  "ppl",   "psnr",  "r2",   "perplexity", "rate",
    "precision", "recall",   "reward", "rmse", "ssim", "score", "top1",  "top5", "wer"};

static bool one_of(struct str s, const char *const *list, size_t n, size_t *ret)
{
    for (size_t i = 0; i < n; i++)
        if (str_ieq(s, str_of(list[i]))) {
            *ret = i;
            return true;
        }
    return false;
}

/* Some part of it (val_loss, train/acc) is a word that people log. */
static bool is_known(struct str name)
{
    size_t from = 0, ignored;
    for (size_t i = 0; i <= name.n; i++) {
        if (i < name.n && !strchr("_./-@", name.p[i]))
            continue;
        if (one_of((struct str){name.p + from, i - from}, known, countof(known), &ignored))
            return true;
        from = i + 1;
    }
    return false;
}

/* --- what one line says --- */

struct found {
    struct metric_line *line;
    size_t step_rank; /* of step_names, +1 */
};

static void take(struct found *f, struct str name, double value)
{
    size_t rank;
    f->line->not_finite += !isfinite(value);
    f->line->long_names += name.n > METRIC_NAME;
    if (!isfinite(value) || name.n == 0 || name.n > METRIC_NAME)
        return;
    value += 0.0; /* minus zero is zero: JSON has only one */
    if (one_of(name, step_names, countof(step_names), &rank)) {
        if (rank + 1 <= f->step_rank)
            return;
        f->step_rank = rank + 1;
        f->line->has_step = true;
        f->line->step = value;
        return;
    }
    if (f->line->n < METRIC_LINE)
        f->line->value[f->line->n++] = (struct metric_value){name, value};
}

/* As Python prints them, and as ingot.log writes them in quotes. */
static bool not_finite(struct str s)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    size_t ignored;
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = (struct str){s.p + 1, s.n - 1};
    return s.n && one_of(s, words, countof(words), &ignored);
}

static bool parse_json(struct arena *a, struct str line, struct found *f)
{
    struct err ignored = {0};
    yyjson_val *doc = json_parse(a, line, &ignored), *key, *v;
    size_t i, max;
    if (!yyjson_is_obj(doc))
        return false;
    yyjson_obj_foreach(doc, i, max, key, v)
    {
        struct str name = json_str(key);
        if (memchr(name.p, 0, name.n))
            continue;
        if (yyjson_is_num(v))
            take(f, name, yyjson_get_num(v));
        else if (not_finite(json_str(v)))
            take(f, name, NAN);
    }
    return true;
}

/* --- plain text --- */

struct scan {
    struct str s;
    size_t at;
};

static int peek(const struct scan *c, size_t more)
{
    return c->at + more < c->s.n ? (unsigned char)c->s.p[c->at + more] : -1;
}

static bool is_word(int ch)
{
    return ch >= 0 && (isalnum(ch) || ch == '_');
}

/* [A-Za-z_][A-Za-z0-9_./@-]*, not ending with a mark. */
static struct str scan_name(struct scan *c)
{
    size_t from = c->at;
    while (is_word(peek(c, 0)) || (peek(c, 0) > 0 && strchr("./@-", peek(c, 0))))
        c->at++;
    size_t end = c->at;
    while (end > from && !is_word((unsigned char)c->s.p[end - 1]))
        end--;
    c->at = end;
    return (struct str){c->s.p + from, end - from};
}

static size_t digits(const struct scan *c, size_t more)
{
    size_t n = 0;
    while (peek(c, more + n) >= '0' && peek(c, more + n) <= '9')
        n++;
    return n;
}

/* A decimal number of at most 40 characters; its end is left in c. */
static bool scan_number(struct scan *c, double *ret)
{
    char text[41];
    size_t n = peek(c, 0) == '-' || peek(c, 0) == '+' ? 1 : 0, whole = digits(c, n), part = 0;
    n += whole;
    if (peek(c, n) == '.') {
        part = digits(c, n + 1);
        n += part + (whole || part ? 1 : 0);
    }
    if (whole + part == 0)
        return false;
    if (peek(c, n) == 'e' || peek(c, n) == 'E') {
        size_t sign = peek(c, n + 1) == '-' || peek(c, n + 1) == '+' ? 1 : 0, power = digits(c, n + 1 + sign);
        n += power ? 1 + sign + power : 0;
    }
    if (n >= sizeof text)
        return false;
    memcpy(text, c->s.p + c->at, n);
    text[n] = 0;
    c->at += n;
    *ret = strtod(text, NULL);
    return true;
}

/* nan, -inf: its end is left in c. */
static bool scan_not_finite(struct scan *c)
{
    size_t n = peek(c, 0) == '-' || peek(c, 0) == '+' ? 1 : 0;
    while (peek(c, n) > 0 && isalpha(peek(c, n)))
        n++;
    if (!not_finite((struct str){c->s.p + c->at, n}))
        return false;
    c->at += n;
    return true;
}

static void skip_blanks(struct scan *c)
{
    while (peek(c, 0) == ' ' || peek(c, 0) == '\t')
        c->at++;
}

/* After a name: an optional quote (a Python dictionary), blanks and = or : or only blanks. */
static bool scan_sign(struct scan *c, bool *ret_sign)
{
    if (peek(c, 0) == '\'' || peek(c, 0) == '"')
        c->at++;
    size_t from = c->at;
    skip_blanks(c);
    bool blank = c->at > from;
    *ret_sign = peek(c, 0) == '=' || peek(c, 0) == ':';
    if (*ret_sign)
        c->at++;
    skip_blanks(c);
    return *ret_sign || blank;
}

static bool ends_value(const struct scan *c, bool step)
{
    int ch = peek(c, 0);
    return ch < 0 || strchr(step ? " \t,;)]}|%/:" : " \t,;)]}|%", ch) != NULL;
}

/* The name at c, and its number if one follows. weak: values that only count beside a step. */
static void scan_pair(struct scan *c, struct found *f, bool weak[METRIC_LINE])
{
    struct str name = scan_name(c);
    struct scan after = *c;
    bool sign;
    double value;
    size_t rank, before = f->line->n;
    bool step = one_of(name, step_names, countof(step_names), &rank);
    if (!scan_sign(&after, &sign))
        return;
    if (step && peek(&after, 0) == '[')
        after.at++;
    if (sign && scan_not_finite(&after) && ends_value(&after, step)) {
        c->at = after.at;
        if (!step && is_known(name))
            f->line->not_finite++;
        return;
    }
    if (!scan_number(&after, &value) || !ends_value(&after, step))
        return;
    c->at = after.at;
    if (!step && !sign && !is_known(name))
        return;
    take(f, name, value);
    if (f->line->n > before)
        weak[before] = !sign || !is_known(name);
}

static void drop_weak(struct metric_line *line, const bool *weak)
{
    size_t n = 0;
    for (size_t i = 0; i < line->n; i++)
        if (!weak[i])
            line->value[n++] = line->value[i];
    line->n = n;
}

static void parse_text(struct str s, struct found *f)
{
    struct scan c = {s, 0};
    bool weak[METRIC_LINE] = {false};
    while (c.at < s.n) {
        int ch = peek(&c, 0);
        size_t before = c.at;
        if (isdigit(ch))
            scan_name(&c); /* 3ms, 0x1f: a word that starts with a digit is no name */
        else if (isalpha(ch) || ch == '_')
            scan_pair(&c, f, weak);
        c.at += c.at == before;
    }
    if (!f->line->has_step)
        drop_weak(f->line, weak);
}

bool metric_parse(struct arena *a, struct str line, struct metric_line *ret)
{
    struct str s = str_trim(line);
    struct found f = {.line = ret};
    *ret = (struct metric_line){0};
    bool json = s.n > 1 && s.p[0] == '{' && s.p[s.n - 1] == '}' && parse_json(a, s, &f);
    if (!json)
        parse_text(s, &f);
    return ret->has_step || ret->n > 0 || ret->not_finite > 0 || ret->long_names > 0;
}
