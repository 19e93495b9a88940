#include "core/quota.h"

#include "base/json.h"
#include "store/store.h"

static bool parse_storage(struct arena *a, struct str quota, int64_t *ret, struct err *err)
{
    *ret = -1;
    if (quota.n == 0)
        return true;
    yyjson_val *doc = json_parse(a, quota, err);
    if (!doc)
        return false;
    yyjson_val *bytes = yyjson_obj_get(doc, "storage");
    if (yyjson_is_num(bytes))
        *ret = yyjson_get_sint(bytes);
    return true;
}

bool quota_write(struct db_conn *c, int64_t project, struct str quota, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    int64_t limit;
    return parse_storage(&a, quota, &limit, err) && store_set_limit(c, project, limit, err);
}

static bool write_all(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    if (!conn_exec(c, "DELETE FROM storage_limit", DB_NO_ARGS, NULL, err) ||
        !conn_query(c, &a, "SELECT id, quota FROM projects WHERE quota LIKE '%storage%'", DB_NO_ARGS, &rows,
                    err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!quota_write(c, rows.row[i].v[0].i, rows.row[i].v[1].s, err))
            return false;
    return true;
}

bool quota_write_all(struct core *core, struct err *err)
{
    return db_write(core->db, write_all, NULL, err);
}

bool quota_storage(struct core *core, int64_t project, int64_t *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, &a, "SELECT quota FROM projects WHERE id = ?", db_args(db_int(project)), &row,
                      &found, err))
        return false;
    return parse_storage(&a, found ? row.v[0].s : STR_NULL, ret, err);
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
