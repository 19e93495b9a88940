#include "base/json.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>

enum { DEPTH_MAX = 64, PAIRWISE_MAX = 16 };

static void *on_malloc(void *ctx, size_t size)
{
    return arena_alloc(ctx, size);
}

static void *on_realloc(void *ctx, void *p, size_t old_size, size_t size)
{
    return arena_grow(ctx, p, old_size, size);
}

static void on_free(void *ctx, void *p)
{
    (void)ctx;
    (void)p;
}

static yyjson_val *malformed(struct str text, size_t pos, const char *what, struct err *err)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < pos && i < text.n; i++) {
        if (text.p[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)text.p[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    err_set(err, ERR_MALFORMED, NULL, "not valid JSON at line %zu, column %zu: %s", line, column, what);
    return NULL;
}

/* Looks at brackets outside strings only, so it is right for valid JSON and harmless for the rest. */
static bool too_deep(struct str text, size_t *ret_pos)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > DEPTH_MAX) {
                *ret_pos = i;
                return true;
            }
        } else if (c == ']' || c == '}') {
            depth--;
        }
    }
    return false;
}

static yyjson_val *duplicate_pairwise(yyjson_val *obj)
{
    struct str seen[PAIRWISE_MAX];
    size_t n = 0;
    yyjson_obj_iter it = yyjson_obj_iter_with(obj);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&it));) {
        struct str k = json_str(key);
        for (size_t i = 0; i < n; i++)
            if (str_eq(seen[i], k))
                return key;
        seen[n++] = k;
    }
    return NULL;
}

static yyjson_val *duplicate_hashed(yyjson_val *obj)
{
    size_t size = 64;
    while (size < yyjson_obj_size(obj) * 2)
        size *= 2;
    auto_free struct str *slots = base_zalloc(size * sizeof *slots);
    yyjson_obj_iter it = yyjson_obj_iter_with(obj);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&it));) {
        struct str k = json_str(key);
        size_t i = hash64(k) & (size - 1);
        for (; slots[i].p; i = (i + 1) & (size - 1))
            if (str_eq(slots[i], k))
                return key;
        slots[i] = k;
    }
    return NULL;
}

/* The first key that repeats in any object. A container's children follow it in the document's array of
 * values, so no stack is needed. */
static yyjson_val *find_duplicate(yyjson_doc *doc)
{
    yyjson_val *v = yyjson_doc_get_root(doc);
    for (size_t left = yyjson_doc_get_val_count(doc); left; left--, v++) {
        if (!yyjson_is_obj(v) || yyjson_obj_size(v) < 2)
            continue;
        yyjson_val *key = yyjson_obj_size(v) <= PAIRWISE_MAX ? duplicate_pairwise(v) : duplicate_hashed(v);
        if (key)
            return key;
    }
    return NULL;
}

yyjson_val *json_parse(struct arena *a, struct str text, struct err *err)
{
    size_t pos = 0;
    if (text.n == 0)
        return malformed(text, 0, "it is empty", err);
    if (too_deep(text, &pos))
        return malformed(text, pos, "nested deeper than 64 levels", err);
    yyjson_alc alc = {on_malloc, on_realloc, on_free, a};
    yyjson_read_err why;
    /* Without the in-situ flag the text is only read. */
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.p, text.n, 0, &alc, &why);
    if (!doc)
        return malformed(text, why.pos, why.msg, err);
    yyjson_val *key = find_duplicate(doc);
    if (key) {
        struct str k = json_str(key);
        err_set(err, ERR_MALFORMED, NULL, "not valid JSON: the key \"%.*s\" is twice in one object",
                k.n > 100 ? 100 : (int)k.n, k.p);
        return NULL;
    }
    return yyjson_doc_get_root(doc);
}

struct str json_str(yyjson_val *v)
{
    return yyjson_is_str(v) ? (struct str){yyjson_get_str(v), yyjson_get_len(v)} : STR_NULL;
}
