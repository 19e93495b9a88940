/* POST .../infer */
#include "base/clock.h"
#include "infer/call.h"
#include "infer/types.h"

#include <stdio.h>

/* Inference-Header-Content-Length; -1: not there. */
static bool json_length(const struct call *c, int64_t *ret, struct err *err)
{
    struct str text = request_header(c->request, "inference-header-content-length");
    *ret = -1;
    if (!text.p)
        return true;
    return (str_to_i64(str_trim(text), ret) && *ret >= 0) ||
           err_set(err, ERR_MALFORMED, NULL, "Inference-Header-Content-Length must be a whole number from 0");
}

/* The whole body is the one input: at most one of its dimensions may be free, and follows from the size. */
static bool raw(struct call *c, struct err *err)
{
    const struct session *s = c->part->session;
    const struct session_value *v = s->inputs;
    if (s->n_inputs != 1 || types[v->type].size == 0)
        return err_set(err, ERR_INVALID, "inputs",
                       "a body without JSON is for models with one input of numbers; this one has %zu",
                       s->n_inputs);
    struct tensor *t = arena_new(c->arena, struct tensor);
    *t = (struct tensor){.name = v->name, .type = v->type, .n_dims = v->n_dims, .data = c->body};
    size_t free_at = v->n_dims, left = c->body.n / types[v->type].size;
    bool fits = c->body.n % types[v->type].size == 0;
    for (size_t i = 0; i < v->n_dims && fits; i++) {
        t->dims[i] = v->dims[i];
        if (v->dims[i] < 0) {
            fits = free_at == v->n_dims;
            free_at = i;
        } else {
            fits = v->dims[i] > 0 && left % (size_t)v->dims[i] == 0;
            left = fits ? left / (size_t)v->dims[i] : left;
        }
    }
    if (free_at < v->n_dims)
        t->dims[free_at] = (int64_t)left;
    if (!fits || (free_at == v->n_dims && left != 1))
        return err_set(err, ERR_INVALID, v->name, "a body of %zu bytes gives no shape for the input %s of %s",
                       c->body.n, v->name, types_shape(c->arena, v->dims, v->n_dims));
    c->v2 = (struct v2_request){.inputs = t, .n_inputs = 1, .binary = true};
    return true;
}

static bool choose_outputs(struct call *c, struct err *err)
{
    const struct session *s = c->part->session;
    size_t n = c->v2.n_outputs ? c->v2.n_outputs : s->n_outputs;
    const char **names = arena_array(c->arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        const struct session_value *v =
            c->v2.n_outputs ? session_output(s, str_of(c->v2.outputs[i].name)) : &s->outputs[i];
        if (!v)
            return err_set(err, ERR_INVALID, "outputs", "the model has no output %s", c->v2.outputs[i].name);
        for (size_t k = 0; k < i; k++)
            if (names[k] == v->name)
                return err_set(err, ERR_INVALID, "outputs", "the output %s is there twice", v->name);
        names[i] = v->name;
    }
    c->job.names = names;
    c->job.n_names = n;
    c->job.outputs = arena_array(c->arena, struct tensor, n);
    return true;
}

static bool read_request(struct call *c, struct err *err)
{
    int64_t json;
    if (!json_length(c, &json, err) || !call_expand(c, err))
        return false;
    if (json == 0 ? !raw(c, err) : !v2_request_parse(c->arena, c->body, json, &c->v2, err))
        return false;
    return session_fits(c->part->session, c->v2.inputs, c->v2.n_inputs, c->arena, err) &&
           choose_outputs(c, err);
}

static void answer(struct call *c)
{
    auto_buf struct buf out = {0};
    struct err err = {0};
    int64_t json;
    char length[24];
    struct v2_model m = {c->part->model, c->served->version, NULL, 0};
    struct header headers[2] = {{STR("Content-Type"), STR("application/json")}};
    uint64_t began = clock_mono();
    if (c->served->manifest) {
        m.labels = c->served->manifest->labels;
        m.n_labels = c->served->manifest->n_labels;
    }
    if (!v2_answer_write(&out, c->arena, &m, &c->v2, c->job.outputs, c->job.n_names, &json, &err)) {
        call_count(c, false);
        call_fail(c, &err);
        return;
    }
    c->stages[STAGE_READ] = clock_mono() - began;
    call_count(c, true);
    if (json >= 0) {
        headers[0].value = STR("application/octet-stream");
        int n = snprintf(length, sizeof length, "%lld", (long long)json);
        headers[1] = (struct header){STR("Inference-Header-Content-Length"), {length, (size_t)n}};
    }
    call_answer(c, 200, headers, json >= 0 ? 2 : 1, buf_view(&out));
}

static void done(struct batcher_job *job)
{
    struct call *c = container_of(job, struct call, job);
    c->stages[STAGE_QUEUE] = job->queue_ns;
    c->stages[STAGE_RUN] = job->run_ns;
    if (job->ok) {
        answer(c);
        return;
    }
    struct err err = job->err;
    call_count(c, false);
    call_fail(c, &err);
}

static void start(struct call *c, enum batcher_where where)
{
    struct err err = {0};
    uint64_t began = clock_mono();
    if (!call_model(c))
        return;
    bool ok = (c->part || err_set(&err, ERR_INVALID, NULL,
                                  "the model %s has several parts: ask for one of them, as in %s",
                                  c->served->name, c->served->parts[0].model)) &&
              read_request(c, &err);
    if (ok) {
        c->stages[STAGE_PREPARE] = clock_mono() - began;
        c->job.inputs = c->v2.inputs;
        c->job.n_inputs = c->v2.n_inputs;
        c->job.arena = c->arena;
        c->job.timeout_us = c->v2.timeout_us;
        c->job.done = done;
        ok = batcher_submit(c->part->batcher, &c->job, where, &err);
        if (ok)
            return;
        metric_add(&c->served->figures.refused, 1);
    }
    call_count(c, false);
    call_fail(c, &err);
}

void v2_serve_infer(struct call *c)
{
    if (call_model(c))
        call_collect(c, false, start);
}
