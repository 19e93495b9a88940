#include "core/metrics.h"
#include "core/data/operate.h"
#include "core/data/room.h"

#include "base/metric.h"
#include "core/controller.h"
#include "core/environment/on_demand.h"
#include "core/label/label.h"
#include "core/series/series.h"
#include "core/serve/traffic.h"
#include "net/traffic.h"
#include "store/store.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>

/* --- requests and writes --- */

static bool requests(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    (void)core, (void)a, (void)err;
    traffic_write_counts(out, name);
    return true;
}

static bool request_times(struct core *core, const char *name, struct arena *a, struct buf *out,
                          struct err *err)
{
    (void)core, (void)a, (void)err;
    traffic_write_times(out, name);
    return true;
}

static double requests_waiting(struct core *core)
{
    return pool_queued(core->pool);
}

static bool answers(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    (void)a, (void)err;
    metric_value(out, name, "_total", (const char *[]){"from", "memory", NULL},
                 (double)metric_read(&core->answers.given));
    metric_value(out, name, "_total", (const char *[]){"from", "database", NULL},
                 (double)metric_read(&core->answers.made));
    return true;
}

static bool operations(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    (void)a, (void)err;
    for (int i = 0; i < OPERATE_STATE_COUNT; i++)
        metric_value(out, name, "_total", (const char *[]){"result", operate_states[i], NULL},
                     (double)metric_read(&core->operations[i]));
    return true;
}

static double rooms_open(struct core *core)
{
    size_t rooms, people;
    rooms_count(core->rooms, &rooms, &people);
    return (double)rooms;
}

static double rooms_people(struct core *core)
{
    size_t rooms, people;
    rooms_count(core->rooms, &rooms, &people);
    return (double)people;
}

static double writes_waiting(struct core *core)
{
    return (double)db_write_queue(core->db);
}

static double writes(struct core *core)
{
    return (double)metric_read(&db_writing(core->db)->writes);
}

static bool held_times(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    (void)a, (void)err;
    metric_times_write(out, name, NULL, &db_writing(core->db)->held);
    return true;
}

static bool batch_times(struct core *core, const char *name, struct arena *a, struct buf *out,
                        struct err *err)
{
    (void)a, (void)err;
    metric_times_write(out, name, NULL, &db_writing(core->db)->batches);
    return true;
}

/* --- rows: the columns before the last are labels --- */

