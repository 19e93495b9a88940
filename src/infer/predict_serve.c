/* POST .../predict: a picture, text or sound as the body, or several as multipart/form-data, to annotations.
 * Each is prepared and read on a thread of the pool; the graph runs in the batcher, so that what comes
 * together may run together. */
#include "base/clock.h"
#include "infer/call.h"
#include "infer/multipart.h"
#include "infer/task.h"
#include "net/url.h"

struct predicting;

struct item {
    struct predicting *of;
    struct str name; /* of the file or field, when there are several */
    struct task_input input;
    struct arena arena; /* its own: items are predicted beside each other */
    struct buf json;
    struct task_times times;
    uint64_t queue_ns;
    bool ok;
    struct err err;
};

#define MANIFEST_PART "manifest" /* of a trial's multipart body */

struct predicting {
    struct call *c;
    struct str manifest; /* that the request brings; STR_NULL: none */
    struct task_options options;
    struct item *items;
    size_t n;
    bool several;
    atomic_size_t left;
};

static bool run_part(void *ctx, size_t part, const struct tensor *inputs, size_t n_inputs,
                     const char *const *names, struct tensor *ret, size_t n_names, struct arena *a,
                     struct err *err)
{
    struct item *item = ctx;
    return served_run(item->of->c->served, part, inputs, n_inputs, names, ret, n_names, a, &item->queue_ns,
                      err);
}

/* --- the answer --- */

static void write_times(struct json_out *j, const uint64_t stages[STAGE_COUNT])
{
    json_key(j, "times_ms");
    json_object(j);
    for (size_t i = 0; i < STAGE_COUNT; i++) {
        uint64_t us = stages[i] / 1000;
        json_key(j, stage_names[i]);
        json_real(j, (double)us / 1000);
    }
    json_object_end(j);
}

static void write_item(struct json_out *j, const struct item *item)
{
    if (!item->ok) {
        json_kz(j, "error", item->err.message);
        if (item->err.field[0])
            json_kz(j, "field", item->err.field);
        return;
    }
    json_key(j, "annotation");
    json_raw(j, buf_view(&item->json));
    if (item->times.width) {
        json_kint(j, "width", item->times.width);
        json_kint(j, "height", item->times.height);
    }
}

