#include "store/manifest.h"

#include <stdio.h>

static bool bad_path(struct str path, const char *rule, struct err *err)
{
    return err_set(err, ERR_INVALID, "path", "\"%.*s\" %s", (int)(path.n > 120 ? 120 : path.n), path.p, rule);
}

bool manifest_check_path(struct str path, struct err *err)
{
    if (path.n == 0 || path.n > MANIFEST_MAX_PATH)
        return err_set(err, ERR_INVALID, "path", "a path has 1 to %d bytes, this one has %zu",
                       MANIFEST_MAX_PATH, path.n);
    if (!utf8_valid(path))
        return bad_path(path, "is not valid UTF-8", err);
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] < 0x20 || path.p[i] == 0x7f || path.p[i] == '\\')
            return bad_path(path, "has a control character or a backslash", err);
    struct str rest = path;
    while (rest.p) {
        struct str part = str_cut(rest, '/', &rest);
        if (part.n == 0 || str_is(part, ".") || str_is(part, ".."))
            return bad_path(path, "has an empty, \".\" or \"..\" part", err);
        if (part.n > 255)
            return bad_path(path, "has a part of over 255 bytes", err);
    }
    return true;
}

static int compare_str(struct str a, struct str b)
{
    int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* Entries of one path keep their order (the index breaks the tie), so that the last one wins. */
static int compare_entry(const void *x, const void *y)
{
    const struct manifest_entry *const *a = x, *const *b = y;
    int c = compare_str((*a)->path, (*b)->path);
    return c ? c : (*a > *b) - (*a < *b);
}

/* "a" and "a/b" cannot both be files. Entries between them may be "a-x", so the folder is looked up. */
static bool check_folders(const struct manifest *m, struct err *err)
{
    for (size_t i = 0; i < m->n; i++) {
        struct str path = m->entry[i].path;
        for (size_t k = 1; k < path.n; k++)
            if (path.p[k] == '/' && manifest_find(m, (struct str){path.p, k}))
                return err_set(err, ERR_INVALID, "path", "\"%.*s\" is a file and also a folder", (int)k,
                               path.p);
    }
    return true;
}

bool manifest_build(struct arena *a, const struct manifest_entry *entries, size_t n, struct manifest *ret,
                    struct err *err)
{
    if (n > MANIFEST_MAX_FILES)
        return err_set(err, ERR_TOO_LARGE, NULL, "%zu files are over the limit of %d", n, MANIFEST_MAX_FILES);
    auto_free const struct manifest_entry **order = base_alloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++) {
        if (!manifest_check_path(entries[i].path, err))
            return false;
        order[i] = &entries[i];
    }
    qsort(order, n, sizeof *order, compare_entry);
    struct manifest m = {.entry = arena_array(a, struct manifest_entry, n + 1)};
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && str_eq(order[i]->path, order[i + 1]->path))
            continue;
        m.entry[m.n++] = *order[i];
        m.bytes += order[i]->size;
    }
    if (!check_folders(&m, err))
        return false;
    *ret = m;
    return true;
}

void manifest_write(const struct manifest *m, struct buf *out)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct manifest_entry *e = &m->entry[i];
        char hex[SHA256_HEX + 1];
        digest_hex(&e->blob, hex);
        buf_printf(out, "%s %lld %c ", hex, (long long)e->size, e->executable ? 'x' : '-');
        buf_str(out, e->path);
        buf_char(out, '\n');
    }
}

static bool parse_line(struct str line, struct manifest_entry *ret)
{
    struct str rest, digest = str_cut(line, ' ', &rest), size = str_cut(rest, ' ', &rest),
                     mode = str_cut(rest, ' ', &rest);
    uint64_t bytes;
    if (!rest.p || !digest_parse(digest, &ret->blob) || !str_to_u64(size, &bytes) || bytes > INT64_MAX)
        return false;
    if (!str_is(mode, "x") && !str_is(mode, "-"))
        return false;
    ret->size = (int64_t)bytes;
    ret->executable = str_is(mode, "x");
    ret->path = rest;
    return true;
}

