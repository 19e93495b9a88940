#include "model/onnx.h"

#include "model/onnx_graph.h"
#include "model/wire.h"

#include <stdio.h>

struct collect {
    struct arena *a;
    struct onnx_summary *s;
    struct map *tensors, *declared; /* struct onnx_tensor by name; what value_info says */
    struct map *operators;          /* struct onnx_operator by "domain:op" */
    size_t cap_layers, cap_values[2], cap_opsets;
};

/* Weights that are numbers of the model, not shapes and indices of its plumbing. */
static bool is_parameter(int type)
{
    switch (type) {
    case ONNX_INT64:
    case ONNX_INT32:
    case ONNX_UINT32:
    case ONNX_UINT64:
    case ONNX_STRING:
    case ONNX_BOOL:
    case ONNX_UNDEFINED:
        return false;
    default:
        return true;
    }
}

/* A copy of its valid beginning, without NUL: names become keys and C strings. */
static struct str keep_text(struct collect *c, struct str s)
{
    size_t n = 0, step;
    s.n = s.n < ONNX_MAX_NAME ? s.n : ONNX_MAX_NAME;
    while (n < s.n && s.p[n] && (step = utf8_sequence((struct str){s.p + n, s.n - n})) > 0)
        n += step;
    return arena_str(c->a, (struct str){s.p, n});
}

static void *grow(struct arena *a, void *list, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return list;
    size_t more = *cap ? *cap * 2 : 16;
    list = arena_grow(a, list, *cap * size, more * size);
    memset((char *)list + *cap * size, 0, (more - *cap) * size);
    *cap = more;
    return list;
}

static void count_weight(struct collect *c, const struct onnx_tensor *t)
{
    c->s->weight_bytes += t->bytes;
    if (is_parameter(t->type))
        c->s->parameters += t->elements;
}

static struct onnx_tensor *make_tensor(struct collect *c, struct str name)
{
    struct onnx_tensor *t = arena_new(c->a, struct onnx_tensor);
    *t = (struct onnx_tensor){.name = name, .rank = -1, .n_values = -1, .n_reals = -1};
    map_set(c->tensors, name, t);
    return t;
}

/* --- values: inputs, outputs, what the exporter knew of shapes --- */
static void read_dim(struct collect *c, struct str bytes, struct onnx_value *v)
{
    struct onnx_dim *d = &v->dims[v->n_dims++];
    *d = (struct onnx_dim){.value = -1};
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        if (f.number == 1 && (int64_t)f.value >= 0)
            d->value = (int64_t)f.value;
        else if (f.number == 2)
            d->symbol = keep_text(c, f.bytes);
    }
}

static void read_shape(struct collect *c, struct str bytes, struct onnx_value *v)
{
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    v->has_shape = true;
    while (wire_next(&w, &f, &why)) {
        if (f.number != 1)
            continue;
        if (v->n_dims == ONNX_MAX_DIMS) {
            v->has_shape = false;
            v->n_dims = 0;
            return;
        }
        read_dim(c, f.bytes, v);
    }
}

static void read_tensor_type(struct collect *c, struct str bytes, struct onnx_value *v)
{
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        if (f.number == 1 && f.value < ONNX_TYPE_COUNT)
            v->type = (int)f.value;
        else if (f.number == 2)
            read_shape(c, f.bytes, v);
    }
}

static struct onnx_value read_value(struct collect *c, struct str bytes)
{
    struct onnx_value v = {.type = ONNX_UNDEFINED};
    struct wire w = wire_of(bytes), in;
    struct wire_field f, inner;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        if (f.number == 1)
            v.name = keep_text(c, f.bytes);
        in = wire_of(f.bytes);
        while (f.number == 2 && wire_next(&in, &inner, &why))
            if (inner.number == 1)
                read_tensor_type(c, inner.bytes, &v);
    }
    return v;
}

