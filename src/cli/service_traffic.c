/* `ingot service traffic NAME`: what each version answered, out of the figures that the page draws. */
#include "cli/service.h"

#include "base/clock.h"
#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/verb.h"

#include <math.h>

const struct flag service_traffic_flags[] = {
    {"minutes", 0, FLAG_VALUE, "N", "of the last N (60; at most 43200)", NULL},
};

struct figures {
    int64_t requests, client, failed, left;
    double ms[3], weight[3]; /* sums over steps, by their requests */
};

static const char *const times[] = {"p50_ms", "p95_ms", "p99_ms"};

static int64_t class_of(yyjson_val *point, const char *name)
{
    return yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(point, "classes"), name));
}

static void add_point(struct figures *f, yyjson_val *point)
{
    int64_t requests = yyjson_get_sint(yyjson_obj_get(point, "requests"));
    f->requests += requests;
    f->client += class_of(point, "client");
    f->failed += class_of(point, "error") + class_of(point, "failed") + class_of(point, "timeout");
    f->left += class_of(point, "left");
    for (size_t i = 0; i < countof(times); i++) {
        yyjson_val *ms = yyjson_obj_get(point, times[i]);
        if (!yyjson_is_num(ms))
            continue;
        f->ms[i] += yyjson_get_num(ms) * (double)requests;
        f->weight[i] += (double)requests;
    }
}

static yyjson_val *version_of(yyjson_val *versions, int64_t id)
{
    yyjson_val *v;
    size_t i, n;
    yyjson_arr_foreach(yyjson_obj_get(versions, "items"), i, n, v)
    {
        if (yyjson_get_sint(yyjson_obj_get(v, "id")) == id)
            return v;
    }
    return NULL;
}

static void write_row(struct json_out *o, yyjson_val *version, const struct figures *f, int64_t minutes)
{
    json_object(o);
    json_kstr(o, "version", json_str(yyjson_obj_get(version, "name")));
    json_kstr(o, "role", json_str(yyjson_obj_get(version, "role")));
    json_kint(o, "requests", f->requests);
    json_key(o, "per_second");
    json_real(o, round((double)f->requests / (double)minutes / 60 * 100) / 100);
    json_kint(o, "client_errors", f->client);
    json_kint(o, "failed", f->failed);
    json_kint(o, "left", f->left);
    for (size_t i = 0; i < countof(times); i++) {
        json_key(o, times[i]);
        if (f->weight[i] > 0)
            json_real(o, round(f->ms[i] / f->weight[i] * 100) / 100);
        else
            json_null(o);
    }
    json_object_end(o);
}

/* A row for each version that answered. */
static void write_rows(struct json_out *o, yyjson_val *traffic, yyjson_val *versions, int64_t minutes)
{
    yyjson_val *v, *point;
    size_t i, n, k, points;
    json_object(o);
    json_key(o, "items");
    json_array(o);
    yyjson_arr_foreach(yyjson_obj_get(traffic, "versions"), i, n, v)
    {
        struct figures f = {0};
        yyjson_val *version = version_of(versions, yyjson_get_sint(yyjson_obj_get(v, "version")));
        yyjson_arr_foreach(yyjson_obj_get(v, "points"), k, points, point)
        {
            add_point(&f, point);
        }
        if (version && f.requests)
            write_row(o, version, &f, minutes);
    }
    json_array_end(o);
    json_object_end(o);
}

bool service_traffic(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                     struct err *err)
{
    (void)act;
    int64_t id, minutes = 60;
    yyjson_val *traffic, *versions;
    char from[CLOCK_TEXT_MAX];
    auto_buf struct buf text = {0};
    struct json_out o;
    if (!args_int(args, "minutes", 1, 43200, &minutes, err) ||
        !scope_id(cli, k, NULL, args->words[0], &id, err))
        return false;
    clock_format(clock_now() - minutes * 60 * INT64_C(1000000), from);
    const char *path = arena_printf(&cli->arena, "/services/%lld/traffic?from=%s", (long long)id, from);
    const char *of = arena_printf(&cli->arena, "/services/%lld/versions?limit=200&sort=-id", (long long)id);
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &traffic, err) ||
        !remote_json(cli, &(struct remote_call){.method = "GET", .path = of}, &versions, err))
        return false;
    if (cli->output == OUTPUT_JSON) {
        verb_show(cli, NULL, traffic);
        return true;
    }
    json_begin(&o, &text);
    write_rows(&o, traffic, versions, minutes);
    yyjson_val *rows = json_parse(&cli->arena, buf_view(&text), err);
    if (rows)
        verb_show(cli, NULL, rows);
    return rows != NULL;
}
