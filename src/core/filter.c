#include "core/filter.h"

#include "base/clock.h"
#include "base/json.h"
#include "core/side.h"

#include <inttypes.h>

struct parser {
    struct arena *arena;
    const struct kind *kind;
    struct str text;
    size_t at, values;
    struct sql *out;
    struct err *err;
};

static bool fail(struct parser *p, const char *what)
{
    return err_set(p->err, ERR_INVALID, "filter", "filter: at character %zu: %s",
                   utf8_count((struct str){p->text.p, p->at}) + 1, what);
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.n && strchr(" \t\r\n", p->text.p[p->at]) && p->text.p[p->at])
        p->at++;
}

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static struct str word(struct parser *p)
{
    skip_space(p);
    size_t from = p->at;
    while (p->at < p->text.n && word_char(p->text.p[p->at]))
        p->at++;
    return (struct str){p->text.p + from, p->at - from};
}

static bool take(struct parser *p, char c)
{
    skip_space(p);
    if (p->at >= p->text.n || p->text.p[p->at] != c)
        return false;
    p->at++;
    return true;
}

/* What every kind has besides its fields. */
static const struct field common[] = {
    {.name = "id", .type = FIELD_INT, .flags = FIELD_FILTER},
    {.name = "created_at", .type = FIELD_TIME, .flags = FIELD_FILTER},
    {.name = "updated_at", .type = FIELD_TIME, .flags = FIELD_FILTER},
    {.name = "created_by", .type = FIELD_REF, .flags = FIELD_FILTER, .ref = "user"},
};

static const struct field *find_field(struct parser *p, struct str name)
{
    for (size_t i = 0; i < countof(common); i++)
        if (str_is(name, common[i].name))
            return &common[i];
    if (p->kind->parent && str_is(name, p->kind->parent)) {
        struct field *parent = arena_new(p->arena, struct field);
        *parent = (struct field){
            .name = p->kind->parent, .type = FIELD_REF, .flags = FIELD_FILTER, .ref = p->kind->parent};
        return parent;
    }
    const struct field *f = kind_field(p->kind, name, NULL);
    return f && f->flags & FIELD_FILTER && !(f->flags & (FIELD_VIRTUAL | FIELD_SECRET | FIELD_INTERNAL))
               ? f
               : NULL;
}

enum comparison { OP_EQ, OP_NE, OP_LE, OP_LT, OP_GE, OP_GT, OP_PREFIX, OP_IN };

static const struct {
    const char *text;
    enum comparison op;
    const char *sql;
} operators[] = {
    {"!=", OP_NE, "<>"}, {"<=", OP_LE, "<="}, {">=", OP_GE, ">="},  {"=", OP_EQ, "="},
    {"<", OP_LT, "<"},   {">", OP_GT, ">"},   {"~", OP_PREFIX, ""},
};

static bool parse_operator(struct parser *p, enum comparison *ret_op, const char **ret_sql)
{
    skip_space(p);
    struct str rest = {p->text.p + p->at, p->text.n - p->at};
    for (size_t i = 0; i < countof(operators); i++) {
        if (!str_starts(rest, operators[i].text))
            continue;
        p->at += strlen(operators[i].text);
        *ret_op = operators[i].op;
        *ret_sql = operators[i].sql;
        return true;
    }
    size_t from = p->at;
    if (str_is(word(p), "in")) {
        *ret_op = OP_IN;
        *ret_sql = "IN";
        return true;
    }
    p->at = from;
    return fail(p, "an operator is missing (= != < <= > >= ~ in)");
}

/* The extent of the JSON scalar at the place of reading. */
static struct str scalar(struct parser *p)
{
    skip_space(p);
    const char *s = p->text.p;
    size_t from = p->at, i = p->at;
    if (i < p->text.n && s[i] == '"') {
        for (i++; i < p->text.n && s[i] != '"'; i++)
            if (s[i] == '\\')
                i++;
        i = i < p->text.n ? i + 1 : p->text.n;
    } else {
        while (i < p->text.n && (word_char(s[i]) || s[i] == '-' || s[i] == '+' || s[i] == '.'))
            i++;
    }
    p->at = i;
    return (struct str){s + from, i - from};
}

