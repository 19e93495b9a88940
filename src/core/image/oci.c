#include "core/image/oci.h"

#include "core/image/reference.h"

static bool bad(struct err *err, const char *what)
{
    return err_set(err, ERR_INVALID, "manifest", "manifest: %s", what);
}

static bool read_descriptor(yyjson_val *v, struct oci_descriptor *ret, struct err *err)
{
    struct oci_descriptor d = {.media_type = json_str(yyjson_obj_get(v, "mediaType"))};
    struct str text = json_str(yyjson_obj_get(v, "digest"));
    yyjson_val *size = yyjson_obj_get(v, "size"), *platform = yyjson_obj_get(v, "platform");
    if (!yyjson_is_obj(v) || !text.p)
        return bad(err, "each part is an object with mediaType, digest and size");
    if (!reference_digest(text, &d.digest, err))
        return bad(err, "a digest is not sha256: and 64 hexadecimal digits");
    if (!yyjson_is_int(size) || yyjson_get_sint(size) < 0 || yyjson_get_sint(size) > INT64_C(1) << 50)
        return bad(err, "a size is no whole number of bytes");
    if (!d.media_type.p || d.media_type.n > 255)
        return bad(err, "a part has no mediaType");
    d.size = yyjson_get_sint(size);
    d.arch = json_str(yyjson_obj_get(platform, "architecture"));
    d.os = json_str(yyjson_obj_get(platform, "os"));
    *ret = d;
    return true;
}

static bool read_items(struct arena *a, yyjson_val *list, struct oci_manifest *m, struct err *err)
{
    size_t i, max;
    yyjson_val *v;
    if (!yyjson_is_arr(list))
        return bad(err, m->index ? "an index has a list of manifests" : "an image has a list of layers");
    if (yyjson_arr_size(list) > OCI_ITEMS_MAX)
        return bad(err, "it has more than 1000 parts");
    m->items = arena_array(a, struct oci_descriptor, yyjson_arr_size(list) + 1);
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!read_descriptor(v, &m->items[m->n], err))
            return false;
        m->n++;
    }
    return true;
}

static bool known_type(struct str type, bool *ret_index)
{
    static const struct {
        const char *type;
        bool index;
    } types[] = {{OCI_MANIFEST, false}, {DOCKER_MANIFEST, false}, {OCI_INDEX, true}, {DOCKER_LIST, true}};
    for (size_t i = 0; i < countof(types); i++)
        if (str_is(type, types[i].type)) {
            *ret_index = types[i].index;
            return true;
        }
    return false;
}

static bool find_type(struct str media_type, yyjson_val *doc, struct oci_manifest *m, struct err *err)
{
    struct str inside = json_str(yyjson_obj_get(doc, "mediaType"));
    if (!media_type.p)
        media_type = inside;
    if (!media_type.p)
        media_type = yyjson_obj_get(doc, "manifests") ? STR(OCI_INDEX) : STR(OCI_MANIFEST);
    if (inside.p && !str_eq(inside, media_type))
        return bad(err, "its mediaType is not its Content-Type");
    if (!known_type(media_type, &m->index))
        return err_set(err, ERR_INVALID, "manifest", "manifest: the type \"%.*s\" is not supported",
                       (int)(media_type.n > 100 ? 100 : media_type.n), media_type.p);
    m->media_type = media_type;
    return true;
}

static bool read_version(yyjson_val *doc, struct err *err)
{
    yyjson_val *v = yyjson_obj_get(doc, "schemaVersion");
    return (yyjson_is_int(v) && yyjson_get_sint(v) == 2) || bad(err, "its schemaVersion is not 2");
}

