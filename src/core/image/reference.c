#include "core/image/reference.h"

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The length of a separator at p: one of . _ __ or any number of -; 0: none. */
static size_t separator(const char *p, size_t n)
{
    if (n && p[0] == '.')
        return 1;
    if (n && p[0] == '_')
        return n > 1 && p[1] == '_' ? 2 : 1;
    size_t k = 0;
    while (k < n && p[k] == '-')
        k++;
    return k;
}

static bool part_ok(struct str part)
{
    size_t i = 0;
    for (;;) {
        size_t from = i;
        while (i < part.n && is_lower(part.p[i]))
            i++;
        if (i == from)
            return false;
        if (i == part.n)
            return true;
        size_t k = separator(part.p + i, part.n - i);
        if (k == 0)
            return false;
        i += k;
    }
}

bool reference_name(struct str name, struct err *err)
{
    struct str rest = name;
    bool ok = name.n > 0 && name.n <= REFERENCE_NAME_MAX;
    while (ok && rest.p)
        ok = part_ok(str_cut(rest, '/', &rest));
    return ok || err_set(err, ERR_INVALID, "name",
                         "name: \"%.*s\" is no image's name: 1 to %d of a-z 0-9 - . _ / with single "
                         "separators between letters or digits",
                         (int)(name.n > 80 ? 80 : name.n), name.p ? name.p : "", REFERENCE_NAME_MAX);
}

static bool tag_char(char c, bool first)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_' || (!first && (c == '.' || c == '-'));
}

bool reference_tag(struct str tag, struct err *err)
{
    bool ok = tag.n > 0 && tag.n <= REFERENCE_TAG_MAX;
    for (size_t i = 0; ok && i < tag.n; i++)
        ok = tag_char(tag.p[i], i == 0);
    return ok ||
           err_set(err, ERR_INVALID, "version",
                   "version: \"%.*s\" is no version: 1 to %d of a-z A-Z 0-9 - . _, not beginning with . "
                   "or -",
                   (int)(tag.n > 80 ? 80 : tag.n), tag.p ? tag.p : "", REFERENCE_TAG_MAX);
}

bool reference_digest(struct str text, struct digest *ret, struct err *err)
{
    bool named = str_starts(text, "sha256:");
    if (named && digest_parse((struct str){text.p + 7, text.n - 7}, ret))
        return true;
    return err_set(err, ERR_INVALID, "digest",
                   "digest: \"%.*s\" is no digest: sha256: and 64 hexadecimal digits in lower case",
                   (int)(text.n > 100 ? 100 : text.n), text.p ? text.p : "");
}

char *reference_text(const struct digest *d, char ret[REFERENCE_DIGEST])
{
    memcpy(ret, "sha256:", 7);
    digest_hex(d, ret + 7);
    return ret;
}

bool reference_parse(struct str text, struct reference *ret, struct err *err)
{
    struct reference r = {0};
    if (text.n && memchr(text.p, ':', text.n)) {
        if (!reference_digest(text, &r.digest, err))
            return false;
    } else {
        if (!reference_tag(text, err))
            return false;
        r.tag = text;
    }
    *ret = r;
    return true;
}

bool reference_image(struct str text, struct reference_image *ret, struct err *err)
{
    struct reference_image r = {.at.tag = STR("latest")};
    struct str rest;
    r.name = str_cut(text, '@', &rest);
    if (rest.p) {
        r.at.tag = STR_NULL;
        if (!reference_digest(rest, &r.at.digest, err))
            return false;
        *ret = r;
        return true;
    }
    /* The last colon: a project's name has none. */
    const char *colon = text.n ? memrchr(text.p, ':', text.n) : NULL;
    if (colon) {
        r.name = (struct str){text.p, (size_t)(colon - text.p)};
        r.at.tag = (struct str){colon + 1, text.n - r.name.n - 1};
        if (!reference_tag(r.at.tag, err))
            return false;
    }
    if (r.name.n == 0 || r.name.n > 200)
        return err_set(err, ERR_INVALID, "name", "name: an image has a name of 1 to 200 bytes");
    *ret = r;
    return true;
}