static bool typed(struct parser *p, const struct field *f, yyjson_val *v, struct db_value *ret)
{
    int64_t us;
    bool text = f->type == FIELD_TEXT || f->type == FIELD_CHOICE;
    if (text && yyjson_is_str(v)) {
        if (yyjson_get_len(v) != strlen(yyjson_get_str(v)))
            return fail(p, "a text contains NUL");
        *ret = db_text(json_str(v));
    } else if (f->type == FIELD_TIME && yyjson_is_str(v) && clock_parse(json_str(v), &us)) {
        *ret = db_int(us);
    } else if (f->type == FIELD_BOOL && yyjson_is_bool(v)) {
        *ret = db_int(yyjson_get_bool(v));
    } else if ((f->type == FIELD_INT || f->type == FIELD_REF || f->type == FIELD_REFS) && yyjson_is_int(v)) {
        if (yyjson_is_uint(v) && yyjson_get_uint(v) > INT64_MAX)
            return fail(p, "the number is too large");
        *ret = db_int(yyjson_get_sint(v));
    } else if (f->type == FIELD_REAL && yyjson_is_num(v)) {
        *ret = db_real(yyjson_get_num(v));
    } else {
        static const char *const wanted[] = {
            [FIELD_TEXT] = "a text in quotes",
            [FIELD_INT] = "a whole number",
            [FIELD_REAL] = "a number",
            [FIELD_BOOL] = "true or false",
            [FIELD_TIME] = "a time as \"2026-11-16T09:51:30Z\"",
            [FIELD_CHOICE] = "a text in quotes",
            [FIELD_REF] = "an id",
            [FIELD_REFS] = "an id",
            [FIELD_TEXTS] = "null",
            [FIELD_JSON] = "null",
        };
        return fail(p, arena_printf(p->arena, "%s is compared with %s", f->name, wanted[f->type]));
    }
    return true;
}

static bool parse_value(struct parser *p, const struct field *f, struct db_value *ret)
{
    struct err bad = {0};
    size_t from = p->at;
    struct str raw = scalar(p);
    if (raw.n == 0)
        return fail(p, "a value is missing (a JSON string, number, true, false or null)");
    yyjson_val *v = json_parse(p->arena, raw, &bad);
    if (!v) {
        p->at = from;
        return fail(p, "this is no JSON string, number, true, false or null");
    }
    if (++p->values > FILTER_MAX_VALUES)
        return fail(p, "there are more than 100 values");
    *ret = db_null();
    return yyjson_is_null(v) || typed(p, f, v, ret);
}

static bool parse_in(struct parser *p, const struct field *f)
{
    if (!take(p, '('))
        return fail(p, "`in` is followed by ( and values");
    sql_and(p->out);
    sql_name(p->out, f->name);
    sql_add(p->out, " IN (");
    do {
        struct db_value v;
        if (!parse_value(p, f, &v))
            return false;
        if (v.type == DB_NULL)
            return fail(p, "null cannot stand in a list; use = null");
        if (p->text.p && !str_ends(buf_view(&p->out->text), "("))
            sql_add(p->out, ",");
        sql_arg(p->out, v);
    } while (take(p, ','));
    if (!take(p, ')'))
        return fail(p, "a ) is missing");
    sql_add(p->out, ")");
    return true;
}

/* Whether a list has an id. It is stored as "[3,17]": between commas when its brackets are commas too. */
static void compare_list(struct parser *p, const struct field *f, bool not_, int64_t id)
{
    sql_and(p->out);
    buf_printf(&p->out->text, "replace(replace(coalesce(\"%s\",''),'[',','),']',',')%s LIKE ", f->name,
               not_ ? " NOT" : "");
    sql_arg(p->out, db_textz(arena_printf(p->arena, "%%,%" PRId64 ",%%", id)));
}

