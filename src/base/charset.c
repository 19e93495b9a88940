#include "base/charset.h"

#include <iconv.h>

bool charset_to_utf8(struct arena *a, const char *charset, struct str raw, struct str *ret)
{
    iconv_t cd = iconv_open("UTF-8", charset);
    if (cd == (iconv_t)-1)
        return false;
    size_t in = raw.n, cap = raw.n * 4 + 4, out = cap;
    char *from = (char *)raw.p, *start = arena_alloc(a, cap), *to = start;
    bool ok = iconv(cd, &from, &in, &to, &out) != (size_t)-1 && in == 0;
    iconv_close(cd);
    if (ok)
        *ret = (struct str){start, cap - out};
    return ok;
}
