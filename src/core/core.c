#include "core/core.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/logbook.h"
#include "core/account/accounts.h"
#include "core/changes.h"
#include "core/compute/spec.h"
#include "core/controller.h"
#include "core/data/document.h"
#include "core/data/room.h"
#include "core/data/sources.h"
#include "core/demo/demo.h"
#include "core/environment/tool.h"
#include "core/environment/tools.h"
#include "core/quota.h"
#include "core/runtime/runtime.h"
#include "core/schema.h"
#include "core/serve/gate.h"
#include "core/task/task.h"
#include "media/media.h"
#include "store/s3.h"
#include "store/store.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>

/* As many as writes that may wait for one commit; threads exist only while they are needed. */
#define POOL_THREADS 64
#define POOL_QUEUE   4096

static bool open_data(struct core *core, const char *path, struct err *err)
{
    char *real;
    if (!fs_mkdirs(path, 0700, err))
        return false;
    real = realpath(path, NULL);
    if (!real)
        return err_errno(err, errno, "%s", path);
    core->data = real;
    core->data_fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (core->data_fd < 0)
        return err_errno(err, errno, "%s", real);
    core->lock_fd = openat(core->data_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (core->lock_fd < 0)
        return err_errno(err, errno, "%s/lock", real);
    if (flock(core->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno == EWOULDBLOCK)
        return err_set(err, ERR_HELD, NULL, "another ingot runs on %s", real);
    return err_errno(err, errno, "%s/lock", real);
}

/* Without it the platform works: its log is on standard error as well. */
static bool open_log(struct core *core, struct arena *a)
{
    struct err err = {0};
    if (!logbook_open(arena_printf(a, "%s/log", core->data), &err))
        log_warn("the log is not kept: %s", err.message);
    return true;
}

static bool open_db(struct core *core, const struct core_options *o, struct arena *a, struct err *err)
{
    struct db_options options = {
        .url = o->db_url, .hold = true, .hold_wait_s = o->db_wait_s, .taken = o->taken};
    if (!options.url)
        options.url = arena_printf(a, "sqlite:%s/ingot.db", core->data);
    core->db = db_open(&options, err);
    return core->db && schema_update(core->db, a, err);
}

/* An unused blob is kept for an hour: long enough for what was uploaded to be used. */
#define BLOB_GRACE_S 3600

/* "s3://bucket/prefix", with the credentials of the environment: an argument could be seen by every user of
 * the machine. */
static bool bucket_options(const struct core_options *o, struct arena *a, struct s3_options *ret,
                           const char **ret_prefix, struct err *err)
{
    struct str rest = str_of(o->store), prefix;
    if (!str_starts(rest, "s3://"))
        return err_set(err, ERR_INVALID, "store", "--store %s: must be s3://bucket or s3://bucket/prefix",
                       o->store);
    rest.p += 5;
    rest.n -= 5;
    const char *bucket = arena_strz(a, str_cut(rest, '/', &prefix));
    const char *key = getenv("AWS_ACCESS_KEY_ID"), *secret = getenv("AWS_SECRET_ACCESS_KEY");
    if (!key || !secret)
        return err_set(err, ERR_INVALID, "store",
                       "--store needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment");
    if (o->s3_ca && access(o->s3_ca, R_OK) != 0)
        return err_errno(err, errno, "--s3-ca %s cannot be read", o->s3_ca);
    *ret_prefix = prefix.n ? arena_strz(a, prefix) : NULL;
    *ret = (struct s3_options){.endpoint = o->s3_endpoint,
                               .region = o->s3_region,
                               .bucket = bucket,
                               .key = key,
                               .secret = secret,
                               .token = getenv("AWS_SESSION_TOKEN"),
                               .ca_file = o->s3_ca};
    return true;
}

static bool open_store(struct core *core, const struct core_options *o, struct arena *a, struct err *err)
{
    struct store_options options = {
        .db = core->db, .data = core->data, .grace_seconds = BLOB_GRACE_S, .cache_bytes = o->cache_bytes};
    struct s3_options bucket;
    if (o->store && !bucket_options(o, a, &bucket, &options.s3_prefix, err))
        return false;
    options.s3 = o->store ? &bucket : NULL;
    core->store = store_open(&options, err);
    core->media = media_new(&(struct media_options){0});
    return core->store != NULL;
}

static const char *config_path(const struct core *core, const struct core_options *o, struct arena *a)
{
    if (o->config)
        return o->config;
    const char *path = arena_printf(a, "%s/config.json", core->data);
    return access(path, F_OK) == 0 ? path : NULL;
}

/* A list of texts of the configuration; each passes `ok`. */
static bool read_list(yyjson_val *doc, const char *config, const char *key, bool (*ok)(const char *text),
                      const char *rule, struct core_list *ret, struct err *err)
{
    yyjson_val *list = yyjson_obj_get(doc, key), *v;
    size_t i, max;
    if (!list)
        return true;
    if (!yyjson_is_arr(list))
        return err_set(err, ERR_INVALID, key, "%s: %s must be %s", config, key, rule);
    ret->items = base_zalloc((yyjson_arr_size(list) + 1) * sizeof *ret->items);
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!yyjson_is_str(v) || !ok(yyjson_get_str(v)))
            return err_set(err, ERR_INVALID, key, "%s: %s must be %s", config, key, rule);
        ret->items[ret->n++] = base_strdup(yyjson_get_str(v));
    }
    return true;
}

