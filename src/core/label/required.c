#include "core/label/required.h"

#include "base/json.h"
#include "base/messages.h"
#include "core/data/label_rules.h"

static bool has_value(yyjson_val *values, yyjson_val *attribute)
{
    yyjson_val *v = yyjson_obj_get(values, yyjson_get_str(yyjson_obj_get(attribute, "name")));
    return v && !yyjson_is_null(v) && !(yyjson_is_str(v) && yyjson_get_len(v) == 0);
}

/* What a label says by itself needs nobody to say it. */
static bool has_default(yyjson_val *attribute)
{
    yyjson_val *v = yyjson_obj_get(attribute, "default");
    return v && !yyjson_is_null(v);
}

/* values: attributes of the shape or the sample, or NULL. */
static bool check_label(yyjson_val *labels, yyjson_val *label, yyjson_val *values, struct err *err)
{
    struct str name = json_str(label);
    yyjson_val *definition = name.p ? label_rules_find(labels, name) : NULL, *attribute;
    size_t i, n;
    yyjson_arr_foreach(yyjson_obj_get(definition, "attributes"), i, n, attribute)
    {
        struct str wanted = json_str(yyjson_obj_get(attribute, "name"));
        if (wanted.p && yyjson_get_bool(yyjson_obj_get(attribute, "required")) &&
            !has_value(values, attribute) && !has_default(attribute))
            return err_message(err, ERR_INVALID, "attributes", MESSAGE_LABEL_ATTRIBUTE, STR_ARG(wanted),
                               STR_ARG(name));
    }
    return true;
}

bool required_there(struct arena *a, struct str labels, struct str annotation, struct err *err)
{
    static const char *const parts[] = {"shapes", "spans", "segments"};
    yyjson_val *set = json_parse(a, labels.n ? labels : STR("[]"), err),
               *all = json_parse(a, annotation.n ? annotation : STR("{}"), err), *one;
    size_t i, n;
    if (!set || !all)
        return false;
    yyjson_arr_foreach(yyjson_obj_get(all, "labels"), i, n, one)
    {
        if (!check_label(set, one, yyjson_obj_get(all, "attributes"), err))
            return false;
    }
    for (size_t part = 0; part < countof(parts); part++)
        yyjson_arr_foreach(yyjson_obj_get(all, parts[part]), i, n, one)
        {
            if (!check_label(set, yyjson_obj_get(one, "label"), yyjson_obj_get(one, "attributes"), err))
                return false;
        }
    return true;
}