static void declare(struct collect *c, const struct onnx_value *v)
{
    if (!v->has_shape || !v->name.n)
        return;
    struct onnx_tensor *t = arena_new(c->a, struct onnx_tensor);
    *t = (struct onnx_tensor){.name = v->name, .type = v->type, .rank = (int)v->n_dims, .n_values = -1};
    for (size_t i = 0; i < v->n_dims; i++)
        t->dims[i] = v->dims[i].value;
    map_set(c->declared, v->name, t);
}

static void add_input(struct collect *c, const struct onnx_value *v)
{
    if (map_get(c->tensors, v->name) || c->s->n_inputs == ONNX_MAX_VALUES)
        return; /* an initializer that may be replaced */
    c->s->inputs = grow(c->a, c->s->inputs, c->s->n_inputs, &c->cap_values[0], sizeof *c->s->inputs);
    c->s->inputs[c->s->n_inputs++] = *v;
    struct onnx_tensor *t = make_tensor(c, v->name);
    t->type = v->type;
    t->rank = v->has_shape ? (int)v->n_dims : -1;
    for (size_t i = 0; i < v->n_dims; i++)
        t->dims[i] = v->dims[i].value;
    if (t->rank > 0 && t->dims[0] < 0) {
        t->dims[0] = 1;
        c->s->assumed_batch = true;
    }
}

static void add_output(struct collect *c, const struct onnx_value *v)
{
    if (c->s->n_outputs == ONNX_MAX_VALUES)
        return;
    c->s->outputs = grow(c->a, c->s->outputs, c->s->n_outputs, &c->cap_values[1], sizeof *c->s->outputs);
    c->s->outputs[c->s->n_outputs++] = *v;
    declare(c, v);
}

/* --- nodes --- */
static void count_operator(struct collect *c, struct str domain, struct str op)
{
    char key[160];
    int n = snprintf(key, sizeof key, STR_FMT ":" STR_FMT, STR_ARG(domain), STR_ARG(op));
    struct str name = {key, n < (int)sizeof key ? (size_t)n : sizeof key - 1};
    struct onnx_operator *o = map_get(c->operators, name);
    if (!o) {
        o = arena_new(c->a, struct onnx_operator);
        o->domain = keep_text(c, domain);
        o->name = keep_text(c, op);
        map_set(c->operators, name, o);
    }
    o->count++;
    c->s->nodes++;
}

/* The tensor of a Constant. */
static void read_constant(struct collect *c, const struct onnx_node *n)
{
    struct str bytes;
    struct onnx_tensor *t = n->n_outputs ? n->outputs[0] : NULL;
    if (!t || !onnx_attribute(n, "value", &bytes)) {
        if (t && onnx_attribute(n, "value_int", &bytes)) {
            t->rank = 0;
            t->n_values = 1;
            t->values[0] = onnx_attribute_int(n, "value_int", 0);
        }
        return;
    }
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        struct str name = t->name;
        if (f.number == 5 && onnx_tensor_read(f.bytes, t, &why))
            count_weight(c, t);
        t->name = name;
    }
}

static size_t count_fields(struct str bytes, uint32_t number)
{
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    size_t n = 0;
    while (wire_next(&w, &f, &why))
        n += f.number == number;
    return n;
}

static struct onnx_node read_node(struct collect *c, struct str bytes)
{
    struct onnx_node n = {.bytes = bytes};
    n.inputs = arena_array(c->a, struct onnx_tensor *, count_fields(bytes, 1) + 1);
    n.outputs = arena_array(c->a, struct onnx_tensor *, count_fields(bytes, 2) + 1);
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        switch (f.number) {
        case 1:
            n.inputs[n.n_inputs++] = f.bytes.n ? map_get(c->tensors, f.bytes) : NULL;
            break;
        case 2:
            n.outputs[n.n_outputs++] = f.bytes.n ? make_tensor(c, f.bytes) : NULL;
            break;
        case 3:
            n.name = f.bytes;
            break;
        case 4:
            n.op = f.bytes;
            break;
        case 7:
            n.domain = f.bytes;
            break;
        default:
            break;
        }
    }
    return n;
}

