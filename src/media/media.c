#include "media/media.h"

#include "base/hash.h"
#include "base/messages.h"
#include "base/pool.h"
#include "media/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* The worker's program, embedded by cmake/media.cmake. */
extern const unsigned char media_program[];
extern const uint64_t media_program_size;

struct worker {
    pid_t pid;
    int sock;
    struct worker *next; /* in the list of idle ones */
};

#define WAITING_USER 128 /* jobs; each holds a file open */
#define WAITING_ALL  2048

/* What waits for a turn: a job, or a caller on its own thread. */
struct waiter {
    struct fair_item whose; /* a project of its own: the background tasks */
    bool granted;
};

struct media {
    struct media_options o;
    pthread_mutex_t lock;
    pthread_cond_t granted;
    struct fair *jobs; /* waiting; struct media_job, or struct waiter of project 0 */
    unsigned turns;    /* taken and not given back: at most one per worker */
    struct worker *idle;
    struct pool *threads; /* run jobs; one per turn at most */
    int program;          /* memfd */
};

struct media *media_new(const struct media_options *o)
{
    struct media *m = base_zalloc(sizeof *m);
    m->o = *o;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!m->o.workers)
        m->o.workers = cores > 0 ? (unsigned)cores : 1;
    if (!m->o.timeout_s)
        m->o.timeout_s = 120;
    if (!m->o.max_memory)
        m->o.max_memory = UINT64_C(2) << 30;
    if (!m->o.max_pixels)
        m->o.max_pixels = 512000000;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->granted, NULL);
    m->jobs = fair_new(WAITING_USER, WAITING_ALL);
    m->threads = pool_new("media", m->o.workers, m->o.workers);
    m->program = -1;
    return m;
}

static void worker_end(struct worker *w)
{
    close(w->sock);
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    free(w);
}

void media_free(struct media *m)
{
    if (!m)
        return;
    pool_free(m->threads);
    fair_free(m->jobs);
    while (m->idle) {
        struct worker *w = m->idle;
        m->idle = w->next;
        worker_end(w);
    }
    base_close_fd(&m->program);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->granted);
    free(m);
}

/* Under the lock. */
static bool load_program(struct media *m, struct err *err)
{
    if (m->program >= 0)
        return true;
    int fd = memfd_create("ingot-media", MFD_CLOEXEC);
    const char *p = (const char *)media_program;
    size_t n = (size_t)media_program_size;
    if (fd < 0)
        return err_errno(err, errno, "cannot make room for the media worker's program");
    while (n > 0) {
        ssize_t w = write(fd, p, n);
        if (w < 0) {
            err_errno(err, errno, "cannot copy the media worker's program");
            close(fd);
            return false;
        }
        p += w;
        n -= (size_t)w;
    }
    m->program = fd;
    return true;
}

/* Between fork and exec: only what is safe there. The socket becomes descriptor 3, everything above goes. */
static void become_worker(int program, int sock, char *const argv[])
{
    static char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "VIPS_CONCURRENCY=1", NULL};
    int exe = fcntl(program, F_DUPFD_CLOEXEC, 10);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (exe < 0 || dup2(sock, 3) < 0)
        _exit(127);
    fexecve(exe, argv, env);
    _exit(127);
}

static struct worker *worker_start(struct media *m, struct err *err)
{
    int pair[2];
    char memory[32], pixels[32];
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)m->o.max_memory);
    snprintf(pixels, sizeof pixels, "%llu", (unsigned long long)m->o.max_pixels);
    char *argv[] = {"ingot-media", memory, pixels, NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        err_errno(err, errno, "cannot make a socket for a media worker");
        return NULL;
    }
    pid_t pid = fork();
    if (pid == 0)
        become_worker(m->program, pair[1], argv);
    close(pair[1]);
    if (pid < 0) {
        err_errno(err, errno, "cannot start a media worker");
        close(pair[0]);
        return NULL;
    }
    struct worker *w = base_zalloc(sizeof *w);
    *w = (struct worker){pid, pair[0], NULL};
    return w;
}

/* --- turns --- */

static void run_job(void *arg);

/* Gives the free turns away. Under the lock. */
static void grant(struct media *m)
{
    struct fair_item *i;
    while (m->turns < m->o.workers && (i = fair_take(m->jobs))) {
        m->turns++;
        if (i->project) {
            struct media_job *j = container_of(i, struct media_job, whose);
            j->state = MEDIA_RUNS;
            pool_submit(m->threads, run_job, j); /* is never full: a thread and a place for every turn */
        } else {
            container_of(i, struct waiter, whose)->granted = true;
            pthread_cond_broadcast(&m->granted);
        }
    }
}

