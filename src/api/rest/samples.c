/* Samples of dataset versions: list, read, annotate, history, content, thumbnails. */
#include "api/lasting.h"
#include "api/range.h"
#include "api/rest/operations.h"
#include "api/rest/thumbnails.h"
#include "api/rest/uploads.h"
#include "base/clock.h"
#include "base/messages.h"
#include "core/data/label_check.h"
#include "core/data/layer.h"
#include "core/data/operate.h"
#include "core/data/sample.h"
#include "core/data/sample_access.h"
#include "core/data/sample_show.h"
#include "core/label/lease.h"
#include "core/pending.h"
#include "core/search.h"
#include "media/media.h"
#include "net/url.h"
#include "store/store.h"

#include <stdio.h>

#define THUMBNAIL_DEFAULT 256
#define THUMBNAIL_MAX     1024
#define TILES_MAX         4096 /* of a row or column: a side of a million pixels */

/* The version of the path, with a right to its samples; params: dataset, version. */
static bool find_version(struct api_call *call, int64_t sample, enum sample_right right, struct object *ret,
                         struct err *err)
{
    int64_t dataset, version;
    if (!str_to_i64(call->params[0], &dataset) || !str_to_i64(call->params[1], &version))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such version");
    return sample_version(call->core, &call->caller, dataset, version, sample, right, call->arena, ret, err);
}

