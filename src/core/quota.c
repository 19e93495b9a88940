#include "core/quota.h"

#include "base/json.h"
#include "store/store.h"

bool quota_storage(struct core *core, int64_t project, int64_t *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, &a, "SELECT quota FROM projects WHERE id = ?", db_args(db_int(project)), &row,
                      &found, err))
        return false;
    yyjson_val *quota = NULL, *bytes;
    if (found && row.v[0].type == DB_TEXT && !(quota = json_parse(&a, row.v[0].s, err)))
        return false;
    bytes = yyjson_obj_get(quota, "storage");
    *ret = yyjson_is_num(bytes) ? yyjson_get_sint(bytes) : -1;
    return true;
}

bool quota_admit_storage(struct core *core, int64_t project, int64_t more, struct err *err)
{
    int64_t limit;
    return quota_storage(core, project, &limit, err) && store_admit(core->store, project, more, limit, err);
}

bool quota_admit_size(struct core *core, int64_t project, int64_t size, struct err *err)
{
    int64_t limit;
    if (!quota_storage(core, project, &limit, err))
        return false;
    return limit < 0 || size <= limit ||
           err_set(err, ERR_QUOTA, "storage", "the project may store %lld bytes, and these are %lld",
                   (long long)limit, (long long)size);
}
