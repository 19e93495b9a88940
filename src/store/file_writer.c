#include "store/file_writer.h"

#include "base/fs.h"
#include "base/thread.h"

#include <errno.h>
#include <stdio.h>

#define PAGES      256
#define PAGE_BYTES (8 << 20) /* of all that wait */

struct page {
    char name[FILE_WRITER_NAME];
    char *bytes;
    size_t n;
};

struct file_writer {
    int dirfd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came, went;
    struct page page[PAGES]; /* a ring */
    uint64_t given, written; /* so many ever; one that is being written still waits */
    size_t bytes;
    bool resting;   /* the thread has nothing to do */
    unsigned waits; /* others for it */
    bool ending, failed;
    struct err err;
};

static bool write_page(const struct file_writer *s, const struct page *p, struct err *err)
{
    auto_fd int fd = openat(s->dirfd, p->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0440);
    if (fd < 0)
        return err_errno(err, errno, "cannot make a file for a blob");
    return fs_write_all(fd, p->bytes, p->n, err);
}

static void *work(void *arg)
{
    struct file_writer *s = arg;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        s->resting = s->given == s->written;
        while (s->given == s->written && !s->ending)
            pthread_cond_wait(&s->came, &s->lock);
        s->resting = false;
        if (s->given == s->written)
            break;
        struct page *p = &s->page[s->written % PAGES];
        bool skip = s->failed;
        struct err err = {0};
        pthread_mutex_unlock(&s->lock);
        bool ok = skip || write_page(s, p, &err);
        free(p->bytes);
        pthread_mutex_lock(&s->lock);
        if (!ok) {
            s->failed = true;
            s->err = err;
        }
        s->bytes -= p->n;
        s->written++;
        if (s->waits && (s->given - s->written <= PAGES / 2 || !ok))
            pthread_cond_broadcast(&s->went);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

struct file_writer *file_writer_new(int dirfd)
{
    struct file_writer *s = base_zalloc(sizeof *s);
    s->dirfd = dirfd;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->came, NULL);
    pthread_cond_init(&s->went, NULL);
    s->thread = thread_start("file-writer", work, s);
    return s;
}

/* With the lock held. */
static bool told(const struct file_writer *s, struct err *err)
{
    if (s->failed)
        *err = s->err;
    return !s->failed;
}

/* Until about half of what may wait is written: a change of threads for every file costs as much as a file.
 * With the lock held. */
static void wait_for_it(struct file_writer *s)
{
    s->waits++;
    pthread_cond_wait(&s->went, &s->lock);
    s->waits--;
}

bool file_writer_write(struct file_writer *s, const char *name, struct str bytes, struct err *err)
{
    char *copy = base_alloc(bytes.n + 1);
    if (bytes.n)
        memcpy(copy, bytes.p, bytes.n);
    pthread_mutex_lock(&s->lock);
    while (s->given - s->written == PAGES || (s->given > s->written && s->bytes + bytes.n > PAGE_BYTES))
        wait_for_it(s);
    bool ok = told(s, err);
    if (ok) {
        struct page *p = &s->page[s->given++ % PAGES];
        snprintf(p->name, sizeof p->name, "%s", name);
        p->bytes = copy;
        p->n = bytes.n;
        s->bytes += bytes.n;
        if (s->resting)
            pthread_cond_signal(&s->came);
    } else {
        free(copy);
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

bool file_writer_wait(struct file_writer *s, struct err *err)
{
    pthread_mutex_lock(&s->lock);
    uint64_t all = s->given;
    while (s->written < all)
        wait_for_it(s);
    bool ok = told(s, err);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

void file_writer_free(struct file_writer *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_signal(&s->came);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->came);
    pthread_cond_destroy(&s->went);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
