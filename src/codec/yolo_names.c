#include "codec/yolo.h"

#include "base/json.h"

enum { NAMES_MAX = 100000 };

static void set_name(struct arena *a, struct yolo_names *n, size_t number, struct str name)
{
    if (number >= NAMES_MAX)
        return;
    if (number >= n->count) {
        n->names = arena_grow(a, n->names, n->count * sizeof *n->names, (number + 1) * sizeof *n->names);
        memset(n->names + n->count, 0, (number + 1 - n->count) * sizeof *n->names);
        n->count = number + 1;
    }
    n->names[number] = arena_str(a, name);
}

void yolo_names_lines(struct arena *a, struct str text, struct yolo_names *ret)
{
    for (struct str rest = text; rest.p;) {
        struct str line = str_trim(str_cut(rest, '\n', &rest));
        if (rest.p || line.n) /* an empty line is a class without a name: those after it keep their numbers */
            set_name(a, ret, ret->count, utf8_valid(line) ? line : STR(""));
    }
}

/* Past the quoted text that s starts with; s.n when it does not end. */
static size_t quoted_end(struct str s)
{
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[i] == '\\' && s.p[0] == '"')
            i++;
        else if (s.p[i] == s.p[0] && (s.p[0] == '"' || i + 1 >= s.n || s.p[i + 1] != '\''))
            return i + 1;
        else if (s.p[i] == s.p[0])
            i++; /* '' */
    }
    return s.n;
}

/* 'it''s' */
static struct str single_quoted(struct arena *a, struct str inner)
{
    char *p = arena_alloc(a, inner.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < inner.n; i++) {
        p[n++] = inner.p[i];
        if (inner.p[i] == '\'')
            i++;
    }
    return (struct str){p, n};
}

/* A scalar: in quotes (double ones as in JSON), or plain up to a comment. */
static struct str scalar(struct arena *a, struct str s)
{
    s = str_trim(s);
    if (s.n && (s.p[0] == '\'' || s.p[0] == '"')) {
        size_t end = quoted_end(s);
        struct str inner = {s.p + 1, end > 1 ? end - 2 : 0};
        struct err ignored;
        if (s.p[0] == '\'')
            return single_quoted(a, inner);
        struct str text = json_str(json_parse(a, (struct str){s.p, end}, &ignored));
        return text.p ? text : inner;
    }
    ptrdiff_t comment = str_find(s, STR(" #"));
    return str_trim(comment >= 0 ? (struct str){s.p, (size_t)comment} : s);
}

/* "3: cat": number and name; false when it is not that. */
static bool pair(struct arena *a, struct str s, uint64_t *ret_number, struct str *ret_name)
{
    struct str rest, key = scalar(a, str_cut(s, ':', &rest));
    if (!rest.p || !str_to_u64(key, ret_number))
        return false;
    *ret_name = scalar(a, rest);
    return true;
}

static void add_entry(struct arena *a, struct yolo_names *n, struct str entry, bool mapping)
{
    uint64_t number;
    struct str name;
    if (mapping && pair(a, entry, &number, &name))
        set_name(a, n, number, name);
    else if (!mapping && scalar(a, entry).n)
        set_name(a, n, n->count, scalar(a, entry));
}

/* [a, b] or {0: a, 1: b}, possibly over several lines; returns what follows. */
static struct str flow(struct arena *a, struct yolo_names *n, struct str s)
{
    bool mapping = s.p[0] == '{';
    size_t from = 1, i = 1;
    char close = mapping ? '}' : ']';
    for (; i < s.n; i++) {
        char c = s.p[i];
        if (c == '\'' || c == '"') {
            i += quoted_end((struct str){s.p + i, s.n - i}) - 1;
        } else if (c == ',' || c == close) {
            add_entry(a, n, (struct str){s.p + from, i - from}, mapping);
            from = i + 1;
            if (c == close)
                break;
        }
    }
    return i < s.n ? (struct str){s.p + i + 1, s.n - i - 1} : STR_NULL;
}

/* Indented lines "- a" or "0: a" after `names:`. */
static struct str block(struct arena *a, struct yolo_names *n, struct str s)
{
    while (s.p) {
        struct str rest, line = str_cut(s, '\n', &rest), body = str_trim(line);
        bool dash = str_starts(body, "- ") || str_is(body, "-");
        bool indented = line.n && (line.p[0] == ' ' || line.p[0] == '\t');
        if (body.n && body.p[0] != '#') {
            if (!dash && !indented)
                return s;
            add_entry(a, n, dash ? (struct str){body.p + 1, body.n - 1} : body, !dash);
        }
        s = rest;
    }
    return s;
}

static void shape_of(struct yolo_names *n, struct str value)
{
    struct str list = str_trim(value), rest;
    uint64_t points, dims;
    if (list.n < 2 || list.p[0] != '[')
        return;
    struct str inner = str_cut((struct str){list.p + 1, list.n - 1}, ']', &rest);
    struct str first = str_cut(inner, ',', &rest);
    if (str_to_u64(str_trim(first), &points) && str_to_u64(str_trim(rest), &dims) && points > 0 &&
        points <= 10000 && (dims == 2 || dims == 3)) {
        n->points = (uint32_t)points;
        n->dims = (uint32_t)dims;
    }
}

void yolo_names_yaml(struct arena *a, struct str text, struct yolo_names *ret)
{
    if (!utf8_valid(text))
        return;
    for (struct str s = text; s.p;) {
        struct str rest, line = str_cut(s, '\n', &rest), value;
        struct str key = str_cut(line, ':', &value);
        if (str_is(str_trim(key), "names") && key.n && key.p[0] != ' ' && value.p) {
            struct str v = str_trim(value);
            bool here = v.n && (v.p[0] == '[' || v.p[0] == '{');
            if (here)
                rest = flow(a, ret, (struct str){v.p, (size_t)(s.p + s.n - v.p)});
            else
                rest = block(a, ret, rest);
        } else if (str_is(str_trim(key), "kpt_shape") && value.p) {
            shape_of(ret, value);
        }
        s = rest;
    }
}
