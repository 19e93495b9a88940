/* The check of a whole file before anything else reads it: a walk over every message that ONNX defines, by
 * one table of their fields. Unknown fields are passed over, as protobuf does. */
#include "base/messages.h"
#include "model/onnx.h"
#include "model/onnx_graph.h"
#include "model/wire.h"

enum message {
    M_NONE,
    M_MODEL,
    M_GRAPH,
    M_NODE,
    M_ATTRIBUTE,
    M_TENSOR,
    M_SPARSE,
    M_VALUE,
    M_TYPE,
    M_TENSOR_TYPE,
    M_SEQUENCE,
    M_MAP,
    M_SHAPE,
    M_DIM,
    M_FUNCTION,
    M_TRAINING,
    M_PLAIN, /* messages that hold texts only: nothing inside matters */
    M_COUNT,
};

enum rule { R_ANY, R_NO_EXTERNAL, R_LOCATION, R_TEXT };

struct row {
    enum message in;
    uint32_t number;
    enum wire_type wire;
    enum message child; /* of WIRE_BYTES */
    enum rule rule;
};

/* Only fields that lead to further messages, or that have a rule. */
static const struct row rows[] = {
    {M_MODEL, 1, WIRE_VARINT, M_NONE, R_ANY},
    {M_MODEL, 2, WIRE_BYTES, M_NONE, R_TEXT},
    {M_MODEL, 7, WIRE_BYTES, M_GRAPH, R_ANY},
    {M_MODEL, 8, WIRE_BYTES, M_PLAIN, R_ANY},
    {M_MODEL, 14, WIRE_BYTES, M_PLAIN, R_ANY},
    {M_MODEL, 20, WIRE_BYTES, M_TRAINING, R_ANY},
    {M_MODEL, 25, WIRE_BYTES, M_FUNCTION, R_ANY},
    {M_TRAINING, 1, WIRE_BYTES, M_GRAPH, R_ANY},
    {M_TRAINING, 2, WIRE_BYTES, M_GRAPH, R_ANY},
    {M_GRAPH, 1, WIRE_BYTES, M_NODE, R_ANY},
    {M_GRAPH, 2, WIRE_BYTES, M_NONE, R_TEXT},
    {M_GRAPH, 5, WIRE_BYTES, M_TENSOR, R_ANY},
    {M_GRAPH, 11, WIRE_BYTES, M_VALUE, R_ANY},
    {M_GRAPH, 12, WIRE_BYTES, M_VALUE, R_ANY},
    {M_GRAPH, 13, WIRE_BYTES, M_VALUE, R_ANY},
    {M_GRAPH, 14, WIRE_BYTES, M_PLAIN, R_ANY},
    {M_GRAPH, 15, WIRE_BYTES, M_SPARSE, R_ANY},
    {M_FUNCTION, 1, WIRE_BYTES, M_NONE, R_TEXT},
    {M_FUNCTION, 7, WIRE_BYTES, M_NODE, R_ANY},
    {M_FUNCTION, 11, WIRE_BYTES, M_ATTRIBUTE, R_ANY},
    {M_FUNCTION, 12, WIRE_BYTES, M_VALUE, R_ANY},
    {M_NODE, 1, WIRE_BYTES, M_NONE, R_TEXT},
    {M_NODE, 2, WIRE_BYTES, M_NONE, R_TEXT},
    {M_NODE, 3, WIRE_BYTES, M_NONE, R_TEXT},
    {M_NODE, 4, WIRE_BYTES, M_NONE, R_TEXT},
    {M_NODE, 5, WIRE_BYTES, M_ATTRIBUTE, R_ANY},
    {M_NODE, 7, WIRE_BYTES, M_NONE, R_TEXT},
    {M_ATTRIBUTE, 1, WIRE_BYTES, M_NONE, R_TEXT},
    {M_ATTRIBUTE, 3, WIRE_VARINT, M_NONE, R_ANY},
    {M_ATTRIBUTE, 5, WIRE_BYTES, M_TENSOR, R_ANY},
    {M_ATTRIBUTE, 6, WIRE_BYTES, M_GRAPH, R_ANY},
    {M_ATTRIBUTE, 10, WIRE_BYTES, M_TENSOR, R_ANY},
    {M_ATTRIBUTE, 11, WIRE_BYTES, M_GRAPH, R_ANY},
    {M_ATTRIBUTE, 14, WIRE_BYTES, M_TYPE, R_ANY},
    {M_ATTRIBUTE, 15, WIRE_BYTES, M_TYPE, R_ANY},
    {M_ATTRIBUTE, 22, WIRE_BYTES, M_SPARSE, R_ANY},
    {M_ATTRIBUTE, 23, WIRE_BYTES, M_SPARSE, R_ANY},
    {M_TENSOR, 2, WIRE_VARINT, M_NONE, R_ANY},
    {M_TENSOR, 8, WIRE_BYTES, M_NONE, R_TEXT},
    {M_TENSOR, 9, WIRE_BYTES, M_NONE, R_ANY},
    {M_TENSOR, 13, WIRE_BYTES, M_NONE, R_NO_EXTERNAL},
    {M_TENSOR, 14, WIRE_VARINT, M_NONE, R_LOCATION},
    {M_SPARSE, 1, WIRE_BYTES, M_TENSOR, R_ANY},
    {M_SPARSE, 2, WIRE_BYTES, M_TENSOR, R_ANY},
    {M_VALUE, 1, WIRE_BYTES, M_NONE, R_TEXT},
    {M_VALUE, 2, WIRE_BYTES, M_TYPE, R_ANY},
    {M_TYPE, 1, WIRE_BYTES, M_TENSOR_TYPE, R_ANY},
    {M_TYPE, 4, WIRE_BYTES, M_SEQUENCE, R_ANY},
    {M_TYPE, 5, WIRE_BYTES, M_MAP, R_ANY},
    {M_TYPE, 8, WIRE_BYTES, M_TENSOR_TYPE, R_ANY},
    {M_TYPE, 9, WIRE_BYTES, M_SEQUENCE, R_ANY},
    {M_SEQUENCE, 1, WIRE_BYTES, M_TYPE, R_ANY},
    {M_MAP, 2, WIRE_BYTES, M_TYPE, R_ANY},
    {M_TENSOR_TYPE, 1, WIRE_VARINT, M_NONE, R_ANY},
    {M_TENSOR_TYPE, 2, WIRE_BYTES, M_SHAPE, R_ANY},
    {M_SHAPE, 1, WIRE_BYTES, M_DIM, R_ANY},
    {M_DIM, 1, WIRE_VARINT, M_NONE, R_ANY},
    {M_DIM, 2, WIRE_BYTES, M_NONE, R_TEXT},
};

