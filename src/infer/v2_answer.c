#include "infer/v2_answer.h"

#include "infer/types.h"
#include "infer/v2_data.h"

void v2_error(struct buf *out, const struct err *err)
{
    struct json_out j;
    json_begin(&j, out);
    json_object(&j);
    json_kz(&j, "error", err->message);
    if (err->field[0])
        json_kz(&j, "field", err->field);
    json_object_end(&j);
}

static void write_shape(struct json_out *j, const struct tensor *t)
{
    json_key(j, "shape");
    json_array(j);
    for (size_t i = 0; i < t->n_dims; i++)
        json_int(j, t->dims[i]);
    json_array_end(j);
}

static bool write_output(struct json_out *j, const struct tensor *t, bool binary, struct err *err)
{
    json_object(j);
    json_kz(j, "name", t->name);
    json_kz(j, "datatype", types[t->type].name);
    write_shape(j, t);
    if (binary) {
        json_key(j, "parameters");
        json_object(j);
        json_kint(j, "binary_data_size", (int64_t)t->data.n);
        json_object_end(j);
    } else {
        json_key(j, "data");
        if (!v2_data_write(j, t, err))
            return false;
    }
    json_object_end(j);
    return true;
}

/* What is sent of output i: its tensor, or its classes. */
static bool shown(struct arena *a, const struct v2_model *m, const struct v2_request *q, size_t i,
                  const struct tensor *t, struct tensor *ret, struct err *err)
{
    *ret = *t;
    if (i < q->n_outputs && q->outputs[i].classes)
        return v2_classify(a, m, t, q->outputs[i].classes, ret, err);
    return true;
}

bool v2_answer_write(struct buf *out, struct arena *a, const struct v2_model *m, const struct v2_request *q,
                     const struct tensor *outputs, size_t n, int64_t *ret_json, struct err *err)
{
    struct json_out j;
    struct tensor *sent = arena_array(a, struct tensor, n);
    bool any = false;
    json_begin(&j, out);
    json_object(&j);
    json_kz(&j, "model_name", m->name);
    json_kz(&j, "model_version", m->version);
    if (q->id.p)
        json_kstr(&j, "id", q->id);
    json_key(&j, "outputs");
    json_array(&j);
    for (size_t i = 0; i < n; i++) {
        bool binary = q->n_outputs ? q->outputs[i].binary : q->binary;
        any |= binary;
        if (!shown(a, m, q, i, &outputs[i], &sent[i], err) || !write_output(&j, &sent[i], binary, err))
            return false;
    }
    json_array_end(&j);
    json_object_end(&j);
    *ret_json = any ? (int64_t)out->n : -1;
    for (size_t i = 0; i < n; i++)
        if (q->n_outputs ? q->outputs[i].binary : q->binary)
            buf_str(out, sent[i].data);
    return true;
}
