#include "core/data/label_attribute.h"

#include "base/messages.h"

enum {
    NAME_MAX_CHARACTERS = 100,
    CHOICE_MAX_CHARACTERS = 200,
    CHOICES_MAX = 100,
    TEXT_MAX_CHARACTERS = 1000
};

struct check {
    struct arena *arena;
    const char **where, **why;
    size_t index;
};

static bool bad(struct check *c, const char *member, const char *why)
{
    *c->where = arena_printf(c->arena, "[%zu]%s%s", c->index, *member ? "." : "", member);
    *c->why = why;
    return false;
}

static bool is_text(yyjson_val *v, size_t max)
{
    struct str s = json_str(v);
    if (!s.n || utf8_count(s) > max)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127)
            return false;
    return true;
}

static bool absent(yyjson_val *v)
{
    return !v || yyjson_is_null(v);
}

static bool known_member(struct str key)
{
    static const char *const known[] = {"name", "title", "type", "choices", "required", "default"};
    for (size_t i = 0; i < countof(known); i++)
        if (str_is(key, known[i]))
            return true;
    return false;
}

static bool check_members(struct check *c, yyjson_val *v)
{
    size_t i, max;
    yyjson_val *key, *item;
    yyjson_obj_foreach(v, i, max, key, item)
    {
        if (!known_member(json_str(key)))
            return bad(c, arena_printf(c->arena, "%.40s", yyjson_get_str(key)),
                       "is none of name, title, type, choices, required, default");
    }
    yyjson_val *required = yyjson_obj_get(v, "required");
    return absent(required) || yyjson_is_bool(required) || bad(c, "required", "must be true or false");
}

static bool check_title(struct check *c, yyjson_val *v)
{
    yyjson_val *title = yyjson_obj_get(v, "title"), *key, *item;
    size_t i, max;
    if (absent(title))
        return true;
    if (!yyjson_is_obj(title))
        return bad(c, "title", "must be an object of en and zh");
    yyjson_obj_foreach(title, i, max, key, item)
    {
        struct str language = json_str(key);
        if ((!str_is(language, "en") && !str_is(language, "zh")) || !is_text(item, NAME_MAX_CHARACTERS))
            return bad(c, "title", "must be an object of en and zh, texts of 1 to 100 characters");
    }
    return true;
}

/* ---- what the types say of choices and default ---- */

static bool is_choice(yyjson_val *choices, yyjson_val *v)
{
    size_t i, max;
    yyjson_val *item;
    yyjson_arr_foreach(choices, i, max, item)
    {
        if (yyjson_is_str(v) && str_eq(json_str(item), json_str(v)))
            return true;
    }
    return false;
}

static bool is_any_text(yyjson_val *choices, yyjson_val *v)
{
    (void)choices;
    return yyjson_is_str(v) && utf8_count(json_str(v)) <= TEXT_MAX_CHARACTERS;
}

static bool is_number(yyjson_val *choices, yyjson_val *v)
{
    (void)choices;
    return yyjson_is_num(v);
}

static bool is_flag(yyjson_val *choices, yyjson_val *v)
{
    (void)choices;
    return yyjson_is_bool(v);
}

static const struct type {
    const char *name;
    bool (*value_ok)(yyjson_val *choices, yyjson_val *v);
    const char *says; /* of a default that is none */
} types[] = {
    {"choice", is_choice, "must be one of choices"},
    {"text", is_any_text, "must be a text of at most 1000 characters"},
    {"number", is_number, "must be a number"},
    {"flag", is_flag, "must be true or false"},
};

static const struct type *type_named(struct str name)
{
    for (size_t i = 0; i < countof(types); i++)
        if (str_is(name, types[i].name))
            return &types[i];
    return NULL;
}

