#include "api/rest/operations.h"

#include "api/rest/uploads.h"
#include "base/clock.h"
#include "base/messages.h"
#include "core/account/accounts.h"
#include "core/data/layer.h"
#include "core/data/operate.h"
#include "core/label/lease.h"
#include "core/names.h"
#include "core/pending.h"

/* --- changing --- */

struct running {
    struct core *core;
    const struct caller *caller;
    struct arena *arena;
    struct operations_where where;
    int64_t assignment; /* of a labelling task, by which they are made; 0: none */
    struct operate_item *items;
    struct str *ids; /* as given: also of what could not be read */
    struct operate_result *results;
    bool *settled; /* refused before the write */
    size_t n, done, now;
    operations_then then;
    void *ctx;
};

bool operations_find(struct api_call *call, int64_t sample, enum sample_right right, struct object *ret,
                     struct err *err)
{
    int64_t dataset, version;
    if (!str_to_i64(call->params[0], &dataset) || !str_to_i64(call->params[1], &version))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such version");
    return sample_version(call->core, &call->caller, dataset, version, sample, right, call->arena, ret, err);
}

/* What concerns the operation, without where it goes. */
static struct str bare(struct arena *a, yyjson_val *v)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    yyjson_val *key, *value;
    size_t i, max;
    json_begin(&o, &b);
    json_object(&o);
    yyjson_obj_foreach(v, i, max, key, value)
    {
        if (str_is(json_str(key), "sample") || str_is(json_str(key), "layer"))
            continue;
        json_key(&o, yyjson_get_str(key));
        json_value(&o, value);
    }
    json_object_end(&o);
    return arena_str(a, buf_view(&b));
}

static bool read_item(struct running *r, enum annotation_type type, yyjson_val *v, struct operate_item *ret,
                      struct err *err)
{
    struct operation *op = arena_new(r->arena, struct operation);
    yyjson_val *layer = yyjson_obj_get(v, "layer");
    if (!yyjson_is_obj(v))
        return err_message(err, ERR_INVALID, "operations", MESSAGE_OPERATIONS_COUNT, OPERATIONS_MAX);
    ret->sample = r->where.sample ? r->where.sample : yyjson_get_sint(yyjson_obj_get(v, "sample"));
    ret->layer = r->where.sample ? r->where.layer : yyjson_get_sint(layer);
    if (ret->sample <= 0)
        return err_message(err, ERR_INVALID, "sample", MESSAGE_OPERATION_SAMPLE);
    if (ret->layer < 0 || (layer && !yyjson_is_int(layer) && !yyjson_is_null(layer)))
        return err_set(err, ERR_INVALID, "layer", "layer: must be the id of a layer");
    ret->json = bare(r->arena, v);
    yyjson_val *parsed = json_parse(r->arena, ret->json, err);
    ret->op = op;
    if (!parsed || !operation_read(r->arena, type, parsed, op, err))
        return false;
    return op->kind != OPERATION_RELABEL ||
           err_set(err, ERR_INVALID, "op", "op must be put, remove, label, text, attribute or replace");
}

/* By an assignment, whose lease is asked again in the write; else by the right to the sample. */
static bool may(struct running *r, int64_t sample, struct object *version, struct err *err)
{
    struct db_row row;
    struct object o = {0};
    bool found;
    if (r->assignment) {
        if (!db_query_one(r->core->db, r->arena,
                          "SELECT project FROM dataset_versions WHERE id = ? AND dataset = ?",
                          db_args(db_int(r->where.version), db_int(r->where.dataset)), &row, &found, err))
            return false;
        o = (struct object){
            .kind = &kind_dataset_version, .id = r->where.version, .project = found ? row.v[0].i : 0};
        if (found && !lease_find(r->core, r->caller, &o, sample, r->assignment, r->arena, &found, err))
            return false;
        if (found)
            return engine_get(r->core, &caller_system, &kind_dataset_version, r->where.dataset,
                              r->where.version, r->arena, version, err);
    }
    return sample_version(r->core, r->caller, r->where.dataset, r->where.version, sample, SAMPLE_ANNOTATE,
                          r->arena, version, err);
}

/* Layers are changed by who has the seat, whose assignment names it, or who may change the version. */
static bool may_layer(struct running *r, const struct object *version, const struct operate_item *item,
                      struct err *err)
{
    return !item->layer || r->assignment ||
           caller_need(r->caller, "dataset_version.update", version->project, err);
}