static void compare(struct parser *p, const struct field *f, enum comparison op, const char *sql,
                    struct db_value v)
{
    if (f->type == FIELD_REFS && v.type == DB_INT) {
        compare_list(p, f, op == OP_NE, v.i);
        return;
    }
    sql_and(p->out);
    if (v.type == DB_NULL) {
        sql_name(p->out, f->name);
        sql_add(p->out, op == OP_EQ ? " IS NULL" : " IS NOT NULL");
        return;
    }
    if (op == OP_NE)
        sql_add(p->out, "(");
    sql_name(p->out, f->name);
    sql_add(p->out, sql);
    sql_arg(p->out, v);
    if (op == OP_NE)
        buf_printf(&p->out->text, " OR \"%s\" IS NULL)", f->name);
}

/* --- values by name, in tables of their own --- */

/* metric:loss, or metric:"val/loss" with a name in quotes. */
static bool side_term(struct parser *p, struct str prefix, struct side *ret)
{
    struct err bad = {0};
    p->at++;
    bool quoted = p->at < p->text.n && p->text.p[p->at] == '"';
    struct str name = quoted ? json_str(json_parse(p->arena, scalar(p), &bad)) : word(p);
    const char *whole = arena_printf(p->arena, STR_FMT ":" STR_FMT, STR_ARG(prefix), STR_ARG(name));
    *ret = (struct side){.kind = p->kind};
    ret->of = side_of(p->kind, str_of(whole), &ret->name);
    return ret->of || fail(p, "this is no name of such a value (a word, or a text in quotes)");
}

/* The column that a value is compared with, and the value as that column has it. */
static const char *side_value(struct parser *p, const struct kind_side *s, struct db_value *ret)
{
    struct err bad = {0};
    struct str raw = scalar(p);
    yyjson_val *v = raw.n ? json_parse(p->arena, raw, &bad) : NULL;
    *ret = db_null();
    if (++p->values > FILTER_MAX_VALUES)
        return fail(p, "there are more than 100 values"), NULL;
    if (yyjson_is_null(v))
        return side_column(s);
    if (yyjson_is_num(v) && s->number) {
        *ret = db_real(yyjson_get_num(v));
        return s->number;
    }
    if (yyjson_is_str(v) && s->text && strlen(yyjson_get_str(v)) == yyjson_get_len(v))
        *ret = db_text(json_str(v));
    else if (yyjson_is_bool(v) && s->text)
        *ret = db_textz(yyjson_get_bool(v) ? "true" : "false");
    else
        return fail(p, s->text ? "a value is missing (a JSON string, number, true, false or null)"
                               : "this is compared with a number or null"),
               NULL;
    return s->text;
}

static bool parse_side(struct parser *p, struct str prefix)
{
    struct side s;
    enum comparison op;
    const char *sql;
    struct db_value v;
    if (!side_term(p, prefix, &s) || !parse_operator(p, &op, &sql))
        return false;
    if (op == OP_IN || op == OP_PREFIX)
        return fail(p, "such a value is compared by = != < <= > >=");
    const char *column = side_value(p, s.of, &v);
    if (!column)
        return false;
    if (v.type == DB_NULL && op != OP_EQ && op != OP_NE)
        return fail(p, "null can only be compared by = and !=");
    bool none = v.type == DB_NULL;
    side_exists(&s, none ? op == OP_EQ : op == OP_NE, column, p->out);
    if (none) {
        sql_add(p->out, " IS NOT NULL)");
        return true;
    }
    sql_add(p->out, op == OP_NE ? "=" : sql);
    sql_arg(p->out, v);
    sql_add(p->out, ")");
    return true;
}