static bool is_absolute(const char *text)
{
    return text[0] == '/';
}

static bool is_host(const char *text)
{
    const char *host = strncmp(text, "http://", 7) == 0    ? text + 7
                       : strncmp(text, "https://", 8) == 0 ? text + 8
                                                           : text;
    return *host && strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") == strlen(host);
}

static void free_list(struct core_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i]);
    free(l->items);
}

/* "containers": {"inventory": "/etc/ingot/devices.json", "egress": true} */
static bool read_containers(struct core *core, const char *config, yyjson_val *doc, struct arena *a,
                            struct err *err)
{
    yyjson_val *v = yyjson_obj_get(doc, "containers");
    yyjson_val *inventory = yyjson_obj_get(v, "inventory"), *egress = yyjson_obj_get(v, "egress");
    struct str text;
    if ((v && !yyjson_is_obj(v)) || (egress && !yyjson_is_bool(egress)) ||
        (inventory && (!yyjson_is_str(inventory) || yyjson_get_str(inventory)[0] != '/')))
        return err_set(err, ERR_INVALID, "containers",
                       "%s: containers is an object with \"inventory\" (an absolute path) and \"egress\" "
                       "(true or false)",
                       config);
    core->egress = yyjson_get_bool(egress);
    if (!inventory)
        return true;
    core->inventory = base_strdup(yyjson_get_str(inventory));
    return fs_read(a, core->inventory, 1 << 20, &text, err) && json_parse(a, text, err);
}

/* "task_hours": {"import": 48} */
static bool read_task_hours(struct core *core, const char *config, yyjson_val *doc, struct err *err)
{
    yyjson_val *all = yyjson_obj_get(doc, "task_hours"), *key, *v;
    size_t i, max;
    if (!all)
        return true;
    core->task_hours.items = base_zalloc((yyjson_obj_size(all) + 1) * sizeof *core->task_hours.items);
    yyjson_obj_foreach(all, i, max, key, v)
    {
        if (!task_type_named(json_str(key)) || !yyjson_is_num(v) || yyjson_get_num(v) <= 0)
            return err_set(err, ERR_INVALID, "task_hours",
                           "%s: task_hours: \"%s\" must be a type of task with hours above 0", config,
                           yyjson_get_str(key));
        core->task_hours.items[core->task_hours.n].name = base_strdup(yyjson_get_str(key));
        core->task_hours.items[core->task_hours.n++].hours = yyjson_get_num(v);
    }
    return yyjson_is_obj(all) || err_set(err, ERR_INVALID, "task_hours",
                                         "%s: task_hours is an object, as in {\"import\": 48}", config);
}

/* "series": {"second_hours": 2, "minute_days": 30, "write_s": 30}; a table of its numbers. */
static bool read_series(struct core *core, const char *config, yyjson_val *doc, struct err *err)
{
    double write_s = (double)core->series_limits.write_s;
    const struct {
        const char *key;
        double *to, min, max;
    } numbers[] = {{"second_hours", &core->series_limits.second_hours, 0.5, 168},
                   {"minute_days", &core->series_limits.minute_days, 1, 3650},
                   {"write_s", &write_s, 5, 300}};
    yyjson_val *all = yyjson_obj_get(doc, "series"), *key, *v;
    size_t i, max;
    if (!all)
        return true;
    if (!yyjson_is_obj(all))
        return err_set(err, ERR_INVALID, "series", "%s: series is an object, as in {\"second_hours\": 2}",
                       config);
    yyjson_obj_foreach(all, i, max, key, v)
    {
        size_t k = 0;
        while (k < countof(numbers) && !str_is(json_str(key), numbers[k].key))
            k++;
        if (k == countof(numbers))
            return err_set(err, ERR_INVALID, "series", "%s: series has no \"%s\"", config,
                           yyjson_get_str(key));
        double number = yyjson_get_num(v);
        if (!yyjson_is_num(v) || !(number >= numbers[k].min && number <= numbers[k].max))
            return err_set(err, ERR_INVALID, "series", "%s: series: \"%s\" must be a number from %g to %g",
                           config, numbers[k].key, numbers[k].min, numbers[k].max);
        *numbers[k].to = number;
    }
    core->series_limits.write_s = (int64_t)write_s;
    return true;
}

