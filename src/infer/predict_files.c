#include "infer/predict_files.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/thread.h"

#include <errno.h>
#include <sys/stat.h>

#define AHEAD 8 /* lines per thread that may wait for an earlier one */

/* A line that is made, at its number modulo the number of slots. */
struct slot {
    struct buf line;
    bool ready, failed;
};

struct batch {
    const struct predict_files *p;
    struct slot *slots;
    size_t n_slots;
    pthread_mutex_t lock;
    pthread_cond_t made, written; /* a line is ready; there is room for one */
    size_t next, first;           /* file to begin with; line to write */
    bool end;                     /* nothing more is wanted */
};

static bool read_file(const struct predict_files *p, const char *path, struct arena *a, struct str *ret,
                      struct err *err)
{
    struct stat st;
    auto_fd int fd = fs_open_beneath(p->files->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, err);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "file", "it is no file");
    if ((uint64_t)st.st_size > PREDICT_MAX_FILE)
        return err_set(err, ERR_TOO_LARGE, "file", "it has %lld bytes; at most %zu are taken",
                       (long long)st.st_size, PREDICT_MAX_FILE);
    size_t size = (size_t)st.st_size, n = 0;
    char *to = arena_alloc(a, size + 1);
    for (ssize_t got; n < size; n += (size_t)got)
        if ((got = read(fd, to + n, size - n)) <= 0)
            return err_errno(err, got ? errno : EIO, "it cannot be read");
    *ret = (struct str){to, size};
    return true;
}

static bool run_part(void *ctx, size_t part, const struct tensor *inputs, size_t n_inputs,
                     const char *const *names, struct tensor *ret, size_t n_names, struct arena *a,
                     struct err *err)
{
    return served_run(ctx, part, inputs, n_inputs, names, ret, n_names, a, NULL, err);
}

static bool make_line(const struct predict_files *p, const char *path, struct buf *line)
{
    auto_arena struct arena a;
    auto_buf struct buf found = {0};
    struct json_out o, j;
    struct err err = {0};
    struct task_times times = {0};
    struct task_input in = {0};
    arena_init(&a);
    json_begin(&j, &found);
    bool ok = read_file(p, path, &a, &in.bytes, &err);
    uint64_t began = clock_mono();
    ok = ok && task_predict(p->model->manifest, &p->options, &in, run_part, p->model, &a, &j, &times, &err);
    uint64_t took = clock_mono() - began;
    json_begin(&o, line);
    json_object(&o);
    json_kz(&o, "file", path);
    if (ok && times.width) {
        json_kint(&o, "width", times.width);
        json_kint(&o, "height", times.height);
    }
    if (ok) {
        json_kint(&o, "us", (int64_t)(took / 1000));
        json_key(&o, "annotation");
        json_raw(&o, buf_view(&found));
    } else {
        json_kz(&o, "error", err.message);
    }
    json_object_end(&o);
    buf_char(line, '\n');
    return ok;
}

/* The number of a file to begin with; false when there is none. */
static bool take(struct batch *b, size_t *ret)
{
    pthread_mutex_lock(&b->lock);
    while (!b->end && b->next < b->p->files->count && b->next >= b->first + b->n_slots)
        pthread_cond_wait(&b->written, &b->lock);
    bool some = !b->end && b->next < b->p->files->count;
    *ret = some ? b->next++ : 0;
    pthread_mutex_unlock(&b->lock);
    return some;
}

static void *work(void *arg)
{
    struct batch *b = arg;
    size_t i;
    while (take(b, &i)) {
        struct slot *s = &b->slots[i % b->n_slots];
        bool ok = make_line(b->p, b->p->files->paths[i], &s->line);
        pthread_mutex_lock(&b->lock);
        s->failed = !ok;
        s->ready = true;
        pthread_cond_signal(&b->made);
        pthread_mutex_unlock(&b->lock);
    }
    return NULL;
}

static bool write_head(const struct predict_files *p, struct err *err)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    const struct model_manifest *m = p->model->manifest;
    json_begin(&o, &b);
    json_object(&o);
    json_kint(&o, "ingot", 1);
    json_kz(&o, "type", model_task_name(m->task));
    json_key(&o, "labels");
    json_array(&o);
    for (size_t i = 0; i < m->n_labels; i++) {
        json_object(&o);
        json_kstr(&o, "name", m->labels[i]);
        json_object_end(&o);
    }
    json_array_end(&o);
    json_kint(&o, "threads", p->threads);
    json_kz(&o, "processor", p->processor);
    json_object_end(&o);
    buf_char(&b, '\n');
    return fs_write_all(p->out, b.p, b.n, err);
}

/* The next lines that are ready, in order; waits for the first of them, a second at most. Returns how many.
 */
static size_t gather(struct batch *b, struct buf *out, size_t *failed)
{
    size_t n = 0;
    pthread_mutex_lock(&b->lock);
    if (!b->slots[b->first % b->n_slots].ready)
        thread_wait(&b->made, &b->lock, thread_in(1));
    for (struct slot *s; n < b->n_slots && (s = &b->slots[b->first % b->n_slots])->ready; n++) {
        buf_add(out, s->line.p, s->line.n);
        buf_release(&s->line);
        *failed += s->failed;
        *s = (struct slot){.ready = false};
        b->first++;
    }
    if (n)
        pthread_cond_broadcast(&b->written);
    pthread_mutex_unlock(&b->lock);
    return n;
}

static void tell(const struct predict_files *p, size_t done, size_t failed)
{
    if (p->progress)
        p->progress(p->ctx, done, failed, p->files->count);
}

static bool write_all(struct batch *b, size_t *failed, struct err *err)
{
    uint64_t told = clock_mono();
    auto_buf struct buf out = {0};
    size_t total = b->p->files->count, done = 0;
    bool ok = true;
    while (ok && done < total) {
        buf_clear(&out);
        done += gather(b, &out, failed);
        ok = fs_write_all(b->p->out, out.p, out.n, err);
        if (clock_mono() - told > 1000000000u) {
            told = clock_mono();
            tell(b->p, done, *failed);
        }
    }
    if (ok)
        tell(b->p, done, *failed);
    return ok;
}

bool predict_files(const struct predict_files *p, size_t *ret_failed, struct err *err)
{
    struct batch b = {.p = p, .n_slots = (size_t)p->threads * AHEAD};
    auto_arena struct arena a;
    arena_init(&a);
    *ret_failed = 0;
    if (!write_head(p, err))
        return false;
    b.slots = arena_array(&a, struct slot, b.n_slots);
    pthread_mutex_init(&b.lock, NULL);
    thread_cond_init(&b.made);
    pthread_cond_init(&b.written, NULL);
    pthread_t *threads = arena_array(&a, pthread_t, p->threads);
    for (unsigned i = 0; i < p->threads; i++)
        threads[i] = thread_start("predict", work, &b);
    bool ok = write_all(&b, ret_failed, err);
    pthread_mutex_lock(&b.lock);
    b.end = true;
    pthread_cond_broadcast(&b.written);
    pthread_mutex_unlock(&b.lock);
    for (unsigned i = 0; i < p->threads; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < b.n_slots; i++)
        buf_release(&b.slots[i].line);
    pthread_cond_destroy(&b.made);
    pthread_cond_destroy(&b.written);
    pthread_mutex_destroy(&b.lock);
    return ok;
}