/* For a caller that waits. */
static bool turn_take(struct media *m, struct err *err)
{
    struct waiter w = {0};
    pthread_mutex_lock(&m->lock);
    bool ok = fair_add(m->jobs, &w.whose);
    if (ok)
        grant(m);
    while (ok && !w.granted)
        pthread_cond_wait(&m->granted, &m->lock);
    pthread_mutex_unlock(&m->lock);
    return ok || err_set(err, ERR_UNAVAILABLE, NULL, "too many pictures wait to be decoded");
}

static void turn_give(struct media *m)
{
    pthread_mutex_lock(&m->lock);
    m->turns--;
    grant(m);
    pthread_mutex_unlock(&m->lock);
}

/* An idle worker, or a new one: the caller has a turn. */
static struct worker *worker_take(struct media *m, bool *ret_used, struct err *err)
{
    pthread_mutex_lock(&m->lock);
    struct worker *w = m->idle;
    *ret_used = w != NULL;
    if (w)
        m->idle = w->next;
    bool start = !w && load_program(m, err);
    pthread_mutex_unlock(&m->lock);
    return start ? worker_start(m, err) : w;
}

static void worker_give(struct media *m, struct worker *w, bool healthy)
{
    if (!healthy) {
        worker_end(w);
        return;
    }
    pthread_mutex_lock(&m->lock);
    w->next = m->idle;
    m->idle = w;
    pthread_mutex_unlock(&m->lock);
}

/* One exchange: text and input go out, answers come back until one without "more". */
struct ask {
    struct media *m;
    struct str text;
    int fd;
    struct arena *arena;
    struct buf *data; /* of the last answer */
    yyjson_val *answer;
    bool (*each)(void *ctx, yyjson_val *answer, struct str data, struct err *err); /* answers with "more" */
    void *ctx;
    bool stopped;          /* by each */
    struct media_job *job; /* may be cancelled meanwhile; NULL: none */
};

enum outcome { ASK_DONE, ASK_FAILED, ASK_BROKEN };

static enum outcome read_answer(struct ask *q, struct str text, struct err *err)
{
    q->answer = json_parse(q->arena, arena_str(q->arena, text), err);
    if (!q->answer)
        return ASK_BROKEN;
    struct str problem = json_str(yyjson_obj_get(q->answer, "error"));
    if (!problem.p)
        return ASK_DONE;
    err_set(err, ERR_INVALID, "file", STR_FMT, STR_ARG(problem));
    return ASK_FAILED;
}

static enum outcome ask_worker(struct ask *q, struct worker *w, bool *ended, struct err *err)
{
    auto_buf struct buf text = {0};
    *ended = false;
    if (!wire_send(w->sock, q->text, STR_NULL, q->fd, err)) {
        *ended = true; /* an idle worker ended meanwhile */
        return ASK_BROKEN;
    }
    for (;;) {
        if (!wire_receive(w->sock, (int)q->m->o.timeout_s * 1000, &text, q->data, NULL, ended, err))
            return ASK_BROKEN;
        enum outcome o = read_answer(q, buf_view(&text), err);
        if (o != ASK_DONE || !yyjson_get_bool(yyjson_obj_get(q->answer, "more")))
            return o;
        if (!q->each(q->ctx, q->answer, buf_view(q->data), err)) {
            q->stopped = true; /* the rest is not wanted: the worker is ended */
            return ASK_BROKEN;
        }
    }
}

/* Says which worker has the job, for media_cancel; false when it is not wanted any more. */
static bool show_worker(struct ask *q, int sock)
{
    if (!q->job)
        return true;
    pthread_mutex_lock(&q->m->lock);
    q->job->sock = sock;
    bool wanted = !q->job->unwanted;
    pthread_mutex_unlock(&q->m->lock);
    return wanted;
}

static bool unwanted(struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, NULL, "it is not wanted any more");
}

/* A worker that was idle may have ended just now: then another is asked, once. A fresh one that ends has
 * crashed. With a turn. */
