/* What v2 tells of the server and its models, and the repository. */
#include "infer/call.h"
#include "infer/types.h"

static const struct header json_type = {{"Content-Type", 12}, {"application/json", 16}};

void v2_serve_health(struct call *c)
{
    call_answer(c, 200, &json_type, 1, STR("{\"live\":true}"));
}

/* While it is not ready nothing has failed: there is nothing for the log. */
void v2_serve_ready(struct call *c)
{
    bool ready = atomic_load(&c->server->ready);
    call_answer(c, ready ? 200 : 503, &json_type, 1,
                ready ? STR("{\"ready\":true}") : STR("{\"ready\":false}"));
}

void v2_serve_server(struct call *c)
{
    static const char *const extensions[] = {"classification", "model_configuration", "model_repository",
                                             "statistics",     "binary_tensor_data",  "parameters",
                                             "ingot_predict"};
    auto_buf struct buf out = {0};
    struct json_out j;
    json_begin(&j, &out);
    json_object(&j);
    json_kz(&j, "name", "ingot-infer");
    json_kz(&j, "version", INGOT_VERSION);
    json_key(&j, "extensions");
    json_array(&j);
    for (size_t i = 0; i < countof(extensions); i++)
        json_z(&j, extensions[i]);
    json_array_end(&j);
    json_object_end(&j);
    call_json(c, &out);
}

void v2_serve_model_ready(struct call *c)
{
    auto_buf struct buf out = {0};
    struct json_out j;
    if (!call_model(c))
        return;
    json_begin(&j, &out);
    json_object(&j);
    json_kz(&j, "name", c->part ? c->part->model : c->served->name);
    json_kbool(&j, "ready", true);
    json_object_end(&j);
    call_json(c, &out);
}

/* --- metadata and configuration --- */

/* skip: leading dimensions that are left out. */
static void write_values(struct json_out *j, const struct session_value *list, size_t n, bool config,
                         size_t skip)
{
    json_array(j);
    for (size_t i = 0; i < n; i++) {
        json_object(j);
        json_kz(j, "name", list[i].name);
        json_kz(j, config ? "data_type" : "datatype",
                config ? types[list[i].type].config : types[list[i].type].name);
        json_key(j, config ? "dims" : "shape");
        json_array(j);
        for (size_t d = skip; d < list[i].n_dims; d++)
            json_int(j, list[i].dims[d]);
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_versions(struct call *c, struct json_out *j)
{
    size_t n;
    struct served **all = models_all(c->server->o.models, c->arena, &n);
    json_key(j, "versions");
    json_array(j);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i]->name, c->served->name) == 0)
            json_z(j, all[i]->version);
        models_drop(c->server->o.models, all[i]);
    }
    json_array_end(j);
}

void v2_serve_model(struct call *c)
{
    auto_buf struct buf out = {0};
    struct json_out j;
    if (!call_model(c))
        return;
    const struct session *s = c->part ? c->part->session : NULL;
    json_begin(&j, &out);
    json_object(&j);
    json_kz(&j, "name", c->part ? c->part->model : c->served->name);
    write_versions(c, &j);
    json_kz(&j, "platform", "onnxruntime_onnx");
    json_key(&j, "inputs");
    write_values(&j, s ? s->inputs : NULL, s ? s->n_inputs : 0, false, 0);
    json_key(&j, "outputs");
    write_values(&j, s ? s->outputs : NULL, s ? s->n_outputs : 0, false, 0);
    if (c->served->manifest)
        json_kz(&j, "task", model_task_name(c->served->manifest->task));
    if (c->served->n_parts > 1) {
        json_key(&j, "parts");
        json_array(&j);
        for (size_t i = 0; i < c->served->n_parts; i++)
            json_z(&j, c->served->parts[i].model);
        json_array_end(&j);
    }
    json_object_end(&j);
    call_json(c, &out);
}

static void write_config(struct json_out *j, const struct served_part *p)
{
    const struct session *s = p->session;
    size_t skip = p->batch.max_rows > 1;
    json_kint(j, "max_batch_size", skip ? (int64_t)p->batch.max_rows : 0);
    json_key(j, "input");
    write_values(j, s->inputs, s->n_inputs, true, skip);
    json_key(j, "output");
    write_values(j, s->outputs, s->n_outputs, true, skip);
    json_key(j, "instance_group");
    json_array(j);
    json_object(j);
    json_kz(j, "kind", "KIND_CPU");
    json_kint(j, "count", p->batch.instances);
    json_object_end(j);
    json_array_end(j);
    if (!skip)
        return;
    json_key(j, "dynamic_batching");
    json_object(j);
    json_kint(j, "max_queue_delay_microseconds", p->batch.delay_us);
    json_kbool(j, "preserve_ordering", true);
    json_object_end(j);
}

void v2_serve_config(struct call *c)
{
    auto_buf struct buf out = {0};
    struct json_out j;
    if (!call_model(c))
        return;
    json_begin(&j, &out);
    json_object(&j);
    json_kz(&j, "name", c->part ? c->part->model : c->served->name);
    json_kz(&j, "platform", "onnxruntime_onnx");
    json_kz(&j, "backend", "onnxruntime");
    json_key(&j, "version_policy");
    json_raw(&j, STR("{\"all\":{}}"));
    if (c->part)
        write_config(&j, c->part);
    json_object_end(&j);
    call_json(c, &out);
}

/* --- statistics --- */

static void write_time(struct json_out *j, const char *key, uint64_t count, uint64_t ns)
{
    json_key(j, key);
    json_object(j);
    json_kint(j, "count", (int64_t)count);
    json_kint(j, "ns", (int64_t)ns);
    json_object_end(j);
}

