#include "core/serve/rules.h"

#include "base/json.h"
#include "base/messages.h"

static const struct {
    const char *name;
    double min, max;
    bool whole;
} numbers[] = {
    {"error_rate", 0, 1, false},  {"p95_ratio", 1, 1000, false}, {"min_requests", 1, 1000000, true},
    {"golden_drop", 0, 1, false}, {"agreement", 0, 1, false},
};

static bool number_fits(struct str name, yyjson_val *v, bool *ret_known)
{
    *ret_known = false;
    for (size_t i = 0; i < countof(numbers); i++) {
        if (!str_is(name, numbers[i].name))
            continue;
        *ret_known = true;
        double n = yyjson_get_num(v);
        return yyjson_is_num(v) && n >= numbers[i].min && n <= numbers[i].max &&
               (!numbers[i].whole || yyjson_is_int(v));
    }
    return false;
}

bool rules_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    yyjson_val *doc = value->type == DB_TEXT ? json_parse(a, value->s, err) : NULL, *key, *v;
    size_t i, max;
    if (value->type != DB_TEXT)
        return true;
    if (!doc)
        return false;
    if (!yyjson_is_obj(doc))
        return err_message(err, ERR_INVALID, f->name, MESSAGE_RULES_OBJECT, f->name);
    yyjson_obj_foreach(doc, i, max, key, v)
    {
        struct str name = json_str(key);
        bool number, fits = number_fits(name, v, &number);
        if (str_is(name, "action") ? str_is(json_str(v), "stop") || str_is(json_str(v), "rollback") : fits)
            continue;
        if (!number && !str_is(name, "action"))
            return err_message(err, ERR_INVALID, f->name, MESSAGE_RULES_UNKNOWN, f->name,
                               (int)(name.n < 60 ? name.n : 60), name.p);
        return err_message(err, ERR_INVALID, f->name, MESSAGE_RULES_VALUE, f->name, STR_ARG(name));
    }
    return true;
}

static yyjson_val *parse(struct arena *a, struct str text, bool *ret_rollback)
{
    struct err ignored = {0};
    yyjson_val *doc = text.n ? json_parse(a, text, &ignored) : NULL;
    *ret_rollback = str_is(json_str(yyjson_obj_get(doc, "action")), "rollback");
    return doc;
}

bool rules_read(struct arena *a, struct str text, struct judge_rules *ret, bool *ret_rollback)
{
    yyjson_val *doc = parse(a, text, ret_rollback);
    yyjson_val *rate = yyjson_obj_get(doc, "error_rate"), *ratio = yyjson_obj_get(doc, "p95_ratio");
    *ret = (struct judge_rules){.error_rate = rate ? yyjson_get_num(rate) : -1,
                                .p95_ratio = ratio ? yyjson_get_num(ratio) : 0,
                                .min_requests = yyjson_get_sint(yyjson_obj_get(doc, "min_requests"))};
    return rate || ratio;
}

bool rules_read_golden(struct arena *a, struct str text, struct golden_rules *ret, bool *ret_rollback)
{
    yyjson_val *doc = parse(a, text, ret_rollback);
    yyjson_val *drop = yyjson_obj_get(doc, "golden_drop"), *agreement = yyjson_obj_get(doc, "agreement");
    *ret = (struct golden_rules){.drop = drop ? yyjson_get_num(drop) : -1,
                                 .agreement = agreement ? yyjson_get_num(agreement) : -1};
    return drop || agreement;
}
