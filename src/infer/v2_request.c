#include "infer/v2_request.h"

#include "infer/types.h"
#include "infer/v2_data.h"

struct reading {
    struct arena *a;
    struct str binary; /* what is not yet taken */
    size_t json_size;  /* an element of JSON takes at least a byte of it */
    struct err *err;
};

bool v2_shape(yyjson_val *v, const char *name, struct tensor *ret, struct err *err)
{
    size_t i, n;
    yyjson_val *dim;
    if (!yyjson_is_arr(v) || yyjson_arr_size(v) > TENSOR_DIMS)
        return err_set(err, ERR_INVALID, "shape", "the shape of %s must be a list of at most %d numbers",
                       name, TENSOR_DIMS);
    yyjson_arr_foreach(v, i, n, dim)
    {
        if (!yyjson_is_int(dim) || (yyjson_is_uint(dim) && yyjson_get_uint(dim) > (uint64_t)TYPES_MAX_DIM) ||
            yyjson_get_sint(dim) < 0)
            return err_set(err, ERR_INVALID, "shape",
                           "dimension %zu of %s must be a whole number of 0 to 2^40", i, name);
        ret->dims[i] = yyjson_get_sint(dim);
    }
    ret->n_dims = n;
    return true;
}

/* A whole number of a parameter; false when it is there and none, or out of range. */
static bool parameter(yyjson_val *of, const char *name, uint64_t max, bool *ret_has, uint64_t *ret,
                      struct err *err)
{
    yyjson_val *v = yyjson_obj_get(yyjson_obj_get(of, "parameters"), name);
    *ret_has = v != NULL;
    if (!v)
        return true;
    if (!yyjson_is_uint(v) || yyjson_get_uint(v) > max)
        return err_set(err, ERR_INVALID, name, "the parameter %s must be a whole number of 0 to %llu", name,
                       (unsigned long long)max);
    *ret = yyjson_get_uint(v);
    return true;
}

static bool flag(yyjson_val *of, const char *name, bool *ret, struct err *err)
{
    yyjson_val *v = yyjson_obj_get(yyjson_obj_get(of, "parameters"), name);
    if (v && !yyjson_is_bool(v))
        return err_set(err, ERR_INVALID, name, "the parameter %s must be true or false", name);
    if (v)
        *ret = yyjson_get_bool(v);
    return true;
}

static bool no_shared_memory(yyjson_val *of, struct err *err)
{
    return !yyjson_obj_get(yyjson_obj_get(of, "parameters"), "shared_memory_region") ||
           err_set(err, ERR_INVALID, "shared_memory_region", "shared memory is not served: send the tensor");
}

/* Names are given to ONNX Runtime and compared as C strings. */
static bool name_of(struct reading *r, yyjson_val *of, const char *what, const char **ret)
{
    struct str name = json_str(yyjson_obj_get(of, "name"));
    if (!name.p || name.n == 0 || name.n > 1024 || memchr(name.p, 0, name.n))
        return err_set(r->err, ERR_INVALID, "name", "each of %s needs a name of 1 to 1024 bytes", what);
    *ret = arena_strz(r->a, name);
    return true;
}

static bool take_binary(struct reading *r, struct tensor *t, uint64_t elements, uint64_t size)
{
    size_t each = types[t->type].size;
    if (size > r->binary.n)
        return err_set(r->err, ERR_INVALID, "binary_data_size",
                       "the input %s has %llu bytes by its parameter, but only %zu are left in the body",
                       t->name, (unsigned long long)size, r->binary.n);
    t->data = (struct str){r->binary.p, size};
    r->binary = (struct str){r->binary.p + size, r->binary.n - size};
    if (each ? elements != size / each || size % each : !types_count_bytes(t->data, elements))
        return err_set(r->err, ERR_INVALID, "binary_data_size",
                       "the %llu bytes of the input %s are not the %llu elements of type %s of its shape",
                       (unsigned long long)size, t->name, (unsigned long long)elements, types[t->type].name);
    return true;
}

