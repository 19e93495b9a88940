/* A summary as JSON, and what differs between two. */
#include "model/onnx.h"

#include <inttypes.h>
#include <stdio.h>

static void write_value(const struct onnx_value *v, struct json_out *out)
{
    json_object(out);
    json_kstr(out, "name", v->name);
    json_kz(out, "type", onnx_type_name(v->type));
    json_key(out, "shape");
    if (!v->has_shape) {
        json_null(out);
    } else {
        json_array(out);
        for (size_t i = 0; i < v->n_dims; i++) {
            if (v->dims[i].value >= 0)
                json_int(out, v->dims[i].value);
            else
                json_string(out, v->dims[i].symbol); /* null: free without a name */
        }
        json_array_end(out);
    }
    json_object_end(out);
}

static void write_values(const char *key, const struct onnx_value *v, size_t n, struct json_out *out)
{
    json_key(out, key);
    json_array(out);
    for (size_t i = 0; i < n; i++)
        write_value(&v[i], out);
    json_array_end(out);
}

static void write_count(const char *key, int64_t n, struct json_out *out)
{
    json_key(out, key);
    if (n < 0)
        json_null(out);
    else
        json_int(out, n);
}

static void write_layers(const struct onnx_summary *s, struct json_out *out)
{
    json_key(out, "layers");
    json_array(out);
    for (size_t i = 0; i < s->n_layers; i++) {
        const struct onnx_layer *l = &s->layers[i];
        json_object(out);
        json_kstr(out, "name", l->name);
        json_kstr(out, "operator", l->op);
        json_kint(out, "parameters", (int64_t)l->parameters);
        json_kint(out, "bytes", (int64_t)l->bytes);
        write_count("multiply_adds", l->multiply_adds, out);
        json_object_end(out);
    }
    json_array_end(out);
}

static void write_operators(const struct onnx_summary *s, struct json_out *out)
{
    json_key(out, "operators");
    json_array(out);
    for (size_t i = 0; i < s->n_operators; i++) {
        json_object(out);
        json_kstr(out, "name", s->operators[i].name);
        if (s->operators[i].domain.n)
            json_kstr(out, "domain", s->operators[i].domain);
        json_kint(out, "count", (int64_t)s->operators[i].count);
        json_object_end(out);
    }
    json_array_end(out);
}

void onnx_summary_write(const struct onnx_summary *s, struct json_out *out)
{
    json_object(out);
    json_kz(out, "format", "onnx");
    json_kint(out, "ir_version", s->ir_version);
    json_kstr(out, "producer", s->producer.n ? s->producer : STR(""));
    json_kstr(out, "producer_version", s->producer_version.n ? s->producer_version : STR(""));
    json_kstr(out, "graph", s->graph.n ? s->graph : STR(""));
    json_key(out, "opsets");
    json_object(out);
    for (size_t i = 0; i < s->n_opsets; i++) {
        char key[ONNX_MAX_NAME + 1];
        snprintf(key, sizeof key, STR_FMT,
                 STR_ARG(s->opsets[i].domain.n ? s->opsets[i].domain : STR("ai.onnx")));
        json_kint(out, key, s->opsets[i].version);
    }
    json_object_end(out);
    write_values("inputs", s->inputs, s->n_inputs, out);
    write_values("outputs", s->outputs, s->n_outputs, out);
    json_kint(out, "nodes", (int64_t)s->nodes);
    write_operators(s, out);
    json_kint(out, "parameters", (int64_t)s->parameters);
    json_kint(out, "bytes", (int64_t)s->bytes);
    json_kint(out, "weight_bytes", (int64_t)s->weight_bytes);
    write_count("multiply_adds", s->unknown_nodes ? -1 : s->multiply_adds, out);
    json_kint(out, "multiply_adds_known", s->multiply_adds);
    json_kint(out, "nodes_unknown", (int64_t)s->unknown_nodes);
    json_kbool(out, "assumed_batch", s->assumed_batch);
    write_layers(s, out);
    json_object_end(out);
}

/* --- two compared --- */
static bool same_value(const struct onnx_value *x, const struct onnx_value *y)
{
    if (x->type != y->type || x->has_shape != y->has_shape || x->n_dims != y->n_dims)
        return false;
    for (size_t i = 0; i < x->n_dims; i++)
        if (x->dims[i].value != y->dims[i].value || !str_eq(x->dims[i].symbol, y->dims[i].symbol))
            return false;
    return true;
}

static const struct onnx_value *find_value(const struct onnx_value *v, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].name, name))
            return &v[i];
    return NULL;
}