bool oci_parse(struct arena *a, struct str media_type, struct str text, struct oci_manifest *ret,
               struct err *err)
{
    struct oci_manifest m = {0};
    if (text.n > OCI_MANIFEST_MAX)
        return bad(err, "it has more than 4 MiB");
    yyjson_val *doc = json_parse(a, text, err);
    if (!doc || !yyjson_is_obj(doc))
        return bad(err, "it is no JSON object");
    if (!read_version(doc, err) || !find_type(media_type, doc, &m, err))
        return false;
    if (!m.index && !read_descriptor(yyjson_obj_get(doc, "config"), &m.config, err))
        return false;
    if (!read_items(a, yyjson_obj_get(doc, m.index ? "manifests" : "layers"), &m, err))
        return false;
    yyjson_val *subject = yyjson_obj_get(doc, "subject");
    m.has_subject = subject && !yyjson_is_null(subject);
    if (m.has_subject && !read_descriptor(subject, &m.subject, err))
        return false;
    m.artifact_type = json_str(yyjson_obj_get(doc, "artifactType"));
    if (!m.artifact_type.n)
        m.artifact_type = m.config.media_type;
    if (m.artifact_type.n > 255)
        return bad(err, "its artifactType is longer than 255 bytes");
    m.annotations = yyjson_obj_get(doc, "annotations");
    if (m.annotations && !yyjson_is_obj(m.annotations))
        return bad(err, "its annotations are no object");
    m.host = str_is(json_str(yyjson_obj_get(m.annotations, OCI_BASE)), "host");
    *ret = m;
    return true;
}

int64_t oci_bytes(const struct oci_manifest *m)
{
    int64_t sum = m->config.size;
    for (size_t i = 0; i < m->n; i++)
        sum += m->items[i].size;
    return sum;
}

/* --- configurations --- */

static size_t texts(struct arena *a, yyjson_val *list, const char *const **ret)
{
    size_t i, max, n = 0;
    yyjson_val *v;
    if (!yyjson_is_arr(list))
        return 0;
    const char **out = arena_array(a, const char *, yyjson_arr_size(list) + 1);
    yyjson_arr_foreach(list, i, max, v)
    {
        struct str s = json_str(v);
        if (s.p && (s.n == 0 || !memchr(s.p, 0, s.n)))
            out[n++] = arena_strz(a, s);
    }
    *ret = out;
    return n;
}

static const char *text_of(struct arena *a, yyjson_val *v)
{
    struct str s = json_str(v);
    return s.n && !memchr(s.p, 0, s.n) ? arena_strz(a, s) : NULL;
}

static bool read_diff_ids(struct arena *a, yyjson_val *list, struct oci_config *c, struct err *err)
{
    size_t i, max;
    yyjson_val *v;
    c->diff_ids = arena_array(a, struct digest, yyjson_arr_size(list) + 1);
    if (!yyjson_is_arr(list))
        return true;
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!reference_digest(json_str(v), &c->diff_ids[c->n_diff_ids], err))
            return false;
        c->n_diff_ids++;
    }
    return true;
}

bool oci_config_parse(struct arena *a, struct str text, struct oci_config *ret, struct err *err)
{
    struct oci_config c = {0};
    c.doc = json_parse(a, text, err);
    if (!c.doc || !yyjson_is_obj(c.doc))
        return err_set(err, ERR_INVALID, "config", "the image's configuration is no JSON object");
    yyjson_val *config = yyjson_obj_get(c.doc, "config");
    c.arch = json_str(yyjson_obj_get(c.doc, "architecture"));
    c.os = json_str(yyjson_obj_get(c.doc, "os"));
    c.n_env = texts(a, yyjson_obj_get(config, "Env"), &c.env);
    c.n_entrypoint = texts(a, yyjson_obj_get(config, "Entrypoint"), &c.entrypoint);
    c.n_cmd = texts(a, yyjson_obj_get(config, "Cmd"), &c.cmd);
    c.cwd = text_of(a, yyjson_obj_get(config, "WorkingDir"));
    c.user = text_of(a, yyjson_obj_get(config, "User"));
    if (!read_diff_ids(a, yyjson_obj_get(yyjson_obj_get(c.doc, "rootfs"), "diff_ids"), &c, err))
        return false;
    *ret = c;
    return true;
}