static void settle(struct running *r, size_t i, const struct err *why)
{
    r->settled[i] = true;
    r->results[i] = (struct operate_result){.state = OPERATE_REFUSED, .problem = *why};
}

/* Reads them all. What one may not do to any of the samples is the request's own error. */
static bool read_items(struct running *r, yyjson_val *list, bool keep_state, struct err *err)
{
    struct op op = {.core = r->core, .caller = r->caller, .arena = r->arena};
    struct object version;
    struct sample_set set = {0};
    yyjson_val *v;
    size_t i, max, allowed = 0;
    int64_t asked = 0;
    struct err right = {0}, wrong;
    yyjson_arr_foreach(list, i, max, v)
    {
        int64_t sample = r->where.sample ? r->where.sample : yyjson_get_sint(yyjson_obj_get(v, "sample"));
        if (!asked || sample != asked) {
            right = (struct err){0};
            if (may(r, sample, &version, &right) && !set.version && !sample_set_of(&op, &version, &set, err))
                return false;
            asked = sample;
        }
        wrong = right;
        r->items[i].sample = sample;
        r->ids[i] = json_str(yyjson_obj_get(v, "id"));
        allowed += !right.code;
        if (wrong.code || !read_item(r, set.type, v, &r->items[i], &wrong) ||
            !may_layer(r, &version, &r->items[i], &wrong))
            settle(r, i, &wrong);
        r->items[i].keep_state = keep_state;
    }
    if (!allowed)
        *err = right;
    return allowed > 0;
}

static bool write_items(struct op *op, void *ctx, struct err *err)
{
    struct running *r = ctx;
    struct object version;
    struct sample_set set;
    struct label_rules rules;
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, r->where.version, &version, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    if (!sample_set_of(op, &version, &set, err) ||
        !label_rules_of(NULL, op->conn, op->arena, set.dataset, &rules, err))
        return false;
    r->now = r->done;
    do {
        size_t i = r->now;
        struct operate_item item = r->items[i];
        item.rules = &rules;
        struct err lost = {0};
        if (!r->settled[i] && r->assignment &&
            !lease_use(op, &version, item.sample, r->assignment, &item.layer, &lost)) {
            if (lost.code != ERR_CONFLICT) {
                *err = lost;
                return false;
            }
            r->results[i] = (struct operate_result){.state = OPERATE_REFUSED, .problem = lost};
        } else if (!r->settled[i] && !operate(op, &set, &item, &r->results[i], err)) {
            return false;
        }
        r->now++;
    } while (r->now < r->n && conn_goes_on(op->conn));
    return true;
}

static void write_problem(struct json_out *o, const struct err *err)
{
    json_object(o);
    json_kz(o, "code", err_info(err->code)->name);
    json_kz(o, "field", err->field[0] ? err->field : NULL);
    json_kz(o, "message", err->code == ERR_INTERNAL ? err_info(err->code)->title : err->message);
    json_kz(o, "message_zh", err->id ? err->zh : NULL);
    json_object_end(o);
}

static void write_result(struct json_out *o, struct str id, const struct operate_item *item,
                         const struct operate_result *res)
{
    json_object(o);
    json_kstr(o, "id", id);
    json_kint(o, "sample", item->sample);
    json_kz(o, "state", operate_states[res->state]);
    json_kint(o, "revision", res->revision);
    json_kbool(o, "clipped", res->clipped);
    json_key(o, "shape");
    res->shape.p ? json_raw(o, res->shape) : json_null(o);
    json_kstr(o, "label", res->label);
    json_key(o, "problem");
    res->problem.code ? write_problem(o, &res->problem) : json_null(o);
    json_object_end(o);
}

static void answer(struct running *r)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    buf_z(&text, "\"results\":");
    json_begin(&o, &text);
    json_array(&o);
    for (size_t i = 0; i < r->n; i++) {
        write_result(&o, r->ids[i], &r->items[i], &r->results[i]);
        metric_add(&r->core->operations[r->results[i].state], 1);
    }
    json_array_end(&o);
    r->then(r->ctx, buf_view(&text), NULL);
}

/* Many operations are written in several steps, so that nobody else waits for all of them. */
static void go_on(void *ctx, bool ok, const struct err *err)
{
    struct running *r = ctx;
    if (!ok) {
        r->then(r->ctx, STR_NULL, err);
        return;
    }
    r->done = r->now;
    if (r->done < r->n)
        engine_write_then(r->core, r->caller, r->arena, write_items, go_on, r);
    else
        answer(r);
}

