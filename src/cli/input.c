#include "cli/input.h"

#include "base/clock.h"
#include "base/fs.h"
#include "cli/prompt.h"
#include "cli/scope.h"
#include "cli/suggest.h"

#define INPUT_MAX (1 << 20)

char *input_flag_name(struct arena *a, const char *field)
{
    char *name = arena_strdup(a, field);
    for (char *p = name; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return name;
}

static const char *placeholder(const struct field *f)
{
    switch (f->type) {
    case FIELD_INT:
        return f->unit && strcmp(f->unit, "bytes") == 0 ? "SIZE" : "N";
    case FIELD_REAL:
        return "N";
    case FIELD_BOOL:
        return "true|false";
    case FIELD_TIME:
        return "TIME";
    case FIELD_REF:
        return "NAME";
    case FIELD_REFS:
    case FIELD_TEXTS:
        return "A,B";
    case FIELD_JSON:
        return "JSON|@FILE";
    default:
        return "TEXT";
    }
}

static const char *help_of(struct arena *a, const struct field *f, unsigned with)
{
    const char *title = f->title.en ? f->title.en : f->name;
    const char *required = (f->flags & FIELD_REQUIRED) && (with & FIELD_CREATE) ? " (required)" : "";
    const char *more = f->help.en && *f->help.en ? arena_printf(a, ": %s", f->help.en) : "";
    if (f->choices) {
        auto_buf struct buf b = {0};
        for (const struct choice *c = f->choices; c->value; c++)
            buf_printf(&b, "%s%s", b.n ? ", " : "", c->value);
        more = arena_printf(a, ": one of " STR_FMT, STR_ARG(buf_view(&b)));
    }
    return arena_printf(a, "%s%s%s", title, more, required);
}

struct flag *input_flags(struct arena *a, const struct field *fields, unsigned with, bool generic,
                         const struct flag *taken, size_t taken_count, size_t *ret_count)
{
    static const struct flag generic_flags[] = {
        {"set", 0, FLAG_VALUE, "FIELD=VALUE", "set any field; may be repeated", NULL},
        {"unset", 0, FLAG_VALUE, "FIELD", "make a field empty; may be repeated", NULL},
        {"file", 'f', FLAG_VALUE, "FILE", "a JSON object to start from; - is standard input", NULL},
    };
    size_t n = 0, count = 0;
    while (fields && fields[count].name)
        count++;
    struct flag *out = arena_array(a, struct flag, 2 * count + countof(generic_flags));
    for (size_t i = 0; i < count; i++) {
        const struct field *f = &fields[i];
        const char *name = input_flag_name(a, f->name);
        if ((with && !(f->flags & with)) || args_flag(taken, taken_count, name, strlen(name)))
            continue;
        enum flag_takes takes = f->type == FIELD_BOOL ? FLAG_OPTIONAL : FLAG_VALUE;
        out[n++] = (struct flag){name, 0, takes, placeholder(f), help_of(a, f, with), f};
        if (f->flags & FIELD_SECRET)
            out[n++] = (struct flag){arena_printf(a, "%s-stdin", name), 0, FLAG_SWITCH, NULL,
                                     "read it from standard input",     f};
    }
    for (size_t i = 0; generic && i < countof(generic_flags); i++)
        out[n++] = generic_flags[i];
    *ret_count = n;
    return out;
}

static bool read_json(struct cli *cli, const struct field *f, const char *text, struct str *ret,
                      struct err *err)
{
    struct str s = str_of(text);
    if (strcmp(text, "@-") == 0) {
        if (!prompt_read_all(&cli->arena, INPUT_MAX, &s, err))
            return false;
    } else if (text[0] == '@' && !fs_read(&cli->arena, text + 1, INPUT_MAX, &s, err)) {
        return false;
    }
    struct err parse = {0};
    if (!json_parse(&cli->arena, s, &parse))
        return err_set(err, ERR_MALFORMED, f->name, "%s: %s", f->name, parse.message);
    *ret = s;
    return true;
}

/* 16GiB, 500M, 1e9: a whole number of bytes. */
static bool parse_size(struct str s, int64_t *ret)
{
    static const char units[] = "KMGTP";
    double factor = 1;
    if (str_ends(s, "iB"))
        s.n -= 2;
    else if (s.n && s.p[s.n - 1] == 'B')
        s.n -= 1;
    const char *unit = s.n ? strchr(units, s.p[s.n - 1] & ~0x20) : NULL;
    if (unit && *unit) {
        for (const char *u = units; u <= unit; u++)
            factor *= 1024;
        s.n--;
    }
    double v;
    if (!str_to_real(str_trim(s), &v) || v * factor > 9e18 || v * factor < -9e18)
        return false;
    *ret = (int64_t)(v * factor);
    return true;
}

/* +30d, +12h, +90m from now. */
static bool relative_time(struct str s, char ret[CLOCK_TEXT_MAX])
{
    int64_t n, unit;
    if (s.n < 3 || s.p[0] != '+' || !str_to_i64((struct str){s.p + 1, s.n - 2}, &n) || n > 1000000)
        return false;
    switch (s.p[s.n - 1]) {
    case 'd':
        unit = 86400;
        break;
    case 'h':
        unit = 3600;
        break;
    case 'm':
        unit = 60;
        break;
    default:
        return false;
    }
    clock_format(clock_now() + n * unit * 1000000, ret);
    return true;
}

static bool write_number(struct json_out *o, const struct field *f, struct str s, struct err *err)
{
    int64_t i;
    double r;
    if (f->type == FIELD_REAL && str_to_real(s, &r)) {
        json_real(o, r);
        return true;
    }
    bool bytes = f->unit && strcmp(f->unit, "bytes") == 0;
    if (f->type == FIELD_INT && (str_to_i64(s, &i) || (bytes && parse_size(s, &i)))) {
        json_int(o, i);
        return true;
    }
    return err_set(err, ERR_INVALID, f->name, "%s: \"" STR_FMT "\" is no %s", f->name, STR_ARG(s),
                   bytes                  ? "size (500M, 16GiB)"
                   : f->type == FIELD_INT ? "whole number"
                                          : "number");
}

static bool write_bool(struct json_out *o, const struct field *f, const char *text, struct err *err)
{
    bool yes = !text || strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "no") != 0)
        return err_set(err, ERR_INVALID, f->name, "%s: \"%s\" is neither true nor false", f->name, text);
    json_bool(o, yes);
    return true;
}

