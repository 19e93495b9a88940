#include "core/serve/request_log.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metric.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FILE_BYTES   (16 << 20)
#define FILES        8
#define WAITING_MAX  (8 << 20) /* bytes of each shard */
#define PATH_SHOWN   200
#define METHOD_SHOWN 12

struct request_log {
    char *dir;
    pthread_mutex_t file_lock;
    int fd;
    int64_t size;
    struct waiting {
        pthread_mutex_t lock;
        struct buf lines;
        uint64_t dropped;
    } shard[METRIC_SHARDS];
};

/* 0 is the newest. */
static void file_name(const struct request_log *l, int number, char *ret, size_t n)
{
    snprintf(ret, n, "%s/requests.%d", l->dir, number);
}

static bool open_newest(struct request_log *l, struct err *err)
{
    char name[4096];
    struct stat st;
    file_name(l, 0, name, sizeof name);
    l->fd = open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (l->fd < 0 || fstat(l->fd, &st) != 0)
        return err_errno(err, errno, "%s", name);
    l->size = st.st_size;
    return true;
}

static bool rotate(struct request_log *l, struct err *err)
{
    char from[4096], to[4096];
    close(l->fd);
    l->fd = -1;
    for (int i = FILES - 1; i > 0; i--) {
        file_name(l, i - 1, from, sizeof from);
        file_name(l, i, to, sizeof to);
        if (rename(from, to) != 0 && errno != ENOENT)
            return err_errno(err, errno, "%s", to);
    }
    return open_newest(l, err);
}

struct request_log *request_log_open(const char *data, struct err *err)
{
    struct request_log *l = base_zalloc(sizeof *l);
    size_t n = strlen(data) + 16;
    l->dir = base_alloc(n);
    snprintf(l->dir, n, "%s/log/services", data);
    l->fd = -1;
    pthread_mutex_init(&l->file_lock, NULL);
    for (size_t i = 0; i < METRIC_SHARDS; i++)
        pthread_mutex_init(&l->shard[i].lock, NULL);
    if (fs_mkdirs(l->dir, 0700, err) && open_newest(l, err))
        return l;
    request_log_close(l);
    return NULL;
}

void request_log_close(struct request_log *l)
{
    struct err err = {0};
    if (!l)
        return;
    if (l->fd >= 0 && !request_log_flush(l, &err))
        log_warn("the requests of services: %s", err.message);
    if (l->fd >= 0)
        close(l->fd);
    for (size_t i = 0; i < METRIC_SHARDS; i++)
        buf_release(&l->shard[i].lines);
    free(l->dir);
    free(l);
}

/* --- writing --- */

void request_log_add(struct request_log *l, const struct request_line *line)
{
    char at[CLOCK_TEXT_MAX], text[768];
    int n = snprintf(text, sizeof text,
                     "%s %s %" PRId64 " %" PRId64 " %" PRId64 " %s %" PRId64 " %" PRId64 " %d %" PRIu64
                     " %" PRIu64 " %u %.*s %.*s\n",
                     clock_format(clock_now(), at), line->id, line->service, line->version, line->generation,
                     line->replica ? line->replica : "-", line->key, line->user, line->status, line->sent,
                     line->took_us, line->attempts,
                     (int)(line->method.n < METHOD_SHOWN ? line->method.n : METHOD_SHOWN), line->method.p,
                     (int)(line->path.n < PATH_SHOWN ? line->path.n : PATH_SHOWN), line->path.p);
    struct waiting *w = &l->shard[metric_shard()];
    pthread_mutex_lock(&w->lock);
    if (w->lines.n + (size_t)n > WAITING_MAX)
        w->dropped++;
    else
        buf_add(&w->lines, text, (size_t)n);
    pthread_mutex_unlock(&w->lock);
}

static bool write_all(struct request_log *l, struct str s, struct err *err)
{
    while (s.n) {
        ssize_t n = write(l->fd, s.p, s.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "%s/requests.0", l->dir);
        s.p += n;
        s.n -= (size_t)n;
        l->size += n;
    }
    return true;
}