static void write_items(struct json_out *j, const struct predicting *p)
{
    if (!p->several) {
        write_item(j, &p->items[0]);
        return;
    }
    json_key(j, "results");
    json_array(j);
    for (size_t i = 0; i < p->n; i++) {
        json_object(j);
        if (p->items[i].name.p)
            json_kstr(j, "name", p->items[i].name);
        write_item(j, &p->items[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Several are answered with 200 and an error at those that failed, unless the queue was full. */
static const struct err *failure(const struct predicting *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (!p->items[i].ok && (!p->several || p->items[i].err.code == ERR_TOO_MANY))
            return &p->items[i].err;
    return NULL;
}

static void answer(struct predicting *p)
{
    struct call *c = p->c;
    auto_buf struct buf out = {0};
    struct json_out j;
    const struct err *failed = failure(p);
    for (size_t i = 0; i < p->n; i++) {
        const struct item *item = &p->items[i];
        uint64_t run = item->times.run_ns;
        c->stages[STAGE_QUEUE] += item->queue_ns;
        c->stages[STAGE_PREPARE] += item->times.prepare_ns;
        c->stages[STAGE_RUN] += run > item->queue_ns ? run - item->queue_ns : 0;
        c->stages[STAGE_READ] += item->times.read_ns;
    }
    struct err err = failed ? *failed : (struct err){0};
    if (!failed) {
        json_begin(&j, &out);
        json_object(&j);
        write_items(&j, p);
        json_kz(&j, "model", c->served->name);
        json_kz(&j, "version", c->served->version);
        write_times(&j, c->stages);
        json_object_end(&j);
    }
    for (size_t i = 0; i < p->n; i++) {
        buf_release(&p->items[i].json);
        arena_release(&p->items[i].arena);
    }
    call_count(c, !failed);
    if (failed)
        call_fail(c, &err);
    else
        call_json(c, &out);
}

/* --- predicting --- */

static void predict_one(void *arg)
{
    struct item *item = arg;
    struct predicting *p = item->of;
    struct json_out j;
    json_begin(&j, &item->json);
    item->ok = task_predict(p->c->served->manifest, &p->options, &item->input, run_part, item, &item->arena,
                            &j, &item->times, &item->err);
    if (atomic_fetch_sub(&p->left, 1) == 1)
        answer(p);
}

static bool read_options(struct call *c, struct task_options *ret, struct err *err)
{
    struct url_param *list;
    size_t n;
    if (!url_query(c->arena, c->request->query, &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!task_option(ret, list[i].name, list[i].value, err))
            return false;
    return true;
}

/* Fields without a file name are options, as those of the query are. */
static bool read_parts(struct predicting *p, struct str boundary, struct err *err)
{
    struct multipart_part *parts;
    size_t n;
    struct call *c = p->c;
    if (!multipart_parse(c->arena, c->body, boundary, &parts, &n, err))
        return false;
    p->items = arena_array(c->arena, struct item, n);
    for (size_t i = 0; i < n; i++) {
        if (p->manifest.p && str_is(parts[i].name, MANIFEST_PART))
            continue;
        if (!parts[i].filename.p && !parts[i].media_type.n) {
            if (!task_option(&p->options, parts[i].name, parts[i].bytes, err))
                return false;
            continue;
        }
        struct item *item = &p->items[p->n++];
        item->name = parts[i].filename.p ? parts[i].filename : parts[i].name;
        item->input = (struct task_input){parts[i].bytes, parts[i].media_type};
    }
    /* With its manifest a single input comes as multipart, too, and is answered as one. */
    p->several = !p->manifest.p || p->n > 1;
    return p->n > 0 || err_set(err, ERR_INVALID, "body", "the multipart body has no files");
}

static bool read_body(struct predicting *p, struct err *err)
{
    struct call *c = p->c;
    struct str type = request_header(c->request, "content-type"), boundary;
    if (!c->served->manifest)
        return err_set(err, ERR_INVALID, NULL,
                       "the model %s has no " MODEL_MANIFEST_FILE ", which predict follows: use infer",
                       c->served->name);
    if (!task_can_predict(c->served->manifest, err) || !read_options(c, &p->options, err) ||
        (!c->server->o.trial && !call_expand(c, err)))
        return false;
    if (multipart_boundary(type, &boundary))
        return read_parts(p, boundary, err);
    if (c->body.n == 0)
        return err_set(err, ERR_INVALID, "body", "the body is empty: send a picture, text or sound");
    p->n = 1;
    p->items = arena_new(c->arena, struct item);
    p->items[0].input = (struct task_input){c->body, type};
    return true;
}

/* What is tried follows the manifest that the request brings, or the folder's. */
static bool find_trial(struct predicting *p, struct err *err)
{
    struct call *c = p->c;
    struct multipart_part *parts;
    struct str boundary;
    size_t n = 0;
    if (!call_expand(c, err))
        return false;
    if (multipart_boundary(request_header(c->request, "content-type"), &boundary) &&
        !multipart_parse(c->arena, c->body, boundary, &parts, &n, err))
        return false;
    for (size_t i = 0; i < n && !p->manifest.p; i++)
        if (str_is(parts[i].name, MANIFEST_PART))
            p->manifest = parts[i].bytes;
    c->served = trial_find(c->server->o.trial, c->name, p->manifest, err);
    return c->served != NULL;
}

static bool find_model(struct predicting *p, struct err *err)
{
    struct call *c = p->c;
    if (c->server->o.trial)
        return find_trial(p, err);
    c->served = models_find(c->server->o.models, c->name, c->version, &c->part, err);
    return c->served != NULL;
}

static void start(struct call *c, unused_ok enum batcher_where where)
{
    struct err err = {0};
    struct predicting *p = arena_new(c->arena, struct predicting);
    p->c = c;
    if (!find_model(p, &err)) {
        call_fail(c, &err);
        return;
    }
    if (!read_body(p, &err)) {
        call_count(c, false);
        call_fail(c, &err);
        return;
    }
    atomic_init(&p->left, p->n);
    for (size_t i = 0; i < p->n; i++) {
        p->items[i].of = p;
        arena_init(&p->items[i].arena);
    }
    /* After the last one is counted the request may be gone: its number is kept here. */
    size_t n = p->n;
    struct item *items = p->items;
    struct pool *pool = c->server->pool;
    for (size_t i = 1; i < n; i++)
        if (!pool_submit(pool, predict_one, &items[i]))
            predict_one(&items[i]);
    predict_one(&items[0]);
}

void predict_serve(struct call *c)
{
    if (c->server->o.trial || call_model(c))
        call_collect(c, true, start);
}
