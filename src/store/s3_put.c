/* Objects into the bucket: small ones at once, large ones in parts. */
#include "codec/xml.h"
#include "net/url.h"
#include "store/s3_own.h"

#define WHOLE_MAX (INT64_C(64) << 20)
#define PART_SIZE (INT64_C(32) << 20)
#define PARTS_MAX 10000

bool s3_put(struct s3 *s, struct str key, struct str data, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer answer;
    struct s3_request q = {.method = "PUT", .key = key, .body = data.p ? data : STR("")};
    return s3_call(s, &a, &q, &answer, err);
}

static bool put_whole(struct s3 *s, struct str key, int fd, int64_t size, const uint8_t *hash,
                      struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer answer;
    struct s3_request q = {.method = "PUT", .key = key, .fd = fd, .body_size = size, .hash = hash};
    return s3_call(s, &a, &q, &answer, err);
}

struct parts {
    struct s3 *s;
    struct str key;
    const char *id;  /* encoded */
    struct buf list; /* the XML that completes it */
};

static bool parts_begin(struct parts *p, struct arena *a, struct err *err)
{
    struct client_answer answer;
    struct err bad = {0};
    struct s3_request q = {.method = "POST", .key = p->key, .query = "uploads="};
    if (!s3_call(p->s, a, &q, &answer, err))
        return false;
    const struct xml_node *x = xml_parse(a, answer.body, &bad);
    struct str id = xml_text(xml_child(x, "UploadId"));
    if (!id.n)
        return err_set(err, ERR_UPSTREAM, NULL, "the object store began no upload in parts");
    p->id = url_encode(a, id);
    buf_z(&p->list, "<CompleteMultipartUpload>");
    return true;
}

static bool parts_add(struct parts *p, int number, int fd, int64_t at, int64_t size, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer answer;
    struct s3_request q = {.method = "PUT",
                           .key = p->key,
                           .query = arena_printf(&a, "partNumber=%d&uploadId=%s", number, p->id),
                           .fd = fd,
                           .body_at = at,
                           .body_size = size};
    if (!s3_call(p->s, &a, &q, &answer, err))
        return false;
    if (!answer.etag.n)
        return err_set(err, ERR_UPSTREAM, NULL, "the object store gave no ETag for a part");
    buf_printf(&p->list, "<Part><PartNumber>%d</PartNumber><ETag>", number);
    xml_escape(&p->list, answer.etag);
    buf_z(&p->list, "</ETag></Part>");
    return true;
}

/* The answer may be 200 and still be an error: it is sent before the parts are put together. */
static bool parts_complete(struct parts *p, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer answer;
    struct err bad = {0};
    buf_z(&p->list, "</CompleteMultipartUpload>");
    struct s3_request q = {.method = "POST",
                           .key = p->key,
                           .query = arena_printf(&a, "uploadId=%s", p->id),
                           .body = buf_view(&p->list)};
    if (!s3_call(p->s, &a, &q, &answer, err))
        return false;
    const struct xml_node *x = xml_parse(&a, answer.body, &bad);
    if (x && str_is(x->name, "CompleteMultipartUploadResult"))
        return true;
    return err_set(err, ERR_UPSTREAM, NULL, "the object store did not put the parts together: " STR_FMT,
                   STR_ARG(xml_text(xml_child(x, "Message"))));
}

static void parts_abort(struct parts *p)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer answer;
    struct err ignored = {
        0}; /* the failure before is the one to tell; buckets drop stale parts by their own rules */
    s3_call(p->s, &a,
            &(struct s3_request){
                .method = "DELETE", .key = p->key, .query = arena_printf(&a, "uploadId=%s", p->id)},
            &answer, &ignored);
}

static bool put_parts(struct s3 *s, struct str key, int fd, int64_t size, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct parts p = {.s = s, .key = key};
    int64_t part = PART_SIZE;
    while ((size + part - 1) / part > PARTS_MAX)
        part *= 2;
    if (!parts_begin(&p, &a, err))
        return false;
    bool ok = true;
    int number = 0;
    for (int64_t at = 0; ok && at < size; at += part)
        ok = parts_add(&p, ++number, fd, at, size - at < part ? size - at : part, err);
    ok = ok && parts_complete(&p, err);
    if (!ok)
        parts_abort(&p);
    buf_release(&p.list);
    return ok;
}

bool s3_put_file(struct s3 *s, struct str key, int fd, int64_t size, const uint8_t *hash, struct err *err)
{
    if (size == 0)
        return s3_put(s, key, STR(""), err);
    return size > WHOLE_MAX ? put_parts(s, key, fd, size, err) : put_whole(s, key, fd, size, hash, err);
}
