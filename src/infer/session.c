#include "infer/session.h"

#include "infer/ort.h"
#include "infer/types.h"
#include "model/onnx.h"

#define ALIGNMENT  64
#define WARM_BYTES (64u << 20)

/* --- loading --- */

static bool describe(struct session *s, OrtTypeInfo *info, const char *kind, struct session_value *v,
                     struct err *err)
{
    const OrtApi *api = ort_api();
    const OrtTensorTypeAndShapeInfo *shape = NULL;
    enum ONNXTensorElementDataType type;
    if (!ort_ok(api->CastTypeInfoToTensorInfo(info, &shape), ERR_INVALID, err))
        return false;
    if (!shape)
        return err_set(err, ERR_INVALID, NULL, "%s %s is no tensor; only tensors are served", kind, v->name);
    if (!ort_ok(api->GetTensorElementType(shape, &type), ERR_INVALID, err) ||
        !ort_ok(api->GetDimensionsCount(shape, &v->n_dims), ERR_INVALID, err))
        return false;
    if (!types_of_onnx((int)type, &v->type))
        return err_set(err, ERR_INVALID, NULL, "%s %s has elements of type %d, which the protocol lacks",
                       kind, v->name, (int)type);
    if (v->n_dims > TENSOR_DIMS)
        return err_set(err, ERR_INVALID, NULL, "%s %s has %zu dimensions; at most %d are served", kind,
                       v->name, v->n_dims, TENSOR_DIMS);
    s->rows = s->rows && v->n_dims > 0;
    if (!ort_ok(api->GetDimensions(shape, v->dims, v->n_dims), ERR_INVALID, err))
        return false;
    for (size_t i = 0; i < v->n_dims; i++)
        v->dims[i] = v->dims[i] < 0 ? -1 : v->dims[i];
    s->rows = s->rows && v->dims[0] == -1;
    return true;
}

static bool describe_all(struct session *s, bool outputs, struct err *err)
{
    const OrtApi *api = ort_api();
    size_t n = 0;
    OrtAllocator *heap;
    if (!ort_ok((outputs ? api->SessionGetOutputCount : api->SessionGetInputCount)(s->ort, &n), ERR_INTERNAL,
                err) ||
        !ort_ok(api->GetAllocatorWithDefaultOptions(&heap), ERR_INTERNAL, err))
        return false;
    if (n > SESSION_MAX_VALUES)
        return err_set(err, ERR_INVALID, NULL, "the graph has %zu inputs or outputs; at most %d are served",
                       n, SESSION_MAX_VALUES);
    struct session_value *list = arena_array(&s->arena, struct session_value, n);
    for (size_t i = 0; i < n; i++) {
        char *name = NULL;
        OrtTypeInfo *info = NULL;
        if (!ort_ok((outputs ? api->SessionGetOutputName : api->SessionGetInputName)(s->ort, i, heap, &name),
                    ERR_INTERNAL, err))
            return false;
        list[i].name = arena_strdup(&s->arena, name);
        heap->Free(heap, name);
        if (!ort_ok(
                (outputs ? api->SessionGetOutputTypeInfo : api->SessionGetInputTypeInfo)(s->ort, i, &info),
                ERR_INTERNAL, err))
            return false;
        bool ok = describe(s, info, outputs ? "the output" : "the input", &list[i], err);
        api->ReleaseTypeInfo(info);
        if (!ok)
            return false;
    }
    *(outputs ? &s->outputs : &s->inputs) = list;
    *(outputs ? &s->n_outputs : &s->n_inputs) = n;
    return true;
}

static bool create(struct session *s, struct str file, struct err *err)
{
    const OrtApi *api = ort_api();
    OrtSessionOptions *o = NULL;
    OrtSession *made = NULL;
    bool ok = ort_ok(api->CreateSessionOptions(&o), ERR_INTERNAL, err) &&
              ort_ok(api->DisablePerSessionThreads(o), ERR_INTERNAL, err) &&
              /* Shapes change from request to request: plans of memory for each would pile up. */
              ort_ok(api->DisableMemPattern(o), ERR_INTERNAL, err) &&
              ort_ok(api->CreateSessionFromArray(ort_env(), file.p, file.n, o, &made), ERR_INVALID, err);
    if (o)
        api->ReleaseSessionOptions(o);
    s->ort = made;
    return ok;
}

struct session *session_new(struct str file, struct err *err)
{
    if (!onnx_check(file, err))
        return NULL;
    struct session *s = base_zalloc(sizeof *s);
    arena_init(&s->arena);
    s->rows = true;
    if (!create(s, file, err) || !describe_all(s, false, err) || !describe_all(s, true, err)) {
        session_free(s);
        return NULL;
    }
    s->rows = s->rows && s->n_inputs > 0;
    return s;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    if (s->ort)
        ort_api()->ReleaseSession(s->ort);
    arena_release(&s->arena);
    free(s);
}