static bool read_input(struct reading *r, yyjson_val *v, struct tensor *t)
{
    bool binary;
    uint64_t size = 0, elements;
    struct str type = json_str(yyjson_obj_get(v, "datatype"));
    yyjson_val *data = yyjson_obj_get(v, "data");
    if (!name_of(r, v, "inputs", &t->name))
        return false;
    if (!types_of(type, &t->type))
        return err_set(r->err, ERR_INVALID, "datatype",
                       "the datatype of %s is \"%.40s\"; it must be one of the protocol's", t->name,
                       arena_strz(r->a, type));
    if (!v2_shape(yyjson_obj_get(v, "shape"), t->name, t, r->err) || !no_shared_memory(v, r->err) ||
        !parameter(v, "binary_data_size", SIZE_MAX / 2, &binary, &size, r->err))
        return false;
    if (!types_elements(t->dims, t->n_dims, r->json_size + r->binary.n, &elements))
        return err_set(r->err, ERR_INVALID, "shape", "the shape %s of %s has more elements than the body",
                       types_shape(r->a, t->dims, t->n_dims), t->name);
    if (binary && data)
        return err_set(r->err, ERR_INVALID, "data", "the input %s has data and binary_data_size", t->name);
    if (binary)
        return take_binary(r, t, elements, size);
    return v2_data_read(r->a, data, elements, t, r->err);
}

static bool read_inputs(struct reading *r, yyjson_val *list, struct v2_request *q)
{
    size_t i, n;
    yyjson_val *v;
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) > V2_MAX_INPUTS)
        return err_set(r->err, ERR_INVALID, "inputs", "inputs must be a list of at most %d", V2_MAX_INPUTS);
    q->inputs = arena_array(r->a, struct tensor, yyjson_arr_size(list));
    yyjson_arr_foreach(list, i, n, v)
    {
        if (!yyjson_is_obj(v))
            return err_set(r->err, ERR_INVALID, "inputs", "each of inputs must be an object");
        if (!read_input(r, v, &q->inputs[i]))
            return false;
    }
    q->n_inputs = n;
    if (r->binary.n)
        return err_set(r->err, ERR_INVALID, "binary_data_size",
                       "%zu bytes of the body belong to none of the inputs", r->binary.n);
    return true;
}

static bool read_outputs(struct reading *r, yyjson_val *list, struct v2_request *q)
{
    size_t i, n;
    yyjson_val *v;
    bool has;
    if (!list)
        return true;
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) > V2_MAX_INPUTS)
        return err_set(r->err, ERR_INVALID, "outputs", "outputs must be a list of at most %d", V2_MAX_INPUTS);
    q->outputs = arena_array(r->a, struct v2_output, yyjson_arr_size(list));
    yyjson_arr_foreach(list, i, n, v)
    {
        struct v2_output *o = &q->outputs[i];
        uint64_t classes = 0;
        o->binary = q->binary;
        if (!yyjson_is_obj(v))
            return err_set(r->err, ERR_INVALID, "outputs", "each of outputs must be an object");
        if (!name_of(r, v, "outputs", &o->name) || !no_shared_memory(v, r->err) ||
            !flag(v, "binary_data", &o->binary, r->err) ||
            !parameter(v, "classification", V2_MAX_CLASSES, &has, &classes, r->err))
            return false;
        o->classes = (uint32_t)classes;
    }
    q->n_outputs = n;
    return true;
}

bool v2_request_parse(struct arena *a, struct str body, int64_t json_length, struct v2_request *ret,
                      struct err *err)
{
    struct v2_request q = {0};
    bool has;
    if (json_length < -1 || (json_length >= 0 && (uint64_t)json_length > body.n))
        return err_set(err, ERR_MALFORMED, NULL,
                       "Inference-Header-Content-Length is %lld, but the body has %zu bytes",
                       (long long)json_length, body.n);
    size_t json = json_length < 0 ? body.n : (size_t)json_length;
    struct reading r = {a, {body.p + json, body.n - json}, json, err};
    yyjson_val *root = json_parse(a, (struct str){body.p, json}, err);
    if (!root)
        return false;
    if (!yyjson_is_obj(root))
        return err_set(err, ERR_MALFORMED, NULL, "the request must be a JSON object");
    yyjson_val *id = yyjson_obj_get(root, "id"), *parameters = yyjson_obj_get(root, "parameters");
    if (id && !yyjson_is_str(id) && !yyjson_is_null(id))
        return err_set(err, ERR_INVALID, "id", "id must be a text");
    if (parameters && !yyjson_is_obj(parameters) && !yyjson_is_null(parameters))
        return err_set(err, ERR_INVALID, "parameters", "parameters must be an object");
    q.id = json_str(id);
    if (!flag(root, "binary_data_output", &q.binary, err) ||
        !parameter(root, "timeout", (uint64_t)3600 * 1000000, &has, &q.timeout_us, err) ||
        !read_inputs(&r, yyjson_obj_get(root, "inputs"), &q) ||
        !read_outputs(&r, yyjson_obj_get(root, "outputs"), &q))
        return false;
    *ret = q;
    return true;
}
