/* OpenAPI documents of services. */
#include "api/gateway/service_routes.h"
#include "base/json.h"

/* What a model service offers; NAME stands for the service's name. */
static const struct operation {
    const char *path, *method, *summary;
    const char *body; /* media types that it takes, or NULL */
} operations[] = {
    {"/predict", "post",
     "A picture, text or sound (or several as multipart/form-data) to annotations with scores",
     "{\"image/*\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}},"
     "\"audio/*\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}},"
     "\"text/plain\":{\"schema\":{\"type\":\"string\"}},"
     "\"multipart/form-data\":{\"schema\":{\"type\":\"object\","
     "\"additionalProperties\":{\"type\":\"string\",\"format\":\"binary\"}}}}"},
    {"/v2", "get", "About the server", NULL},
    {"/v2/health/live", "get", "Whether a replica runs", NULL},
    {"/v2/health/ready", "get", "Whether a replica answers requests", NULL},
    {"/v2/models/NAME", "get", "Inputs and outputs of the model", NULL},
    {"/v2/models/NAME/ready", "get", "Whether the model answers requests", NULL},
    {"/v2/models/NAME/config", "get", "How the model is served", NULL},
    {"/v2/models/NAME/stats", "get", "What the replica that answers has counted", NULL},
    {"/v2/models/NAME/infer", "post", "Tensors to tensors, by the Open Inference Protocol",
     "{\"application/json\":{\"schema\":{\"type\":\"object\",\"required\":[\"inputs\"],\"properties\":{"
     "\"id\":{\"type\":\"string\"},\"inputs\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
     "\"required\":[\"name\",\"shape\",\"datatype\"],\"properties\":{\"name\":{\"type\":\"string\"},"
     "\"shape\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},\"datatype\":{\"type\":\"string\"},"
     "\"data\":{\"type\":\"array\",\"items\":{}}}}},\"outputs\":{\"type\":\"array\","
     "\"items\":{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{"
     "\"name\":{\"type\":\"string\"}}}}}}},"
     "\"application/octet-stream\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}}}"},
};

static void write_operation(const struct operation *op, const char *name, struct json_out *o)
{
    auto_buf struct buf path = {0};
    const char *at = strstr(op->path, "NAME");
    buf_add(&path, op->path, at ? (size_t)(at - op->path) : strlen(op->path));
    if (at) {
        buf_z(&path, name);
        buf_z(&path, at + 4);
    }
    json_key(o, path.p);
    json_object(o);
    json_key(o, op->method);
    json_object(o);
    json_kz(o, "summary", op->summary);
    if (op->body) {
        json_key(o, "requestBody");
        json_object(o);
        json_kbool(o, "required", true);
        json_key(o, "content");
        json_raw(o, str_of(op->body));
        json_object_end(o);
    }
    json_key(o, "responses");
    json_raw(o, STR("{\"200\":{\"description\":\"the answer\",\"content\":{\"application/json\":{\"schema\":{"
                    "\"type\":\"object\"}}}},\"default\":{\"description\":\"a problem\",\"content\":{"
                    "\"application/problem+json\":{\"schema\":{\"type\":\"object\"}}}}}"));
    json_object_end(o);
    json_object_end(o);
}

/* An image's program knows its own paths: only that it takes any is known here. */
static void write_any(struct json_out *o)
{
    json_key(o, "/{path}");
    json_raw(o, STR("{\"parameters\":[{\"name\":\"path\",\"in\":\"path\",\"required\":true,"
                    "\"schema\":{\"type\":\"string\"}}],\"get\":{\"summary\":\"Whatever the service offers\","
                    "\"responses\":{\"default\":{\"description\":\"the service's answer\"}}}}"));
}

void service_document_write(const struct serve_route *r, const char *address, struct buf *out)
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
    if (r->production.model || r->canary.model)
        for (size_t i = 0; i < countof(operations); i++)
            write_operation(&operations[i], r->name, &o);
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
