#include "core/training/pictures.h"

#include "base/fs.h"
#include "base/hash.h"
#include "core/training/training.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_SEEN 10000 /* names of the folder that are read */

struct picture {
    const char *file;
    struct str name;
    int64_t step;
};

/* 000000000012-val%2Fmask.png */
static bool read_name(struct arena *a, const char *file, struct picture *ret)
{
    struct str rest, digits = str_cut(str_of(file), '-', &rest);
    struct picture p = {.file = arena_strdup(a, file)};
    if (rest.n < 5 || rest.n > 240 || !str_to_i64(digits, &p.step) || p.step < 0 ||
        !(str_ends(rest, ".png") || str_ends(rest, ".jpg")))
        return false;
    char *name = arena_alloc(a, rest.n);
    size_t n = 0;
    for (size_t i = 0; i < rest.n - 4; i++) {
        unsigned hex;
        if (rest.p[i] == '%' && i + 2 < rest.n - 4 && sscanf(rest.p + i + 1, "%2x", &hex) == 1 &&
            hex >= ' ') {
            name[n++] = (char)hex;
            i += 2;
        } else {
            name[n++] = rest.p[i];
        }
    }
    p.name = (struct str){name, n};
    if (!utf8_valid(p.name))
        return false;
    *ret = p;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct picture *x = a, *y = b;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    int same = memcmp(x->name.p, y->name.p, n);
    if (!same)
        same = (x->name.n > y->name.n) - (x->name.n < y->name.n);
    return same ? same : (x->step > y->step) - (x->step < y->step);
}

static size_t list(int folder, struct arena *a, struct picture *ret)
{
    size_t n = 0;
    int fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    const struct dirent *e;
    for (size_t seen = 0; n < PICTURES_MAX && seen < FILES_SEEN && (e = readdir(dir)); seen++)
        n += read_name(a, e->d_name, &ret[n]);
    closedir(dir);
    qsort(ret, n, sizeof *ret, by_name);
    return n;
}

static const char *type_of(struct str bytes)
{
    if (str_starts(bytes, "\x89PNG\r\n\x1a\n"))
        return "image/png";
    return str_starts(bytes, "\xff\xd8\xff") ? "image/jpeg" : NULL;
}

/* STR_NULL when it is none, too large or gone. */
static struct str read_picture(int folder, const struct picture *p, struct arena *a)
{
    struct stat st;
    auto_fd int fd = openat(folder, p->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 12 ||
        st.st_size > PICTURE_BYTES)
        return STR_NULL;
    char *bytes = arena_alloc(a, (size_t)st.st_size);
    size_t n = 0;
    for (ssize_t got; n < (size_t)st.st_size; n += (size_t)got)
        if ((got = pread(fd, bytes + n, (size_t)st.st_size - n, (off_t)n)) <= 0)
            break;
    return (struct str){bytes, n};
}

static struct str base64(struct str bytes, struct arena *a)
{
    char *text = arena_alloc(a, 4 * (bytes.n + 2) / 3 + 5);
    size_t n = base64url_encode(bytes.p, bytes.n, text);
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
    while (n % 4)
        text[n++] = '=';
    return (struct str){text, n};
}

static bool write_picture(int folder, const struct picture *p, struct json_out *out, size_t *bytes)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str data = read_picture(folder, p, &a);
    const char *type = data.p ? type_of(data) : NULL;
    if (!type)
        return false;
    *bytes += data.n;
    json_object(out);
    json_kz(out, "file", p->file);
    json_kstr(out, "name", p->name);
    json_kint(out, "step", p->step);
    json_kint(out, "bytes", (int64_t)data.n);
    json_kz(out, "type", type);
    json_kstr(out, "data", base64(data, &a));
    json_object_end(out);
    return true;
}

static int open_folder(struct core *core, const struct object *instance, struct arena *a)
{
    auto_fd int logs =
        open(training_path(core, a, instance, "logs"), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return logs < 0 ? -1 : openat(logs, "ingot-images", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool pictures_write(struct core *core, const struct object *instance, struct str after, int64_t limit,
                    struct arena *a, struct json_out *out, struct err *err)
{
    auto_fd int folder = open_folder(core, instance, a);
    if (folder < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        return err_errno(err, errno, "cannot read the pictures of the run");
    struct picture *all = arena_array(a, struct picture, PICTURES_MAX);
    size_t n = folder < 0 ? 0 : list(folder, a, all), i = 0, bytes = 0;
    const char *next = NULL;
    int64_t written = 0;
    for (size_t k = 0; after.n && k < n; k++)
        if (str_is(after, all[k].file))
            i = k + 1;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (; i < n; i++) {
        if (written == limit || bytes >= PICTURES_PAGE) {
            next = all[i - 1].file;
            break;
        }
        written += write_picture(folder, &all[i], out, &bytes);
    }
    json_array_end(out);
    json_kz(out, "next", next);
    json_object_end(out);
    return true;
}
