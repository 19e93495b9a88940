/* Compute specifications (SPEC K6): what a job asks for, by name. */
#include "core/compute/spec.h"

#include "base/clock.h"
#include "core/fields.h"
#include "core/kinds.h"

#include <sched.h>
#include <sys/sysinfo.h>

static bool check_accelerators(struct arena *a, const struct field *f, const struct db_value *value,
                               struct err *err)
{
    (void)a;
    double n = value->r;
    if (n > 1 && n != (double)(int64_t)n)
        return err_set(err, ERR_INVALID, f->name,
                       "%s: %g is neither a whole number nor a fraction of one (0 to 1)", f->name, n);
    return true;
}

/* Less than containers can be held to; none would be no limit. */
static bool check_cpus(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    (void)a;
    return value->type != DB_REAL || value->r >= 0.01 ||
           err_set(err, ERR_INVALID, f->name, "%s: %g is less than 0.01", f->name, value->r);
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    {.name = "cpus",
     .type = FIELD_REAL,
     .min = 0,
     .max = 4096,
     .check = check_cpus,
     .unit = "cores",
     .title = {"CPUs", "CPU"},
     .flags = FIELD_REQUIRED | FIELD_EDIT | FIELD_SORT | FIELD_FILTER | FIELD_LIST},
    {.name = "memory",
     .type = FIELD_INT,
     .min = 8 << 20,
     .max = INT64_C(1) << 50,
     .unit = "bytes",
     .title = {"Memory", "内存"},
     .flags = FIELD_REQUIRED | FIELD_EDIT | FIELD_SORT | FIELD_FILTER | FIELD_LIST},
    {.name = "accelerator",
     .type = FIELD_TEXT,
     .max = 50,
     .title = {"Accelerator", "加速卡"},
     .help = {"Kind of accelerator, as the nodes declare it; empty: none", "节点声明的加速卡类型；空表示无"},
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST},
    {.name = "accelerators",
     .type = FIELD_REAL,
     .min = 0,
     .max = 1024,
     .fallback = "0",
     .check = check_accelerators,
     .title = {"Number of accelerators", "加速卡数量"},
     .help = {"Whole, or a fraction of one that is shared", "整数，或共享一张卡的小数"},
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST},
    {.name = "ib",
     .type = FIELD_BOOL,
     .fallback = "false",
     .title = {"InfiniBand", "InfiniBand"},
     .flags = FIELD_ADVANCED | FIELD_EDIT | FIELD_FILTER | FIELD_LIST},
    {.name = "roce",
     .type = FIELD_BOOL,
     .fallback = "false",
     .title = {"RoCE", "RoCE"},
     .flags = FIELD_ADVANCED | FIELD_EDIT | FIELD_FILTER | FIELD_LIST},
    {.name = "description",
     .type = FIELD_TEXT,
     .max = 500,
     .fallback = "\"\"",
     .title = {"Description", "描述"},
     .flags = FIELD_EDIT | FIELD_SEARCH | FIELD_LONG},
    {0},
};

static bool check_pair(struct op *op, struct object *o, struct err *err)
{
    (void)op;
    const struct db_value *count = object_value(o, "accelerators");
    if (count->type == DB_REAL && count->r > 0 && object_text(o, "accelerator").n == 0)
        return err_set(err, ERR_INVALID, "accelerator",
                       "accelerator: is empty; a number of accelerators needs their kind");
    return true;
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    (void)old;
    return check_pair(op, new_, err);
}

const struct kind kind_spec = {
    .name = "spec",
    .plural = "specs",
    .table = "specs",
    .title = {"Compute spec", "计算规格"},
    .titles = {"Compute specs", "计算规格"},
    .help = {"What a job may ask for: CPUs, memory, accelerators, network",
             "作业可申请的资源：CPU、内存、加速卡、网络"},
    .menu = "admin",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_ALL,
    .fields = fields,
    .before_create = check_pair,
    .before_update = before_update,
};

/* --- the first ones --- */

#define SMALL_MEMORY (INT64_C(512) << 20)

static const struct {
    const char *name, *description;
    double share; /* of the machine; 0: cpus and memory */
    double cpus;
    int64_t memory;
} first[] = {
    {"small", "A quarter of a core and 512 MB", 0, 0.25, SMALL_MEMORY},
    {"half", "Half of this machine", 0.5, 0, 0},
    {"whole", "All of this machine", 1, 0, 0},
};

static double machine_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : get_nprocs();
}

/* Whole megabytes. */
static int64_t share_of_memory(double share)
{
    struct sysinfo info = {0};
    sysinfo(&info);
    return (int64_t)((double)info.totalram * info.mem_unit * share) >> 20 << 20;
}

static bool insert_first(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    int64_t now = clock_now();
    for (size_t i = 0; i < countof(first); i++) {
        double share = first[i].share;
        if (!conn_exec(c,
                       "INSERT INTO specs(name, cpus, memory, accelerators, ib, roce, description, revision, "
                       "created_at, updated_at) VALUES(?, ?, ?, 0, 0, 0, ?, 1, ?, ?)",
                       db_args(db_textz(first[i].name),
                               db_real(share > 0 ? machine_cores() * share : first[i].cpus),
                               db_int(share > 0 ? share_of_memory(share) : first[i].memory),
                               db_textz(first[i].description), db_int(now), db_int(now)),
                       NULL, err))
            return false;
    }
    return true;
}

bool spec_make_first(struct core *core, struct arena *a, struct err *err)
{
    struct db_row row;
    bool used;
    return db_query_one(core->db, a, "SELECT id FROM users UNION ALL SELECT id FROM specs LIMIT 1",
                        DB_NO_ARGS, &row, &used, err) &&
           (used || db_write(core->db, insert_first, NULL, err));
}

bool spec_smallest(struct op *op, int64_t memory, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT id FROM specs WHERE memory >= ? AND (accelerators IS NULL OR accelerators ="
                        " 0) ORDER BY memory, cpus, id LIMIT 1",
                        db_args(db_int(memory)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}
