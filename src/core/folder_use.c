#include "core/folder_use.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/map.h"
#include "core/controllers.h"
#include "core/environment/environment.h"
#include "core/training/training.h"
#include "store/store.h"

#include <dirent.h>
#include <sys/stat.h>

#define EVERY_S   5
#define SHARE     50                    /* a folder is measured for one part in so many of the time */
#define HURRY     5                     /* the same while the disk fills */
#define SLACK     (1 << 20)             /* what a folder may grow by while its project is over its storage */
#define FILLS     (UINT64_C(256) << 20) /* so many bytes within a round */
#define MAX_DEPTH 128

struct folder_uses {
    struct core *core;
    /* The thread's own: */
    struct map *known;   /* folder -> struct known */
    uint64_t free_bytes; /* of the disk, at the last look */
    bool hurry;          /* it has become less by much */
    unsigned waited;     /* seconds since then */
};

struct known {
    int64_t bytes;     /* as the database has it */
    int64_t within;    /* when its project was not over its storage, as far as is known */
    int64_t due, soon; /* when it is measured again; while the disk fills */
    bool over;         /* measured since it ended */
    bool seen;         /* in this round */
};

/* --- one folder --- */

/* Space on the disk; what vanishes meanwhile counts nothing. */
static int64_t measure(int dirfd_, const char *name, int depth)
{
    int fd = openat(dirfd_, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    int64_t sum = 0;
    struct stat st;
    if (!d) {
        base_close_fd(&fd);
        return 0;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        sum += (int64_t)st.st_blocks * 512 / (st.st_nlink > 1 && S_ISREG(st.st_mode) ? st.st_nlink : 1);
        if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
            sum += measure(fd, e->d_name, depth + 1);
    }
    closedir(d);
    return sum;
}

struct noting {
    const char *folder;
    int64_t project, bytes;
};

static bool note(struct db_conn *c, void *ctx, struct err *err)
{
    const struct noting *n = ctx;
    return store_folder_use(c, n->folder, n->project, n->bytes, err);
}

/* A folder of a project, and whose it is. */
struct watched {
    const char *folder;
    int64_t id, project;
    bool runs;
    /* It has become larger; *ret_within: it may. NULL: never mind. */
    bool (*grown)(struct core *core, int64_t id, struct arena *a, bool *ret_within, struct err *err);
};

static struct known *known_of(struct folder_uses *f, const char *folder, struct err *err)
{
    struct known *k = map_get(f->known, str_of(folder));
    int64_t bytes;
    if (k || !folder_use_of(f->core, folder, &bytes, err))
        return k;
    k = base_zalloc(sizeof *k);
    k->bytes = k->within = bytes;
    map_set(f->known, str_of(folder), k);
    return k;
}

/* Whether its environment goes on although it has become larger. */
static bool ask(struct folder_uses *f, const struct watched *w, struct known *k, struct arena *a,
                struct err *err)
{
    bool within = k->bytes <= k->within;
    if (w->grown && w->runs && k->bytes > k->within + SLACK && !w->grown(f->core, w->id, a, &within, err))
        return false;
    if (within)
        k->within = k->bytes;
    return true;
}

static bool look_at(struct folder_uses *f, const struct watched *w, struct arena *a, struct err *err)
{
    struct known *k = known_of(f, w->folder, err);
    int64_t begun = clock_now();
    if (!k)
        return false;
    k->seen = true;
    if (w->runs ? begun < (f->hurry ? k->soon : k->due) : k->over)
        return true;
    int64_t bytes = measure(AT_FDCWD, w->folder, 0), ended = clock_now();
    k->due = ended + (ended - begun) * SHARE;
    k->soon = ended + (ended - begun) * HURRY;
    k->over = !w->runs;
    if (bytes == k->bytes)
        return true;
    if (!db_write(f->core->db, note, &(struct noting){w->folder, w->project, bytes}, err))
        return false;
    k->bytes = bytes;
    return ask(f, w, k, a, err);
}

/* --- all --- */

static const char *workspace_of(const struct core *core, struct arena *a, int64_t id, int64_t created_at)
{
    return environment_folder(core, id, created_at, a);
}

static const char *training_of(const struct core *core, struct arena *a, int64_t id, int64_t created_at)
{
    const struct object o = {.id = id, .created_at = created_at};
    return training_path(core, a, &o, "");
}

static const struct source {
    const char *sql; /* id, project, created_at, state */
    const char *(*folder)(const struct core *core, struct arena *a, int64_t id, int64_t created_at);
    bool (*grown)(struct core *core, int64_t id, struct arena *a, bool *ret_within, struct err *err);
} sources[] = {
    {"SELECT id, project, created_at, state FROM environments", workspace_of, environment_grown},
    /* A thread of their own looks after trainings (training/guard.c). */
    {"SELECT id, project, created_at, state FROM training_instances", training_of, NULL},
};

static bool look_at_all(struct folder_uses *f, const struct source *s, struct arena *a, struct err *err)
{
    static const char *const active[] = {"pending", "queued", "starting", "running", "stopping", "saving"};
    struct db_rows rows;
    if (!db_query(f->core->db, a, s->sql, DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && !controller_ending(f->core); i++) {
        const struct db_value *v = rows.row[i].v;
        struct watched w = {s->folder(f->core, a, v[0].i, v[2].i), v[0].i, v[1].i, false, s->grown};
        for (size_t k = 0; k < countof(active); k++)
            w.runs |= str_is(v[3].s, active[k]);
        if (!look_at(f, &w, a, err))
            return false;
    }
    return true;
}

/* Rows of what was deleted, or went with a restore. */
static bool forget(struct folder_uses *f, struct arena *a, struct err *err)
{
    struct db_rows rows;
    if (!db_query(f->core->db, a, "SELECT folder FROM folder_use", DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const char *folder = arena_strz(a, rows.row[i].v[0].s);
        struct known *k = map_get(f->known, rows.row[i].v[0].s);
        if (k && k->seen)
            continue;
        if (!db_write(f->core->db, note, &(struct noting){folder, 0, -1}, err))
            return false;
        free(map_remove(f->known, rows.row[i].v[0].s));
    }
    return true;
}

static bool look(struct folder_uses *f, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str key;
    void *value;
    f->free_bytes = fs_free_bytes(f->core->data);
    for (size_t i = 0; map_next(f->known, &i, &key, &value);)
        ((struct known *)value)->seen = false;
    for (size_t i = 0; i < countof(sources); i++)
        if (!look_at_all(f, &sources[i], &a, err))
            return false;
    return controller_ending(f->core) || forget(f, &a, err);
}

/* --- the controller --- */

static bool measure_all(struct core *core, struct err *err)
{
    struct folder_uses *f = core->folder_uses;
    f->hurry = fs_free_bytes(core->data) + FILLS < f->free_bytes;
    if (f->free_bytes && !f->hurry && ++f->waited < EVERY_S)
        return true;
    f->waited = 0;
    return look(f, err);
}

static bool start(struct core *core, const struct core_options *o, struct err *err)
{
    (void)o;
    (void)err;
    core->folder_uses = base_zalloc(sizeof *core->folder_uses);
    core->folder_uses->core = core;
    core->folder_uses->known = map_new();
    return true;
}

static void free_uses(struct core *core)
{
    struct folder_uses *f = core->folder_uses;
    struct str key;
    void *value;
    for (size_t i = 0; map_next(f->known, &i, &key, &value);)
        free(value);
    map_free(f->known);
    free(f);
}

const struct controller controller_folder_sizes = {
    .name = "folder-sizes",
    .title = {"Measures what environments and trainings keep on the disk", "统计环境和训练占用的磁盘空间"},
    .thread = "folder-sizes",
    .gives_way = true,
    .every_s = 1,
    .start = start,
    .tick = measure_all,
    .free = free_uses,
};

bool folder_use_of(struct core *core, const char *folder, int64_t *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, &a, "SELECT bytes FROM folder_use WHERE folder = ?",
                      db_args(db_textz(folder)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}