static bool parse_term(struct parser *p)
{
    size_t from = p->at;
    struct str name = word(p);
    if (p->kind->sides && name.n && p->at < p->text.n && p->text.p[p->at] == ':')
        return parse_side(p, name);
    const struct field *f = find_field(p, name);
    if (!f) {
        p->at = from;
        return fail(p, name.n ? arena_printf(p->arena, "there is no field \"%.*s\" to filter by",
                                             (int)(name.n < 40 ? name.n : 40), name.p)
                              : "a field's name is missing");
    }
    enum comparison op;
    const char *sql;
    if (!parse_operator(p, &op, &sql))
        return false;
    if (f->type == FIELD_REFS && op != OP_EQ && op != OP_NE)
        return fail(p, "a list is compared by = and != with an id that it has");
    if (op == OP_IN)
        return parse_in(p, f);
    struct db_value v;
    if (!parse_value(p, f, &v))
        return false;
    if (v.type == DB_NULL && op != OP_EQ && op != OP_NE)
        return fail(p, "null can only be compared by = and !=");
    if (op == OP_PREFIX) {
        if (f->type != FIELD_TEXT && f->type != FIELD_CHOICE)
            return fail(p, "~ is for texts");
        filter_prefix(p->arena, f->name, v.s, FILTER_BOTH, p->out);
        return true;
    }
    compare(p, f, op, sql, v);
    return true;
}

bool filter_parse(struct arena *a, const struct kind *k, struct str text, struct sql *out, struct err *err)
{
    struct parser p = {.arena = a, .kind = k, .text = text, .out = out, .err = err};
    if (text.n > FILTER_MAX_BYTES)
        return err_set(err, ERR_INVALID, "filter", "filter: has %zu bytes; it may have %d", text.n,
                       FILTER_MAX_BYTES);
    if (!utf8_valid(text))
        return err_set(err, ERR_INVALID, "filter", "filter: is not valid UTF-8");
    for (size_t terms = 1;; terms++) {
        if (terms > FILTER_MAX_TERMS)
            return fail(&p, "there are more than 20 conditions");
        if (!parse_term(&p))
            return false;
        skip_space(&p);
        if (p.at == text.n)
            return true;
        size_t from = p.at;
        if (!str_is(word(&p), "and")) {
            p.at = from;
            return fail(&p, "conditions are joined by `and`");
        }
    }
}

static size_t utf8_put(uint32_t c, char *ret)
{
    if (c < 0x80) {
        ret[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        ret[0] = (char)(0xc0 | c >> 6);
        ret[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        ret[0] = (char)(0xe0 | c >> 12);
        ret[1] = (char)(0x80 | (c >> 6 & 63));
        ret[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    ret[0] = (char)(0xf0 | c >> 18);
    ret[1] = (char)(0x80 | (c >> 12 & 63));
    ret[2] = (char)(0x80 | (c >> 6 & 63));
    ret[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* The least text above all that begin with prefix; STR_NULL when there is none. */
static struct str prefix_end(struct arena *a, struct str prefix)
{
    while (prefix.n) {
        size_t last = prefix.n - 1;
        while (last > 0 && ((unsigned char)prefix.p[last] & 0xc0) == 0x80)
            last--;
        size_t i = last;
        uint32_t c = utf8_next(prefix, &i);
        if (c < 0x10ffff) {
            char *end = arena_alloc(a, last + 5);
            memcpy(end, prefix.p, last);
            size_t n = utf8_put(c == 0xd7ff ? 0xe000 : c + 1, end + last);
            return (struct str){end, last + n};
        }
        prefix.n = last;
    }
    return STR_NULL;
}

void filter_prefix(struct arena *a, const char *column, struct str prefix, enum filter_ends ends,
                   struct sql *out)
{
    struct str end = ends & FILTER_HIGH ? prefix_end(a, prefix) : STR_NULL;
    if (ends & FILTER_LOW) {
        sql_and(out);
        sql_name(out, column);
        sql_add(out, ">=");
        sql_arg(out, db_text(prefix));
    }
    if (end.p) {
        sql_and(out);
        sql_name(out, column);
        sql_add(out, "<");
        sql_arg(out, db_text(end));
    }
}