static void merge_declared(struct collect *c, struct onnx_tensor *t)
{
    const struct onnx_tensor *d = t ? map_get(c->declared, t->name) : NULL;
    if (!d)
        return;
    if (t->rank < 0) {
        t->rank = d->rank;
        memcpy(t->dims, d->dims, sizeof t->dims);
        if (t->rank > 0 && t->dims[0] < 0 && c->s->assumed_batch)
            t->dims[0] = 1;
    }
    for (int i = 0; i < t->rank && t->rank == d->rank; i++)
        if (t->dims[i] < 0)
            t->dims[i] = d->dims[i];
}

static void add_layer(struct collect *c, const struct onnx_node *n)
{
    struct onnx_summary *s = c->s;
    struct onnx_layer l = {.multiply_adds = onnx_cost_node(n)};
    for (size_t i = 0; i < n->n_inputs; i++) {
        struct onnx_tensor *t = n->inputs[i];
        if (!t || !t->weight || t->counted || str_is(n->op, "Constant"))
            continue;
        t->counted = true;
        l.bytes += t->bytes;
        l.parameters += is_parameter(t->type) ? t->elements : 0;
    }
    if (l.multiply_adds < 0)
        s->unknown_nodes++;
    else if (__builtin_add_overflow(s->multiply_adds, l.multiply_adds, &s->multiply_adds))
        s->multiply_adds = INT64_MAX;
    if (!l.bytes && !l.multiply_adds)
        return;
    l.name = keep_text(c, n->name.n ? n->name : n->n_outputs && n->outputs[0] ? n->outputs[0]->name : n->op);
    l.op = keep_text(c, n->op);
    s->layers = grow(c->a, s->layers, s->n_layers, &c->cap_layers, sizeof *s->layers);
    s->layers[s->n_layers++] = l;
}

static void collect_inside(struct collect *c, struct str bytes, uint32_t nodes);

/* Graphs inside of a node's attributes: their operators and weights count, their shapes are not followed. */
// NOLINTNEXTLINE(misc-no-recursion): bounded by ONNX_MAX_DEPTH, which onnx_check saw to
static void collect_subgraphs(struct collect *c, struct str node)
{
    struct wire w = wire_of(node), in;
    struct wire_field f, inner;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        in = wire_of(f.bytes);
        while (f.number == 5 && wire_next(&in, &inner, &why))
            if (inner.number == 6 || inner.number == 11)
                collect_inside(c, inner.bytes, 1);
    }
}

// NOLINTNEXTLINE(misc-no-recursion)
static void collect_inside(struct collect *c, struct str bytes, uint32_t nodes)
{
    struct wire w = wire_of(bytes);
    struct wire_field f, inner;
    struct onnx_tensor t;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        if (nodes == 1 && f.number == 5 && onnx_tensor_read(f.bytes, &t, &why))
            count_weight(c, &t);
        if (f.number != nodes)
            continue;
        struct str op = STR_NULL, domain = STR_NULL;
        struct wire in = wire_of(f.bytes);
        while (wire_next(&in, &inner, &why)) {
            if (inner.number == 4)
                op = inner.bytes;
            else if (inner.number == 7)
                domain = inner.bytes;
        }
        count_operator(c, domain, op);
        collect_subgraphs(c, f.bytes);
    }
}

/* --- the graph and the file --- */
static void collect_weights(struct collect *c, struct str graph)
{
    struct wire w = wire_of(graph), in;
    struct wire_field f, inner;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        struct onnx_tensor t;
        in = wire_of(f.bytes);
        while (f.number == 15 && wire_next(&in, &inner, &why))
            if (inner.number == 1 && onnx_tensor_read(inner.bytes, &t, &why))
                count_weight(c, &t);
        if (f.number != 5 || !onnx_tensor_read(f.bytes, &t, &why))
            continue;
        count_weight(c, &t);
        *make_tensor(c, t.name) = t;
    }
}