static bool flush_shard(struct request_log *l, struct waiting *w, struct err *err)
{
    auto_buf struct buf lines = {0};
    pthread_mutex_lock(&w->lock);
    lines = w->lines;
    buf_init(&w->lines);
    uint64_t dropped = w->dropped;
    w->dropped = 0;
    pthread_mutex_unlock(&w->lock);
    if (dropped)
        log_warn("%llu requests of services are missing from their log: they came too fast",
                 (unsigned long long)dropped);
    return !lines.n || write_all(l, buf_view(&lines), err);
}

bool request_log_flush(struct request_log *l, struct err *err)
{
    bool ok = true;
    pthread_mutex_lock(&l->file_lock);
    if (l->fd < 0)
        ok = open_newest(l, err);
    else if (l->size > FILE_BYTES)
        ok = rotate(l, err);
    for (size_t i = 0; ok && i < METRIC_SHARDS; i++)
        ok = flush_shard(l, &l->shard[i], err);
    pthread_mutex_unlock(&l->file_lock);
    return ok;
}

/* --- reading --- */

struct search {
    struct str id;
    char service[24];
    int64_t left;
    struct json_out out;
};

static void show_number(struct search *s, const char *name, struct str text)
{
    int64_t n = 0;
    str_to_i64(text, &n);
    json_kint(&s->out, name, n);
}

static struct str word(struct str *rest)
{
    return str_cut(*rest, ' ', rest);
}

static void show(struct search *s, struct str line)
{
    static const char *const numbers[] = {"key", "user", "status", "bytes", "took_us", "attempts"};
    json_object(&s->out);
    json_kstr(&s->out, "at", word(&line));
    json_kstr(&s->out, "request", word(&line));
    show_number(s, "service", word(&line));
    show_number(s, "version", word(&line));
    show_number(s, "generation", word(&line));
    struct str replica = word(&line);
    json_kstr(&s->out, "replica", str_is(replica, "-") ? STR_NULL : replica);
    for (size_t i = 0; i < countof(numbers); i++)
        show_number(s, numbers[i], word(&line));
    json_kstr(&s->out, "method", word(&line));
    json_kstr(&s->out, "path", utf8_valid(line) ? line : STR("?"));
    json_object_end(&s->out);
}

static bool fits(const struct search *s, struct str line)
{
    struct str rest;
    str_cut(line, ' ', &rest);
    struct str id = word(&rest);
    return (s->id.n == 0 || str_eq(id, s->id)) && (!s->service[0] || str_is(word(&rest), s->service));
}

/* From the end on: the newest first. */
static void search_text(struct search *s, struct str text)
{
    while (text.n && s->left > 0) {
        size_t end = text.n - (text.p[text.n - 1] == '\n');
        const char *before = memrchr(text.p, '\n', end);
        struct str line = {before ? before + 1 : text.p, 0};
        line.n = (size_t)(text.p + end - line.p);
        if (fits(s, line)) {
            show(s, line);
            s->left--;
        }
        text.n = (size_t)(line.p - text.p);
    }
}

static void search_file(struct search *s, const char *name)
{
    struct stat st;
    auto_fd int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0)
        return;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return;
    struct str text = {p, (size_t)st.st_size};
    if (s->id.n == 0 || str_find(text, s->id) >= 0)
        search_text(s, text);
    munmap(p, (size_t)st.st_size);
}

bool request_log_find(struct request_log *l, int64_t service, struct str id, int64_t limit, struct buf *out,
                      struct err *err)
{
    struct search s = {.id = id, .left = limit};
    if (!request_log_flush(l, err))
        return false;
    if (service)
        snprintf(s.service, sizeof s.service, "%" PRId64, service);
    json_begin(&s.out, out);
    json_object(&s.out);
    json_key(&s.out, "items");
    json_array(&s.out);
    pthread_mutex_lock(&l->file_lock);
    for (int i = 0; i < FILES && s.left > 0; i++) {
        char name[4096];
        file_name(l, i, name, sizeof name);
        search_file(&s, name);
    }
    pthread_mutex_unlock(&l->file_lock);
    json_array_end(&s.out);
    json_object_end(&s.out);
    return true;
}