bool manifest_parse(struct arena *a, struct str text, struct manifest *ret, struct err *err)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    if (text.n && text.p[text.n - 1] != '\n')
        return err_set(err, ERR_MALFORMED, NULL, "the manifest's last line has no end");
    struct manifest_entry *entries = arena_array(a, struct manifest_entry, lines + 1);
    struct str rest = text;
    for (size_t i = 0; i < lines; i++) {
        struct str line = str_cut(rest, '\n', &rest);
        if (!parse_line(line, &entries[i]))
            return err_set(err, ERR_MALFORMED, NULL, "line %zu of the manifest cannot be read", i + 1);
    }
    return manifest_build(a, entries, lines, ret, err);
}

/* The first entry whose path is not before key. */
static size_t lower_bound(const struct manifest *m, struct str key)
{
    size_t lo = 0, hi = m->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (compare_str(m->entry[mid].path, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct manifest_entry *manifest_find(const struct manifest *m, struct str path)
{
    size_t i = lower_bound(m, path);
    return i < m->n && str_eq(m->entry[i].path, path) ? &m->entry[i] : NULL;
}

static int compare_item(const void *x, const void *y)
{
    const struct manifest_item *a = x, *b = y;
    if (a->folder != b->folder)
        return a->folder ? -1 : 1;
    return compare_str(a->name, b->name);
}

static void add_item(struct manifest_item *items, size_t *n, const struct manifest_entry *e, struct str below)
{
    struct str rest, name = str_cut(below, '/', &rest);
    bool folder = rest.p != NULL;
    struct manifest_item *last = *n ? &items[*n - 1] : NULL;
    if (folder && last && last->folder && str_eq(last->name, name)) {
        last->size += e->size;
        last->files++;
        return;
    }
    items[(*n)++] = (struct manifest_item){
        .name = name, .folder = folder, .size = e->size, .files = 1, .entry = folder ? NULL : e};
}

bool manifest_list(struct arena *a, const struct manifest *m, struct str folder, struct manifest_item **ret,
                   size_t *ret_n, struct err *err)
{
    if (folder.n && !manifest_check_path(folder, err))
        return false;
    struct str prefix = folder.n ? str_of(arena_printf(a, STR_FMT "/", STR_ARG(folder))) : STR("");
    size_t from = lower_bound(m, prefix), to = from;
    while (to < m->n && m->entry[to].path.n >= prefix.n &&
           memcmp(m->entry[to].path.p, prefix.p, prefix.n) == 0)
        to++;
    if (folder.n && from == to)
        return err_set(err, ERR_NOT_FOUND, "path", "there is no folder \"" STR_FMT "\"", STR_ARG(folder));
    struct manifest_item *items = arena_array(a, struct manifest_item, to - from + 1);
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        struct str path = m->entry[i].path;
        add_item(items, &n, &m->entry[i], (struct str){path.p + prefix.n, path.n - prefix.n});
    }
    qsort(items, n, sizeof *items, compare_item);
    *ret = items;
    *ret_n = n;
    return true;
}

static bool same_file(const struct manifest_entry *a, const struct manifest_entry *b)
{
    return memcmp(&a->blob, &b->blob, sizeof a->blob) == 0 && a->executable == b->executable;
}

void manifest_compare(struct arena *a, const struct manifest *before, const struct manifest *after,
                      struct manifest_diff **ret, size_t *ret_n)
{
    struct manifest_diff *diff = arena_array(a, struct manifest_diff, before->n + after->n + 1);
    size_t n = 0, i = 0, k = 0;
    while (i < before->n || k < after->n) {
        const struct manifest_entry *x = i < before->n ? &before->entry[i] : NULL;
        const struct manifest_entry *y = k < after->n ? &after->entry[k] : NULL;
        int c = !x ? 1 : !y ? -1 : compare_str(x->path, y->path);
        if (c < 0)
            diff[n++] = (struct manifest_diff){MANIFEST_REMOVED, x, NULL};
        else if (c > 0)
            diff[n++] = (struct manifest_diff){MANIFEST_ADDED, NULL, y};
        else if (!same_file(x, y))
            diff[n++] = (struct manifest_diff){MANIFEST_CHANGED, x, y};
        i += c <= 0;
        k += c >= 0;
    }
    *ret = diff;
    *ret_n = n;
}