static void collect_values(struct collect *c, struct str graph)
{
    struct wire w = wire_of(graph);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        if (f.number == 2)
            c->s->graph = keep_text(c, f.bytes);
        if (f.number < 11 || f.number > 13)
            continue;
        struct onnx_value v = read_value(c, f.bytes);
        if (f.number == 11)
            add_input(c, &v);
        else if (f.number == 12)
            add_output(c, &v);
        else
            declare(c, &v);
    }
}

static void collect_nodes(struct collect *c, struct str graph)
{
    struct wire w = wire_of(graph);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        if (f.number != 1)
            continue;
        struct onnx_node n = read_node(c, f.bytes);
        count_operator(c, n.domain, n.op);
        if (str_is(n.op, "Constant"))
            read_constant(c, &n);
        onnx_shape_node(&n);
        for (size_t i = 0; i < n.n_outputs; i++)
            merge_declared(c, n.outputs[i]);
        add_layer(c, &n);
        collect_subgraphs(c, f.bytes);
    }
}

static void read_opset(struct collect *c, struct str bytes)
{
    struct onnx_opset o = {.domain = STR("")};
    struct wire w = wire_of(bytes);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        if (f.number == 1)
            o.domain = keep_text(c, f.bytes);
        else if (f.number == 2)
            o.version = (int64_t)f.value;
    }
    if (str_is(o.domain, "ai.onnx"))
        o.domain = STR("");
    for (size_t i = 0; i < c->s->n_opsets; i++)
        if (str_eq(c->s->opsets[i].domain, o.domain))
            return;
    if (c->s->n_opsets == 64)
        return;
    c->s->opsets = grow(c->a, c->s->opsets, c->s->n_opsets, &c->cap_opsets, sizeof o);
    c->s->opsets[c->s->n_opsets++] = o;
}

static void collect_model(struct collect *c, struct str file)
{
    struct wire w = wire_of(file);
    struct wire_field f;
    const char *why;
    while (wire_next(&w, &f, &why)) {
        switch (f.number) {
        case 1:
            c->s->ir_version = (int64_t)f.value;
            break;
        case 2:
            c->s->producer = keep_text(c, f.bytes);
            break;
        case 3:
            c->s->producer_version = keep_text(c, f.bytes);
            break;
        case 7:
            collect_weights(c, f.bytes);
            collect_values(c, f.bytes);
            collect_nodes(c, f.bytes);
            break;
        case 8:
            read_opset(c, f.bytes);
            break;
        case 25:
            collect_inside(c, f.bytes, 7);
            break;
        default:
            break;
        }
    }
}

static int by_count(const void *a, const void *b)
{
    const struct onnx_operator *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    int order = n ? memcmp(x->name.p, y->name.p, n) : 0;
    return order ? order : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

static void list_operators(struct collect *c)
{
    struct onnx_summary *s = c->s;
    struct str key;
    void *value;
    s->operators = arena_array(c->a, struct onnx_operator, map_count(c->operators) + 1);
    for (size_t i = 0; map_next(c->operators, &i, &key, &value);)
        s->operators[s->n_operators++] = *(struct onnx_operator *)value;
    qsort(s->operators, s->n_operators, sizeof *s->operators, by_count);
}

bool onnx_summarize(struct arena *a, struct str file, struct onnx_summary *ret, struct err *err)
{
    if (!onnx_check(file, err))
        return false;
    struct onnx_summary s = {.bytes = file.n};
    struct collect c = {a, &s, map_new(), map_new(), map_new(), 0, {0, 0}, 0};
    collect_model(&c, file);
    list_operators(&c);
    map_free(c.tensors);
    map_free(c.declared);
    map_free(c.operators);
    *ret = s;
    return true;
}