static bool write_ref(struct cli *cli, struct json_out *o, const struct field *f, const struct args *args,
                      const char *text, struct err *err)
{
    const struct kind *target = kind_by_name(str_of(f->ref));
    int64_t id;
    if (!target)
        return err_set(err, ERR_INTERNAL, f->name, "this program knows no %s", f->ref);
    if (!scope_id(cli, target, args, text, &id, err))
        return false;
    json_int(o, id);
    return true;
}

static bool write_value(struct cli *cli, struct json_out *o, const struct field *f, const struct args *args,
                        const char *text, struct err *err)
{
    char when[CLOCK_TEXT_MAX];
    struct str raw;
    if (f->type == FIELD_BOOL)
        return write_bool(o, f, text, err);
    if (f->type == FIELD_INT || f->type == FIELD_REAL)
        return write_number(o, f, str_of(text), err);
    if (f->type == FIELD_REF)
        return write_ref(cli, o, f, args, text, err);
    if (f->type == FIELD_JSON) {
        if (!read_json(cli, f, text, &raw, err))
            return false;
        json_raw(o, raw);
        return true;
    }
    bool relative = f->type == FIELD_TIME && relative_time(str_of(text), when);
    json_z(o, relative ? when : text);
    return true;
}

/* Everything given for one field, in order. */
struct given {
    const char **values;
    size_t count;
    bool null;
};

static void write_texts(struct arena *a, struct json_out *o, const struct given *g)
{
    json_array(o);
    for (size_t i = 0; i < g->count; i++) {
        struct str rest = str_of(g->values[i]);
        struct err ignored;
        yyjson_val *list = str_starts(rest, "[") ? json_parse(a, rest, &ignored) : NULL;
        size_t j, n;
        yyjson_val *item;
        yyjson_arr_foreach(list, j, n, item) json_value(o, item);
        while (!list && rest.n) {
            struct str part = str_trim(str_cut(rest, ',', &rest));
            if (part.n)
                json_string(o, part);
        }
    }
    json_array_end(o);
}

/* Names or ids, by commas and by repeating the flag. */
static bool write_refs(struct cli *cli, struct json_out *o, const struct field *f, const struct args *args,
                       const struct given *g, struct err *err)
{
    json_array(o);
    for (size_t i = 0; i < g->count; i++)
        for (struct str rest = str_of(g->values[i]); rest.n;) {
            struct str part = str_trim(str_cut(rest, ',', &rest));
            if (part.n && !write_ref(cli, o, f, args, arena_strz(&cli->arena, part), err))
                return false;
        }
    json_array_end(o);
    return true;
}

static void add(struct arena *a, struct given *g, size_t most, const char *value)
{
    if (!g->values)
        g->values = arena_array(a, const char *, most);
    g->values[g->count++] = value;
    g->null = false;
}