/* --- what fits --- */

static const struct session_value *find(const struct session_value *list, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, list[i].name))
            return &list[i];
    return NULL;
}

const struct session_value *session_input(const struct session *s, struct str name)
{
    return find(s->inputs, s->n_inputs, name);
}

const struct session_value *session_output(const struct session *s, struct str name)
{
    return find(s->outputs, s->n_outputs, name);
}

static bool fits(const struct session_value *want, const struct tensor *t, struct arena *a, struct err *err)
{
    bool same = t->n_dims == want->n_dims;
    if (t->type != want->type)
        return err_set(err, ERR_INVALID, want->name, "the input %s is of type %s, not %s", want->name,
                       types[want->type].name, types[t->type].name);
    for (size_t i = 0; same && i < t->n_dims; i++)
        same = want->dims[i] < 0 || want->dims[i] == t->dims[i];
    return same || err_set(err, ERR_INVALID, want->name, "the input %s has the shape %s, not %s", want->name,
                           types_shape(a, want->dims, want->n_dims), types_shape(a, t->dims, t->n_dims));
}

bool session_fits(const struct session *s, const struct tensor *inputs, size_t n, struct arena *a,
                  struct err *err)
{
    bool seen[SESSION_MAX_VALUES] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct session_value *want = session_input(s, str_of(inputs[i].name));
        if (!want)
            return err_set(err, ERR_INVALID, "inputs", "the model has no input %s", inputs[i].name);
        if (seen[want - s->inputs])
            return err_set(err, ERR_INVALID, want->name, "the input %s is there twice", want->name);
        seen[want - s->inputs] = true;
        if (!fits(want, &inputs[i], a, err))
            return false;
    }
    for (size_t i = 0; i < s->n_inputs; i++)
        if (!seen[i])
            return err_set(err, ERR_INVALID, s->inputs[i].name, "the input %s is missing", s->inputs[i].name);
    return true;
}

/* --- running --- */

static bool give_bytes(const struct tensor *t, struct arena *a, OrtValue **ret, struct err *err)
{
    const OrtApi *api = ort_api();
    OrtAllocator *heap;
    uint64_t n;
    struct str one;
    size_t at = 0, i = 0;
    if (!types_elements(t->dims, t->n_dims, t->data.n / sizeof(uint32_t), &n) ||
        !types_count_bytes(t->data, n))
        return err_set(err, ERR_INVALID, t->name, "the elements of %s do not fill its data", t->name);
    const char **list = arena_alloc(a, (n + 1) * sizeof *list);
    while (types_next_bytes(t->data, &at, &one)) {
        if (memchr(one.p, 0, one.n))
            return err_set(err, ERR_INVALID, t->name,
                           "element %zu of %s has a zero byte, which texts of a graph cannot have", i,
                           t->name);
        list[i++] = arena_strz(a, one);
    }
    return ort_ok(api->GetAllocatorWithDefaultOptions(&heap), ERR_INTERNAL, err) &&
           ort_ok(api->CreateTensorAsOrtValue(heap, t->dims, t->n_dims, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING,
                                              ret),
                  ERR_INVALID, err) &&
           ort_ok(api->FillStringTensor(*ret, list, n), ERR_INVALID, err);
}

static bool give(const struct tensor *t, struct arena *a, OrtValue **ret, struct err *err)
{
    const OrtApi *api = ort_api();
    struct str data = t->data;
    if (t->type == TENSOR_BYTES)
        return give_bytes(t, a, ret, err);
    if ((uintptr_t)data.p % ALIGNMENT) {
        char *to = arena_alloc(a, data.n + ALIGNMENT);
        to += (ALIGNMENT - (uintptr_t)to % ALIGNMENT) % ALIGNMENT;
        if (data.n)
            memcpy(to, data.p, data.n);
        data.p = to;
    }
    return ort_ok(api->CreateTensorWithDataAsOrtValue(ort_memory(), (void *)data.p, data.n, t->dims,
                                                      t->n_dims,
                                                      (ONNXTensorElementDataType)types[t->type].onnx, ret),
                  ERR_INVALID, err);
}

static bool take_bytes(OrtValue *v, uint64_t n, struct tensor *t, struct arena *a, struct err *err)
{
    const OrtApi *api = ort_api();
    size_t total;
    if (!ort_ok(api->GetStringTensorDataLength(v, &total), ERR_INTERNAL, err))
        return false;
    if (total > SESSION_MAX_OUTPUT || n * sizeof(uint32_t) > SESSION_MAX_OUTPUT)
        return err_set(err, ERR_TOO_LARGE, t->name, "the output %s is too large", t->name);
    char *to = arena_alloc(a, total + n * sizeof(uint32_t) + 1);
    t->data.p = to;
    for (size_t i = 0; i < n; i++) {
        size_t length;
        if (!ort_ok(api->GetStringTensorElementLength(v, i, &length), ERR_INTERNAL, err))
            return false;
        uint32_t said = (uint32_t)length;
        memcpy(to, &said, sizeof said);
        to += sizeof said;
        if (!ort_ok(api->GetStringTensorElement(v, length, i, to), ERR_INTERNAL, err))
            return false;
        to += length;
    }
    t->data.n = (size_t)(to - t->data.p);
    return true;
}

