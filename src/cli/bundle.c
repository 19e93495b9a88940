#include "cli/bundle.h"

#include "base/buf.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#define BLOCK     512
#define NAME_MAX_ 100 /* of a plain tar header */
#define DEEP      64

/* One file: its header (made again when it is asked for), its bytes, zeros up to the block's end. */
struct bundle_part {
    const char *path; /* to open */
    const char *name; /* in the archive; NULL: a bare file */
    int64_t at;       /* where its header begins */
    int64_t header, size;
    int64_t mtime_ns;
};

struct list {
    struct bundle *b;
    size_t cap;
    struct sha256 *key;
};

static int64_t whole_blocks(int64_t n)
{
    return (n + BLOCK - 1) / BLOCK * BLOCK;
}

/* "27 path=images/1.jpg\n": the length counts itself. */
static void pax_line(struct buf *out, const char *key, const char *value)
{
    size_t rest = strlen(key) + strlen(value) + 3, n = rest + 1;
    char digits[24];
    for (size_t last = 0; n != last;) {
        last = n;
        n = rest + (size_t)snprintf(digits, sizeof digits, "%zu", n);
    }
    buf_printf(out, "%zu %s=%s\n", n, key, value);
}

/* Names that are long and sizes of 8 GiB and more are said in a header of their own before the file's. */
static void pax_of(const struct bundle_part *p, struct buf *out)
{
    char text[24];
    if (strlen(p->name) > NAME_MAX_)
        pax_line(out, "path", p->name);
    if (p->size >= INT64_C(1) << 33) {
        snprintf(text, sizeof text, "%lld", (long long)p->size);
        pax_line(out, "size", text);
    }
}

static void tar_header(struct buf *out, const char *name, int64_t size, char type)
{
    char h[BLOCK] = {0};
    unsigned sum = 0;
    memcpy(h, name, strnlen(name, NAME_MAX_));
    memcpy(h + 100,
           "0000644\0"
           "0000000\0"
           "0000000",
           24);
    snprintf(h + 124, 12, "%011llo", (unsigned long long)(size < INT64_C(1) << 33 ? size : 0));
    memcpy(h + 136, "00000000000", 12);
    memset(h + 148, ' ', 8);
    h[156] = type;
    memcpy(h + 257, "ustar\00000", 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    buf_add(out, h, BLOCK);
}

static void part_header(const struct bundle_part *p, struct buf *out)
{
    static const char zeros[BLOCK];
    auto_buf struct buf pax = {0};
    if (!p->name)
        return;
    pax_of(p, &pax);
    if (pax.n) {
        tar_header(out, "pax", (int64_t)pax.n, 'x');
        buf_str(out, buf_view(&pax));
        buf_add(out, zeros, (size_t)whole_blocks((int64_t)pax.n) - pax.n);
    }
    tar_header(out, p->name, p->size, '0');
}

/* --- the list of files --- */

static void add(struct list *l, const char *path, const char *name, const struct stat *st)
{
    struct bundle *b = l->b;
    auto_buf struct buf header = {0};
    if (b->part_count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 256;
        b->part = arena_grow(b->arena, b->part, l->cap * sizeof *b->part, cap * sizeof *b->part);
        l->cap = cap;
    }
    struct bundle_part *p = &b->part[b->part_count++];
    *p = (struct bundle_part){.path = path,
                              .name = name,
                              .at = b->size,
                              .size = st->st_size,
                              .mtime_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec};
    part_header(p, &header);
    p->header = (int64_t)header.n;
    b->size += p->header + (name ? whole_blocks(p->size) : p->size);
    sha256_add(l->key, path, strlen(path) + 1);
    sha256_add(l->key, &p->size, sizeof p->size);
    sha256_add(l->key, &p->mtime_ns, sizeof p->mtime_ns);
}

static bool walk(struct list *l, const char *path, const char *inside, int deep, struct err *err);

static bool visit(struct list *l, const char *folder, const char *inside, const char *name, int deep,
                  struct err *err)
{
    struct stat st;
    struct arena *a = l->b->arena;
    const char *path = arena_printf(a, "%s/%s", folder, name);
    const char *in = *inside ? arena_printf(a, "%s/%s", inside, name) : arena_strdup(a, name);
    if (lstat(path, &st) != 0)
        return err_errno(err, errno, "%s", path);
    if (S_ISDIR(st.st_mode))
        return walk(l, path, in, deep + 1, err);
    if (S_ISREG(st.st_mode))
        add(l, path, in, &st);
    else
        l->b->left_out++;
    return true;
}

static bool walk(struct list *l, const char *path, const char *inside, int deep, struct err *err)
{
    struct dirent **names;
    if (deep > DEEP)
        return err_set(err, ERR_INVALID, NULL, "%s: folders are at most %d deep", path, DEEP);
    int n = scandir(path, &names, NULL, alphasort);
    if (n < 0)
        return err_errno(err, errno, "%s", path);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        if (ok && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            ok = visit(l, path, inside, name, deep, err);
        free(names[i]);
    }
    free(names);
    return ok;
}

static const char *base_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? arena_strdup(a, slash + 1) : "files";
}

