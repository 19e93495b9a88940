/* OpenAPI documents of services. */
#include "api/gateway/service_routes.h"
#include "base/json.h"

#define BINARY "{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}}"
#define SMALL  64 /* elements of an example that is written as JSON */

/* What predict takes, by the model's input. */
static const char *const takes[] = {
    [MODEL_PICTURE] = "\"image/*\":" BINARY,
    [MODEL_TEXT] = "\"text/plain\":{\"schema\":{\"type\":\"string\"}}",
    [MODEL_SOUND] = "\"audio/*\":" BINARY,
};

/* What a model service offers beside predict: of the server, or for each graph, whose name NAME stands for.
 */
static const struct operation {
    const char *path, *method, *summary;
} operations[] = {
    {"/v2", "get", "About the server"},
    {"/v2/health/live", "get", "Whether a replica runs"},
    {"/v2/health/ready", "get", "Whether a replica answers requests"},
    {"/v2/models/NAME", "get", "Inputs and outputs of the model"},
    {"/v2/models/NAME/ready", "get", "Whether the model answers requests"},
    {"/v2/models/NAME/config", "get", "How the model is served"},
    {"/v2/models/NAME/stats", "get", "What the replica that answers has counted"},
    {"/v2/models/NAME/infer", "post", "Tensors to tensors, by the Open Inference Protocol"},
};

static void write_answers(const char *schema, struct json_out *o)
{
    json_key(o, "responses");
    json_object(o);
    json_key(o, "200");
    json_object(o);
    json_kz(o, "description", "the answer");
    json_key(o, "content");
    json_object(o);
    json_key(o, "application/json");
    json_object(o);
    json_key(o, "schema");
    json_raw(o, str_of(schema));
    json_object_end(o);
    json_object_end(o);
    json_object_end(o);
    json_key(o, "default");
    json_raw(o, STR("{\"description\":\"a problem\",\"content\":{\"application/problem+json\":{\"schema\":{"
                    "\"type\":\"object\"}}}}"));
    json_object_end(o);
}

/* --- predict --- */

/* The thresholds that a caller may change for one request. */
static void write_thresholds(const struct model_manifest *m, struct json_out *o)
{
    json_key(o, "parameters");
    json_array(o);
    for (size_t i = 0; i < MODEL_THRESHOLD_COUNT; i++) {
        json_object(o);
        json_kz(o, "name", model_threshold_names[i]);
        json_kz(o, "in", "query");
        json_key(o, "schema");
        json_object(o);
        json_kz(o, "type", "number");
        json_kint(o, "minimum", 0);
        json_kint(o, "maximum", 1);
        json_key(o, "default");
        json_real(o, m->thresholds[i]);
        json_object_end(o);
        json_object_end(o);
    }
    json_array_end(o);
}

static void write_predict(const struct serve_interface *model, struct json_out *o)
{
    auto_buf struct buf body = {0};
    buf_printf(&body,
               "{%s,\"multipart/form-data\":{\"schema\":{\"type\":\"object\",\"additionalProperties\":{"
               "\"type\":\"string\",\"format\":\"binary\"}}}}",
               takes[serve_interface_takes(model)]);
    json_key(o, "/predict");
    json_object(o);
    json_key(o, "post");
    json_object(o);
    json_kz(o, "summary",
            "A picture, text or sound (or several as multipart/form-data) to annotations with scores");
    write_thresholds(&model->manifest, o);
    json_key(o, "requestBody");
    json_object(o);
    json_kbool(o, "required", true);
    json_key(o, "content");
    json_raw(o, buf_view(&body));
    json_object_end(o);
    write_answers(
        "{\"type\":\"object\",\"properties\":{\"annotation\":{\"type\":\"object\"},\"width\":{\"type\":"
        "\"integer\"},\"height\":{\"type\":\"integer\"},\"model\":{\"type\":\"string\"},\"version\":{"
        "\"type\":\"string\"},\"times_ms\":{\"type\":\"object\"}}}",
        o);
    json_object_end(o);
    json_object_end(o);
}

/* --- the v2 protocol --- */

/* Zeroes, where they are few enough to be read by people. */
static void write_example(const struct serve_graph *g, struct json_out *o)
{
    json_key(o, "example");
    json_object(o);
    json_key(o, "inputs");
    json_array(o);
    for (size_t i = 0; i < g->n_inputs; i++) {
        const struct serve_tensor *t = &g->inputs[i];
        size_t n = 1;
        json_object(o);
        json_kstr(o, "name", t->name);
        json_key(o, "shape");
        json_array(o);
        for (size_t k = 0; k < t->n_dims; k++) {
            int64_t d = serve_tensor_dim(t, k);
            json_int(o, d);
            n *= (size_t)d;
        }
        json_array_end(o);
        json_kz(o, "datatype", t->type);
        json_key(o, "data");
        json_array(o);
        for (size_t k = 0; k < n; k++)
            json_raw(o, strcmp(t->type, "BYTES") == 0  ? STR("\"\"")
                        : strcmp(t->type, "BOOL") == 0 ? STR("false")
                                                       : STR("0"));
        json_array_end(o);
        json_object_end(o);
    }
    json_array_end(o);
    json_object_end(o);
}