static bool take_data(OrtValue *v, struct tensor *t, struct arena *a, struct err *err)
{
    uint64_t n;
    void *data;
    if (!types_elements(t->dims, t->n_dims, SESSION_MAX_OUTPUT, &n))
        return err_set(err, ERR_TOO_LARGE, t->name, "the output %s is too large", t->name);
    if (t->type == TENSOR_BYTES)
        return take_bytes(v, n, t, a, err);
    if (n * types[t->type].size > SESSION_MAX_OUTPUT)
        return err_set(err, ERR_TOO_LARGE, t->name, "the output %s is too large", t->name);
    if (!ort_ok(ort_api()->GetTensorMutableData(v, &data), ERR_INTERNAL, err))
        return false;
    t->data = (struct str){n ? arena_copy(a, data, n * types[t->type].size) : "", n * types[t->type].size};
    return true;
}

static bool take(OrtValue *v, const char *name, struct tensor *ret, struct arena *a, struct err *err)
{
    const OrtApi *api = ort_api();
    OrtTensorTypeAndShapeInfo *info = NULL;
    enum ONNXTensorElementDataType type;
    struct tensor t = {.name = name};
    if (!ort_ok(api->GetTensorTypeAndShape(v, &info), ERR_INTERNAL, err))
        return false;
    bool ok = ort_ok(api->GetTensorElementType(info, &type), ERR_INTERNAL, err) &&
              ort_ok(api->GetDimensionsCount(info, &t.n_dims), ERR_INTERNAL, err);
    if (ok && (t.n_dims > TENSOR_DIMS || !types_of_onnx((int)type, &t.type)))
        ok = err_set(err, ERR_INTERNAL, name, "the output %s has a type or a rank that is not served", name);
    ok = ok && ort_ok(api->GetDimensions(info, t.dims, t.n_dims), ERR_INTERNAL, err);
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (!ok || !take_data(v, &t, a, err))
        return false;
    *ret = t;
    return true;
}

bool session_run(struct session *s, const struct tensor *inputs, size_t n_inputs, const char *const *names,
                 struct tensor *ret, size_t n_names, struct arena *a, struct err *err)
{
    const OrtApi *api = ort_api();
    OrtValue *in[SESSION_MAX_VALUES] = {0}, *out[SESSION_MAX_VALUES] = {0};
    const char *in_names[SESSION_MAX_VALUES];
    bool ok = n_inputs <= SESSION_MAX_VALUES && n_names <= SESSION_MAX_VALUES;
    for (size_t i = 0; ok && i < n_inputs; i++) {
        in_names[i] = inputs[i].name;
        ok = give(&inputs[i], a, &in[i], err);
    }
    ok = ok &&
         ort_ok(api->Run(s->ort, NULL, in_names, (const OrtValue *const *)in, n_inputs, names, n_names, out),
                ERR_INVALID, err);
    for (size_t i = 0; ok && i < n_names; i++)
        ok = take(out[i], names[i], &ret[i], a, err);
    for (size_t i = 0; i < n_inputs && i < SESSION_MAX_VALUES; i++)
        if (in[i])
            api->ReleaseValue(in[i]);
    for (size_t i = 0; i < n_names && i < SESSION_MAX_VALUES; i++)
        if (out[i])
            api->ReleaseValue(out[i]);
    return ok;
}

void session_warm(struct session *s)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err ignored;
    struct tensor *in = arena_array(&a, struct tensor, s->n_inputs),
                  *out = arena_array(&a, struct tensor, s->n_outputs);
    const char **names = arena_array(&a, const char *, s->n_outputs);
    for (size_t i = 0; i < s->n_inputs; i++) {
        const struct session_value *v = &s->inputs[i];
        uint64_t n;
        in[i] = (struct tensor){.name = v->name, .type = v->type, .n_dims = v->n_dims};
        for (size_t d = 0; d < v->n_dims; d++)
            in[i].dims[d] = v->dims[d] < 0 ? 1 : v->dims[d];
        if (!types_elements(in[i].dims, v->n_dims, WARM_BYTES / 8, &n))
            return;
        /* A text of BYTES is empty: its length is four zeroes. */
        size_t size = n * (types[v->type].size ? types[v->type].size : sizeof(uint32_t));
        in[i].data = (struct str){arena_zalloc(&a, size + 1), size};
    }
    for (size_t i = 0; i < s->n_outputs; i++)
        names[i] = s->outputs[i].name;
    session_run(s, in, s->n_inputs, names, out, s->n_outputs, &a, &ignored);
}