static bool list_all(struct list *l, const char *path, const struct stat *st, struct err *err)
{
    struct bundle *b = l->b;
    const char *base = base_of(b->arena, path);
    if (S_ISREG(st->st_mode)) {
        b->name = base;
        add(l, path, NULL, st);
        return true;
    }
    if (!S_ISDIR(st->st_mode))
        return err_set(err, ERR_INVALID, NULL, "%s is neither a file nor a folder", path);
    b->name = arena_printf(b->arena, "%s.tar", base);
    if (!walk(l, path, "", 0, err))
        return false;
    if (b->part_count == 0)
        return err_set(err, ERR_INVALID, NULL, "%s holds no files", path);
    b->size += 2 * BLOCK; /* the end of a tar archive */
    return true;
}

void bundle_words(const char *const words[static 2], const char **ret_path, const char **ret_name)
{
    const char *first = words[0], *second = words[1];
    bool turned = !strchr(first, '/') &&
                  (strchr(second, '/') || (access(first, F_OK) != 0 && access(second, F_OK) == 0));
    *ret_path = turned ? second : first;
    *ret_name = turned ? first : second;
}

bool bundle_open(struct arena *a, const char *path, struct bundle *ret, struct err *err)
{
    struct stat st;
    uint8_t key[SHA256_SIZE];
    char full[PATH_MAX];
    if (stat(path, &st) != 0 || !realpath(path, full))
        return err_set(err, ERR_INVALID, NULL, "%s: %s", path, strerror(errno));
    *ret = (struct bundle){.fd = -1, .arena = a};
    struct list l = {.b = ret, .key = sha256_new()};
    bool ok = list_all(&l, arena_strdup(a, full), &st, err);
    sha256_finish(l.key, key);
    hex_encode(key, sizeof key, ret->key);
    ret->files = ret->part_count;
    return ok;
}

const char *bundle_file(const struct bundle *b, size_t i, const char **ret_name)
{
    *ret_name = b->part[i].name ? b->part[i].name : b->name;
    return b->part[i].path;
}

void bundle_close(struct bundle *b)
{
    if (b->fd >= 0)
        close(b->fd);
    b->fd = -1;
    b->open = NULL;
}

/* --- reading --- */

static const struct bundle_part *part_at(const struct bundle *b, int64_t offset)
{
    size_t low = 0, high = b->part_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (b->part[middle].at <= offset)
            low = middle;
        else
            high = middle;
    }
    return &b->part[low];
}

static bool changed(const struct bundle_part *p, struct err *err)
{
    return err_set(err, ERR_CONFLICT, NULL, "%s was changed while it was sent: run the command again",
                   p->path);
}

static bool open_part(struct bundle *b, const struct bundle_part *p, struct err *err)
{
    struct stat st;
    if (b->open == p)
        return true;
    bundle_close(b);
    b->fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (b->fd < 0)
        return err_errno(err, errno, "%s", p->path);
    if (fstat(b->fd, &st) != 0 || st.st_size != p->size)
        return changed(p, err);
    b->open = p;
    return true;
}

static bool file_bytes(struct bundle *b, const struct bundle_part *p, int64_t at, char *out, size_t n,
                       struct err *err)
{
    if (!open_part(b, p, err))
        return false;
    while (n) {
        ssize_t got = pread(b->fd, out, n, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "%s", p->path);
        if (got == 0)
            return changed(p, err);
        out += got;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

/* As much of one region (header, bytes, filling) as is wanted; returns how much, 0 on failure. */
static size_t piece(struct bundle *b, int64_t offset, char *out, size_t n, struct err *err)
{
    const struct bundle_part *p = part_at(b, offset);
    int64_t in = offset - p->at, bytes = in - p->header;
    int64_t room = in < p->header ? p->header - in : bytes < p->size ? p->size - bytes : INT64_MAX;
    const struct bundle_part *next = p + 1 < b->part + b->part_count ? p + 1 : NULL;
    if (room == INT64_MAX)
        room = (next ? next->at : b->size) - offset;
    if ((int64_t)n > room)
        n = (size_t)room;
    if (in < p->header) {
        auto_buf struct buf header = {0};
        part_header(p, &header);
        if (header.p)
            memcpy(out, header.p + in, n);
    } else if (bytes >= p->size) {
        memset(out, 0, n);
    } else if (!file_bytes(b, p, bytes, out, n, err)) {
        return 0;
    }
    return n;
}

bool bundle_read(struct bundle *b, int64_t offset, void *p, size_t n, struct err *err)
{
    char *out = p;
    while (n) {
        size_t got = piece(b, offset, out, n, err);
        if (!got)
            return false;
        out += got;
        offset += (int64_t)got;
        n -= got;
    }
    return true;
}