static bool write_query(struct core *core, const char *name, const char *sql, const char *const *labels,
                        struct arena *a, struct buf *out, struct err *err)
{
    struct db_rows rows;
    if (!db_query(core->db, a, sql, DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const char *with[5] = {0};
        size_t n = 0;
        for (; labels[n]; n++) {
            with[2 * n] = labels[n];
            with[2 * n + 1] = arena_strz(a, rows.row[i].v[n].s);
        }
        metric_value(out, name, "", with, (double)rows.row[i].v[n].i);
    }
    return true;
}

static bool tasks(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    return write_query(core, name, "SELECT type, state, COUNT(*) FROM tasks GROUP BY type, state",
                       (const char *[]){"type", "state", NULL}, a, out, err);
}

static bool jobs(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    return write_query(core, name, "SELECT state, COUNT(*) FROM jobs GROUP BY state",
                       (const char *[]){"state", NULL}, a, out, err);
}

static bool on_demand(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    const char *kinds_of = "'-'";
    for (size_t i = 0; on_demand_sorts[i]; i++)
        kinds_of = arena_printf(a, "%s, '%s'", kinds_of, on_demand_sorts[i]->owner->kind);
    const char *sql = arena_printf(
        a, "SELECT owner_kind, state, COUNT(*) FROM jobs WHERE owner_kind IN (%s) GROUP BY owner_kind, state",
        kinds_of);
    return write_query(core, name, sql, (const char *[]){"kind", "state", NULL}, a, out, err);
}

static bool services(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    return write_query(core, name, "SELECT state, COUNT(*) FROM services GROUP BY state",
                       (const char *[]){"state", NULL}, a, out, err);
}

static bool service_replicas(struct core *core, const char *name, struct arena *a, struct buf *out,
                             struct err *err)
{
    return write_query(
        core, name,
        "SELECT 'wanted', CAST(COALESCE(SUM(v.replicas), 0) AS BIGINT) FROM service_versions v"
        " JOIN services s ON s.id = v.service WHERE v.role <> 'retired' AND v.stopped = 0 AND"
        " s.stopped = 0 UNION ALL SELECT 'ready', COUNT(*) FROM replicas WHERE state = 'ready'",
        (const char *[]){"state", NULL}, a, out, err);
}

static bool stored(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    return write_query(core, name,
                       "SELECT 'blobs', CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM storage_use UNION ALL"
                       " SELECT 'folders', CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM folder_use",
                       (const char *[]){"place", NULL}, a, out, err);
}

/* --- the disk --- */

static double disk_size(struct core *core)
{
    struct statvfs st;
    return statvfs(core->data, &st) == 0 ? (double)st.f_blocks * (double)st.f_frsize : -1;
}

static double disk_free(struct core *core)
{
    struct statvfs st;
    return statvfs(core->data, &st) == 0 ? (double)st.f_bavail * (double)st.f_frsize : -1;
}

static double unmoved(struct core *core)
{
    struct store_moving moving;
    store_moving(core->store, &moving);
    return (double)moving.left_bytes;
}

/* --- points over time --- */

#define OF_SERIES(family, member)                                                                            \
    static double family(struct core *core)                                                                  \
    {                                                                                                        \
        struct series_sizes sizes;                                                                           \
        series_sizes(core, &sizes);                                                                          \
        return (double)sizes.member;                                                                         \
    }
OF_SERIES(series_count, series)
OF_SERIES(series_points_kept, points)
OF_SERIES(series_bytes, bytes)
OF_SERIES(series_rows, rows)
OF_SERIES(series_waiting, waiting)

/* --- controllers --- */

static bool write_controllers(struct core *core, const char *name, const char *suffix,
                              double (*value)(const struct controller_state *s), struct buf *out)
{
    for (size_t i = 0; i < controller_count; i++) {
        struct controller_state s;
        const char *labels[] = {"controller", controllers[i]->name, NULL};
        if (controller_state(core, controllers[i], &s))
            metric_value(out, name, suffix, labels, value(&s));
    }
    return true;
}

#define OF_CONTROLLERS(family, suffix, expression)                                                           \
    static double family##_of(const struct controller_state *s)                                              \
    {                                                                                                        \
        return expression;                                                                                   \
    }                                                                                                        \
    static bool family(struct core *core, const char *name, struct arena *a, struct buf *out,                \
                       struct err *err)                                                                      \
    {                                                                                                        \
        (void)a, (void)err;                                                                                  \
        return write_controllers(core, name, suffix, family##_of, out);                                      \
    }
OF_CONTROLLERS(last_run, "", (double)s->last_at / 1e6)
OF_CONTROLLERS(last_took, "", (double)s->took_us / 1e6)
OF_CONTROLLERS(runs, "_total", (double)s->runs)
OF_CONTROLLERS(failures, "_total", (double)s->failures)
OF_CONTROLLERS(failing, "", s->runs && !s->ok)

/* --- services --- */

static bool service_requests(struct core *core, const char *name, struct arena *a, struct buf *out,
                             struct err *err)
{
    (void)a, (void)err;
    serve_traffic_metrics(core, name, out);
    return true;
}

static bool service_times(struct core *core, const char *name, struct arena *a, struct buf *out,
                          struct err *err)
{
    (void)a, (void)err;
    serve_traffic_times(core, name, out);
    return true;
}

/* --- the process --- */

/* Pages of /proc/self/statm: of the address space, and of what is in memory. */
static double pages(bool resident)
{
    long long all = -1, there = -1;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lld %lld", &all, &there) != 2)
        all = there = -1;
    if (f)
        fclose(f);
    return (double)(resident ? there : all) * (double)sysconf(_SC_PAGESIZE);
}

static double memory(struct core *core)
{
    (void)core;
    return pages(true);
}

static double address_space(struct core *core)
{
    (void)core;
    return pages(false);
}

static double open_files(struct core *core)
{
    (void)core;
    DIR *d = opendir("/proc/self/fd");
    int n = -1; /* the folder itself is open, too */
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static double most_files(struct core *core)
{
    (void)core;
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : -1;
}

static double cpu(struct core *core)
{
    (void)core;
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (double)t.tv_sec + (double)t.tv_nsec / 1e9 : -1;
}

static bool build(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err)
{
    (void)core, (void)a, (void)err;
    metric_value(out, name, "", (const char *[]){"version", INGOT_VERSION, NULL}, 1);
    return true;
}

/* --- all --- */

static const struct metric_row families[] = {
    {"ingot_build", "gauge", NULL, "The version that runs", .write = build},
    {"ingot_http_requests", "counter", NULL, "Answered requests", .write = requests},
    {"ingot_http_request_duration_seconds", "histogram", "seconds", "Until the answer began",
     .write = request_times},
    {"ingot_http_requests_waiting", "gauge", NULL, "Requests that wait for a thread",
     .value = requests_waiting},
    {"ingot_answers", "counter", NULL, "Reads of objects: given again from memory, or made from the database",
     .write = answers},
    {"ingot_db_writes", "counter", NULL, "Writes that the database was asked for", .value = writes},
    {"ingot_db_writes_waiting", "gauge", NULL, "Writes that wait for the writing thread",
     .value = writes_waiting},
    {"ingot_db_write_held_seconds", "histogram", "seconds",
     "How long each write kept people's writes waiting, its commit apart", .write = held_times},
    {"ingot_db_batch_duration_seconds", "histogram", "seconds",
     "Batches of the writing thread: all writes that waited, and their commit", .write = batch_times},
    {"ingot_operations", "counter", NULL, "Operations on samples, by what became of them",
     .write = operations},
    {"ingot_rooms", "gauge", NULL, "Samples that somebody has open", .value = rooms_open},
    {"ingot_rooms_people", "gauge", NULL, "Connections to them", .value = rooms_people},
    {"ingot_tasks", "gauge", NULL, "Background tasks", .write = tasks},
    {"ingot_jobs", "gauge", NULL, "Jobs", .write = jobs},
    {"ingot_label_leases", "gauge", NULL, "Samples that people have just now", .value = label_open_leases},
    {"ingot_label_submitted", "gauge", NULL, "Samples that were submitted in the tasks that are there",
     .value = label_submitted},
    {"ingot_on_demand_jobs", "gauge", NULL, "Jobs on demand: TensorBoards, models that are tried",
     .write = on_demand},
    {"ingot_services", "gauge", NULL, "Services", .write = services},
    {"ingot_service_replicas", "gauge", NULL, "Replicas of services that are wanted, and that answer",
     .write = service_replicas},
    {"ingot_disk_size_bytes", "gauge", "bytes", "The file system of the data folder", .value = disk_size},
    {"ingot_disk_free_bytes", "gauge", "bytes", "What is free there", .value = disk_free},
    {"ingot_stored_bytes", "gauge", "bytes",
     "What projects store: blobs as each project uses them, and folders", .write = stored},
    {"ingot_unmoved_bytes", "gauge", "bytes", "Blobs that wait to be moved to the bucket", .value = unmoved},
    {"ingot_series", "gauge", NULL, "Curves that are kept, as of the last run of compact-series",
     .value = series_count},
    {"ingot_series_points", "gauge", NULL, "Their points", .value = series_points_kept},
    {"ingot_series_bytes", "gauge", "bytes", "What those take, packed", .value = series_bytes},
    {"ingot_series_rows", "gauge", NULL, "Rows of the database that have them", .value = series_rows},
    {"ingot_series_points_waiting", "gauge", NULL, "Points in memory, not written yet",
     .value = series_waiting},
    {"ingot_controller_last_run_timestamp_seconds", "gauge", "seconds", "When it began last; 0: never",
     .write = last_run},
    {"ingot_controller_last_duration_seconds", "gauge", "seconds", "How long its last run took",
     .write = last_took},
    {"ingot_controller_runs", "counter", NULL, "Its runs", .write = runs},
    {"ingot_controller_failures", "counter", NULL, "Those that failed", .write = failures},
    {"ingot_controller_failing", "gauge", NULL, "1: its last run failed", .write = failing},
    {"ingot_service_requests", "counter", NULL, "Requests that were sent to versions of services",
     .write = service_requests},
    {"ingot_service_request_duration_seconds", "histogram", "seconds", "Until their answers began",
     .write = service_times},
    {"process_resident_memory_bytes", "gauge", "bytes", "Memory in use", .value = memory},
    {"process_virtual_memory_bytes", "gauge", "bytes", "Address space", .value = address_space},
    {"process_open_fds", "gauge", NULL, "Open files and sockets", .value = open_files},
    {"process_max_fds", "gauge", NULL, "So many may be open", .value = most_files},
    {"process_cpu_seconds", "counter", "seconds", "Time on the CPUs", .value = cpu},
};

bool metrics_write(struct core *core, struct arena *a, struct buf *out, struct err *err)
{
    for (size_t i = 0; i < countof(families); i++) {
        const struct metric_row *f = &families[i];
        metric_family(out, f->name, f->type, f->unit, f->help);
        double value = f->value ? f->value(core) : -1;
        if (value >= 0)
            metric_value(out, f->name, strcmp(f->type, "counter") == 0 ? "_total" : "", NULL, value);
        if (f->write && !f->write(core, f->name, a, out, err))
            return false;
    }
    buf_z(out, "# EOF\n");
    return true;
}
