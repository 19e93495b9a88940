#include "core/job/placed.h"

struct placed placed_of(yyjson_val *rank)
{
    struct placed p = {0};
    yyjson_val *d;
    size_t i, max;
    p.known = yyjson_obj_get(rank, "cpus") != NULL;
    p.node = yyjson_get_str(yyjson_obj_get(rank, "node"));
    p.cpus = yyjson_get_num(yyjson_obj_get(rank, "cpus"));
    p.memory = yyjson_get_sint(yyjson_obj_get(rank, "memory"));
    p.devices = yyjson_obj_get(rank, "devices");
    if (!yyjson_arr_size(p.devices))
        return p;
    yyjson_arr_foreach(p.devices, i, max, d)
    {
        p.kind = json_str(yyjson_obj_get(d, "kind"));
        p.cards += yyjson_get_num(yyjson_obj_get(d, "share"));
    }
    return p;
}

struct placed placed_rank(struct arena *a, struct str placement, int64_t rank)
{
    struct err ignored = {0};
    yyjson_val *all = placement.n ? json_parse(a, placement, &ignored) : NULL;
    return placed_of(rank >= 0 ? yyjson_arr_get(all, (size_t)rank) : NULL);
}
