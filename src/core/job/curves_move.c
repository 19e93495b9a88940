/* Curves that programs from before kept in files, brought into series: data/curves has
 *
 *   JOB-ATTEMPT-RANK.2   what a container used by the minute, fixed records of whole numbers
 *   project-ID           a line of JSON per minute
 *
 * and files of an older format, which nobody reads any more. A file goes when its points are durable; one
 * that is moved twice, as the server was killed between, is known by its times. */
#include "base/clock.h"
#include "base/fs.h"
#include "core/controllers.h"
#include "core/job/curves.h"
#include "core/series/series.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define FILE_MAX (16 << 20)
#define MOVE_MAX 4096 /* minutes of a file: twice a day and more */
#define KINDS    64

struct record {
    int64_t at, cpu, memory, rx, tx, disk, cards_busy, cards_memory;
};

struct move {
    const char *kind;
    int64_t owner;
    struct series_batch batch[KINDS];
    size_t n;
};

static bool move_write(struct db_conn *c, void *ctx, struct err *err)
{
    const struct move *m = ctx;
    auto_arena struct arena a;
    struct db_row row;
    bool found;
    arena_init(&a);
    const char *sql = strcmp(m->kind, "job") == 0 ? "SELECT 1 FROM jobs WHERE id = ?"
                                                  : "SELECT 1 FROM projects WHERE id = ?";
    if (!conn_query_one(c, &a, sql, db_args(db_int(m->owner)), &row, &found, err))
        return false;
    for (size_t i = 0; found && i < m->n; i++)
        if (!series_put_minutes(c, &m->batch[i], err))
            return false;
    return true;
}

/* The batch of a part and name, with room for points; NULL when there are too many. */
static struct series_batch *batch_of(struct move *m, struct arena *a, struct str part, struct str name)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_eq(m->batch[i].part, part) && str_eq(m->batch[i].name, name))
            return &m->batch[i];
    if (m->n == KINDS || part.n > SERIES_PART_MAX || !utf8_valid(part))
        return NULL;
    m->batch[m->n] = (struct series_batch){.kind = m->kind,
                                           .owner = m->owner,
                                           .part = arena_str(a, part),
                                           .name = arena_str(a, name),
                                           .keep = SERIES_LIVE,
                                           .point = arena_array(a, struct series_point, MOVE_MAX)};
    return &m->batch[m->n++];
}

static void add(struct move *m, struct arena *a, struct str part, const char *name, int64_t at, double value)
{
    struct series_batch *b = isnan(value) ? NULL : batch_of(m, a, part, str_of(name));
    if (b && b->n < MOVE_MAX)
        ((struct series_point *)b->point)[b->n++] = (struct series_point){at, NAN, value};
}

static double known(int64_t v, double unit)
{
    return v < 0 ? NAN : (double)v / unit;
}

static void read_container(struct move *m, struct arena *a, struct exec_id id, struct str data)
{
    char text[CURVE_PART_MAX];
    struct str part = str_of(curves_part(id, text));
    m->kind = "job";
    m->owner = id.job;
    for (size_t i = 0; i + sizeof(struct record) <= data.n; i += sizeof(struct record)) {
        struct record r;
        memcpy(&r, data.p + i, sizeof r);
        const double values[CURVE_COUNT] = {
            [CURVE_CPU] = floor((double)r.cpu / 1e3) / 1e3,
            [CURVE_MEMORY] = (double)r.memory,
            [CURVE_RX] = (double)r.rx,
            [CURVE_TX] = (double)r.tx,
            [CURVE_DISK] = known(r.disk, 1),
            [CURVE_CARDS] = known(r.cards_busy, 1000),
            [CURVE_CARD_MEMORY] = known(r.cards_memory, 1),
        };
        for (size_t k = 0; k < CURVE_COUNT; k++)
            add(m, a, part, curve_names[k], r.at, values[k]);
    }
}

static void read_line(struct move *m, struct arena *a, struct str line)
{
    struct err broken = {0}; /* a crash cut it short */
    yyjson_val *doc = json_parse(a, line, &broken), *key, *v;
    size_t i, max;
    int64_t at;
    if (!yyjson_is_obj(doc) || !yyjson_is_str(yyjson_obj_get(doc, "at")) ||
        !clock_parse(json_str(yyjson_obj_get(doc, "at")), &at))
        return;
    for (size_t k = 0; k < countof(curve_project_names); k++)
        add(m, a, STR(""), curve_project_names[k], at,
            yyjson_get_num(yyjson_obj_get(doc, curve_project_names[k])));
    yyjson_obj_foreach(yyjson_obj_get(doc, "accelerators"), i, max, key, v)
        add(m, a, str_of(arena_printf(a, CURVE_CARD_PART "%s", yyjson_get_str(key))), "count", at,
            yyjson_get_num(v));
}

static void read_project(struct move *m, struct arena *a, int64_t project, struct str data)
{
    m->kind = "project";
    m->owner = project;
    for (struct str rest = data; rest.p;) {
        struct str line = str_cut(rest, '\n', &rest);
        if (line.n)
            read_line(m, a, line);
    }
}

static bool move_file(struct core *core, const char *name, const char *path, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct move *m = arena_new(&a, struct move);
    struct str file = str_of(name), data;
    struct exec_id id;
    int64_t project;
    bool is_container = str_ends(file, ".2") && exec_id_parse((struct str){file.p, file.n - 2}, &id);
    bool is_project =
        str_starts(file, "project-") && str_to_i64((struct str){file.p + 8, file.n - 8}, &project);
    if (is_container || is_project) {
        if (!fs_read(&a, path, FILE_MAX, &data, err))
            return false;
        if (is_container)
            read_container(m, &a, id, data);
        else
            read_project(m, &a, project, data);
        if (m->n && !db_write(core->db, move_write, m, err))
            return false;
    }
    return unlink(path) == 0 || errno == ENOENT || err_errno(err, errno, "%s", path);
}

static bool move_all(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    const char *folder = arena_printf(&a, "%s/curves", core->data);
    bool ok = true;
    DIR *d = opendir(folder);
    if (!d)
        return errno == ENOENT || err_errno(err, errno, "%s", folder);
    for (struct dirent *e; !controller_ending(core) && (e = readdir(d));) {
        struct err one = {0};
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (!move_file(core, e->d_name, arena_printf(&a, "%s/%s", folder, e->d_name), &one))
            ok = err_keep(err, &one);
    }
    closedir(d);
    if (ok)
        rmdir(folder); /* stays while something is in it */
    return ok;
}

static bool needed(const struct core *core)
{
    return faccessat(core->data_fd, "curves", F_OK, 0) == 0;
}

const struct controller controller_move_curves = {
    .name = "move-curves",
    .title = {"Brings curves of an older version into the database", "将旧版本的曲线迁入数据库"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 1,
    .every_s = 3600,
    .retry_s = 60,
    .needed = needed,
    .tick = move_all,
};
