#include "series/chunk.h"

#include "series/bits.h"

#include <math.h>

#define FORMAT    1
#define NUMBERS   5 /* of 8 bytes, in the head */
#define HEAD_MAX  (1 + 3 + 4 + NUMBERS * 8)
#define BODY_MAX  (SERIES_CHUNK_POINTS * 32)
#define WHOLE_MAX 9007199254740992.0 /* 2^53: below, a double is a whole number exactly */

enum steps { STEPS_NONE, STEPS_WHOLE, STEPS_REAL };

static uint64_t bits_of(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static double real_of(uint64_t u)
{
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* --- whole numbers: the change of their distance --- */

/* A one for each row that is passed over, and a zero but after the last row. Times are microseconds: a second
 * that is not quite one is the usual case. */
static const unsigned widths[] = {0, 7, 14, 20, 32, 64};

struct whole {
    uint64_t last, delta; /* they may wrap around */
};

static bool fits(uint64_t v, unsigned width)
{
    if (width == 0 || width == 64)
        return width == 64 || v == 0;
    uint64_t half = UINT64_C(1) << (width - 1);
    return v + half < half * 2;
}

static void put_whole(struct bits_out *b, struct whole *w, uint64_t v)
{
    uint64_t delta = v - w->last, change = delta - w->delta;
    unsigned i = 0;
    while (!fits(change, widths[i]))
        i++;
    unsigned last = countof(widths) - 1;
    bits_put(b, i == last ? (1U << last) - 1 : (2U << i) - 2, i == last ? last : i + 1);
    if (widths[i])
        bits_put(b, change, widths[i]);
    w->last = v;
    w->delta = delta;
}

static uint64_t get_whole(struct bits_in *b, struct whole *w)
{
    unsigned i = 0;
    while (i < countof(widths) - 1 && bits_get(b, 1))
        i++;
    uint64_t change = widths[i] ? bits_get(b, widths[i]) : 0;
    if (widths[i] && widths[i] < 64 && change >> (widths[i] - 1))
        change |= UINT64_MAX << widths[i];
    w->delta += change;
    return w->last += w->delta;
}

/* --- real numbers: the bits that differ --- */

struct real {
    uint64_t last;
    unsigned zeros, width; /* before the bits that differed last, and their number; width 0: none yet */
};

static void put_real(struct bits_out *b, struct real *r, uint64_t v)
{
    uint64_t x = v ^ r->last;
    r->last = v;
    if (!x) {
        bits_put(b, 0, 1);
        return;
    }
    unsigned zeros = (unsigned)__builtin_clzll(x), end = (unsigned)__builtin_ctzll(x);
    if (zeros > 31)
        zeros = 31;
    /* The former place, unless a place of its own is shorter with the 11 bits that say where it is. */
    if (r->width && zeros >= r->zeros && end >= 64 - r->zeros - r->width &&
        r->width <= 64 - zeros - end + 11) {
        bits_put(b, 2, 2);
    } else {
        r->zeros = zeros;
        r->width = 64 - zeros - end;
        bits_put(b, 3, 2);
        bits_put(b, zeros << 6 | (r->width - 1), 11);
    }
    bits_put(b, x >> (64 - r->zeros - r->width), r->width);
}

static uint64_t get_real(struct bits_in *b, struct real *r)
{
    if (!bits_get(b, 1))
        return r->last;
    if (bits_get(b, 1)) {
        uint64_t place = bits_get(b, 11);
        r->zeros = (unsigned)(place >> 6);
        r->width = (unsigned)(place & 63) + 1;
    }
    if (r->width == 0 || r->zeros + r->width > 64) {
        b->past = true;
        return 0;
    }
    return r->last ^= bits_get(b, r->width) << (64 - r->zeros - r->width);
}

/* --- the head --- */

static void put_varint(struct buf *out, uint64_t v)
{
    while (v >= 128) {
        buf_char(out, (char)(v | 128));
        v >>= 7;
    }
    buf_char(out, (char)v);
}

static bool get_varint(struct str *s, uint64_t most, uint64_t *ret)
{
    *ret = 0;
    for (unsigned shift = 0; s->n && shift < 35; shift += 7) {
        unsigned char c = (unsigned char)*s->p++;
        s->n--;
        *ret |= (uint64_t)(c & 127) << shift;
        if (c < 128)
            return *ret <= most;
    }
    return false;
}

static void put_number(struct buf *out, uint64_t v)
{
    unsigned char text[8];
    for (unsigned i = 0; i < 8; i++)
        text[i] = (unsigned char)(v >> (8 * i));
    buf_add(out, text, 8);
}

static uint64_t get_number(const char *p)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return v;
}

static enum steps steps_of(const struct series_point *p, size_t n)
{
    bool none = true, whole = true;
    for (size_t i = 0; i < n; i++) {
        double s = p[i].step;
        none = none && isnan(s);
        whole = whole && fabs(s) < WHOLE_MAX && bits_of((double)(int64_t)s) == bits_of(s);
    }
    return none ? STEPS_NONE : whole ? STEPS_WHOLE : STEPS_REAL;
}

static void sum_up(const struct series_point *p, size_t n, struct series_head *h)
{
    *h = (struct series_head){.n = n, .first = p[0].at, .last = p[0].at, .low = NAN, .high = NAN, .sum = NAN};
    for (size_t i = 0; i < n; i++) {
        double v = p[i].value;
        h->first = p[i].at < h->first ? p[i].at : h->first;
        h->last = p[i].at > h->last ? p[i].at : h->last;
        if (isnan(v))
            continue;
        h->low = h->low <= v ? h->low : v;
        h->high = h->high >= v ? h->high : v;
        h->sum = isnan(h->sum) ? v : h->sum + v;
    }
}

struct state {
    enum steps steps;
    struct whole at, step;
    struct real step_real, value;
};

static void put_point(struct bits_out *b, struct state *s, const struct series_point *p)
{
    put_whole(b, &s->at, (uint64_t)p->at);
    if (s->steps == STEPS_WHOLE)
        put_whole(b, &s->step, (uint64_t)(int64_t)p->step);
    else if (s->steps == STEPS_REAL)
        put_real(b, &s->step_real, bits_of(p->step));
    put_real(b, &s->value, bits_of(p->value));
}

void series_encode(const struct series_point *p, size_t n, struct buf *out)
{
    auto_buf struct buf body = {0};
    struct series_head h;
    struct bits_out b = {.out = &body};
    struct state s = {.steps = steps_of(p, n)};
    sum_up(p, n, &h);
    buf_reserve(&body, n * 4 + 32);
    for (size_t i = 0; i < n; i++)
        put_point(&b, &s, &p[i]);
    bits_end(&b);
    buf_reserve(out, HEAD_MAX + body.n);
    buf_char(out, (char)(FORMAT << 4 | s.steps));
    put_varint(out, n);
    put_varint(out, body.n);
    put_number(out, (uint64_t)h.first);
    put_number(out, (uint64_t)h.last);
    put_number(out, bits_of(h.low));
    put_number(out, bits_of(h.high));
    put_number(out, bits_of(h.sum));
    buf_str(out, buf_view(&body));
}

/* Every point takes two bits at least. */
static bool read_head(struct str data, struct series_head *ret, enum steps *ret_steps, struct str *ret_body)
{
    struct str rest = data;
    uint64_t n, size;
    if (!rest.n || (unsigned char)*rest.p >> 4 != FORMAT || (*rest.p & 15) > STEPS_REAL)
        return false;
    *ret_steps = (enum steps)(*rest.p & 15);
    rest.p++;
    rest.n--;
    if (!get_varint(&rest, SERIES_CHUNK_POINTS, &n) || !get_varint(&rest, BODY_MAX, &size) || n == 0 ||
        rest.n < NUMBERS * 8 || rest.n - NUMBERS * 8 < size || size * 4 < n)
        return false;
    *ret_body = (struct str){rest.p + NUMBERS * 8, (size_t)size};
    *ret = (struct series_head){.n = (size_t)n,
                                .first = (int64_t)get_number(rest.p),
                                .last = (int64_t)get_number(rest.p + 8),
                                .low = real_of(get_number(rest.p + 16)),
                                .high = real_of(get_number(rest.p + 24)),
                                .sum = real_of(get_number(rest.p + 32)),
                                .size = (size_t)(ret_body->p - data.p) + (size_t)size};
    return true;
}

static bool broken(struct err *err)
{
    return err_set(err, ERR_MALFORMED, NULL, "a chunk of points is broken");
}

bool series_head(struct str data, struct series_head *ret, struct err *err)
{
    enum steps steps;
    struct str body;
    return read_head(data, ret, &steps, &body) || broken(err);
}

static void get_point(struct bits_in *b, struct state *s, struct series_point *ret)
{
    ret->at = (int64_t)get_whole(b, &s->at);
    ret->step = s->steps == STEPS_NONE    ? NAN
                : s->steps == STEPS_WHOLE ? (double)(int64_t)get_whole(b, &s->step)
                                          : real_of(get_real(b, &s->step_real));
    ret->value = real_of(get_real(b, &s->value));
}

bool series_decode(struct str data, struct series_point *ret, struct err *err)
{
    struct series_head h;
    struct state s = {0};
    struct str body;
    if (!read_head(data, &h, &s.steps, &body))
        return broken(err);
    struct bits_in b = {.p = (const unsigned char *)body.p, .end = (const unsigned char *)body.p + body.n};
    for (size_t i = 0; i < h.n && !b.past; i++)
        get_point(&b, &s, &ret[i]);
    return bits_done(&b) || broken(err);
}

bool series_decode_all(struct arena *a, struct str data, struct series_point **ret, size_t *ret_n,
                       struct err *err)
{
    struct series_head h;
    size_t all = 0, n = 0;
    for (struct str rest = data; rest.n; rest.p += h.size, rest.n -= h.size) {
        if (!series_head(rest, &h, err))
            return false;
        all += h.n;
    }
    struct series_point *p = arena_array(a, struct series_point, all + 1);
    for (struct str rest = data; rest.n; rest.p += h.size, rest.n -= h.size) {
        if (!series_head(rest, &h, err) || !series_decode(rest, p + n, err))
            return false;
        n += h.n;
    }
    *ret = p;
    *ret_n = n;
    return true;
}

bool series_merge(struct arena *a, struct str data, struct buf *out, struct err *err)
{
    struct series_point *p;
    size_t n;
    if (!series_decode_all(a, data, &p, &n, err))
        return false;
    if (n > SERIES_CHUNK_POINTS)
        return err_set(err, ERR_TOO_LARGE, NULL, "%zu points are too many for one chunk", n);
    if (n)
        series_encode(p, n, out);
    return true;
}