void operations_run(struct core *core, const struct caller *c, struct arena *a,
                    const struct operations_where *where, yyjson_val *body, operations_then then, void *ctx)
{
    struct running *r = arena_new(a, struct running);
    yyjson_val *list = yyjson_obj_get(body, "operations");
    struct err err = {0};
    size_t n = yyjson_arr_size(list);
    *r = (struct running){
        .core = core, .caller = c, .arena = a, .where = *where, .n = n, .then = then, .ctx = ctx};
    if (n < 1 || n > OPERATIONS_MAX) {
        struct object version;
        if (may(r, where->sample, &version, &err)) /* to others the version's existence stays a secret */
            err_message(&err, ERR_INVALID, "operations", MESSAGE_OPERATIONS_COUNT, OPERATIONS_MAX);
        then(ctx, STR_NULL, &err);
        return;
    }
    r->items = arena_array(a, struct operate_item, n);
    r->ids = arena_array(a, struct str, n);
    r->results = arena_array(a, struct operate_result, n);
    r->settled = arena_array(a, bool, n);
    r->assignment = yyjson_get_sint(yyjson_obj_get(body, "assignment"));
    if (read_items(r, list, r->assignment != 0, &err))
        engine_write_then(core, c, a, write_items, go_on, r);
    else
        then(ctx, STR_NULL, &err);
}

/* --- POST --- */

static void posted(void *ctx, struct str results, const struct err *err)
{
    struct api_call *call = ctx;
    struct accounts *accounts = call->core->accounts;
    struct caller caller = call->caller; /* the request's memory is gone once it is answered */
    if (results.p)
        api_answer(call, 200, NULL, 0, str_of(arena_printf(call->arena, "{" STR_FMT "}", STR_ARG(results))));
    else
        api_problem(call, err, NULL, 0);
    accounts_caller_release(accounts, &caller);
}

static void run_post(struct api_call *call)
{
    struct operations_where where = {0};
    struct api_call *later = arena_copy(call->arena, call, sizeof *call);
    struct err err = {0};
    if (!str_to_i64(call->params[0], &where.dataset) || !str_to_i64(call->params[1], &where.version)) {
        err_set(&err, ERR_NOT_FOUND, NULL, "there is no such version");
        api_problem(call, &err, NULL, 0);
        return;
    }
    later->caller = accounts_caller_ref(&call->caller);
    operations_run(call->core, &later->caller, call->arena, &where, call->json, posted, later);
}

/* --- reading --- */

struct reading {
    struct object version;
    struct sample sample; /* with what the layer says, if one is asked for */
    struct operation_place place;
    struct sample_set set;
};

