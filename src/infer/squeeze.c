#include "infer/squeeze.h"

#include <zlib.h>

#define STEP        ((size_t)64 << 10)
#define WINDOW      15
#define GZIP_WINDOW (WINDOW + 16)

static const char *const names[] = {[SQUEEZE_GZIP] = "gzip", [SQUEEZE_DEFLATE] = "deflate"};

const char *squeeze_name(enum squeeze s)
{
    return names[s];
}

bool squeeze_of(struct str header, enum squeeze *ret, struct err *err)
{
    header = str_trim(header);
    *ret = SQUEEZE_NONE;
    if (!header.n || str_ieq(header, STR("identity")))
        return true;
    for (size_t i = SQUEEZE_GZIP; i < countof(names); i++)
        if (str_ieq(header, str_of(names[i]))) {
            *ret = (enum squeeze)i;
            return true;
        }
    return err_set(err, ERR_MEDIA_TYPE, "content-encoding",
                   "the body may be sent as gzip or deflate, or plain");
}

/* "gzip;q=0" takes it not. */
static bool refused(struct str parameters)
{
    struct str value, name = str_cut(str_trim(parameters), '=', &value);
    double q;
    return str_ieq(str_trim(name), STR("q")) && str_to_real(str_trim(value), &q) && q <= 0;
}

enum squeeze squeeze_accepted(struct str header)
{
    bool takes[countof(names)] = {0};
    while (header.n) {
        struct str parameters, one = str_cut(str_cut(header, ',', &header), ';', &parameters);
        for (size_t i = SQUEEZE_GZIP; i < countof(names); i++)
            takes[i] |= str_ieq(str_trim(one), str_of(names[i])) && !refused(parameters);
    }
    return takes[SQUEEZE_GZIP] ? SQUEEZE_GZIP : takes[SQUEEZE_DEFLATE] ? SQUEEZE_DEFLATE : SQUEEZE_NONE;
}

static bool expand(int window, struct str in, size_t max, struct buf *out, struct err *err)
{
    z_stream z = {.next_in = (Bytef *)in.p, .avail_in = (uInt)in.n};
    int said = in.n > UINT32_MAX / 2 ? Z_DATA_ERROR : inflateInit2(&z, window);
    if (said != Z_OK)
        return err_set(err, ERR_MALFORMED, NULL, "the compressed body cannot be read");
    while (said == Z_OK && out->n <= max) {
        buf_reserve(out, STEP);
        z.next_out = (Bytef *)out->p + out->n;
        z.avail_out = (uInt)STEP;
        said = inflate(&z, Z_NO_FLUSH);
        out->n += STEP - z.avail_out;
        if (said == Z_BUF_ERROR && z.avail_in == 0)
            break;
    }
    size_t left = z.avail_in;
    inflateEnd(&z);
    if (out->n > max)
        return err_set(err, ERR_TOO_LARGE, NULL, "the body has more than %zu bytes when it is expanded", max);
    if (said != Z_STREAM_END || left)
        return err_set(err, ERR_MALFORMED, NULL, "the compressed body is broken");
    buf_reserve(out, 1);
    return true;
}

/* The head of zlib: the method, and both bytes a multiple of 31. */
static bool has_head(struct str in)
{
    const unsigned char *p = (const unsigned char *)in.p;
    return in.n >= 2 && (p[0] & 15) == Z_DEFLATED && ((unsigned)p[0] << 8 | p[1]) % 31 == 0;
}

bool squeeze_expand(enum squeeze s, struct str in, size_t max, struct buf *out, struct err *err)
{
    int window = s == SQUEEZE_GZIP ? GZIP_WINDOW : has_head(in) ? WINDOW : -WINDOW;
    return expand(window, in, max, out, err);
}

void squeeze_pack(enum squeeze s, struct str in, struct buf *out)
{
    z_stream z = {0};
    /* Answers are made while somebody waits: the quickest level. */
    if (deflateInit2(&z, 1, Z_DEFLATED, s == SQUEEZE_GZIP ? GZIP_WINDOW : WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        abort();
    buf_reserve(out, deflateBound(&z, in.n));
    z.next_in = (Bytef *)in.p;
    z.next_out = (Bytef *)out->p + out->n;
    size_t taken = 0;
    int said = Z_OK;
    while (said == Z_OK) {
        if (!z.avail_in) {
            size_t n = in.n - taken < STEP ? in.n - taken : STEP;
            z.avail_in = (uInt)n;
            taken += n;
        }
        z.avail_out = (uInt)(out->cap - out->n > STEP ? STEP : out->cap - out->n);
        size_t room = z.avail_out;
        said = deflate(&z, taken == in.n ? Z_FINISH : Z_NO_FLUSH);
        out->n += room - z.avail_out;
    }
    deflateEnd(&z);
}
