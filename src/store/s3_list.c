/* The keys of a bucket, page by page (ListObjectsV2). */
#include "codec/xml.h"
#include "net/url.h"
#include "store/s3_own.h"

#define PAGE_BYTES (8 << 20)
#define TOKEN_MAX  (64 << 10)

static size_t count_objects(const struct xml_node *x)
{
    size_t n = 0;
    for (const struct xml_node *c = x->children; c; c = c->next)
        n += str_is(c->name, "Contents");
    return n;
}

static bool read_page(struct arena *a, const struct xml_node *x, struct s3_page *ret, struct err *err)
{
    ret->object = arena_array(a, struct s3_object, count_objects(x) + 1);
    for (const struct xml_node *c = x->children; c; c = c->next) {
        if (!str_is(c->name, "Contents"))
            continue;
        struct s3_object *o = &ret->object[ret->n++];
        o->key = xml_text(xml_child(c, "Key"));
        if (!o->key.n || o->key.n > S3_KEY_MAX)
            return err_set(err, ERR_UPSTREAM, NULL,
                           "the object store's list has an entry without a key of at most %d bytes",
                           S3_KEY_MAX);
        if (!s3_size(xml_text(xml_child(c, "Size")), o->key, &o->size, err))
            return false;
    }
    if (!str_is(xml_text(xml_child(x, "IsTruncated")), "true"))
        return true;
    ret->next = xml_text(xml_child(x, "NextContinuationToken"));
    return (ret->next.n && ret->next.n <= TOKEN_MAX) ||
           err_set(err, ERR_UPSTREAM, NULL, "the object store's list goes on but does not say where");
}

bool s3_list(struct s3 *s, struct arena *a, struct str prefix, struct str token, struct s3_page *ret,
             struct err *err)
{
    struct client_answer answer;
    struct err bad = {0};
    /* Sorted by name, as the signature wants it. */
    const char *query =
        arena_printf(a, "%s%s%slist-type=2&max-keys=1000&prefix=%s", token.n ? "continuation-token=" : "",
                     token.n ? url_encode(a, token) : "", token.n ? "&" : "", url_encode(a, prefix));
    struct s3_request q = {.method = "GET", .query = query, .max_answer = PAGE_BYTES};
    if (!s3_call(s, a, &q, &answer, err))
        return false;
    const struct xml_node *x = xml_parse(a, answer.body, &bad);
    if (!x || !str_is(x->name, "ListBucketResult"))
        return err_set(err, ERR_UPSTREAM, NULL,
                       "%s does not answer like an object store: no list of a bucket", s->host);
    *ret = (struct s3_page){0};
    return read_page(a, x, ret, err);
}
