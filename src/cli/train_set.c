#include "cli/train_set.h"

#include "cli/remote.h"

bool train_set_parameters(struct cli *cli, int64_t version, yyjson_val **ret, struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *v, *f;
    size_t i, n;
    const char *path = arena_printf(a, "/algorithm-versions/%lld", (long long)version);
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
        return false;
    path = arena_printf(a, "/algorithm-sets/%lld/versions/%lld/functions",
                        (long long)yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(v, "algorithm_set"), "id")),
                        (long long)version);
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
        return false;
    *ret = NULL;
    yyjson_arr_foreach(yyjson_obj_get(v, "functions"), i, n, f)
    {
        if (str_is(json_str(yyjson_obj_get(f, "name")), "train"))
            *ret = yyjson_obj_get(f, "parameters");
    }
    return true;
}

static yyjson_val *parameter_of(yyjson_val *parameters, struct str name)
{
    size_t i, n;
    yyjson_val *v;
    yyjson_arr_foreach(parameters, i, n, v)
    {
        if (str_eq(json_str(yyjson_obj_get(v, "name")), name))
            return v;
    }
    return NULL;
}

static void write_labels(struct json_out *o, struct str text)
{
    json_array(o);
    for (struct str rest = text; rest.n;)
        json_string(o, str_cut(rest, ',', &rest));
    json_array_end(o);
}

/* What does not read as its type goes as a text: the platform says what it should be. */
static void write_value(struct cli *cli, struct json_out *o, yyjson_val *parameter, struct str text)
{
    struct err ignored = {0};
    struct str type = json_str(yyjson_obj_get(parameter, "type"));
    yyjson_val *v = str_is(type, "text") ? NULL : json_parse(&cli->arena, text, &ignored);
    if (str_is(type, "labels") && !yyjson_is_arr(v))
        write_labels(o, text);
    else if (v)
        json_value(o, v);
    else
        json_string(o, text);
}

bool train_set_write(struct cli *cli, const struct args *args, yyjson_val *parameters, struct json_out *o,
                     struct err *err)
{
    for (size_t i = 0; i < args->given_count; i++) {
        struct str value, name;
        if (strcmp(args->given[i].flag->name, "set") != 0)
            continue;
        name = str_cut(str_of(args->given[i].value), '=', &value);
        if (!value.p || !name.n)
            return err_set(err, ERR_MALFORMED, NULL, "--set: \"%s\" is not NAME=VALUE", args->given[i].value);
        json_key(o, arena_strz(&cli->arena, name));
        write_value(cli, o, parameter_of(parameters, name), value);
    }
    return true;
}