static bool find(struct api_call *call, struct reading *ret, struct err *err)
{
    struct op op = {.core = call->core, .caller = &call->caller, .arena = call->arena};
    int64_t id, layer;
    if (!str_to_i64(call->params[2], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such sample");
    return api_number(call, "layer", 0, INT64_MAX, 0, &layer, err) &&
           operations_find(call, id, SAMPLE_SEE, &ret->version, err) &&
           sample_set_of(&op, &ret->version, &ret->set, err) &&
           sample_get(call->core->db, NULL, call->arena, ret->version.id, id, &ret->sample, err) &&
           lease_sees(call->core, &call->caller, &ret->version, id, layer, call->arena, err) &&
           (!layer || layer_get(call->core->db, call->arena, ret->version.id, layer, &ret->sample, err)) &&
           operate_place(call->core->db, call->arena, ret->version.id, id, layer, &ret->place, err);
}

/* Names of those who made them: a page has few. */
static const char *name_of(struct api_call *call, int64_t user)
{
    struct db_row row;
    bool found;
    struct err ignored = {0};
    if (!user || !db_query_one(call->core->db, call->arena, "SELECT name FROM users WHERE id = ?",
                               db_args(db_int(user)), &row, &found, &ignored))
        return NULL;
    return found ? arena_strz(call->arena, row.v[0].s) : NULL;
}

struct page {
    int64_t after, before, limit;
    bool oldest, whole;
};

/* A page ends here, however many entries were asked for: one may have a whole annotation. */
#define PAGE_BYTES (8u << 20)

static bool read_page(struct api_call *call, struct page *ret, struct err *err)
{
    struct str ignored, whole;
    ret->oldest = !request_param(call->request, "before", &ignored, err);
    ret->whole = request_param(call->request, "whole", &whole, err) && str_is(whole, "true");
    return !err->code && api_number(call, "after", 0, INT64_MAX, 0, &ret->after, err) &&
           api_number(call, "before", 1, INT64_MAX, INT64_MAX, &ret->before, err) &&
           api_number(call, "limit", 1, 1000, 100, &ret->limit, err);
}

static bool write_page(struct api_call *call, const struct page *page, const struct operation_entry *list,
                       size_t n, struct buf *body, struct err *err)
{
    struct json_out o;
    int64_t user = 0, last = 0;
    const char *name = NULL;
    size_t i = 0;
    json_begin(&o, body);
    json_object(&o);
    json_key(&o, "items");
    json_array(&o);
    for (; i < n && body->n < PAGE_BYTES; i++) {
        const struct operation_entry *e = &list[page->oldest ? i : n - 1 - i];
        struct str text;
        if (!operation_log_text(call->arena, e, &text, err))
            return false;
        if (e->by != user)
            name = name_of(call, e->by);
        user = e->by;
        last = e->revision;
        operate_write_item(&o, e, name, text);
    }
    json_array_end(&o);
    json_key(&o, "next");
    bool more = i < n || (n && (int64_t)n == page->limit);
    more ? json_int(&o, last) : json_null(&o);
    json_object_end(&o);
    return true;
}

static bool read_entries(struct api_call *call, const struct reading *r, const struct page *page,
                         struct operation_entry **ret, size_t *ret_n, struct err *err)
{
    struct db *db = call->core->db;
    size_t limit = (size_t)page->limit;
    if (page->whole)
        return operation_log_whole(db, call->arena, &r->place, &r->sample, page->after, page->before, limit,
                                   page->oldest, ret, ret_n, err);
    return operation_log_range(db, NULL, call->arena, &r->place, page->after, page->before, limit,
                               page->oldest, ret, ret_n, err);
}

static void run_operations(struct api_call *call)
{
    struct err err = {0};
    struct reading r;
    struct page page;
    struct operation_entry *list;
    size_t n;
    auto_buf struct buf body = {0};
    if (!read_page(call, &page, &err) || !find(call, &r, &err) ||
        !read_entries(call, &r, &page, &list, &n, &err) || !write_page(call, &page, list, n, &body, &err))
        api_problem(call, &err, NULL, 0);
    else
        api_answer(call, 200, NULL, 0, buf_view(&body));
}

static void run_at(struct api_call *call)
{
    struct err err = {0};
    struct reading r;
    struct sample_past past;
    int64_t revision;
    char at[CLOCK_TEXT_MAX];
    auto_buf struct buf body = {0};
    struct json_out o;
    if (!api_number(call, "revision", 1, INT64_MAX, 1, &revision, &err) || !find(call, &r, &err) ||
        !operation_log_state(call->core->db, call->arena, &r.place, r.set.type, &r.sample, revision, &past,
                             &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    json_begin(&o, &body);
    json_object(&o);
    json_kint(&o, "revision", past.revision);
    json_kz(&o, "at", clock_format(past.at, at));
    json_kint(&o, "by", past.by);
    json_kz(&o, "state", sample_state_names[past.state]);
    json_key(&o, "annotation");
    json_raw(&o, past.annotation);
    json_object_end(&o);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

#define VERSION "/api/v1/datasets/{dataset_id}/versions/{version_id}"

const struct route operation_routes[] = {
    {"POST", VERSION "/operations", NULL, run_post, .summary = "Change annotations, one shape at a time",
     .input = "{\"type\":\"object\",\"required\":[\"operations\"],\"properties\":{\"operations\":{"
              "\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"task\":{\"type\":\"integer\"},"
              "\"assignment\":{\"type\":\"integer\"}}}",
     .body_max = OPERATIONS_BODY, .answer = ROUTE_ANSWER("OperationResults")},
    {"GET", VERSION "/samples/{sample_id}/operations", NULL, run_operations,
     .summary = "What was done to a sample", .query = "after:int before:int limit:int whole:bool layer:id",
     .answer = ROUTE_ANSWER("OperationList")},
    {"GET", VERSION "/samples/{sample_id}/at", NULL, run_at, .summary = "A sample as it was at a revision",
     .query = "revision:int! layer:id", .answer = ROUTE_ANSWER("SamplePast")},
    {0},
};