static bool find_sample(struct api_call *call, enum sample_right right, struct object *version,
                        struct sample *ret, struct err *err)
{
    int64_t id;
    if (!str_to_i64(call->params[2], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such sample");
    return find_version(call, id, right, version, err) &&
           sample_get(call->core->db, NULL, call->arena, version->id, id, ret, err);
}

/* --- list --- */

#define STATES "unannotated, annotated, machine, review, accepted, rejected, cleaned"

static bool no_state(struct str given, const char *known, struct err *err)
{
    char shown[64];
    snprintf(shown, sizeof shown, "\"" STR_FMT "\"", STR_ARG(given));
    return err_message(err, ERR_INVALID, "state", MESSAGE_NO_CHOICE, "state", shown, known);
}

static bool state_param(struct api_call *call, int *ret, struct err *err)
{
    struct str text;
    enum sample_state state;
    *ret = -1;
    if (!request_param(call->request, "state", &text, err))
        return !err->code;
    if (str_is(text, "any")) {
        *ret = -2;
        return true;
    }
    if (!sample_state_of(text, &state))
        return no_state(text, STATES ", any", err);
    *ret = (int)state;
    return true;
}

static bool read_query(struct api_call *call, struct sample_query *q, struct err *err)
{
    *q = (struct sample_query){0};
    if (!api_number(call, "limit", 1, 1000, 100, &q->limit, err) ||
        !api_number(call, "after", 0, INT64_MAX, 0, &q->after, err) || !state_param(call, &q->state, err))
        return false;
    if (!request_param(call->request, "label", &q->label, err) && err->code)
        return false;
    return request_param(call->request, "q", &q->q, err) || !err->code;
}

/* What was found in each name. */
static void write_matches(struct api_call *call, struct str q, const struct sample *list, size_t n,
                          struct json_out *o)
{
    struct search_words words = search_words_of(call->arena, q);
    json_key(o, "matches");
    json_array(o);
    for (size_t i = 0; i < n; i++)
        search_show(call->arena, &words, &(struct search_named){"name", list[i].name}, 1, o);
    json_array_end(o);
}

static void run_list(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample_query q;
    struct sample *list;
    size_t n;
    auto_buf struct buf body = {0};
    struct json_out o;
    if (!read_query(call, &q, &err) || !find_version(call, 0, SAMPLE_SEE, &version, &err) ||
        !sample_list(call->core->db, call->arena, version.id, &q, &list, &n, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    json_begin(&o, &body);
    json_object(&o);
    json_key(&o, "items");
    json_array(&o);
    for (size_t i = 0; i < n; i++)
        sample_show(&o, &list[i]);
    json_array_end(&o);
    json_key(&o, "next");
    (int64_t) n == q.limit ? json_int(&o, list[n - 1].position) : json_null(&o);
    if (q.q.n)
        write_matches(call, q.q, list, n, &o);
    json_object_end(&o);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

/* --- one --- */

static void answer_sample(struct api_call *call, int status, const struct sample *s)
{
    auto_buf struct buf body = {0};
    struct json_out o;
    const char *etag = arena_printf(call->arena, "\"%lld\"", (long long)s->revision);
    const struct header headers[] = {{STR("ETag"), str_of(etag)}};
    json_begin(&o, &body);
    sample_show(&o, s);
    api_answer(call, status, headers, 1, buf_view(&body));
}

static void run_get(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample s;
    int64_t layer;
    if (api_number(call, "layer", 0, INT64_MAX, 0, &layer, &err) &&
        find_sample(call, SAMPLE_SEE, &version, &s, &err) &&
        lease_sees(call->core, &call->caller, &version, s.id, layer, call->arena, &err) &&
        (!layer || layer_get(call->core->db, call->arena, version.id, layer, &s, &err)))
        answer_sample(call, 200, &s);
    else
        api_problem(call, &err, NULL, 0);
}

struct edit {
    struct object *version;
    struct sample_edit edit;
    struct sample after;
};

static bool edit_write(struct op *op, void *ctx, struct err *err)
{
    struct edit *e = ctx;
    struct sample_set set;
    struct label_rules rules;
    struct sample_edit edit = e->edit;
    const struct operation_place place = {
        .sample = edit.id, .version = e->version->id, .revision = edit.revision};
    struct object now;
    bool found;
    if (!engine_load_row(op, e->version->kind, e->version->id, &now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    if (!sample_set_of(op, &now, &set, err) ||
        !label_rules_of(NULL, op->conn, op->arena, set.dataset, &rules, err))
        return false;
    return (!edit.annotation.n ||
            (store_has_room(op->conn, set.project, (int64_t)edit.annotation.n, err) &&
             label_rules_name(op->arena, &rules, set.type, &edit.annotation, err) &&
             label_check_annotation(op, &rules, &place, set.type, edit.annotation, err))) &&
           sample_change(op, &set, &edit, &e->after, err);
}

/* Applies an edit; when another edit came first the answer is a conflict that carries the state it left. */
static void apply_edit(struct api_call *call, struct object *version, const struct sample_edit *edit)
{
    struct edit e = {.version = version, .edit = *edit};
    e.edit.person = true;
    struct err err = {0};
    if (engine_write(call->core, &call->caller, call->arena, edit_write, &e, &err)) {
        pending_tell_one(call->core, version, "samples");
        answer_sample(call, 200, &e.after);
        return;
    }
    api_problem(call, &err, NULL, 0);
}

static bool read_revision(struct api_call *call, int64_t *ret, struct err *err)
{
    struct str m = request_header(call->request, "if-match");
    if (!m.p)
        return err_set(err, ERR_PRECONDITION, "If-Match", "If-Match with the sample's revision is required");
    if (m.n < 3 || m.p[0] != '"' || m.p[m.n - 1] != '"' || !str_to_i64((struct str){m.p + 1, m.n - 2}, ret))
        return err_set(err, ERR_MALFORMED, "If-Match", "If-Match must be the sample's revision in quotes");
    return true;
}

static bool read_state(yyjson_val *body, int *ret, struct err *err)
{
    enum sample_state state;
    yyjson_val *v = yyjson_obj_get(body, "state");
    *ret = -1;
    if (!v || yyjson_is_null(v))
        return true;
    if (!sample_state_of(json_str(v), &state))
        return no_state(json_str(v), STATES, err);
    *ret = (int)state;
    return true;
}

static bool read_edit(struct api_call *call, const struct object *version, const struct sample *s,
                      struct sample_edit *ret, struct err *err)
{
    struct op op = {.core = call->core, .caller = &call->caller, .arena = call->arena};
    struct sample_set set;
    auto_buf struct buf text = {0};
    struct json_out o;
    *ret = (struct sample_edit){.id = s->id};
    if (!read_revision(call, &ret->revision, err))
        return false;
    if (!yyjson_is_obj(call->json))
        return err_set(err, ERR_INVALID, NULL, "the body must be an object with annotation and/or state");
    yyjson_val *annotation = yyjson_obj_get(call->json, "annotation");
    if (!read_state(call->json, &ret->state, err) || !sample_set_of(&op, version, &set, err))
        return false;
    if (!annotation)
        return ret->state >= 0 || err_set(err, ERR_INVALID, "annotation", "annotation: is required");
    json_begin(&o, &text);
    json_value(&o, annotation);
    return annotation_check(call->arena, set.type, buf_view(&text), &ret->annotation, err);
}

static void run_annotate(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample s;
    struct sample_edit edit;
    if (find_sample(call, SAMPLE_ANNOTATE, &version, &s, &err) && read_edit(call, &version, &s, &edit, &err))
        apply_edit(call, &version, &edit);
    else
        api_problem(call, &err, NULL, 0);
}

/* --- history --- */

static void write_past(struct json_out *o, const struct sample_past *p)
{
    char at[CLOCK_TEXT_MAX];
    json_object(o);
    json_kint(o, "revision", p->revision);
    json_kz(o, "at", clock_format(p->at, at));
    json_kint(o, "by", p->by);
    json_kz(o, "state", sample_state_names[p->state]);
    json_key(o, "annotation");
    json_raw(o, p->annotation);
    json_object_end(o);
}

static void run_history(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample s;
    struct sample_past *list;
    size_t n;
    int64_t before, limit;
    auto_buf struct buf body = {0};
    struct json_out o;
    if (!api_number(call, "before", 1, INT64_MAX, INT64_MAX, &before, &err) ||
        !api_number(call, "limit", 1, 200, 200, &limit, &err) ||
        !find_sample(call, SAMPLE_SEE, &version, &s, &err) ||
        !sample_history(call->core->db, call->arena, s.id, before, limit, &list, &n, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    json_begin(&o, &body);
    json_object(&o);
    json_key(&o, "items");
    json_array(&o);
    for (size_t i = 0; i < n; i++)
        write_past(&o, &list[i]);
    json_array_end(&o);
    json_key(&o, "next");
    (int64_t) n == limit ? json_int(&o, list[n - 1].revision) : json_null(&o);
    json_object_end(&o);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

/* Any earlier revision, be it kept whole or made again from operations. */
static bool find_past(struct api_call *call, const struct object *version, const struct sample *s,
                      struct sample_edit *ret, struct err *err)
{
    struct op op = {.core = call->core, .caller = &call->caller, .arena = call->arena};
    struct sample_set set;
    struct sample_past past;
    struct operation_place place;
    int64_t wanted = yyjson_get_sint(yyjson_obj_get(call->json, "revision"));
    if (wanted < 1 || wanted >= s->revision)
        return err_set(err, ERR_NOT_FOUND, "revision", "the sample has no earlier revision %lld",
                       (long long)wanted);
    if (!sample_set_of(&op, version, &set, err) ||
        !operate_place(call->core->db, call->arena, version->id, s->id, 0, &place, err) ||
        !operation_log_state(call->core->db, call->arena, &place, set.type, s, wanted, &past, err))
        return false;
    ret->annotation = past.annotation;
    ret->state = past.state;
    return true;
}

static void run_restore(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample s;
    struct sample_edit edit = {0};
    if (!find_sample(call, SAMPLE_ANNOTATE, &version, &s, &err) ||
        !read_revision(call, &edit.revision, &err) || !find_past(call, &version, &s, &edit, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    edit.id = s.id;
    apply_edit(call, &version, &edit);
}

/* --- bytes --- */

static struct str base_name(struct str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return (struct str){path.p + i, path.n - i};
    return path;
}

static void run_content(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample s;
    char etag[SHA256_HEX + 3] = "\"";
    if (!find_sample(call, SAMPLE_SEE, &version, &s, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    digest_hex(&s.blob, etag + 1);
    strcat(etag, "\"");
    const char *disposition =
        arena_printf(call->arena, "inline; filename*=UTF-8''%s", url_encode(call->arena, base_name(s.name)));
    const struct header headers[] = {{STR("Content-Type"), str_of(uploads_type_of(s.name))},
                                     {STR("Content-Disposition"), str_of(disposition)},
                                     {STR("Content-Security-Policy"), STR("sandbox; default-src 'none'")},
                                     {STR("Cache-Control"), STR("private, max-age=86400")}};
    lasting_show(call, &version);
    if (!range_respond_blob(call->request, call->core->store, &s.blob, etag, headers, countof(headers), &err))
        api_problem(call, &err, NULL, 0);
}

static void run_thumbnail(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample s;
    int64_t side;
    if (!api_number(call, "side", 16, THUMBNAIL_MAX, THUMBNAIL_DEFAULT, &side, &err) ||
        !find_sample(call, SAMPLE_SEE, &version, &s, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    thumbnail_run(call, &s, version.project, (unsigned)side);
}

static void run_tile(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample s;
    int64_t level, x, y;
    if (!api_number(call, "level", 0, MEDIA_LEVEL_MAX, 0, &level, &err) ||
        !api_number(call, "x", 0, TILES_MAX, 0, &x, &err) ||
        !api_number(call, "y", 0, TILES_MAX, 0, &y, &err) ||
        !find_sample(call, SAMPLE_SEE, &version, &s, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    tile_run(call, &s, version.project, (unsigned)level, (unsigned)x, (unsigned)y);
}

static void run_peaks(struct api_call *call)
{
    struct err err = {0};
    struct object version;
    struct sample s;
    int64_t buckets;
    if (!api_number(call, "buckets", 1, MEDIA_PEAKS_MAX, 1000, &buckets, &err) ||
        !find_sample(call, SAMPLE_SEE, &version, &s, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    peaks_run(call, &s, version.project, (unsigned)buckets);
}

#define SAMPLES "/api/v1/datasets/{dataset_id}/versions/{version_id}/samples"

/* Not read: pages put a piece of the digest there, so that other bytes have another address. */
#define VERSIONED "v"

const struct route sample_routes[] = {
    {"GET", SAMPLES, NULL, run_list, .summary = "Samples of a version",
     .query = "q state label after:int limit:int", .answer = ROUTE_ANSWER("SampleList")},
    {"GET", SAMPLES "/{sample_id}", NULL, run_get, .summary = "One sample", .query = "layer:id",
     .answer = ROUTE_ANSWER("Sample")},
    {"PUT", SAMPLES "/{sample_id}/annotation", NULL, run_annotate, .summary = "Annotate a sample",
     .headers = "If-Match!", .input = "{\"type\":\"object\"}", .body_max = OPERATIONS_BODY,
     .answer = ROUTE_ANSWER("Sample")},
    {"GET", SAMPLES "/{sample_id}/history", NULL, run_history, .summary = "Earlier states of a sample",
     .query = "before:int limit:int", .answer = ROUTE_ANSWER("SampleHistory")},
    {"POST", SAMPLES "/{sample_id}/restore", NULL, run_restore,
     .summary = "Make an earlier state the current one", .headers = "If-Match!",
     .input = "{\"type\":\"object\"}", .answer = ROUTE_ANSWER("Sample")},
    {"GET", SAMPLES "/{sample_id}/content", NULL, run_content, .summary = "A sample's bytes",
     .query = VERSIONED, .answer = ROUTE_BINARY, .type = "application/octet-stream", .parts = true},
    {"GET", SAMPLES "/{sample_id}/thumbnail", NULL, run_thumbnail, .summary = "A small picture of a sample",
     .query = "side:int " VERSIONED, .answer = ROUTE_BINARY, .type = "image/jpeg"},
    {"GET", SAMPLES "/{sample_id}/tile", NULL, run_tile,
     .summary = "A part of a large picture: 256 pixels wide and high, smaller by 2 to the level",
     .query = "level:int x:int y:int " VERSIONED, .answer = ROUTE_BINARY, .type = "image/jpeg"},
    {"GET", SAMPLES "/{sample_id}/peaks", NULL, run_peaks, .summary = "The wave form of a sound",
     .query = "buckets:int " VERSIONED, .answer = ROUTE_ANSWER("Peaks")},
    {0},
};
