#include "exec/local/logs.h"

#include "base/clock.h"
#include "exec/local/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define SEGMENTS_MAX 64

struct segment {
    int64_t offset, line;
    char name[LOGS_NAME_MAX];
};

struct segments {
    int dir;
    bool closed;
    size_t n;
    struct segment list[SEGMENTS_MAX]; /* oldest first */
    int64_t end;
};

static int by_offset(const void *a, const void *b)
{
    const struct segment *p = a, *q = b;
    return p->offset < q->offset ? -1 : p->offset > q->offset;
}

static void scan(struct segments *s)
{
    int fd = dup(s->dir);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    s->n = 0;
    s->end = 0;
    if (d)
        rewinddir(d);
    for (struct dirent *e; d && s->n < SEGMENTS_MAX && (e = readdir(d));) {
        unsigned long long offset, line;
        struct segment *g = &s->list[s->n];
        if (sscanf(e->d_name, "%16llx-%16llx", &offset, &line) != 2)
            continue;
        *g = (struct segment){.offset = (int64_t)offset, .line = (int64_t)line};
        snprintf(g->name, sizeof g->name, "%.39s", e->d_name);
        s->n++;
    }
    if (d)
        closedir(d);
    qsort(s->list, s->n, sizeof s->list[0], by_offset);
    struct stat st;
    if (s->n > 0 && fstatat(s->dir, s->list[s->n - 1].name, &st, 0) == 0)
        s->end = s->list[s->n - 1].offset + st.st_size;
}

/* dir is -1 while there is no log yet; true even so. */
static bool open_log(struct exec *x, struct exec_id id, struct segments *s, struct err *err)
{
    struct local *l = local_of(x);
    char name[EXEC_ID_MAX], path[96];
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    s->closed = c && c->status.state == EXEC_EXITED;
    pthread_mutex_unlock(&l->lock);
    exec_id_format(id, name);
    if (!c)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no container %s", name);
    snprintf(path, sizeof path, "%s/log", name);
    s->dir = openat(l->dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir < 0 && errno != ENOENT)
        return err_errno(err, errno, "cannot open the log of container %s", name);
    s->n = 0;
    s->end = 0;
    if (s->dir >= 0)
        scan(s);
    return true;
}

static void close_log(struct segments *s)
{
    base_close_fd(&s->dir);
}
#define auto_log __attribute__((cleanup(close_log)))

static const struct segment *holding(const struct segments *s, int64_t offset)
{
    const struct segment *g = &s->list[0];
    for (size_t i = 1; i < s->n && s->list[i].offset <= offset; i++)
        g = &s->list[i];
    return g;
}

/* Reads from *offset on. A segment that was dropped meanwhile: the list is made again. */
static bool read_at(struct segments *s, int64_t *offset, void *p, size_t n, size_t *ret_n, struct err *err)
{
    *ret_n = 0;
    for (int tries = 0; s->n > 0 && tries < 100; tries++) {
        if (*offset < s->list[0].offset)
            *offset = s->list[0].offset;
        if (*offset >= s->end)
            return true;
        const struct segment *g = holding(s, *offset);
        auto_fd int fd = openat(s->dir, g->name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 && errno != ENOENT)
            return err_errno(err, errno, "cannot open the log");
        ssize_t got = fd < 0 ? 0 : pread(fd, p, n, *offset - g->offset);
        if (got < 0)
            return err_errno(err, errno, "cannot read the log");
        if (got > 0) {
            *offset += got;
            *ret_n = (size_t)got;
            return true;
        }
        scan(s);
    }
    return true;
}

bool logs_read(struct exec *x, struct exec_id id, int64_t *offset, void *p, size_t n, size_t *ret_n,
               struct err *err)
{
    auto_log struct segments s = {.dir = -1};
    if (!open_log(x, id, &s, err))
        return false;
    if (*offset < 0)
        *offset = 0;
    return read_at(&s, offset, p, n, ret_n, err);
}