static bool check_choices(struct check *c, yyjson_val *choices)
{
    size_t i, max, k, n = yyjson_arr_size(choices);
    yyjson_val *item;
    if (!yyjson_is_arr(choices) || n == 0 || n > CHOICES_MAX)
        return bad(c, "choices", "must be a list of 1 to 100 texts");
    yyjson_arr_foreach(choices, i, max, item)
    {
        const char *at = arena_printf(c->arena, "choices[%zu]", i);
        if (!is_text(item, CHOICE_MAX_CHARACTERS))
            return bad(c, at, "must be a text of 1 to 200 characters");
        for (k = 0; k < i; k++)
            if (str_eq(json_str(yyjson_arr_get(choices, k)), json_str(item)))
                return bad(c, at, "is there twice");
    }
    return true;
}

static bool check_type(struct check *c, yyjson_val *v)
{
    yyjson_val *choices = yyjson_obj_get(v, "choices"), *value = yyjson_obj_get(v, "default");
    struct str name = json_str(yyjson_obj_get(v, "type"));
    const struct type *t = type_named(name);
    if (!t)
        return bad(c, "type", "must be choice, text, number or flag");
    bool chooses = t->value_ok == is_choice;
    if (!chooses && !absent(choices))
        return bad(c, "choices", "belongs to the type choice only");
    if (chooses && !check_choices(c, choices))
        return false;
    return absent(value) || t->value_ok(choices, value) || bad(c, "default", t->says);
}

bool label_attributes_check(struct arena *a, yyjson_val *list, const char **ret_where, const char **ret_why)
{
    struct check c = {.arena = a, .where = ret_where, .why = ret_why};
    size_t i, max, k;
    yyjson_val *v;
    *ret_where = "";
    *ret_why = "must be a list of at most 20 attributes";
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) > LABEL_MAX_ATTRIBUTES)
        return false;
    yyjson_arr_foreach(list, i, max, v)
    {
        yyjson_val *name = yyjson_obj_get(v, "name");
        c.index = i;
        if (!yyjson_is_obj(v))
            return bad(&c, "", "must be an object {\"name\", \"type\"}");
        if (!is_text(name, NAME_MAX_CHARACTERS))
            return bad(&c, "name", "must be a text of 1 to 100 characters");
        for (k = 0; k < i; k++)
            if (str_eq(json_str(yyjson_obj_get(yyjson_arr_get(list, k), "name")), json_str(name)))
                return bad(&c, "name", "another attribute has the same name");
        if (!check_members(&c, v) || !check_title(&c, v) || !check_type(&c, v))
            return false;
    }
    return true;
}

/* The choices as a sentence has them: as many as fit. */
static const char *choices_text(yyjson_val *choices, char *ret, size_t size)
{
    size_t i, max, at = 0;
    yyjson_val *item;
    ret[0] = '\0';
    yyjson_arr_foreach(choices, i, max, item)
    {
        struct str s = json_str(item);
        if (at + s.n + 8 > size) {
            snprintf(ret + at, size - at, ", ...");
            break;
        }
        at += (size_t)snprintf(ret + at, size - at, "%s" STR_FMT, i ? ", " : "", STR_ARG(s));
    }
    return ret;
}

bool label_attribute_value(yyjson_val *attribute, const char *place, yyjson_val *value, struct err *err)
{
    const struct type *t = type_named(json_str(yyjson_obj_get(attribute, "type")));
    yyjson_val *choices = yyjson_obj_get(attribute, "choices");
    char text[200];
    bool nothing = absent(value) || (yyjson_is_str(value) && yyjson_get_len(value) == 0);
    if (!t || nothing || t->value_ok(choices, value))
        return true;
    if (t->value_ok == is_choice)
        return err_message(err, ERR_INVALID, place, MESSAGE_ATTRIBUTE_CHOICE, place,
                           choices_text(choices, text, sizeof text));
    if (t->value_ok == is_number)
        return err_message(err, ERR_INVALID, place, MESSAGE_ATTRIBUTE_NUMBER, place);
    if (t->value_ok == is_flag)
        return err_message(err, ERR_INVALID, place, MESSAGE_ATTRIBUTE_FLAG, place);
    return err_message(err, ERR_INVALID, place, MESSAGE_ATTRIBUTE_TEXT, place, TEXT_MAX_CHARACTERS);
}
