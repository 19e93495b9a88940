#include "base/logbook.h"

#include "base/fs.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FILE_BYTES (1 << 20)
#define FILES_MAX  16
#define NAME_MAX_N 24

static struct {
    pthread_mutex_t lock;
    char *path;
    int dir, file;
    int64_t start, end; /* places: of the file that is written to, and of the next line */
} book = {PTHREAD_MUTEX_INITIALIZER, NULL, -1, -1, 0, 0};

/* Files are called by the place of their first byte. */
struct files {
    int64_t start[FILES_MAX * 4];
    size_t n;
};

static void file_name(int64_t start, char ret[NAME_MAX_N])
{
    snprintf(ret, NAME_MAX_N, "%016llx", (unsigned long long)start);
}

static int by_place(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool list_files(struct files *ret, struct err *err)
{
    DIR *d = opendir(book.path);
    if (!d)
        return err_errno(err, errno, "cannot read %s", book.path);
    ret->n = 0;
    for (struct dirent *e; ret->n < countof(ret->start) && (e = readdir(d));) {
        char *end;
        unsigned long long start = strtoull(e->d_name, &end, 16);
        if (strlen(e->d_name) == 16 && *end == 0 && start < INT64_MAX)
            ret->start[ret->n++] = (int64_t)start;
    }
    closedir(d);
    qsort(ret->start, ret->n, sizeof *ret->start, by_place);
    return true;
}

/* --- writing --- */

static bool open_file(int64_t start, struct err *err)
{
    char name[NAME_MAX_N];
    struct stat st;
    file_name(start, name);
    int fd = openat(book.dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_errno(err, errno, "cannot write %s/%s", book.path, name);
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (book.file >= 0)
        close(book.file);
    book.file = fd;
    book.start = start;
    book.end = start + st.st_size;
    return true;
}

static void drop_old(void)
{
    struct files files;
    char name[NAME_MAX_N];
    struct err ignored = {0};
    if (!list_files(&files, &ignored))
        return;
    for (size_t i = 0; i + FILES_MAX < files.n; i++) {
        file_name(files.start[i], name);
        unlinkat(book.dir, name, 0);
    }
}

/* A line that cannot be kept is still on standard error. */
static void keep(const char *line, size_t n)
{
    struct err ignored = {0};
    pthread_mutex_lock(&book.lock);
    if (book.file >= 0 && book.end - book.start >= FILE_BYTES && open_file(book.end, &ignored))
        drop_old();
    ssize_t done = book.file >= 0 ? write(book.file, line, n) : -1;
    if (done > 0)
        book.end += done;
    pthread_mutex_unlock(&book.lock);
}

bool logbook_open(const char *dir, struct err *err)
{
    struct files files;
    if (!fs_mkdirs(dir, 0700, err))
        return false;
    book.path = base_strdup(dir);
    book.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (book.dir < 0)
        err_errno(err, errno, "cannot open %s", dir);
    if (book.dir < 0 || !list_files(&files, err) || !open_file(files.n ? files.start[files.n - 1] : 0, err)) {
        logbook_close();
        return false;
    }
    log_also(keep);
    return true;
}

void logbook_close(void)
{
    log_also(NULL);
    pthread_mutex_lock(&book.lock);
    int *const fds[] = {&book.file, &book.dir};
    for (size_t i = 0; i < countof(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    free(book.path);
    book.path = NULL;
    pthread_mutex_unlock(&book.lock);
}

/* --- reading --- */

struct found {
    struct logbook_line *line;
    size_t n, cap;
};

/* "time level thread text"; a line that was cut off when the disk was full has not all of them. */
static bool parse(struct str line, struct logbook_line *ret)
{
    struct str rest;
    *ret = (struct logbook_line){.at = str_cut(line, ' ', &rest)};
    ret->level = str_cut(rest, ' ', &rest);
    while (rest.n && rest.p[0] == ' ')
        rest = (struct str){rest.p + 1, rest.n - 1};
    ret->thread = str_cut(rest, ' ', &rest);
    ret->text = rest;
    return rest.p != NULL;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool contains(struct str text, struct str q)
{
    for (size_t at = 0; at + q.n <= text.n; at++) {
        size_t i = 0;
        while (i < q.n && lower(text.p[at + i]) == lower(q.p[i]))
            i++;
        if (i == q.n)
            return true;
    }
    return false;
}

static bool wanted(const struct logbook_query *q, struct arena *a, const struct logbook_line *l)
{
    enum log_level level;
    return log_level_from(arena_strz(a, l->level), &level) && level >= q->level &&
           (!q->q.n || contains(l->text, q->q));
}

static void add(struct arena *a, struct found *f, const struct logbook_line *l, struct str line)
{
    if (f->n == f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 64;
        f->line = arena_grow(a, f->line, f->cap * sizeof *f->line, cap * sizeof *f->line);
        f->cap = cap;
    }
    struct logbook_line *kept = &f->line[f->n++];
    parse(arena_str(a, line), kept);
    kept->place = l->place;
}

/* The lines of one file between two places; returns the place after the last that was looked at. */
static bool scan(struct arena *a, const struct logbook_query *q, int64_t start, int64_t from, int64_t to,
                 size_t limit, struct found *ret, int64_t *ret_next, struct err *err)
{
    auto_arena struct arena own;
    arena_init(&own);
    char name[NAME_MAX_N];
    struct str text;
    file_name(start, name);
    if (!fs_read(&own, arena_printf(&own, "%s/%s", book.path, name), 2 * FILE_BYTES, &text, err))
        return err->code == ERR_NOT_FOUND; /* dropped just now */
    size_t at = from > start ? (size_t)(from - start) : 0;
    for (const char *end; at < text.n && start + (int64_t)at < to && ret->n < limit &&
                          (end = memchr(text.p + at, '\n', text.n - at));) {
        struct str line = {text.p + at, (size_t)(end - (text.p + at))};
        struct logbook_line l;
        if (parse(line, &l) && wanted(q, &own, &l)) {
            l.place = start + (int64_t)at;
            add(a, ret, &l, line);
        }
        at += line.n + 1;
    }
    *ret_next = start + (int64_t)at;
    return true;
}

static bool read_on(struct arena *a, const struct logbook_query *q, const struct files *files,
                    struct logbook_page *ret, struct err *err)
{
    struct found f = {0};
    ret->next = q->after > ret->first ? q->after : ret->first;
    for (size_t i = 0; i < files->n && f.n < q->limit; i++) {
        bool over = i + 1 < files->n && files->start[i + 1] <= q->after;
        if (!over && !scan(a, q, files->start[i], q->after, INT64_MAX, q->limit, &f, &ret->next, err))
            return false;
    }
    ret->line = f.line;
    ret->n = f.n;
    return true;
}

static bool read_newest(struct arena *a, const struct logbook_query *q, const struct files *files,
                        struct logbook_page *ret, struct err *err)
{
    int64_t to = q->before >= 0 ? q->before : INT64_MAX, next;
    struct found all = {0};
    next = ret->next;
    for (size_t i = files->n; i-- > 0 && all.n < q->limit;) {
        struct found f = {0};
        if (files->start[i] >= to)
            continue;
        if (!scan(a, q, files->start[i], 0, to, SIZE_MAX, &f, &next, err))
            return false;
        ret->next = next > ret->next ? next : ret->next;
        if (!f.n)
            continue;
        f.line = arena_grow(a, f.line, f.n * sizeof *f.line, (f.n + all.n) * sizeof *f.line);
        if (all.n)
            memcpy(f.line + f.n, all.line, all.n * sizeof *f.line);
        all = (struct found){f.line, f.n + all.n, f.n + all.n};
    }
    size_t skip = all.n > q->limit ? all.n - q->limit : 0;
    ret->line = all.n ? all.line + skip : NULL;
    ret->n = all.n - skip;
    return true;
}

bool logbook_read(struct arena *a, const struct logbook_query *q, struct logbook_page *ret, struct err *err)
{
    struct files files;
    struct logbook_page page = {0};
    if (!book.path)
        return err_set(err, ERR_UNAVAILABLE, NULL, "the log is not kept");
    if (!list_files(&files, err))
        return false;
    page.first = page.next = files.n ? files.start[0] : 0;
    if (!(q->after >= 0 ? read_on : read_newest)(a, q, &files, &page, err))
        return false;
    *ret = page;
    return true;
}
