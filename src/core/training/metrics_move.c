/* Metrics that programs from before kept as JSON in training_metrics, brought into series: all of an instance
 * in one write, so that none comes twice. The table stays, for a program that takes over again. */
#include "base/json.h"
#include "core/controllers.h"
#include "core/series/series.h"
#include "core/training/training.h"

#define PAGE        50
#define POINTS_MOST 1001 /* of a series, as those programs had them */

struct moving {
    int64_t instance;
    struct series_batch *batch;
    size_t n;
};

/* Whoever removes the rows brings the points in. */
static bool move_write(struct db_conn *c, void *ctx, struct err *err)
{
    const struct moving *m = ctx;
    int64_t gone;
    if (!conn_exec(c, "DELETE FROM training_metrics WHERE instance = ?", db_args(db_int(m->instance)), &gone,
                   err))
        return false;
    return gone == 0 || series_put(c, m->batch, m->n, err);
}

/* {"stride":1,"seen":2,"points":[[step,at,value],...]}; what cannot be read is left out. */
static void read_row(struct moving *m, struct arena *a, struct str name, struct str json)
{
    struct err broken = {0};
    yyjson_val *points = yyjson_obj_get(json_parse(a, json, &broken), "points"), *p;
    size_t i, max, n = yyjson_arr_size(points);
    if (n == 0 || n > POINTS_MOST || name.n == 0 || name.n > SERIES_NAME_MAX)
        return;
    struct series_point *point = arena_array(a, struct series_point, n);
    yyjson_arr_foreach(points, i, max, p) point[i] =
        (struct series_point){.at = yyjson_get_sint(yyjson_arr_get(p, 1)),
                              .step = yyjson_get_num(yyjson_arr_get(p, 0)),
                              .value = yyjson_get_num(yyjson_arr_get(p, 2))};
    m->batch[m->n++] = (struct series_batch){
        .kind = "training_instance", .owner = m->instance, .name = name, .point = point, .n = n};
}

bool metrics_move(struct core *core, int64_t instance, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    if (!db_query(core->db, &a, "SELECT name, data FROM training_metrics WHERE instance = ? ORDER BY name",
                  db_args(db_int(instance)), &rows, err))
        return false;
    if (rows.n == 0)
        return true;
    struct moving m = {.instance = instance, .batch = arena_array(&a, struct series_batch, rows.n)};
    for (size_t i = 0; i < rows.n; i++)
        read_row(&m, &a, rows.row[i].v[0].s, rows.row[i].v[1].s);
    return series_pack(&a, m.batch, m.n, err) && db_write(core->db, move_write, &m, err);
}

static bool move_all(struct core *core, struct err *err)
{
    for (size_t n = PAGE; n > 0 && !controller_ending(core);) {
        auto_arena struct arena a;
        struct db_rows rows;
        arena_init(&a);
        if (!db_query(core->db, &a,
                      "SELECT DISTINCT instance FROM training_metrics ORDER BY instance LIMIT 50", DB_NO_ARGS,
                      &rows, err))
            return false;
        n = rows.n;
        for (size_t i = 0; i < rows.n && !controller_ending(core); i++)
            if (!metrics_move(core, rows.row[i].v[0].i, err))
                return false;
    }
    return true;
}

const struct controller controller_move_metrics = {
    .name = "move-metrics",
    .title = {"Brings metrics of an older version into the database's series",
              "将旧版本的训练指标迁入时间序列"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 1,
    .every_s = 86400,
    .retry_s = 60,
    .tick = move_all,
};
