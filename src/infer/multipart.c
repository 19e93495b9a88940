#include "infer/multipart.h"

static bool broken(struct err *err, const char *why)
{
    return err_set(err, ERR_MALFORMED, NULL, "the multipart body %s", why);
}

/* The value of a parameter ("boundary", "name") of a header's value; quotes are taken off. */
static struct str parameter(struct str value, const char *name)
{
    struct str rest;
    str_cut(value, ';', &rest);
    while (rest.n) {
        struct str after, key = str_trim(str_cut(rest, '=', &after));
        if (!after.p)
            break;
        const char *from = after.p, *end = after.p + after.n, *to;
        bool quoted = after.n && *from == '"';
        for (from += quoted, to = from; to < end && *to != (quoted ? '"' : ';'); to++)
            ;
        if (str_ieq(key, str_of(name)))
            return (struct str){from, (size_t)(to - from)};
        while (to < end && *to != ';')
            to++;
        rest = to < end ? (struct str){to + 1, (size_t)(end - to - 1)} : STR_NULL;
    }
    return STR_NULL;
}

bool multipart_boundary(struct str content_type, struct str *ret)
{
    struct str rest, kind = str_trim(str_cut(content_type, ';', &rest));
    if (!str_ieq(kind, STR("multipart/form-data")))
        return false;
    struct str found = str_trim(parameter(content_type, "boundary"));
    if (found.n < 1 || found.n > 70)
        return false;
    *ret = found;
    return true;
}

static struct str skip(struct str s, size_t n)
{
    return (struct str){s.p + n, s.n - n};
}

static bool read_head(struct str head, struct multipart_part *part)
{
    while (head.n) {
        struct str value, line = str_cut(head, '\n', &head), name = str_trim(str_cut(line, ':', &value));
        value = str_trim(value);
        if (str_ieq(name, STR("content-disposition"))) {
            part->name = parameter(value, "name");
            part->filename = parameter(value, "filename");
        } else if (str_ieq(name, STR("content-type"))) {
            part->media_type = value;
        } else if (str_ieq(name, STR("content-transfer-encoding")) && !str_ieq(value, STR("binary")) &&
                   !str_ieq(value, STR("8bit"))) {
            return false;
        }
    }
    return true;
}

/* rest: behind the line of a boundary; moves to behind the next "--boundary". */
static bool read_part(struct str *rest, struct str delimiter, struct multipart_part *part, struct err *err)
{
    struct str near = {rest->p, rest->n < MULTIPART_MAX_HEADER ? rest->n : MULTIPART_MAX_HEADER};
    bool bare = rest->n >= 2 && memcmp(rest->p, "\r\n", 2) == 0;
    ptrdiff_t end = bare ? 0 : str_find(near, STR("\r\n\r\n"));
    if (end < 0)
        return broken(err, "has a part whose header does not end");
    if (!read_head((struct str){rest->p, (size_t)end}, part))
        return broken(err, "has a part in an encoding other than binary");
    *rest = skip(*rest, (size_t)end + (bare ? 2 : 4));
    ptrdiff_t next = str_find(*rest, delimiter);
    if (next < 0)
        return broken(err, "has a part that does not end");
    part->bytes = (struct str){rest->p, (size_t)next};
    *rest = skip(*rest, (size_t)next + delimiter.n);
    return true;
}

bool multipart_parse(struct arena *a, struct str body, struct str boundary, struct multipart_part **ret,
                     size_t *ret_n, struct err *err)
{
    struct str delimiter = str_of(arena_printf(a, "\r\n--" STR_FMT, STR_ARG(boundary)));
    struct str first = skip(delimiter, 2), rest = body;
    struct multipart_part *list = arena_array(a, struct multipart_part, MULTIPART_MAX_PARTS);
    size_t n = 0;
    if (body.n < first.n || memcmp(body.p, first.p, first.n) != 0) {
        ptrdiff_t at = str_find(body, delimiter); /* after a preamble */
        if (at < 0)
            return broken(err, "does not have its boundary");
        rest = skip(body, (size_t)at + 2);
    }
    rest = skip(rest, first.n);
    while (rest.n < 2 || memcmp(rest.p, "--", 2) != 0) {
        if (rest.n < 2 || memcmp(rest.p, "\r\n", 2) != 0)
            return broken(err, "has a boundary without the end of its line");
        if (n == MULTIPART_MAX_PARTS)
            return broken(err, "has more than 256 parts");
        rest = skip(rest, 2);
        if (!read_part(&rest, delimiter, &list[n++], err))
            return false;
    }
    *ret = list;
    *ret_n = n;
    return true;
}
