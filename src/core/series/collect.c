/* Series of owners that are deleted, and what there is in all. */
#include "core/controllers.h"
#include "core/series/series_own.h"

#define PAGE      200 /* series */
#define STEP_ROWS 100 /* that one write removes: of up to some 40 KB each */

struct removing {
    const struct db_rows *series;
    size_t at; /* those before are gone */
};

/* Rows of one series after the other, as many as a write may remove. */
static bool remove_write(struct db_conn *c, void *ctx, struct err *err)
{
    struct removing *r = ctx;
    size_t at = r->at;
    for (int64_t left = STEP_ROWS; left > 0 && at < r->series->n;) {
        int64_t id = r->series->row[at].v[0].i, gone;
        if (!conn_exec(c,
                       "DELETE FROM series_chunks WHERE id IN (SELECT id FROM series_chunks WHERE series = ?"
                       " ORDER BY id LIMIT ?)",
                       db_args(db_int(id), db_int(left)), &gone, err))
            return false;
        if (gone < left) {
            if (!conn_exec(c, "DELETE FROM series WHERE id = ?", db_args(db_int(id)), NULL, err))
                return false;
            at++;
            left--;
        }
        left -= gone;
    }
    r->at = at;
    return true;
}

static bool collect_kind(struct core *core, const struct kind *k, struct err *err)
{
    for (size_t n = PAGE; n == PAGE;) {
        auto_arena struct arena a;
        struct db_rows rows;
        arena_init(&a);
        const char *sql = arena_printf(&a,
                                       "SELECT s.id FROM series s WHERE s.owner_kind = ? AND NOT EXISTS"
                                       " (SELECT 1 FROM \"%s\" o WHERE o.id = s.owner) LIMIT 200",
                                       k->table);
        if (!db_query(core->db, &a, sql, db_args(db_textz(k->name)), &rows, err))
            return false;
        n = rows.n;
        for (struct removing r = {.series = &rows}; r.at < rows.n;) {
            if (controller_ending(core))
                return true;
            if (!db_write(core->db, remove_write, &r, err))
                return false;
        }
    }
    return true;
}

static bool collect(struct core *core, struct err *err)
{
    for (size_t i = 0; i < kind_count; i++)
        if (!collect_kind(core, kinds[i], err))
            return false;
    return true;
}

const struct controller controller_collect_series = {
    .name = "collect-series",
    .title = {"Removes the curves of what was deleted", "清除已删除对象的曲线"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 600,
    .woken_by = {{"job", "delete"}, {"training_instance", "delete"}, {"project", "delete"}},
    .tick = collect,
};

/* --- sizes --- */

void series_sizes(struct core *core, struct series_sizes *ret)
{
    struct series_engine *e = core->series;
    pthread_mutex_lock(&e->lock);
    *ret = e->sizes;
    ret->waiting = feeds_waiting(e);
    pthread_mutex_unlock(&e->lock);
}