static bool ask_in_turn(struct ask *q, struct err *err)
{
    for (;;) {
        bool used, ended = false;
        *err = (struct err){0};
        struct worker *w = worker_take(q->m, &used, err);
        if (!w)
            return false;
        enum outcome o = show_worker(q, w->sock) ? ask_worker(q, w, &ended, err) : ASK_DONE;
        bool wanted = show_worker(q, -1);
        worker_give(q->m, w, o != ASK_BROKEN);
        if (!wanted)
            return unwanted(err);
        if (q->stopped)
            return false;
        if (o == ASK_BROKEN && ended && used)
            continue;
        if (o == ASK_BROKEN && ended)
            return err_message(err, ERR_INVALID, "file", MESSAGE_DECODER_FAILED);
        if (o == ASK_BROKEN && err->code == ERR_UNAVAILABLE)
            return err_message(err, ERR_INVALID, "file", MESSAGE_DECODER_SLOW, q->m->o.timeout_s);
        return o == ASK_DONE;
    }
}

static bool ask(struct ask *q, struct err *err)
{
    if (!turn_take(q->m, err))
        return false;
    bool ok = ask_in_turn(q, err);
    turn_give(q->m);
    return ok;
}

static double real_of(yyjson_val *v, const char *key)
{
    return yyjson_get_num(yyjson_obj_get(v, key));
}

static void text_of(yyjson_val *v, const char *key, char *ret, size_t cap)
{
    struct str s = json_str(yyjson_obj_get(v, key));
    snprintf(ret, cap, STR_FMT, STR_ARG(s));
}

bool media_probe(struct media *m, int fd, struct media_info *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf data = {0};
    struct ask q = {.m = m, .text = STR("{\"op\":\"probe\"}"), .fd = fd, .arena = &a, .data = &data};
    if (!ask(&q, err))
        return false;
    yyjson_val *v = q.answer;
    *ret = (struct media_info){.width = (int64_t)real_of(v, "width"),
                               .height = (int64_t)real_of(v, "height"),
                               .orientation = (int)real_of(v, "orientation"),
                               .bands = (int)real_of(v, "bands"),
                               .frames = (int64_t)real_of(v, "frames"),
                               .duration = real_of(v, "duration"),
                               .rate = (int)real_of(v, "rate"),
                               .channels = (int)real_of(v, "channels")};
    text_of(v, "kind", ret->kind, sizeof ret->kind);
    text_of(v, "format", ret->format, sizeof ret->format);
    return true;
}

bool media_thumbnail(struct media *m, int fd, unsigned side, struct buf *out, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct media_job j = {0};
    media_job_thumbnail(&j, side);
    struct ask q = {.m = m, .text = str_of(j.request), .fd = fd, .arena = &a, .data = out};
    return ask(&q, err);
}

/* --- jobs --- */

/* Takes the job's file away: it may be freed by `done`. */
static void job_over(struct media_job *j, struct str jpeg, const struct err *failed)
{
    close(j->fd);
    j->done(j, jpeg, failed);
}

void media_job_thumbnail(struct media_job *j, unsigned side)
{
    snprintf(j->request, sizeof j->request, "{\"op\":\"thumbnail\",\"side\":%u}", side);
}

void media_job_tile(struct media_job *j, unsigned level, unsigned x, unsigned y)
{
    snprintf(j->request, sizeof j->request, "{\"op\":\"tile\",\"level\":%u,\"x\":%u,\"y\":%u}", level, x, y);
}

void media_job_peaks(struct media_job *j, unsigned buckets)
{
    snprintf(j->request, sizeof j->request, "{\"op\":\"peaks\",\"buckets\":%u}", buckets);
}

/* Answers without bytes are signs of life. */
static bool take_more(void *ctx, yyjson_val *answer, struct str data, struct err *err)
{
    struct media_job *j = ctx;
    (void)err;
    if (data.n && j->more)
        j->more(j, (unsigned)yyjson_get_uint(yyjson_obj_get(answer, "x")), data);
    return true;
}

static void run_job(void *arg)
{
    struct media_job *j = arg;
    struct media *m = j->media;
    struct err err = {0};
    auto_buf struct buf jpeg = {0};
    auto_arena struct arena a;
    arena_init(&a);
    struct ask q = {.m = m,
                    .text = str_of(j->request),
                    .fd = j->fd,
                    .arena = &a,
                    .data = &jpeg,
                    .each = take_more,
                    .ctx = j,
                    .job = j};
    bool ok = (j->early && j->early(j, &jpeg)) || ask_in_turn(&q, &err);
    pthread_mutex_lock(&m->lock);
    j->state = MEDIA_OVER;
    pthread_mutex_unlock(&m->lock);
    turn_give(m);
    job_over(j, ok ? buf_view(&jpeg) : STR_NULL, ok ? NULL : &err);
}