static bool is_small(const struct serve_graph *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_inputs; i++) {
        struct serve_tensor of_bytes = g->inputs[i];
        of_bytes.element_size = 1;
        size_t one = serve_tensor_size(&of_bytes);
        n += one ? one : SMALL + 1;
        if (n > SMALL)
            return false;
    }
    return g->n_inputs > 0;
}

/* The bytes of a body without JSON (Inference-Header-Content-Length: 0), where the model takes one. */
static size_t bare_size(const struct serve_graph *g)
{
    size_t free_dims = 0;
    if (g->n_inputs != 1)
        return 0;
    for (size_t i = 0; i < g->inputs[0].n_dims; i++)
        free_dims += g->inputs[0].dims[i].value < 0;
    return free_dims <= 1 ? serve_tensor_size(&g->inputs[0]) : 0;
}

static void write_tensors(const struct serve_graph *g, struct json_out *o)
{
    size_t size = bare_size(g);
    json_key(o, "requestBody");
    json_object(o);
    json_kbool(o, "required", true);
    json_key(o, "content");
    json_object(o);
    json_key(o, "application/json");
    json_object(o);
    json_key(o, "schema");
    json_raw(
        o,
        STR("{\"type\":\"object\",\"required\":[\"inputs\"],\"properties\":{"
            "\"id\":{\"type\":\"string\"},\"inputs\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
            "\"required\":[\"name\",\"shape\",\"datatype\"],\"properties\":{\"name\":{\"type\":\"string\"},"
            "\"shape\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},\"datatype\":{\"type\":"
            "\"string\"},\"data\":{\"type\":\"array\",\"items\":{}}}}},\"outputs\":{\"type\":\"array\","
            "\"items\":{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{"
            "\"name\":{\"type\":\"string\"}}}}}}"));
    if (is_small(g))
        write_example(g, o);
    json_object_end(o);
    json_key(o, "application/octet-stream");
    json_object(o);
    json_key(o, "schema");
    json_object(o);
    json_kz(o, "type", "string");
    json_kz(o, "format", "binary");
    if (size)
        json_kint(o, "minLength", (int64_t)size);
    json_object_end(o);
    json_object_end(o);
    json_object_end(o);
    json_object_end(o);
}

/* g: the graph that is named in the path; NULL: the path names none. */
static void write_operation(const struct operation *op, const struct serve_graph *g, struct json_out *o)
{
    auto_buf struct buf path = {0};
    const char *at = g ? strstr(op->path, "NAME") : NULL;
    buf_add(&path, op->path, at ? (size_t)(at - op->path) : strlen(op->path));
    if (at) {
        buf_z(&path, g->name);
        buf_z(&path, at + 4);
    }
    json_key(o, path.p);
    json_object(o);
    json_key(o, op->method);
    json_object(o);
    json_kz(o, "summary", op->summary);
    if (g && strcmp(op->method, "post") == 0)
        write_tensors(g, o);
    write_answers("{\"type\":\"object\"}", o);
    json_object_end(o);
    json_object_end(o);
}

static void write_model(const struct serve_interface *model, struct json_out *o)
{
    if (model->predicts)
        write_predict(model, o);
    for (size_t i = 0; i < countof(operations); i++)
        if (!strstr(operations[i].path, "NAME"))
            write_operation(&operations[i], NULL, o);
    for (size_t k = 0; k < model->n_graphs; k++)
        for (size_t i = 0; i < countof(operations); i++)
            if (strstr(operations[i].path, "NAME"))
                write_operation(&operations[i], &model->graphs[k], o);
}

/* An image's program knows its own paths: only that it takes any is known here. */
static void write_any(struct json_out *o)
{
    json_key(o, "/{path}");
    json_raw(o, STR("{\"parameters\":[{\"name\":\"path\",\"in\":\"path\",\"required\":true,"
                    "\"schema\":{\"type\":\"string\"}}],\"get\":{\"summary\":\"Whatever the service offers\","
                    "\"responses\":{\"default\":{\"description\":\"the service's answer\"}}}}"));
}

void service_document_write(const struct serve_route *r, const struct serve_interface *model,
                            const char *address, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_kz(&o, "openapi", "3.1.0");
    json_key(&o, "info");
    json_object(&o);
    json_kz(&o, "title", r->name);
    json_kz(&o, "version", "1");
    json_object_end(&o);
    json_key(&o, "servers");
    json_array(&o);
    json_object(&o);
    json_kz(&o, "url", address);
    json_object_end(&o);
    json_array_end(&o);
    json_key(&o, "security");
    json_raw(&o, STR("[{\"key\":[]},{\"bearer\":[]}]"));
    json_key(&o, "paths");
    json_object(&o);
    if (model)
        write_model(model, &o);
    else
        write_any(&o);
    json_object_end(&o);
    json_key(&o, "components");
    json_raw(
        &o,
        STR("{\"securitySchemes\":{\"key\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-API-Key\"},"
            "\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"}}}"));
    json_object_end(&o);
}
