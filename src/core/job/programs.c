#include "core/job/programs.h"

#include "base/fs.h"
#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION   2
#define PREFIX    "programs-"
#define LIST_MAX  (64 << 10)
#define PROGRAM   "/proc/self/exe"
#define AT_INSIDE EXEC_PROGRAMS
#define INFER     "ingot-infer"
#define RUNTIME   "libonnxruntime.so" /* which it loads from its own folder */

extern const unsigned char sdk_archive[], sdk_archive_end[]; /* cmake/sdk.cmake */

/* By this machine's own loader. */
#define START_TEXT(program)                                                                                  \
    "#!/bin/sh\nexec " AT_INSIDE "/lib/ld.so --library-path " AT_INSIDE "/lib --argv0 " program              \
    " " AT_INSIDE "/lib/" program " \"$@\"\n"

static bool copy_file(int from, off_t size, int to, const char *name, struct err *err)
{
    auto_fd int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    off_t at = 0;
    while (out >= 0 && at < size && sendfile(out, from, &at, (size_t)(size - at)) > 0) {
    }
    if (out < 0 || at != size || fchmod(out, 0755) != 0 || fsync(out) != 0)
        return err_errno(err, errno, "cannot copy %s", name);
    return true;
}

/* As a second name of the same file where that works and everybody may read it; else a copy. */
static bool bring(const char *path, int to, const char *name, struct err *err)
{
    struct stat st;
    auto_fd int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0 || fstat(from, &st) != 0)
        return err_errno(err, errno, "cannot open %s", path);
    if (faccessat(to, name, F_OK, 0) == 0)
        return true; /* a library that two programs need */
    if ((st.st_mode & 0004) && linkat(AT_FDCWD, path, to, name, AT_SYMLINK_FOLLOW) == 0)
        return true;
    return copy_file(from, st.st_size, to, name, err);
}

static bool write_file(int to, const char *name, struct str content, mode_t mode, struct err *err)
{
    auto_fd int fd = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return err_errno(err, errno, "cannot make %s", name);
    if (!fs_write_all(fd, content.p, content.n, err))
        return false;
    return (fchmod(fd, mode) == 0 && fsync(fd) == 0) || err_errno(err, errno, "cannot keep %s", name);
}

/* "	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x...)", or the loader without an arrow. */
static bool bring_library(struct arena *a, struct str line, int to, struct err *err)
{
    struct str rest = str_trim(line), path = rest;
    ptrdiff_t arrow = str_find(rest, STR("=> "));
    if (arrow >= 0)
        path = (struct str){rest.p + arrow + 3, rest.n - (size_t)arrow - 3};
    path = str_cut(path, ' ', &rest);
    if (path.n == 0 || path.p[0] != '/')
        return true; /* the kernel's own */
    const char *file = arena_strz(a, path), *name = strrchr(file, '/') + 1;
    return bring(file, to, str_starts(str_of(name), "ld-linux") ? "ld.so" : name, err);
}

/* The loader itself tells what it would load: of the program, and of the library that is loaded late. */
static bool bring_libraries(struct arena *a, const char *program, const char *late, int to, struct err *err)
{
    char *argv[] = {"env", "LD_TRACE_LOADED_OBJECTS=1", arena_printf(a, "LD_PRELOAD=%s", late),
                    arena_strdup(a, program), NULL};
    int status;
    struct str list;
    if (!proc_run(a, argv, LIST_MAX, &status, &list, err))
        return false;
    if (status != 0)
        return err_set(err, ERR_INTERNAL, NULL, "the program's libraries are not known: %.200s",
                       arena_strz(a, list));
    while (list.n)
        if (!bring_library(a, str_cut(list, '\n', &list), to, err))
            return false;
    return true;
}

static int make_folder(int at, const char *name, struct err *err)
{
    int fd = mkdirat(at, name, 0755) == 0 ? openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0 || fchmod(fd, 0755) != 0)
        err_errno(err, errno, "cannot make the folder %s", name);
    return fd;
}

/* --- the program that serves models --- */