/* {"name","before","after"} for each that is not the same; null where it is absent. */
static size_t compare_values(const char *key, const struct onnx_value *x, size_t nx,
                             const struct onnx_value *y, size_t ny, struct json_out *out)
{
    size_t found = 0;
    json_key(out, key);
    json_array(out);
    for (size_t i = 0; i < nx + ny; i++) {
        bool old = i < nx;
        const struct onnx_value *one = old ? x + i : y + (i - nx);
        const struct onnx_value *other = old ? find_value(y, ny, one->name) : find_value(x, nx, one->name);
        if (other && (!old || same_value(one, other)))
            continue;
        json_object(out);
        json_kstr(out, "name", one->name);
        json_key(out, "before");
        old ? write_value(one, out) : json_null(out);
        json_key(out, "after");
        if (!old)
            write_value(one, out);
        else
            other ? write_value(other, out) : json_null(out);
        json_object_end(out);
        found++;
    }
    json_array_end(out);
    return found;
}

static const struct onnx_operator *find_operator(const struct onnx_summary *s, const struct onnx_operator *o)
{
    for (size_t i = 0; i < s->n_operators; i++)
        if (str_eq(s->operators[i].name, o->name) && str_eq(s->operators[i].domain, o->domain))
            return &s->operators[i];
    return NULL;
}

static void write_pair(struct json_out *out, const char *name, int64_t before, int64_t after)
{
    json_object(out);
    if (name)
        json_kz(out, "name", name);
    write_count("before", before, out);
    write_count("after", after, out);
    json_object_end(out);
}

static size_t compare_operators(const struct onnx_summary *x, const struct onnx_summary *y, struct arena *a,
                                struct json_out *out)
{
    size_t found = 0;
    json_key(out, "operators");
    json_array(out);
    for (size_t i = 0; i < x->n_operators + y->n_operators; i++) {
        const struct onnx_operator *o =
            i < x->n_operators ? &x->operators[i] : &y->operators[i - x->n_operators];
        const struct onnx_operator *other = find_operator(i < x->n_operators ? y : x, o);
        if (other && (i >= x->n_operators || other->count == o->count))
            continue;
        int64_t n = (int64_t)o->count, m = other ? (int64_t)other->count : 0;
        write_pair(out, arena_strz(a, o->name), i < x->n_operators ? n : 0, i < x->n_operators ? m : n);
        found++;
    }
    json_array_end(out);
    return found;
}

/* Layers of the same name whose sizes differ, and those that only one has. */
static size_t compare_layers(const struct onnx_summary *x, const struct onnx_summary *y, struct arena *a,
                             struct json_out *out)
{
    size_t found = 0, at = 0;
    json_key(out, "layers");
    json_array(out);
    for (size_t i = 0; i < x->n_layers || at < y->n_layers; i++) {
        const struct onnx_layer *before = i < x->n_layers ? &x->layers[i] : NULL;
        const struct onnx_layer *after = at < y->n_layers ? &y->layers[at++] : NULL;
        if (before && after && str_eq(before->name, after->name) && before->bytes == after->bytes &&
            before->parameters == after->parameters)
            continue;
        if (found++ >= 1000)
            continue;
        json_object(out);
        json_kz(out, "before_name", before ? arena_strz(a, before->name) : NULL);
        json_kz(out, "after_name", after ? arena_strz(a, after->name) : NULL);
        json_key(out, "parameters");
        write_pair(out, NULL, before ? (int64_t)before->parameters : -1,
                   after ? (int64_t)after->parameters : -1);
        json_key(out, "bytes");
        write_pair(out, NULL, before ? (int64_t)before->bytes : -1, after ? (int64_t)after->bytes : -1);
        json_object_end(out);
    }
    json_array_end(out);
    return found;
}

void onnx_summary_compare(const struct onnx_summary *before, const struct onnx_summary *after,
                          struct arena *a, struct json_out *out)
{
    const struct {
        const char *name;
        int64_t before, after;
    } figures[] = {
        {"parameters", (int64_t)before->parameters, (int64_t)after->parameters},
        {"bytes", (int64_t)before->bytes, (int64_t)after->bytes},
        {"weight_bytes", (int64_t)before->weight_bytes, (int64_t)after->weight_bytes},
        {"nodes", (int64_t)before->nodes, (int64_t)after->nodes},
        {"multiply_adds", before->unknown_nodes ? -1 : before->multiply_adds,
         after->unknown_nodes ? -1 : after->multiply_adds},
        {"ir_version", before->ir_version, after->ir_version},
        {"opset", before->n_opsets ? before->opsets[0].version : -1,
         after->n_opsets ? after->opsets[0].version : -1},
    };
    size_t found = 0;
    json_object(out);
    json_key(out, "figures");
    json_array(out);
    for (size_t i = 0; i < countof(figures); i++) {
        write_pair(out, figures[i].name, figures[i].before, figures[i].after);
        found += figures[i].before != figures[i].after;
    }
    json_array_end(out);
    found += compare_values("inputs", before->inputs, before->n_inputs, after->inputs, after->n_inputs, out);
    found +=
        compare_values("outputs", before->outputs, before->n_outputs, after->outputs, after->n_outputs, out);
    found += compare_operators(before, after, a, out);
    found += compare_layers(before, after, a, out);
    json_kbool(out, "same_structure", found == 0);
    json_object_end(out);
}
