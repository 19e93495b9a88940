/* Lists: tags, referrers, the catalogue of what the caller may pull. */
#include "api/oci/own.h"
#include "net/url.h"

#include <inttypes.h>

#define PAGE_MAX 1000

void oci_run_base(struct oci_call *call)
{
    oci_answer(call, 200, NULL, 0, STR("{}"));
}

/* n= and last=; n is at most PAGE_MAX, more is refused by name. */
static bool page_of(struct oci_call *call, int64_t *ret_n, struct str *ret_last)
{
    struct err err = {0};
    struct str text;
    *ret_n = PAGE_MAX;
    *ret_last = STR("");
    if (request_param(call->request, "n", &text, &err)) {
        if (!str_to_i64(text, ret_n) || *ret_n < 0 || *ret_n > PAGE_MAX)
            err_set(&err, ERR_INVALID, "n", "n: \"%.*s\" is no number from 0 to %d",
                    (int)(text.n > 40 ? 40 : text.n), text.p, PAGE_MAX);
    }
    if (!err.code)
        request_param(call->request, "last", ret_last, &err);
    if (err.code)
        oci_problem(call, &err, NULL, 0);
    return !err.code;
}

static struct header next_link(struct oci_call *call, const char *path, int64_t n, struct str last)
{
    return (struct header){STR("Link"),
                           str_of(arena_printf(call->arena, "<%s?n=%" PRId64 "&last=%s>; rel=\"next\"", path,
                                               n, url_encode(call->arena, last)))};
}

void oci_run_tags(struct oci_call *call)
{
    struct repository r;
    struct db_rows rows;
    struct err err = {0};
    int64_t n;
    struct str last;
    auto_buf struct buf body = {0};
    struct json_out o;
    if (!oci_repository(call, &r) || !page_of(call, &n, &last))
        return;
    if (!db_query(call->core->db, call->arena,
                  "SELECT name FROM image_versions WHERE image = ? AND name > ? ORDER BY name LIMIT ?",
                  db_args(db_int(r.image), db_text(last), db_int(n + 1)), &rows, &err)) {
        oci_problem(call, &err, NULL, 0);
        return;
    }
    bool more = (int64_t)rows.n > n && n > 0;
    size_t count = (int64_t)rows.n > n ? (size_t)n : rows.n;
    json_begin(&o, &body);
    json_object(&o);
    json_kstr(&o, "name", call->name);
    json_key(&o, "tags");
    json_array(&o);
    for (size_t i = 0; i < count; i++)
        json_string(&o, rows.row[i].v[0].s);
    json_array_end(&o);
    json_object_end(&o);
    struct header link = {0};
    if (more)
        link = next_link(call, arena_printf(call->arena, "/v2/" STR_FMT "/tags/list", STR_ARG(call->name)), n,
                         rows.row[count - 1].v[0].s);
    oci_answer(call, 200, &link, more, buf_view(&body));
}

/* --- referrers --- */

static void write_referrer(struct json_out *o, const struct db_value *v)
{
    json_object(o);
    json_kstr(o, "mediaType", v[1].s);
    json_kstr(o, "digest", v[0].s);
    json_kint(o, "size", v[2].i);
    if (v[3].type == DB_TEXT)
        json_kstr(o, "artifactType", v[3].s);
    if (v[4].type == DB_TEXT) {
        json_key(o, "annotations");
        json_raw(o, v[4].s);
    }
    json_object_end(o);
}

void oci_run_referrers(struct oci_call *call)
{
    struct repository r;
    struct digest d;
    struct db_rows rows;
    struct err err = {0};
    struct str type = STR_NULL;
    char text[REFERENCE_DIGEST];
    auto_buf struct buf body = {0};
    struct json_out o;
    if (!oci_repository(call, &r) || !oci_digest(call, call->last, &d))
        return;
    bool filtered = request_param(call->request, "artifactType", &type, &err);
    if (err.code ||
        !db_query(
            call->core->db, call->arena,
            "SELECT digest, media_type, size, artifact_type, annotations FROM image_manifests WHERE image = ?"
            " AND subject = ? ORDER BY digest LIMIT 1000",
            db_args(db_int(r.image), db_textz(reference_text(&d, text))), &rows, &err)) {
        oci_problem(call, &err, NULL, 0);
        return;
    }
    json_begin(&o, &body);
    json_object(&o);
    json_kint(&o, "schemaVersion", 2);
    json_kz(&o, "mediaType", OCI_INDEX);
    json_key(&o, "manifests");
    json_array(&o);
    for (size_t i = 0; i < rows.n; i++)
        if (!filtered || (rows.row[i].v[3].type == DB_TEXT && str_eq(rows.row[i].v[3].s, type)))
            write_referrer(&o, rows.row[i].v);
    json_array_end(&o);
    json_object_end(&o);
    const struct header headers[] = {{STR("Docker-Distribution-Api-Version"), STR("registry/2.0")},
                                     {STR("Content-Type"), STR(OCI_INDEX)},
                                     {STR("OCI-Filters-Applied"), STR("artifactType")}};
    respond(call->request, 200, headers, filtered ? 3 : 2, buf_view(&body));
}

/* --- the catalogue --- */

/* What the caller may pull, in order of project and name; last is a path as it is written here. */
static bool read_catalog(struct oci_call *call, int64_t n, struct str last, struct db_rows *ret,
                         struct err *err)
{
    struct str name, project = str_cut(last, '/', &name);
    return db_query(
        call->core->db, call->arena,
        "SELECT p.id, p.name, i.name, i.public FROM images i, projects p WHERE p.id = i.project AND"
        " (p.name > ? OR (p.name = ? AND i.name > ?)) ORDER BY p.name, i.name LIMIT ?",
        db_args(db_text(project), db_text(project), db_text(name.p ? name : STR("")), db_int(n)), ret, err);
}

void oci_run_catalog(struct oci_call *call)
{
    struct db_rows rows;
    struct err err = {0};
    int64_t n, given = 0;
    struct str last;
    auto_buf struct buf body = {0};
    struct json_out o;
    if (!page_of(call, &n, &last))
        return;
    json_begin(&o, &body);
    json_object(&o);
    json_key(&o, "repositories");
    json_array(&o);
    do {
        if (!read_catalog(call, PAGE_MAX, last, &rows, &err)) {
            oci_problem(call, &err, NULL, 0);
            return;
        }
        for (size_t i = 0; i < rows.n && given < n; i++) {
            const struct db_value *v = rows.row[i].v;
            last = str_of(arena_printf(call->arena, STR_FMT "/" STR_FMT, STR_ARG(v[1].s), STR_ARG(v[2].s)));
            if (!v[3].i && !caller_may(&call->caller, "image.read", v[0].i))
                continue;
            json_z(&o, arena_printf(call->arena, "%s/" STR_FMT,
                                    repository_project_text(call->arena, v[0].i, v[1].s), STR_ARG(v[2].s)));
            given++;
        }
    } while (rows.n == PAGE_MAX && given < n);
    json_array_end(&o);
    json_object_end(&o);
    struct header link = {0};
    bool more = given == n && n > 0 && rows.n > 0;
    if (more)
        link = next_link(call, "/v2/_catalog", n, last);
    oci_answer(call, 200, &link, more, buf_view(&body));
}