/* Messages that nest inside each other without end, and how many of a message a file may have. */
static const struct {
    bool deepens;
    uint64_t most;
    const char *what;
} messages[M_COUNT] = {
    [M_GRAPH] = {true, 10000, "graphs"},
    [M_NODE] = {false, ONNX_MAX_NODES, "nodes"},
    [M_ATTRIBUTE] = {false, ONNX_MAX_NODES * 4ull, "attributes"},
    [M_TENSOR] = {false, ONNX_MAX_NODES, "tensors"},
    [M_VALUE] = {false, ONNX_MAX_NODES * 2ull, "values"},
    [M_TYPE] = {true, ONNX_MAX_NODES * 2ull, "types"},
    [M_FUNCTION] = {true, 10000, "functions"},
};

#define MAX_TEXTS 4000000u

struct walk {
    uint64_t counts[M_COUNT], texts;
    struct err *err;
};

static const struct row *row_of(enum message in, uint32_t number)
{
    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].in == in && rows[i].number == number)
            return &rows[i];
    return NULL;
}

static bool damaged(struct walk *w, const char *why)
{
    return err_message(w->err, ERR_INVALID, "file", MESSAGE_ONNX_DAMAGED, why);
}

static bool check_rule(struct walk *w, const struct row *row, const struct wire_field *f)
{
    switch (row->rule) {
    case R_NO_EXTERNAL:
        return err_message(w->err, ERR_INVALID, "file", MESSAGE_ONNX_EXTERNAL);
    case R_LOCATION:
        if (f->value)
            return err_message(w->err, ERR_INVALID, "file", MESSAGE_ONNX_EXTERNAL);
        return true;
    case R_TEXT:
        if (f->bytes.n > 65536 || ++w->texts > MAX_TEXTS)
            return damaged(w, "it has too many names, or too long ones");
        if (str_is(f->bytes, "EPContext") && row->in == M_NODE && row->number == 4)
            return err_message(w->err, ERR_INVALID, "file", MESSAGE_ONNX_EXTERNAL);
        return true;
    default:
        return true;
    }
}

/* clang-tidy: the recursion is bounded by ONNX_MAX_DEPTH, as every cycle of the table passes a message that
 * deepens. */
// NOLINTNEXTLINE(misc-no-recursion)
static bool walk_message(struct walk *w, enum message type, struct str bytes, int depth)
{
    if (messages[type].deepens && ++depth > ONNX_MAX_DEPTH)
        return damaged(w, "its graphs are nested too deep");
    if (messages[type].most && ++w->counts[type] > messages[type].most)
        return damaged(w, "it has too many nodes, tensors or values");
    if (type == M_PLAIN)
        return true;
    struct wire at = wire_of(bytes);
    struct wire_field f;
    const char *why = NULL;
    while (wire_next(&at, &f, &why)) {
        const struct row *row = row_of(type, f.number);
        if (!row)
            continue;
        if (row->wire != f.type)
            return damaged(w, "a field has another type than ONNX defines");
        if (!check_rule(w, row, &f))
            return false;
        if (row->child != M_NONE && !walk_message(w, row->child, f.bytes, depth))
            return false;
    }
    if (why)
        return damaged(w, why);
    struct onnx_tensor t;
    if (type == M_TENSOR && !onnx_tensor_read(bytes, &t, &why))
        return damaged(w, why);
    return true;
}

bool onnx_check(struct str file, struct err *err)
{
    struct walk w = {.err = err};
    if (file.n > ONNX_MAX_BYTES)
        return damaged(&w, "it is larger than 2 GiB");
    if (!walk_message(&w, M_MODEL, file, 0))
        return false;
    if (!w.counts[M_GRAPH])
        return damaged(&w, "it has no graph");
    return true;
}
