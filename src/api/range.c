#include "api/range.h"

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

static bool names_etag(struct str list, const char *etag)
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

void range_respond_file(struct request *r, int fd, uint64_t size, const char *etag,
                        const struct header *headers, size_t n)
{
    struct header all[MAX_HEADERS] = {{STR("ETag"), str_of(etag)},
                                      {STR("Accept-Ranges"), STR("bytes")},
                                      {STR("X-Content-Type-Options"), STR("nosniff")}};
    size_t count = 3;
    for (size_t i = 0; i < n && count < MAX_HEADERS - 1; i++)
        all[count++] = headers[i];
    struct str none_match = request_header(r, "if-none-match"), if_range = request_header(r, "if-range");
    uint64_t offset = 0, length = size;
    if (none_match.p && names_etag(none_match, etag)) {
        close(fd);
        respond(r, 304, all, count, STR_NULL);
        return;
    }
    enum range range = RANGE_ALL;
    if (!if_range.p || str_is(if_range, etag))
        range = range_parse(request_header(r, "range"), size, &offset, &length);
    if (range == RANGE_BAD) {
        close(fd);
        range_refuse(r, size);
        return;
    }
    if (range == RANGE_PART)
        all[count++] =
            (struct header){STR("Content-Range"), str_of(range_text(r->arena, offset, length, size))};
    respond_file(r, range == RANGE_PART ? 206 : 200, all, count, fd, offset, length);
}
