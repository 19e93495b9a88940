#include "core/lineage/lineage.h"
#include "api/rest/uploads.h"

static bool read_query(struct api_call *call, struct lineage_query *q, struct err *err)
{
    struct str direction = STR("both");
    if (!request_param(call->request, "kind", &q->kind, err))
        return err->code ? false : err_set(err, ERR_INVALID, "kind", "kind: is required");
    if (!api_number(call, "id", 1, INT64_MAX, 0, &q->id, err) ||
        !api_number(call, "depth", 1, LINEAGE_DEPTH, LINEAGE_DEPTH_USUAL, &q->depth, err))
        return false;
    if (!q->id)
        return err_set(err, ERR_INVALID, "id", "id: is required");
    if (!request_param(call->request, "direction", &direction, err) && err->code)
        return false;
    q->up = str_is(direction, "both") || str_is(direction, "up");
    q->down = str_is(direction, "both") || str_is(direction, "down");
    return q->up || q->down ||
           err_set(err, ERR_INVALID, "direction", "direction: must be one of both, up, down");
}

static void run_lineage(struct api_call *call)
{
    auto_buf struct buf body = {0};
    struct lineage_query q = {0};
    struct err err = {0};
    if (read_query(call, &q, &err) && lineage_write(call->core, &call->caller, &q, call->arena, &body, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

const struct route lineage_routes[] = {
    {.method = "GET",
     .pattern = "/api/v1/lineage",
     .run = run_lineage,
     .query = "kind! id:id! depth:int direction",
     .summary = "What an object was made from, and what was made of it",
     .answer = ROUTE_ANSWER("Lineage")},
    {0},
};
