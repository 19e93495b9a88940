/* The record files of dataset versions: their bytes, what is in them, whether they are sound. */
#include "api/lasting.h"
#include "api/range.h"
#include "api/rest/uploads.h"
#include "core/data/record_view.h"
#include "store/store.h"

#define TEXT_MAX   (64 << 10) /* longer values are only told of */
#define FAULTS_MAX 100

/* params: dataset, version, file */
static bool find_version(struct api_call *call, struct object *ret, struct err *err)
{
    int64_t dataset, version;
    if (!str_to_i64(call->params[0], &dataset) || !str_to_i64(call->params[1], &version))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such version");
    return engine_get(call->core, &call->caller, &kind_dataset_version, dataset, version, call->arena, ret,
                      err);
}

static void run_bytes(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct digest d;
    char etag[SHA256_HEX + 3] = "\"";
    if (!find_version(call, &version, &err) ||
        !records_find(call->arena, &version, call->params[2], &d, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    digest_hex(&d, etag + 1);
    strcat(etag, "\"");
    const struct header headers[] = {{STR("Content-Type"), STR("application/octet-stream")},
                                     {STR("Cache-Control"), STR("private, no-cache")}};
    lasting_show(call, &version);
    if (!range_respond_blob(call->request, call->core->store, &d, etag, headers, countof(headers), &err))
        api_problem(call, &err, NULL, 0);
}

/* --- a page of records --- */

static bool failed(const struct record_err *why, struct err *err)
{
    return err_set(err, ERR_CONFLICT, NULL, "the record file is damaged: %s", why->message);
}

/* JSON of the file is checked before it becomes part of an answer. */
static bool embeddable(const struct record_value *v)
{
    struct err ignored = {0};
    auto_arena struct arena a;
    arena_init(&a);
    return json_parse(&a, (struct str){v->data, v->size}, &ignored) != NULL;
}

static void write_large(struct json_out *o, const struct record_value *v)
{
    json_object(o);
    json_kint(o, "bytes", (int64_t)v->size);
    json_kz(o, "type", record_view_type(v));
    json_object_end(o);
}

static void write_number(struct json_out *o, const struct record_field *f, const struct record_value *v)
{
    uint64_t bits;
    double real;
    memcpy(&bits, v->data, sizeof bits);
    bits = le64toh(bits);
    memcpy(&real, &bits, sizeof real);
    if (f->type == RECORD_INT64)
        json_int(o, (int64_t)bits);
    else
        json_real(o, real);
}

static void write_value(struct json_out *o, const struct record_field *f, const struct record_value *v)
{
    struct str text = {v->data, v->size};
    bool number = f->type == RECORD_INT64 || f->type == RECORD_FLOAT64;
    if (!v->data)
        json_null(o);
    else if (number && v->size == 8)
        write_number(o, f, v);
    else if (f->type == RECORD_UTF8 && v->size <= TEXT_MAX && utf8_valid(text))
        json_string(o, text);
    else if (f->type == RECORD_JSON && v->size <= TEXT_MAX && embeddable(v))
        json_raw(o, text);
    else
        write_large(o, v);
}

static bool write_record(struct json_out *o, struct record_view *view, uint64_t i, struct err *err)
{
    const struct record_schema *schema = record_reader_schema(view->reader);
    struct record rec;
    struct record_err why;
    struct record_value v;
    if (!record_reader_get(view->reader, i, &rec, &why))
        return failed(&why, err);
    json_object(o);
    json_kint(o, "record", (int64_t)i);
    json_kint(o, "bytes", rec.size);
    json_key(o, "values");
    json_array(o);
    for (size_t f = 0; f < rec.fields; f++) {
        if (!record_get(&rec, f, &v, &why))
            return failed(&why, err);
        write_value(o, record_schema_field(schema, f), &v);
    }
    json_array_end(o);
    json_object_end(o);
    return true;
}

static void write_schema(struct json_out *o, const struct record_schema *s)
{
    int key = record_schema_key(s);
    json_kz(o, "key", key < 0 ? NULL : record_schema_field(s, (size_t)key)->name);
    json_key(o, "fields");
    json_array(o);
    for (size_t i = 0; i < record_schema_count(s); i++) {
        const struct record_field *f = record_schema_field(s, i);
        json_object(o);
        json_kz(o, "name", f->name);
        json_kz(o, "type", record_type_name(f->type));
        json_kz(o, "dtype", f->type == RECORD_ARRAY ? record_dtype_name(f->dtype) : NULL);
        json_key(o, "shape");
        json_array(o);
        for (unsigned d = 0; f->type == RECORD_ARRAY && d < f->ndim; d++)
            json_int(o, f->shape[d]);
        json_array_end(o);
        json_object_end(o);
    }
    json_array_end(o);
}

static bool write_page(struct api_call *call, struct record_view *view, struct buf *body, struct err *err)
{
    int64_t from, limit;
    struct json_out o;
    uint64_t count = record_reader_count(view->reader);
    if (!api_number(call, "from", 0, INT64_MAX, 0, &from, err) ||
        !api_number(call, "limit", 1, 100, 20, &limit, err))
        return false;
    json_begin(&o, body);
    json_object(&o);
    json_kint(&o, "records", (int64_t)count);
    json_kint(&o, "first", (int64_t)view->first);
    json_kint(&o, "bytes", (int64_t)view->size);
    write_schema(&o, record_reader_schema(view->reader));
    json_key(&o, "items");
    json_array(&o);
    for (uint64_t i = (uint64_t)from; i < count && i - (uint64_t)from < (uint64_t)limit; i++)
        if (!write_record(&o, view, i, err))
            return false;
    json_array_end(&o);
    json_object_end(&o);
    return true;
}

static void run_items(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct record_view view = RECORD_VIEW_NONE;
    auto_buf struct buf body = {0};
    bool ok = find_version(call, &version, &err) &&
              record_view_open(call->core, call->arena, &version, call->params[2], &view, &err) &&
              write_page(call, &view, &body, &err);
    record_view_close(&view);
    if (ok)
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

/* --- one value --- */

static bool find_value(struct api_call *call, struct record_view *view, struct record_value *ret,
                       struct err *err)
{
    const struct record_schema *schema = record_reader_schema(view->reader);
    uint64_t count = record_reader_count(view->reader);
    struct record rec;
    struct record_err why;
    struct str name = STR("");
    int64_t i;
    if (!api_number(call, "record", 0, count ? (int64_t)count - 1 : 0, 0, &i, err))
        return false;
    if (!request_param(call->request, "field", &name, err) && err->code)
        return false;
    int field = record_schema_find(schema, arena_strz(call->arena, name));
    if (field < 0)
        return err_set(err, ERR_INVALID, "field", "field: the records have no field \"" STR_FMT "\"",
                       STR_ARG(name));
    if (!record_reader_get(view->reader, (uint64_t)i, &rec, &why) ||
        !record_get(&rec, (size_t)field, ret, &why))
        return failed(&why, err);
    return ret->data || err_set(err, ERR_NOT_FOUND, "field", "the record has no value there");
}

/* Whatever it is, it is no document of ours. */
static void run_value(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct record_view view = RECORD_VIEW_NONE;
    struct record_value v;
    if (find_version(call, &version, &err) &&
        record_view_open(call->core, call->arena, &version, call->params[2], &view, &err) &&
        find_value(call, &view, &v, &err)) {
        const struct header headers[] = {{STR("Content-Type"), str_of(record_view_type(&v))},
                                         {STR("X-Content-Type-Options"), STR("nosniff")},
                                         {STR("Content-Security-Policy"), STR("sandbox; default-src 'none'")},
                                         {STR("Cache-Control"), STR("private, max-age=3600")}};
        uint64_t at = (uint64_t)((const char *)v.data - (const char *)view.map);
        lasting_show(call, &version);
        respond_file(call->request, 200, headers, countof(headers), view.fd, at, v.size);
        view.fd = -1;
    } else {
        api_problem(call, &err, NULL, 0);
    }
    record_view_close(&view);
}

/* --- whether it is sound --- */

struct faults {
    struct json_out out;
    int64_t n;
};

static void on_fault(void *ctx, const char *file, uint64_t record, const char *message)
{
    (void)file;
    struct faults *f = ctx;
    if (f->n++ >= FAULTS_MAX)
        return;
    json_object(&f->out);
    json_key(&f->out, "record");
    record == UINT64_MAX ? json_null(&f->out) : json_int(&f->out, (int64_t)record);
    json_kz(&f->out, "message", message);
    json_object_end(&f->out);
}

static void run_verify(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct record_view view = RECORD_VIEW_NONE;
    auto_buf struct buf body = {0};
    struct faults f = {0};
    if (!find_version(call, &version, &err) ||
        !record_view_map(call->core, call->arena, &version, call->params[2], &view, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    json_begin(&f.out, &body);
    json_object(&f.out);
    json_key(&f.out, "faults");
    json_array(&f.out);
    bool sound = record_verify_shard(view.map, view.size, on_fault, &f, NULL);
    json_array_end(&f.out);
    json_kint(&f.out, "count", f.n);
    json_kbool(&f.out, "sound", sound);
    json_kint(&f.out, "bytes", (int64_t)view.size);
    json_object_end(&f.out);
    record_view_close(&view);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

#define RECORDS "/api/v1/datasets/{dataset_id}/versions/{version_id}/records/{file}"

const struct route record_routes[] = {
    {"GET", RECORDS, NULL, run_bytes, .summary = "A record file of a version, with ranges",
     .answer = ROUTE_BINARY, .type = "application/octet-stream", .parts = true},
    {"GET", RECORDS "/items", NULL, run_items, .summary = "The schema of a record file and a page of records",
     .query = "from:int limit:int", .answer = ROUTE_ANSWER("RecordPage")},
    {"GET", RECORDS "/value", NULL, run_value, .summary = "One field of one record",
     .query = "record:int field", .answer = ROUTE_BINARY, .type = "application/octet-stream"},
    {"POST", RECORDS "/verify", NULL, run_verify, .summary = "Read every byte of a record file and check it",
     .answer = ROUTE_ANSWER("RecordVerdict")},
    {0},
};