/* "import_ca": a file that can be read. */
static bool read_ca(struct core *core, const char *config, yyjson_val *doc, struct arena *a, struct err *err)
{
    yyjson_val *v = yyjson_obj_get(doc, "import_ca");
    struct str text;
    if (!v)
        return true;
    if (!yyjson_is_str(v) || !is_absolute(yyjson_get_str(v)))
        return err_set(err, ERR_INVALID, "import_ca", "%s: import_ca must be an absolute path", config);
    core->import_ca = base_strdup(yyjson_get_str(v));
    return fs_read(a, core->import_ca, 1 << 22, &text, err);
}

static bool read_config(struct core *core, const char *config, struct arena *a, struct err *err)
{
    struct str text;
    if (!config)
        return true;
    if (!fs_read(a, config, 1 << 20, &text, err))
        return false;
    yyjson_val *doc = json_parse(a, text, err);
    return doc &&
           read_list(doc, config, "import_roots", is_absolute, "absolute paths", &core->import_roots, err) &&
           read_list(doc, config, "import_hosts", sources_is_host, "hosts, each with or without a port",
                     &core->import_hosts, err) &&
           read_list(doc, config, "registries", is_host,
                     "hosts, as in \"docker.io\" or \"http://10.0.0.7:5000\"", &core->registries, err) &&
           read_ca(core, config, doc, a, err) && read_containers(core, config, doc, a, err) &&
           read_task_hours(core, config, doc, err) && read_series(core, config, doc, err);
}

static bool open_accounts(struct core *core, const struct core_options *o, struct arena *a,
                          const char **ret_password, struct err *err)
{
    core->accounts = accounts_new(core, config_path(core, o, a), err);
    return core->accounts && spec_make_first(core, a, err) && runtime_make_built_in(core, err) &&
           tool_make_rows(core, err) && demo_make_row(core, err) &&
           accounts_first_admin(core, a, ret_password, err);
}

static bool open_tools(struct core *core, const struct core_options *o, struct err *err)
{
    core->tools = tools_new(core, &(struct tools_options){o->tools_dir, o->tools_url, o->tls}, err);
    return core->tools != NULL;
}

static bool open_accounts_only(struct core *core, const struct core_options *o, struct arena *a,
                               struct err *err)
{
    if (!open_data(core, o->data, err) || !open_db(core, o, a, err))
        return false;
    core->accounts = accounts_new(core, NULL, err);
    return core->accounts != NULL;
}

struct core *core_open(const struct core_options *o, struct arena *a, const char **ret_password,
                       struct err *err)
{
    struct core *core = base_zalloc(sizeof *core);
    core->data_fd = core->lock_fd = -1;
    core->series_limits = (struct core_series){.second_hours = 2, .minute_days = 30, .write_s = 30};
    core->public_url = o->public_url ? base_strdup(o->public_url) : NULL;
    core->gateway_url = o->gateway_url ? base_strdup(o->gateway_url) : NULL;
    core->tls = o->tls;
    core->changes = changes_new();
    core->gate = serve_gate_new();
    core->documents = documents_new();
    core->rooms = rooms_new();
    core->pool = pool_new("work", POOL_THREADS, POOL_QUEUE);
    const char *password = NULL;
    if (o->accounts_only) {
        if (open_accounts_only(core, o, a, err))
            return core;
        core_close(core);
        return NULL;
    }
    if (open_data(core, o->data, err) && open_log(core, a) && open_db(core, o, a, err) &&
        open_store(core, o, a, err) && quota_write_all(core, err) &&
        read_config(core, config_path(core, o, a), a, err) && open_accounts(core, o, a, &password, err) &&
        open_tools(core, o, err) && controllers_start(core, o, err)) {
        *ret_password = password;
        return core;
    }
    core_close(core);
    return NULL;
}

void core_close(struct core *core)
{
    if (!core)
        return;
    controllers_stop(core, false);
    pool_free(core->pool);
    controllers_stop(core, true);
    controllers_free(core);
    tools_free(core->tools);
    serve_gate_free(core->gate);
    media_free(core->media);
    store_close(core->store);
    accounts_free(core->accounts);
    if (core->db)
        db_close(core->db);
    documents_free(core->documents);
    rooms_free(core->rooms);
    changes_free(core->changes);
    logbook_close();
    if (core->data_fd >= 0)
        close(core->data_fd);
    if (core->lock_fd >= 0)
        close(core->lock_fd);
    free_list(&core->import_roots);
    free_list(&core->import_hosts);
    free_list(&core->registries);
    for (size_t i = 0; i < core->task_hours.n; i++)
        free(core->task_hours.items[i].name);
    free(core->task_hours.items);
    free((char *)core->data);
    free((char *)core->gateway_url);
    free((char *)core->import_ca);
    free((char *)core->public_url);
    free((char *)core->inventory);
    free(core);
}