/* No part of the protocol: up to how many rows share a run, and what a row costs by the size of its run. */
static void write_sharing(struct json_out *j, const struct served *s)
{
    json_key(j, "sharing");
    json_array(j);
    for (size_t i = 0; i < s->n_parts; i++) {
        struct gain_figures gain;
        batcher_gain(s->parts[i].batcher, &gain);
        json_object(j);
        json_kz(j, "name", s->parts[i].model);
        json_kint(j, "rows", (int64_t)gain.rows);
        json_key(j, "row_ns");
        json_object(j);
        for (size_t k = 0; k < GAIN_SIZES; k++) {
            char rows[8];
            snprintf(rows, sizeof rows, "%zu", (size_t)1 << k);
            if (gain.ns[k] > 0)
                json_kint(j, rows, (int64_t)gain.ns[k]);
        }
        json_object_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_stats(struct json_out *j, const struct served *s)
{
    static const char *const keys[STAGE_COUNT] = {"queue", "compute_input", "compute_infer",
                                                  "compute_output"};
    const struct figures *f = &s->figures;
    uint64_t ok = metric_read(&f->count[1]), runs = 0, rows = 0;
    for (size_t i = 0; i < s->n_parts; i++) {
        runs += metric_read(&batcher_figures(s->parts[i].batcher)->runs);
        rows += metric_read(&batcher_figures(s->parts[i].batcher)->rows);
    }
    json_object(j);
    json_kz(j, "name", s->name);
    json_kz(j, "version", s->version);
    json_kint(j, "last_inference", (int64_t)metric_read(&f->last_ms));
    json_kint(j, "inference_count", (int64_t)rows);
    json_kint(j, "execution_count", (int64_t)runs);
    json_key(j, "inference_stats");
    json_object(j);
    write_time(j, "success", ok, metric_read(&f->ns[1]));
    write_time(j, "fail", metric_read(&f->count[0]), metric_read(&f->ns[0]));
    for (size_t i = 0; i < STAGE_COUNT; i++)
        write_time(j, keys[i], ok, metric_read(&f->stage_ns[i]));
    write_time(j, "cache_hit", 0, 0);
    write_time(j, "cache_miss", 0, 0);
    json_object_end(j);
    json_key(j, "batch_stats");
    json_raw(j, STR("[]"));
    write_sharing(j, s);
    json_object_end(j);
}

/* Of all models, of one, or of one version. */
void v2_serve_stats(struct call *c)
{
    auto_buf struct buf out = {0};
    struct json_out j;
    size_t n;
    if (c->name.p && !call_model(c))
        return;
    struct served **all = models_all(c->server->o.models, c->arena, &n);
    json_begin(&j, &out);
    json_object(&j);
    json_key(&j, "model_stats");
    json_array(&j);
    for (size_t i = 0; i < n; i++) {
        if (!c->name.p || (c->version.n ? all[i] == c->served : strcmp(all[i]->name, c->served->name) == 0))
            write_stats(&j, all[i]);
        models_drop(c->server->o.models, all[i]);
    }
    json_array_end(&j);
    json_object_end(&j);
    call_json(c, &out);
}

/* --- the repository --- */

static void index_then(struct call *c, unused_ok enum batcher_where where)
{
    auto_buf struct buf out = {0};
    struct json_out j;
    struct err err = {0};
    size_t n;
    yyjson_val *root = c->body.n ? json_parse(c->arena, c->body, &err) : NULL;
    if (err.code) {
        call_fail(c, &err);
        return;
    }
    bool ready = yyjson_get_bool(yyjson_obj_get(root, "ready"));
    struct models_entry *list = models_index(c->server->o.models, c->arena, &n);
    json_begin(&j, &out);
    json_array(&j);
    for (size_t i = 0; i < n; i++) {
        if (ready && strcmp(list[i].state, "READY") != 0)
            continue;
        json_object(&j);
        json_kz(&j, "name", list[i].name);
        if (list[i].version)
            json_kz(&j, "version", list[i].version);
        json_kz(&j, "state", list[i].state);
        json_kz(&j, "reason", list[i].reason);
        json_object_end(&j);
    }
    json_array_end(&j);
    call_json(c, &out);
}

void v2_serve_index(struct call *c)
{
    call_collect(c, false, index_then);
}

static void change_then(struct call *c, unused_ok enum batcher_where where)
{
    struct err err = {0};
    yyjson_val *root = c->body.n ? json_parse(c->arena, c->body, &err) : NULL;
    yyjson_val *parameters = yyjson_obj_get(root, "parameters");
    if (!err.code && c->load && (yyjson_obj_get(parameters, "config") || yyjson_obj_size(parameters) > 0))
        err_set(&err, ERR_INVALID, "parameters",
                "a model is loaded as it is on the disk: its configuration and files cannot be sent");
    if (err.code || !(c->load ? models_load : models_unload)(c->server->o.models, c->name, &err))
        call_fail(c, &err);
    else
        call_answer(c, 200, NULL, 0, STR(""));
}

static void change(struct call *c, bool load)
{
    struct err err = {0};
    c->load = load;
    if (!c->server->o.allow_load) {
        err_set(&err, ERR_FORBIDDEN, NULL, "loading and unloading is not allowed here (--allow-load)");
        call_fail(c, &err);
        return;
    }
    call_collect(c, true, change_then);
}

void v2_serve_load(struct call *c)
{
    change(c, true);
}

void v2_serve_unload(struct call *c)
{
    change(c, false);
}
