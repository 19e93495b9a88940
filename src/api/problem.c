#include "api/problem.h"

#include "base/json.h"
#include "base/log.h"

#include <stdio.h>

#define MAX_HEADERS 8

void problem_write(const struct err *err, struct str references, struct buf *out)
{
    const struct err_info *info = err_info(err->code);
    bool permission = err->code == ERR_FORBIDDEN && strchr(err->field, '.');
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_key(&o, "type");
    char type[64];
    snprintf(type, sizeof type, "/problems/%s", info->name);
    json_z(&o, type);
    json_kz(&o, "title", info->title);
    json_kint(&o, "status", info->status);
    json_kz(&o, "code", info->name);
    json_kz(&o, "detail",
            err->code == ERR_INTERNAL ? "something went wrong inside; the log says what" : err->message);
    json_kz(&o, "detail_zh", err->id ? err->zh : NULL);
    json_kz(&o, "message", err->id);
    json_kz(&o, "field", err->field[0] && !permission ? err->field : NULL);
    json_kz(&o, "permission", permission ? err->field : NULL);
    json_key(&o, "references");
    if (references.p)
        json_raw(&o, references);
    else
        json_null(&o);
    json_object_end(&o);
}

void problem_respond(struct request *r, const struct err *err, struct str references,
                     const struct header *headers, size_t n)
{
    struct header all[MAX_HEADERS] = {
        {STR("Content-Type"), STR("application/problem+json")},
        {STR("Cache-Control"), STR("no-store")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    size_t count = 3;
    if (err->code == ERR_UNAUTHORIZED)
        all[count++] = (struct header){STR("WWW-Authenticate"), STR("Bearer realm=\"ingot\"")};
    if (err->code == ERR_UNAVAILABLE)
        all[count++] = (struct header){STR("Retry-After"), STR("1")};
    for (size_t i = 0; i < n && count < MAX_HEADERS; i++)
        all[count++] = headers[i];
    if (err->code == ERR_INTERNAL || err->code == ERR_UNAVAILABLE)
        log_warn("request %llu: " STR_FMT " " STR_FMT ": %s", (unsigned long long)r->id, STR_ARG(r->method),
                 STR_ARG(r->path), err->message);
    auto_buf struct buf body = {0};
    problem_write(err, references, &body);
    respond(r, err_info(err->code)->status, all, count, buf_view(&body));
}