void media_begin(struct media *m, struct media_job *j)
{
    struct err err = {0};
    pthread_mutex_lock(&m->lock);
    j->media = m;
    j->sock = -1;
    bool ok = j->unwanted ? unwanted(&err)
                          : fair_add(m->jobs, &j->whose) ||
                                err_set(&err, ERR_UNAVAILABLE, NULL,
                                        "too many files wait to be decoded: try again soon");
    j->state = ok ? MEDIA_WAITS : MEDIA_OVER;
    if (ok)
        grant(m);
    pthread_mutex_unlock(&m->lock);
    if (!ok)
        job_over(j, STR_NULL, &err);
}

void media_cancel(struct media *m, struct media_job *j)
{
    struct err err = {0};
    pthread_mutex_lock(&m->lock);
    bool waits = j->state == MEDIA_WAITS;
    j->unwanted = true;
    if (waits) {
        fair_remove(m->jobs, &j->whose);
        j->state = MEDIA_OVER;
    } else if (j->state == MEDIA_RUNS && j->sock >= 0) {
        shutdown(j->sock, SHUT_RDWR); /* its thread ends the worker */
    }
    pthread_mutex_unlock(&m->lock);
    if (!waits)
        return;
    unwanted(&err);
    job_over(j, STR_NULL, &err);
}

bool media_measure(struct media *m, int fd, struct media_measures *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf data = {0};
    struct ask q = {.m = m, .text = STR("{\"op\":\"measure\"}"), .fd = fd, .arena = &a, .data = &data};
    if (!ask(&q, err))
        return false;
    uint8_t bytes[8];
    uint64_t hash = 0;
    if (!hex_decode(json_str(yyjson_obj_get(q.answer, "phash")), bytes, sizeof bytes))
        return err_set(err, ERR_INTERNAL, NULL, "a media worker sent no hash");
    for (size_t i = 0; i < sizeof bytes; i++)
        hash = hash << 8 | bytes[i];
    *ret = (struct media_measures){real_of(q.answer, "sharpness"), hash};
    return true;
}

static void write_op(struct json_out *o, const struct media_op *op)
{
    static const char *const names[] = {"crop", "rotate", "mirror-h", "mirror-v"};
    json_object(o);
    json_kz(o, "op", names[op->kind]);
    json_kint(o, "x", op->x);
    json_kint(o, "y", op->y);
    json_kint(o, "w", op->w);
    json_kint(o, "h", op->h);
    json_key(o, "angle");
    json_real(o, op->angle);
    json_object_end(o);
}

bool media_transform(struct media *m, int fd, const struct media_op *ops, size_t n, struct buf *out,
                     struct media_result *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    json_kz(&o, "op", "transform");
    json_key(&o, "ops");
    json_array(&o);
    for (size_t i = 0; i < n; i++)
        write_op(&o, &ops[i]);
    json_array_end(&o);
    json_object_end(&o);
    struct ask q = {.m = m, .text = buf_view(&text), .fd = fd, .arena = &a, .data = out};
    if (!ask(&q, err))
        return false;
    *ret = (struct media_result){.width = (int64_t)real_of(q.answer, "width"),
                                 .height = (int64_t)real_of(q.answer, "height"),
                                 .pages = (int64_t)real_of(q.answer, "pages")};
    text_of(q.answer, "format", ret->format, sizeof ret->format);
    for (size_t i = 0; i < 6; i++)
        ret->matrix[i] = yyjson_get_num(yyjson_arr_get(yyjson_obj_get(q.answer, "matrix"), i));
    return true;
}

struct frames {
    bool (*each)(void *ctx, int64_t number, double time, struct str jpeg, struct err *err);
    void *ctx;
};

static bool each_frame(void *ctx, yyjson_val *answer, struct str data, struct err *err)
{
    struct frames *f = ctx;
    return f->each(f->ctx, (int64_t)real_of(answer, "number"), real_of(answer, "time"), data, err);
}

bool media_video(struct media *m, int fd, const struct media_frames *f,
                 bool (*each)(void *ctx, int64_t number, double time, struct str jpeg, struct err *err),
                 void *ctx, struct media_flaws *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf data = {0};
    struct frames frames = {each, ctx};
    struct str text =
        str_of(arena_printf(&a, "{\"op\":\"frames\",\"every\":%lld,\"per_second\":%.17g,\"max\":%lld}",
                            (long long)f->every, f->per_second, (long long)f->max));
    struct ask q = {
        .m = m, .text = text, .fd = fd, .arena = &a, .data = &data, .each = each_frame, .ctx = &frames};
    if (!ask(&q, err))
        return false;
    *ret = (struct media_flaws){(int64_t)real_of(q.answer, "broken"),
                                yyjson_get_bool(yyjson_obj_get(q.answer, "cut"))};
    return true;
}
