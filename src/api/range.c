#include "api/range.h"

#include "api/outflow.h"
#include "base/log.h"

#define MAX_HEADERS 12

enum range range_parse(struct str header, uint64_t size, uint64_t *ret_offset, uint64_t *ret_length)
{
    struct str to, from, spec = header;
    uint64_t first, last;
    if (!str_starts(header, "bytes=") || str_find(header, STR(",")) >= 0)
        return RANGE_ALL;
    spec.p += 6;
    spec.n -= 6;
    from = str_trim(str_cut(spec, '-', &to));
    to = str_trim(to);
    if (!from.n) { /* the last n bytes */
        if (!str_to_u64(to, &last))
            return RANGE_ALL;
        if (last == 0 || size == 0)
            return RANGE_BAD;
        first = last >= size ? 0 : size - last;
        last = size - 1;
    } else {
        if (!str_to_u64(from, &first) || (to.n && !str_to_u64(to, &last)))
            return RANGE_ALL;
        if (!to.n || last >= size)
            last = size - 1;
        if (first >= size)
            return RANGE_BAD;
        if (first > last)
            return RANGE_ALL;
    }
    *ret_offset = first;
    *ret_length = last - first + 1;
    return RANGE_PART;
}

bool range_names_etag(struct str list, const char *etag)
{
    while (list.p) {
        struct str one = str_trim(str_cut(list, ',', &list));
        if (str_starts(one, "W/")) {
            one.p += 2;
            one.n -= 2;
        }
        if (str_is(one, "*") || str_is(one, etag))
            return true;
    }
    return false;
}

const char *range_text(struct arena *a, uint64_t offset, uint64_t length, uint64_t size)
{
    return arena_printf(a, "bytes %llu-%llu/%llu", (unsigned long long)offset,
                        (unsigned long long)(offset + length - 1), (unsigned long long)size);
}

void range_refuse(struct request *r, uint64_t size)
{
    struct header bad = {STR("Content-Range"),
                         str_of(arena_printf(r->arena, "bytes */%llu", (unsigned long long)size))};
    respond(r, 416, &bad, 1, STR_NULL);
}

struct plan {
    int status;
    struct header header[MAX_HEADERS];
    size_t n;
    uint64_t offset, length;
};

/* false when that was the answer already: 304 or 416. */
static bool make_plan(struct request *r, uint64_t size, const char *etag, const struct header *headers,
                      size_t n, struct plan *p)
{
    *p = (struct plan){.status = 200,
                       .header = {{STR("ETag"), str_of(etag)},
                                  {STR("Accept-Ranges"), STR("bytes")},
                                  {STR("X-Content-Type-Options"), STR("nosniff")}},
                       .n = 3,
                       .length = size};
    for (size_t i = 0; i < n && p->n < MAX_HEADERS - 1; i++)
        p->header[p->n++] = headers[i];
    struct str none_match = request_header(r, "if-none-match"), if_range = request_header(r, "if-range");
    if (none_match.p && range_names_etag(none_match, etag)) {
        respond(r, 304, p->header, p->n, STR_NULL);
        return false;
    }
    enum range range = RANGE_ALL;
    if (!if_range.p || str_is(if_range, etag))
        range = range_parse(request_header(r, "range"), size, &p->offset, &p->length);
    if (range == RANGE_BAD) {
        range_refuse(r, size);
        return false;
    }
    if (range == RANGE_PART) {
        p->status = 206;
        p->header[p->n++] =
            (struct header){STR("Content-Range"), str_of(range_text(r->arena, p->offset, p->length, size))};
    }
    return true;
}

void range_respond_file(struct request *r, int fd, uint64_t size, const char *etag,
                        const struct header *headers, size_t n)
{
    struct plan p;
    if (make_plan(r, size, etag, headers, n, &p))
        respond_file(r, p.status, p.header, p.n, fd, p.offset, p.length);
    else
        close(fd);
}

static bool flow_piece(void *ctx, struct str data)
{
    return outflow_write(ctx, data);
}

static void send_blob(struct request *r, struct store *s, struct digest d, int64_t size, const struct plan *p)
{
    struct err err = {0};
    bool head = str_is(r->method, "HEAD");
    struct outflow *flow = outflow_begin_sized(r, p->status, p->header, p->n, p->length);
    struct blob_sink sink = {flow_piece, flow};
    bool ok = head || blob_send(s, &d, (int64_t)p->offset, (int64_t)p->length, size, &sink, &err);
    if (!ok && outflow_write(flow, STR_NULL)) { /* the client is still there */
        char hex[SHA256_HEX + 1];
        digest_hex(&d, hex);
        log_warn("an answer with blob %s was broken off: %s", hex, err.message);
    }
    outflow_end(flow, ok);
}

bool range_respond_blob(struct request *r, struct store *s, const struct digest *d, const char *etag,
                        const struct header *headers, size_t n, struct err *err)
{
    int fd;
    int64_t size;
    struct plan p;
    if (!blob_begin(s, d, &fd, &size, err))
        return false;
    if (fd >= 0)
        range_respond_file(r, fd, (uint64_t)size, etag, headers, n);
    else if (make_plan(r, (uint64_t)size, etag, headers, n, &p))
        send_blob(r, s, *d, size, &p);
    return true;
}