static bool field_index(const struct input *in, struct str name, size_t *ret, struct err *err)
{
    struct suggest s = suggest_for(name);
    for (size_t i = 0; in->fields && in->fields[i].name; i++) {
        if (str_is(name, in->fields[i].name)) {
            *ret = i;
            return true;
        }
        suggest_try(&s, in->fields[i].name);
    }
    const char *near = suggest_best(&s);
    return err_set(err, ERR_MALFORMED, NULL, "there is no field \"" STR_FMT "\"%s%s%s", STR_ARG(name),
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static bool take(struct cli *cli, const struct input *in, const struct arg *g, struct given *all, size_t most,
                 struct err *err)
{
    struct arena *a = &cli->arena;
    size_t i;
    if (strcmp(g->flag->name, "set") == 0 && !g->flag->tag) {
        struct str value, name = str_cut(str_of(g->value), '=', &value);
        if (!value.p)
            return err_set(err, ERR_MALFORMED, NULL, "--set \"%s\": give it as FIELD=VALUE", g->value);
        if (!field_index(in, name, &i, err))
            return false;
        add(a, &all[i], most, value.p);
    } else if (strcmp(g->flag->name, "unset") == 0 && !g->flag->tag) {
        if (!field_index(in, str_of(g->value), &i, err))
            return false;
        all[i] = (struct given){.null = true};
    } else if (g->flag->tag) {
        const struct field *f = g->flag->tag;
        const char *value = g->value;
        if (g->flag->takes == FLAG_SWITCH && !prompt_read_line(a, &value, err))
            return false;
        if (!value)
            value = "true";
        add(a, &all[f - in->fields], most, value);
    }
    return true;
}

static bool write_field(struct cli *cli, struct json_out *o, const struct field *f, const struct given *g,
                        const struct args *args, struct err *err)
{
    json_key(o, f->name);
    if (g->null)
        json_null(o);
    else if (f->type == FIELD_TEXTS)
        write_texts(&cli->arena, o, g);
    else if (f->type == FIELD_REFS)
        return write_refs(cli, o, f, args, g, err);
    else
        return write_value(cli, o, f, args, g->values[g->count - 1], err);
    return true;
}

/* What --file holds and no flag overrides. */
static bool write_file(struct cli *cli, const struct input *in, const struct given *all,
                       const struct args *args, struct json_out *o, struct err *err)
{
    const char *path = args_value(args, "file");
    struct str text;
    if (!path)
        return true;
    bool ok = strcmp(path, "-") == 0 ? prompt_read_all(&cli->arena, INPUT_MAX, &text, err)
                                     : fs_read(&cli->arena, path, INPUT_MAX, &text, err);
    yyjson_val *v = ok ? json_parse(&cli->arena, text, err) : NULL;
    if (!v)
        return false;
    if (!yyjson_is_obj(v))
        return err_set(err, ERR_MALFORMED, NULL, "%s: a JSON object is expected", path);
    size_t i, n;
    yyjson_val *key, *value;
    yyjson_obj_foreach(v, i, n, key, value)
    {
        size_t at = 0;
        for (; in->fields && in->fields[at].name; at++)
            if (str_is(json_str(key), in->fields[at].name))
                break;
        bool overridden = in->fields && in->fields[at].name && (all[at].count || all[at].null);
        if (overridden || (in->project && str_is(json_str(key), "project")))
            continue;
        json_key(o, yyjson_get_str(key));
        json_value(o, value);
    }
    return true;
}

static bool ask_missing(struct cli *cli, const struct input *in, struct given *all, struct err *err)
{
    for (size_t i = 0; in->ask && in->fields && in->fields[i].name; i++) {
        const struct field *f = &in->fields[i];
        bool wanted = (f->flags & FIELD_SECRET) && (f->flags & FIELD_REQUIRED);
        if (!wanted || all[i].count || all[i].null || !prompt_possible())
            continue;
        const char *value;
        if (!prompt_secret(&cli->arena, f->title.en ? f->title.en : f->name, &value, err))
            return false;
        add(&cli->arena, &all[i], 1, value);
    }
    return true;
}

bool input_body(struct cli *cli, const struct input *in, const struct args *args, struct buf *ret,
                struct err *err)
{
    size_t count = 0, most = args->given_count + 1;
    while (in->fields && in->fields[count].name)
        count++;
    struct given *all = arena_array(&cli->arena, struct given, count + 1);
    if (in->first && count)
        add(&cli->arena, &all[0], most, in->first);
    for (size_t i = 0; i < args->given_count; i++)
        if (!take(cli, in, &args->given[i], all, most, err))
            return false;
    if (!args_value(args, "file") && !ask_missing(cli, in, all, err))
        return false;
    struct json_out o;
    json_begin(&o, ret);
    json_object(&o);
    if (in->project)
        json_kint(&o, "project", in->project);
    if (!write_file(cli, in, all, args, &o, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if ((all[i].count || all[i].null) && !write_field(cli, &o, &in->fields[i], &all[i], args, err))
            return false;
    json_object_end(&o);
    return true;
}
