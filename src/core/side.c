#include "core/side.h"

const struct kind_side *side_of(const struct kind *k, struct str text, struct str *ret_name)
{
    struct str name, prefix = str_cut(text, ':', &name);
    if (!k->sides || name.n == 0 || name.n > SIDE_NAME_MAX || !utf8_valid(name) || memchr(name.p, 0, name.n))
        return NULL;
    for (const struct kind_side *s = k->sides; s->prefix; s++)
        if (str_is(prefix, s->prefix)) {
            *ret_name = name;
            return s;
        }
    return NULL;
}

const char *side_column(const struct kind_side *s)
{
    return s->number ? s->number : s->text;
}

static void equals(struct sql *out, const char *column, struct db_value v)
{
    sql_add(out, " AND ");
    sql_name(out, column);
    sql_add(out, "=");
    sql_arg(out, v);
}

void side_from(const struct side *s, struct sql *out)
{
    buf_printf(&out->text, " FROM \"%s\" JOIN \"%s\" ON \"%s\"=\"id\"", s->kind->table, s->of->table,
               s->of->object);
    equals(out, s->of->name, db_text(s->name));
    if (s->parent)
        equals(out, s->of->parent, db_int(s->parent));
    else if (s->project)
        equals(out, s->of->project, db_int(s->project));
}

void side_select(const struct side *s, struct sql *out)
{
    buf_printf(&out->text, "(SELECT side.\"%s\" FROM \"%s\" AS side WHERE side.\"%s\"=\"%s\".\"id\"",
               side_column(s->of), s->of->table, s->of->object, s->kind->table);
    buf_printf(&out->text, " AND side.\"%s\"=", s->of->name);
    sql_arg(out, db_text(s->name));
    sql_add(out, ")");
}

void side_exists(const struct side *s, bool not_, const char *column, struct sql *out)
{
    sql_and(out);
    buf_printf(&out->text, "%sEXISTS (SELECT 1 FROM \"%s\" AS side WHERE side.\"%s\"=\"%s\".\"id\"",
               not_ ? "NOT " : "", s->of->table, s->of->object, s->kind->table);
    buf_printf(&out->text, " AND side.\"%s\"=", s->of->name);
    sql_arg(out, db_text(s->name));
    buf_printf(&out->text, " AND side.\"%s\"", column);
}

void side_without(const struct side *s, struct sql *out)
{
    side_exists(s, true, side_column(s->of), out);
    sql_add(out, " IS NOT NULL)");
}
