/* A JSON body against the table of fields of every kind and action: whatever comes, it is refused with a
 * field and a sentence, or every value keeps its limits. */
#include "core/kinds.h"
#include "core/validate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(const struct field *f, const struct db_value *v)
{
    if (v->type != DB_TEXT)
        return;
    if (!utf8_valid(v->s))
        abort();
    if (f->type == FIELD_TEXT && (int64_t)utf8_count(v->s) > validate_max(f))
        abort();
    if (f->type == FIELD_JSON && (int64_t)v->s.n > validate_max(f))
        abort();
}

static void check_body(const struct field *fields, yyjson_val *body, enum validate_mode mode)
{
    static const char *const also[] = {"project", NULL};
    auto_arena struct arena a = {0};
    struct err err = {0};
    size_t n = 0;
    while (fields && fields[n].name)
        n++;
    struct db_value *values = arena_array(&a, struct db_value, n + 1);
    bool *given = arena_array(&a, bool, n + 1);
    if (!validate_body(&a, fields, body, mode, also, values, given, &err)) {
        if ((err.code != ERR_INVALID && err.code != ERR_MALFORMED) || !err.message[0])
            abort();
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (given[i])
            check_value(&fields[i], &values[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    yyjson_val *body = json_parse(&a, (struct str){(const char *)data, size}, &err);
    for (size_t i = 0; body && i < kind_count; i++) {
        check_body(kinds[i]->fields, body, VALIDATE_CREATE);
        check_body(kinds[i]->fields, body, VALIDATE_UPDATE);
        for (const struct action *act = kinds[i]->actions; act && act->name; act++)
            check_body(act->fields, body, VALIDATE_INPUT);
    }
    return 0;
}
