#include "infer/file_list.h"

#include "base/fs.h"
#include "base/json.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define MAX_DEPTH 64

/* What tells of the samples and is none itself. */
static const char *const not_samples[] = {"ingot.jsonl", "coco.json", "coco-captions.json"};

static bool add(struct file_list *l, const char *path, struct err *err)
{
    if (l->count == FILE_LIST_MAX)
        return err_set(err, ERR_TOO_LARGE, "files", "at most %zu files are taken", FILE_LIST_MAX);
    if (l->count == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 256;
        l->paths = base_realloc(l->paths, l->cap * sizeof *l->paths);
    }
    l->paths[l->count++] = path;
    return true;
}

/* --- a folder --- */

static bool is_sample(const char *name, bool top)
{
    for (size_t i = 0; top && i < countof(not_samples); i++)
        if (strcmp(name, not_samples[i]) == 0)
            return false;
    return name[0] != '.';
}

static bool walk(struct file_list *l, int at, const char *prefix, unsigned depth, struct err *err);

static bool visit(struct file_list *l, int at, const char *prefix, const char *name, unsigned depth,
                  struct err *err)
{
    struct stat st;
    if (!is_sample(name, depth == 0) || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    const char *path = arena_printf(&l->arena, "%s%s", prefix, name);
    if (S_ISREG(st.st_mode))
        return add(l, path, err);
    if (!S_ISDIR(st.st_mode))
        return true;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    return walk(l, fd, arena_printf(&l->arena, "%s/", path), depth + 1, err);
}

/* at is closed. */
static bool walk(struct file_list *l, int at, const char *prefix, unsigned depth, struct err *err)
{
    DIR *dir = depth < MAX_DEPTH ? fdopendir(at) : NULL;
    bool ok = true;
    if (!dir) {
        close(at);
        return err_set(err, ERR_INVALID, "files", "%s: the folder cannot be read", prefix);
    }
    for (struct dirent *e; ok && (e = readdir(dir));)
        ok = visit(l, dirfd(dir), prefix, e->d_name, depth, err);
    closedir(dir);
    return ok;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static bool read_folder(struct file_list *l, struct err *err)
{
    int fd = openat(l->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "the folder");
    if (!walk(l, fd, "", 0, err))
        return false;
    qsort(l->paths, l->count, sizeof *l->paths, by_name);
    return true;
}

/* --- a list --- */

/* STR_NULL: a line that names none. */
static bool path_in(struct arena *a, struct str line, struct str *ret, struct err *err)
{
    *ret = line;
    if (line.p[0] != '{')
        return true;
    yyjson_val *v = json_parse(a, line, err);
    if (!v)
        return false;
    *ret = json_str(yyjson_obj_get(v, "file"));
    return ret->n || yyjson_obj_get(v, "ingot") ||
           err_set(err, ERR_INVALID, "file", "a line has no \"file\"");
}

static bool read_line(struct file_list *l, struct str line, struct err *err)
{
    auto_arena struct arena a;
    struct str path;
    arena_init(&a);
    if (!line.n)
        return true;
    if (!path_in(&a, line, &path, err))
        return false;
    if (memchr(path.p ? path.p : "", 0, path.n))
        return err_set(err, ERR_INVALID, "file", "a path has a NUL in it");
    return !path.n || add(l, arena_strz(&l->arena, path), err);
}

static bool read_list(struct file_list *l, const char *path, struct err *err)
{
    auto_arena struct arena a;
    struct str rest;
    arena_init(&a);
    if (!fs_read(&a, path, FILE_LIST_MAX_BYTES, &rest, err))
        return false;
    for (size_t number = 1; rest.n; number++) {
        struct str line = str_cut(rest, '\n', &rest);
        if (!read_line(l, str_trim(line), err)) {
            struct err why = *err;
            return err_set(err, why.code, why.field, "%s, line %zu: %s", path, number, why.message);
        }
    }
    return true;
}

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strz(a, (struct str){path, (size_t)(slash - path) + 1}) : ".";
}

bool file_list_open(struct file_list *l, const char *path, const char *root, struct err *err)
{
    struct stat st;
    *l = (struct file_list){.root = -1};
    arena_init(&l->arena);
    if (stat(path, &st) != 0)
        return err_errno(err, errno, "%s", path);
    bool folder = S_ISDIR(st.st_mode);
    l->folder = folder ? path : root ? root : folder_of(&l->arena, path);
    l->root = open(l->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l->root < 0)
        return err_errno(err, errno, "%s", l->folder);
    return folder ? read_folder(l, err) : read_list(l, path, err);
}

void file_list_close(struct file_list *l)
{
    if (l->root >= 0)
        close(l->root);
    free(l->paths);
    arena_release(&l->arena);
}
