#include "core/sql.h"

#include "base/log.h"

void sql_init(struct sql *s)
{
    buf_init(&s->text);
    s->n = 0;
}

void sql_release(struct sql *s)
{
    buf_release(&s->text);
}

void sql_clear(struct sql *s)
{
    buf_clear(&s->text);
    s->n = 0;
}

void sql_add(struct sql *s, const char *text)
{
    buf_z(&s->text, text);
}

void sql_name(struct sql *s, const char *name)
{
    buf_char(&s->text, '"');
    buf_z(&s->text, name);
    buf_char(&s->text, '"');
}

void sql_arg(struct sql *s, struct db_value v)
{
    if (s->n == SQL_MAX_ARGS) {
        log_error("a statement has more than %d values", SQL_MAX_ARGS);
        abort();
    }
    buf_char(&s->text, '?');
    s->args[s->n++] = v;
}

void sql_and(struct sql *s)
{
    if (!str_ends(buf_view(&s->text), "WHERE "))
        buf_z(&s->text, " AND ");
}

void sql_append(struct sql *s, const struct sql *more)
{
    buf_str(&s->text, buf_view(&more->text));
    for (size_t i = 0; i < more->n; i++) {
        if (s->n == SQL_MAX_ARGS) {
            log_error("a statement has more than %d values", SQL_MAX_ARGS);
            abort();
        }
        s->args[s->n++] = more->args[i];
    }
}
