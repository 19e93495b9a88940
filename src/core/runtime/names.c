/* Names of packages become arguments of apt and pip: only what these can be is taken. */
#include "base/json.h"
#include "base/messages_runtime.h"
#include "core/runtime/runtime_own.h"

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

/* Debian Policy 5.6.1: at least two of a-z 0-9 + - . and a letter or digit first. */
static bool good_debian(struct str s)
{
    if (s.n < 2 || !is_lower(s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_lower(s.p[i]) && !memchr("+-.", s.p[i], 3))
            return false;
    return true;
}

static bool good_version(struct str s)
{
    if (!s.n || !is_alnum(s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && !memchr(".+!_-", s.p[i], 5))
            return false;
    return true;
}

/* PEP 508: letters, digits and . _ - inside; with or without ==VERSION. */
static bool good_python(struct str s)
{
    ptrdiff_t at = str_find(s, STR("=="));
    struct str name = at < 0 ? s : (struct str){s.p, (size_t)at};
    if (at >= 0 && !good_version((struct str){s.p + at + 2, s.n - (size_t)at - 2}))
        return false;
    if (!name.n || !is_alnum(name.p[0]) || !is_alnum(name.p[name.n - 1]))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!is_alnum(name.p[i]) && !memchr("._-", name.p[i], 3))
            return false;
    return true;
}

/* The first that is none, or STR_NULL. */
static struct str first_bad(struct arena *a, const struct db_value *value, bool (*good)(struct str s))
{
    struct err ignored = {0};
    size_t i, n;
    yyjson_val *item, *list = value->type == DB_TEXT ? json_parse(a, value->s, &ignored) : NULL;
    yyjson_arr_foreach(list, i, n, item) if (!good(json_str(item))) return json_str(item);
    return STR_NULL;
}

static struct str shortened(struct str s)
{
    return (struct str){s.p, s.n > 80 ? 80 : s.n};
}

bool runtime_check_debian(struct arena *a, const struct field *f, const struct db_value *value,
                          struct err *err)
{
    struct str bad = first_bad(a, value, good_debian);
    return !bad.p || err_message(err, ERR_INVALID, f->name, MESSAGE_RUNTIME_DEBIAN_NAME, f->name,
                                 STR_ARG(shortened(bad)));
}

bool runtime_check_python(struct arena *a, const struct field *f, const struct db_value *value,
                          struct err *err)
{
    struct str bad = first_bad(a, value, good_python);
    return !bad.p || err_message(err, ERR_INVALID, f->name, MESSAGE_RUNTIME_PYTHON_NAME, f->name,
                                 STR_ARG(shortened(bad)));
}