/* Where the platform's own program is; NULL: not known. */
static const char *own_folder(struct arena *a)
{
    char path[4096];
    ssize_t n = readlink(PROGRAM, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = 0;
    return arena_strdup(a, path);
}

/* NULL: it was not installed beside it. */
static const char *infer_path(struct arena *a)
{
    const char *folder = own_folder(a), *path = arena_printf(a, "%s/" INFER, folder ? folder : "");
    return folder && access(path, X_OK) == 0 ? path : NULL;
}

static const char *find_runtime(struct arena *a)
{
    static const char *const places[] = {"lib", "../lib", "."};
    const char *folder = own_folder(a), *found = NULL;
    for (size_t i = 0; folder && !found && i < countof(places); i++) {
        const char *place = arena_printf(a, "%s/%s", folder, places[i]);
        DIR *d = opendir(place);
        for (struct dirent *e; d && !found && (e = readdir(d));)
            if (strncmp(e->d_name, RUNTIME, sizeof RUNTIME - 1) == 0)
                found = arena_printf(a, "%s/%s", place, e->d_name);
        if (d)
            closedir(d);
    }
    return found;
}

static bool bring_infer(struct arena *a, int bin, int lib, struct err *err)
{
    const char *path = infer_path(a), *runtime = find_runtime(a);
    if (!path || !runtime)
        return true;
    return write_file(bin, INFER, STR(START_TEXT(INFER)), 0755, err) && bring(path, lib, INFER, err) &&
           bring(runtime, lib, strrchr(runtime, '/') + 1, err) && bring_libraries(a, path, runtime, lib, err);
}

/* --- the folder --- */

static bool fill(struct arena *a, int to, struct err *err)
{
    const char *self = arena_printf(a, "/proc/%d/exe", (int)getpid());
    auto_fd int bin = make_folder(to, "bin", err);
    auto_fd int lib = bin < 0 ? -1 : make_folder(to, "lib", err);
    auto_fd int python = lib < 0 ? -1 : make_folder(to, "python", err);
    /* cppcheck-suppress comparePointers */
    struct str sdk = {(const char *)sdk_archive, (size_t)(sdk_archive_end - sdk_archive)};
    return python >= 0 && write_file(bin, "ingot", STR(START_TEXT("ingot")), 0755, err) &&
           bring(PROGRAM, lib, "ingot", err) &&
           bring_libraries(a, self, "libcurl.so.4" /* of the client: cmake/lazy.cmake */, lib, err) &&
           bring_infer(a, bin, lib, err) && write_file(python, "ingot.zip", sdk, 0644, err);
}

static bool something_runs(struct exec *x, struct arena *a)
{
    struct exec_status *list;
    size_t n;
    struct err ignored = {0};
    if (!x->ops->list(x, a, &list, &n, &ignored))
        return true;
    for (size_t i = 0; i < n; i++)
        if (list[i].state != EXEC_EXITED)
            return true;
    return false;
}

/* Of former versions of the program; containers that run may have them mounted. */
static void drop_others(struct exec *x, struct arena *a, const char *cache, int cache_fd, const char *name)
{
    DIR *d = something_runs(x, a) ? NULL : opendir(cache);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) == 0 && strcmp(e->d_name, name) != 0)
            fs_remove_tree(cache_fd, e->d_name, NULL);
    if (d)
        closedir(d);
}

static bool make(struct exec *x, struct arena *a, const char *cache, const char *name, struct err *err)
{
    if (!fs_mkdirs(cache, 0700, err))
        return false;
    auto_fd int at = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return err_errno(err, errno, "%s", cache);
    drop_others(x, a, cache, at, name);
    if (!fs_remove_tree(at, PREFIX "new", err))
        return false;
    auto_fd int to = make_folder(at, PREFIX "new", err);
    if (to < 0 || !fill(a, to, err))
        return false;
    return renameat(at, PREFIX "new", at, name) == 0 || err_errno(err, errno, "cannot keep %s", name);
}

const char *programs_folder(struct core *core, struct exec *x, struct arena *a, struct err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct stat st;
    if (stat(PROGRAM, &st) != 0) {
        err_errno(err, errno, "cannot look at the program");
        return NULL;
    }
    struct stat infer = {0};
    const char *other = infer_path(a);
    if (other && stat(other, &infer) != 0)
        infer = (struct stat){0};
    const char *name =
        arena_printf(a, PREFIX "%d-%llx-%llx-%llx-%llx-%llx", VERSION, (unsigned long long)st.st_ino,
                     (unsigned long long)st.st_size, (unsigned long long)st.st_mtim.tv_sec,
                     (unsigned long long)infer.st_ino, (unsigned long long)infer.st_mtim.tv_sec);
    const char *cache = arena_printf(a, "%s/cache", core->data),
               *path = arena_printf(a, "%s/%s", cache, name);
    pthread_mutex_lock(&lock);
    bool ok = access(path, F_OK) == 0 || make(x, a, cache, name, err);
    pthread_mutex_unlock(&lock);
    return ok ? path : NULL;
}