/* Moves *offset over `lines` lines; *ret_passed says how many there were. */
static bool skip(struct segments *s, int64_t *offset, int64_t lines, int64_t *ret_passed, struct err *err)
{
    auto_free char *chunk = base_alloc(65536);
    int64_t passed = 0;
    while (passed < lines) {
        size_t n;
        int64_t at = *offset;
        if (!read_at(s, &at, chunk, 65536, &n, err))
            return false;
        if (n == 0)
            break;
        int64_t start = at - (int64_t)n;
        *offset = at;
        for (char *p = chunk, *end; passed < lines && (end = memchr(p, '\n', (size_t)(chunk + n - p)));
             p = end + 1) {
            passed++;
            if (passed == lines)
                *offset = start + (end + 1 - chunk);
        }
    }
    *ret_passed = passed;
    return true;
}

/* The newest indexed line that is not after `line`. */
static void indexed(const struct segments *s, int64_t line, int64_t *ret_line, int64_t *ret_offset)
{
    struct stat st;
    auto_fd int fd = openat(s->dir, "index", O_RDONLY | O_CLOEXEC);
    *ret_line = s->list[0].line;
    *ret_offset = s->list[0].offset;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < 8)
        return;
    int64_t last = st.st_size / 8 - 1, wanted = line / LOGS_INDEX_EVERY, offset;
    if (wanted > last)
        wanted = last;
    if (pread(fd, &offset, sizeof offset, wanted * 8) != sizeof offset || offset < s->list[0].offset)
        return;
    *ret_line = wanted * LOGS_INDEX_EVERY;
    *ret_offset = offset;
}

bool logs_line(struct exec *x, struct exec_id id, int64_t line, int64_t *ret_offset, struct err *err)
{
    auto_log struct segments s = {.dir = -1};
    int64_t at_line = 0, offset = 0, passed;
    if (!open_log(x, id, &s, err))
        return false;
    if (s.n > 0)
        indexed(&s, line < 0 ? 0 : line, &at_line, &offset);
    if (line > at_line && !skip(&s, &offset, line - at_line, &passed, err))
        return false;
    *ret_offset = offset;
    return true;
}

bool logs_info(struct exec *x, struct exec_id id, struct exec_log *ret, struct err *err)
{
    auto_log struct segments s = {.dir = -1};
    if (!open_log(x, id, &s, err))
        return false;
    struct exec_log r = {.closed = s.closed};
    if (s.n > 0) {
        int64_t passed, offset;
        r.first = s.list[0].offset;
        r.first_line = s.list[0].line;
        r.end = s.end;
        indexed(&s, INT64_MAX, &r.end_line, &offset);
        if (!skip(&s, &offset, INT64_MAX, &passed, err))
            return false;
        r.end_line += passed;
        r.end = offset > r.end ? offset : r.end;
    }
    *ret = r;
    return true;
}

bool logs_wait(struct exec *x, struct exec_id id, int64_t offset, int64_t timeout_ms, struct err *err)
{
    struct local *l = local_of(x);
    char name[EXEC_ID_MAX], path[4200], events[4096];
    uint64_t until = clock_mono() + (uint64_t)timeout_ms * 1000000;
    auto_fd int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0)
        return err_errno(err, errno, "cannot watch a log");
    exec_id_format(id, name);
    for (;;) {
        snprintf(path, sizeof path, "%s/%s", l->dir, name);
        inotify_add_watch(fd, path, IN_MOVED_TO | IN_CREATE);
        snprintf(path, sizeof path, "%s/%s/log", l->dir, name);
        inotify_add_watch(fd, path, IN_MODIFY | IN_CREATE);
        auto_log struct segments s = {.dir = -1};
        if (!open_log(x, id, &s, err))
            return false;
        uint64_t now = clock_mono();
        if (s.closed || s.end > offset || now >= until)
            return true;
        int64_t left = (int64_t)((until - now) / 1000000) + 1;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, left > 1000 ? 1000 : (int)left);
        while (read(fd, events, sizeof events) > 0) {
        }
    }
}
