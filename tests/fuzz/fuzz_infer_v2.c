/* The body of an inference request, its first two bytes being the length of the JSON (65535: no binary part):
 * whatever comes is refused with a sentence, or its tensors lie in their bounds and can be written again. */
#include "infer/types.h"
#include "infer/v2_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tensor *t)
{
    uint64_t n;
    if (t->n_dims > TENSOR_DIMS || !types_elements(t->dims, t->n_dims, UINT64_MAX, &n))
        abort();
    if (types[t->type].size ? n * types[t->type].size != t->data.n : !types_count_bytes(t->data, n))
        abort();
    for (volatile size_t i = 0; i < t->data.n; i++)
        (void)*(volatile const char *)&t->data.p[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf out = {0};
    struct v2_request q;
    struct err err = {0};
    struct v2_model m = {"m", "1", NULL, 0};
    int64_t json;
    uint16_t length;
    if (size < sizeof length)
        return 0;
    memcpy(&length, data, sizeof length);
    struct str body = {(const char *)data + sizeof length, size - sizeof length};
    if (!v2_request_parse(&a, body, length == UINT16_MAX ? -1 : length, &q, &err)) {
        if (!err.code || !err.message[0])
            abort();
        return 0;
    }
    for (size_t i = 0; i < q.n_inputs; i++)
        check(&q.inputs[i]);
    /* As many outputs as were asked for, of the inputs' tensors. */
    size_t n = q.n_outputs < q.n_inputs ? q.n_outputs : q.n_inputs;
    q.n_outputs = n;
    for (size_t i = 0; i < n; i++)
        q.outputs[i].classes %= 100;
    if (!v2_answer_write(&out, &a, &m, &q, q.inputs, n, &json, &err) && !err.message[0])
        abort();
    return 0;
}
