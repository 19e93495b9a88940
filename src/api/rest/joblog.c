/* Logs of jobs: pages, searching, live (Server-Sent Events) and as a download. */
#include "api/lasting.h"
#include "api/outflow.h"
#include "api/rest/jobs.h"
#include "base/thread.h"
#include "core/job/job.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define PAGE          (256 << 10)
#define SEARCH_BYTES  (64 << 20) /* looked through by one request */
#define MATCHES_MAX   1000
#define QUERY_MAX     200
#define FOLLOWERS_MAX 512
#define FOLLOW_PAGE   (64 << 10)
#define WAIT_MS       1000
#define IDLE_EACH     5     /* waits between two comments */
#define AWAIT_US      20000 /* for a container to appear */

/* What a request is about; copied, because a follower outlives the request's own thread. */
struct reading {
    struct core *core;
    struct exec *exec;
    struct exec_id id;
    int64_t offset;
};

bool jobs_find(struct api_call *call, const char *permission, struct object *ret, struct err *err)
{
    int64_t id;
    if (!str_to_i64(call->params[0], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such job");
    if (!engine_get(call->core, &call->caller, &kind_job, 0, id, call->arena, ret, err))
        return false;
    return !permission || caller_need(&call->caller, permission, ret->project, err);
}

bool jobs_container(struct api_call *call, const struct object *job, struct exec_id *ret, struct err *err)
{
    int64_t rank, attempt, last = object_int(job, "attempt");
    if (!api_number(call, "rank", 0, object_int(job, "nodes") - 1, 0, &rank, err) ||
        !api_number(call, "attempt", 1, last ? last : 1, last ? last : 1, &attempt, err))
        return false;
    if (!jobs_exec_wait(call->core->jobs))
        return err_set(err, ERR_UNAVAILABLE, NULL, "this server runs no containers");
    *ret = (struct exec_id){job->id, (int32_t)attempt, (int32_t)rank};
    return last || err_set(err, ERR_CONFLICT, "state", "the job has not started yet");
}

/* lasts: the answer may take long. */
static bool open_reading(struct api_call *call, bool lasts, struct reading *ret, struct err *err)
{
    struct object job;
    *ret = (struct reading){.core = call->core};
    if (!jobs_find(call, NULL, &job, err) || !jobs_container(call, &job, &ret->id, err) ||
        !api_number(call, "after", 0, INT64_MAX, 0, &ret->offset, err))
        return false;
    ret->exec = jobs_exec(call->core->jobs);
    if (lasts)
        lasting_show(call, &job);
    return true;
}

/* A job that is starting has an attempt, but no container yet. */
static bool is_awaited(const struct reading *r, const struct err *why)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct object job;
    struct err ignored = {0};
    return why->code == ERR_NOT_FOUND &&
           engine_get(r->core, &caller_system, &kind_job, 0, r->id.job, &a, &job, &ignored) &&
           !job_is_over(job_state_of(&job)) && object_int(&job, "attempt") == r->id.attempt;
}

/* An empty log for one that is awaited. */
static bool look_at_log(const struct reading *r, struct exec_log *ret, bool *ret_awaited, struct err *err)
{
    *ret_awaited = false;
    if (r->exec->ops->log(r->exec, r->id, ret, err))
        return true;
    if (!is_awaited(r, err))
        return false;
    *err = (struct err){0};
    *ret = (struct exec_log){0};
    *ret_awaited = true;
    return true;
}

/* One line of the log: "time stream text". */
static void write_line_members(struct json_out *o, struct str line)
{
    json_kstr(o, "at", (struct str){line.p, 27});
    json_kz(o, "stream", line.p[28] == 'e' ? "error" : line.p[28] == 'i' ? "platform" : "output");
    struct str text = {line.p + EXEC_LOG_HEAD, line.n - EXEC_LOG_HEAD};
    json_key(o, "text");
    json_string(o, text);
}

static void write_line(struct json_out *o, struct str line)
{
    json_object(o);
    write_line_members(o, line);
    json_object_end(o);
}

/* Text of programs may be anything; JSON is UTF-8. */
static void make_utf8(char *p, size_t n)
{
    if (utf8_valid((struct str){p, n}))
        return;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] >= 0x80)
            p[i] = '?';
}

/* Whole lines of what was read; returns the bytes they take. */
static size_t write_lines(struct json_out *o, char *p, size_t n)
{
    size_t done = 0;
    for (char *end; (end = memchr(p + done, '\n', n - done)); done = (size_t)(end - p) + 1) {
        size_t length = (size_t)(end - (p + done));
        if (length < EXEC_LOG_HEAD)
            continue;
        make_utf8(p + done, length);
        write_line(o, (struct str){p + done, length});
    }
    return done;
}

static void run_log(struct api_call *call)
{
    struct reading r;
    struct err err = {0};
    struct exec_log log;
    size_t n;
    bool awaited;
    if (!open_reading(call, false, &r, &err) || !look_at_log(&r, &log, &awaited, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    int64_t line;
    if (!api_number(call, "line", 0, INT64_MAX, -1, &line, &err) ||
        (line >= 0 && log.end && !r.exec->ops->log_line(r.exec, r.id, line, &r.offset, &err))) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    auto_free char *space = base_alloc(PAGE);
    int64_t from = r.offset < log.first ? log.first : r.offset, at = from;
    n = 0;
    if (log.end && !r.exec->ops->log_read(r.exec, r.id, &at, space, PAGE, &n, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    auto_buf struct buf body = {0};
    struct json_out o;
    json_begin(&o, &body);
    json_object(&o);
    json_kint(&o, "first", log.first);
    json_kint(&o, "end", log.end);
    json_kint(&o, "first_line", log.first_line);
    json_kint(&o, "end_line", log.end_line);
    json_kbool(&o, "closed", log.closed);
    json_key(&o, "lines");
    json_array(&o);
    size_t done = write_lines(&o, space, n);
    json_array_end(&o);
    json_kint(&o, "next", at - (int64_t)n + (int64_t)done);
    json_object_end(&o);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

/* --- searching --- */

struct search {
    struct reading r;
    struct str q;
    bool ignore_case;
    int64_t line, limit, found;
    struct json_out out;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool contains(const struct search *s, struct str text)
{
    if (!s->ignore_case)
        return memmem(text.p, text.n, s->q.p, s->q.n) != NULL;
    for (size_t at = 0; at + s->q.n <= text.n; at++) {
        size_t i = 0;
        while (i < s->q.n && lower(text.p[at + i]) == lower(s->q.p[i]))
            i++;
        if (i == s->q.n)
            return true;
    }
    return false;
}

/* Whole lines of what was read; returns the bytes that were looked at. */
static size_t search_lines(struct search *s, char *p, size_t n)
{
    size_t done = 0;
    for (char *end; s->found < s->limit && (end = memchr(p + done, '\n', n - done));
         done = (size_t)(end - p) + 1, s->line++) {
        struct str line = {p + done, (size_t)(end - (p + done))};
        if (line.n < EXEC_LOG_HEAD ||
            !contains(s, (struct str){line.p + EXEC_LOG_HEAD, line.n - EXEC_LOG_HEAD}))
            continue;
        make_utf8(p + done, line.n);
        s->found++;
        json_object(&s->out);
        json_kint(&s->out, "line", s->line);
        write_line_members(&s->out, line);
        json_object_end(&s->out);
    }
    return done;
}

/* From s->line on; *ret_end when nothing is left to look at. */
static bool search_log(struct search *s, bool *ret_end, struct err *err)
{
    struct exec *x = s->r.exec;
    int64_t at, seen = 0;
    size_t n = 1, done = 1;
    auto_free char *space = base_alloc(PAGE);
    if (!x->ops->log_line(x, s->r.id, s->line, &at, err))
        return false;
    while (s->found < s->limit && seen < SEARCH_BYTES && n && done) {
        int64_t from = at;
        if (!x->ops->log_read(x, s->r.id, &at, space, PAGE, &n, err))
            return false;
        done = search_lines(s, space, n);
        at = (at - (int64_t)n > from ? at - (int64_t)n : from) + (int64_t)done;
        seen += (int64_t)done;
    }
    *ret_end = !n || !done;
    return true;
}

static bool open_search(struct api_call *call, struct search *s, struct err *err)
{
    struct exec_log log;
    int64_t ignore_case;
    if (!open_reading(call, false, &s->r, err))
        return false;
    bool given = request_param(call->request, "q", &s->q, err);
    if (!given || !s->q.n || s->q.n > QUERY_MAX)
        return err_set(err, ERR_INVALID, "q", "q: 1 to %d bytes of text to look for", QUERY_MAX);
    if (!api_number(call, "line", 0, INT64_MAX, 0, &s->line, err) ||
        !api_number(call, "limit", 1, MATCHES_MAX, 100, &s->limit, err) ||
        !api_number(call, "ignore_case", 0, 1, 0, &ignore_case, err) ||
        !s->r.exec->ops->log(s->r.exec, s->r.id, &log, err))
        return false;
    s->ignore_case = ignore_case;
    if (s->line < log.first_line)
        s->line = log.first_line;
    return true;
}

static void run_search(struct api_call *call)
{
    struct search s = {0};
    struct err err = {0};
    auto_buf struct buf body = {0};
    bool end = false;
    json_begin(&s.out, &body);
    json_object(&s.out);
    json_key(&s.out, "matches");
    json_array(&s.out);
    if (!open_search(call, &s, &err) || !search_log(&s, &end, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    json_array_end(&s.out);
    json_kint(&s.out, "next", s.line);
    json_kbool(&s.out, "end", end);
    json_object_end(&s.out);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

/* --- downloading --- */

/* Without the heads of lines unless they are asked for; a line that was cut into records becomes whole. */
static size_t add_text(struct buf *out, const char *p, size_t n, bool times)
{
    size_t done = 0;
    for (const char *end; (end = memchr(p + done, '\n', n - done)); done = (size_t)(end - p) + 1) {
        struct str line = {p + done, (size_t)(end - (p + done))};
        if (line.n < EXEC_LOG_HEAD)
            continue;
        size_t head = times ? 0 : EXEC_LOG_HEAD;
        buf_add(out, line.p + head, line.n - head);
        if (times || line.p[EXEC_LOG_HEAD - 1] != '+')
            buf_char(out, '\n');
    }
    return done;
}

static bool send_log(struct reading *r, struct outflow *flow, bool times)
{
    auto_free char *space = base_alloc(PAGE);
    auto_buf struct buf out = {0};
    struct err err = {0};
    size_t n = 1, done = 1;
    while (n && done) {
        int64_t from = r->offset;
        if (!r->exec->ops->log_read(r->exec, r->id, &r->offset, space, PAGE, &n, &err))
            return false;
        buf_clear(&out);
        done = add_text(&out, space, n, times);
        int64_t begin = r->offset - (int64_t)n;
        r->offset = (begin > from ? begin : from) + (int64_t)done;
        if (out.n && !outflow_write(flow, buf_view(&out)))
            return false;
    }
    return true;
}

static void run_download(struct api_call *call)
{
    struct reading r;
    struct err err = {0};
    int64_t times;
    char id[EXEC_ID_MAX], disposition[128];
    if (!api_number(call, "times", 0, 1, 0, &times, &err) || !open_reading(call, true, &r, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    snprintf(disposition, sizeof disposition, "attachment; filename=\"job-%s.log\"",
             exec_id_format(r.id, id));
    const struct header headers[] = {{STR("Content-Type"), STR("text/plain; charset=utf-8")},
                                     {STR("Content-Disposition"), str_of(disposition)},
                                     {STR("Cache-Control"), STR("no-store")}};
    struct outflow *flow = outflow_begin(call->request, 200, headers, countof(headers));
    outflow_end(flow, send_log(&r, flow, times));
}

/* --- following --- */

static atomic_int followers;

struct follower {
    struct reading reading;
    struct outflow *flow;
    char *space; /* only while there is something to send */
    unsigned idle;
};

/* Nothing new: waits a while. A comment now and then tells when the client has gone. */
static bool follow_idle(struct follower *f, bool awaited)
{
    struct reading *r = &f->reading;
    struct err err = {0};
    free(f->space);
    f->space = NULL;
    if (awaited)
        usleep(AWAIT_US);
    else
        r->exec->ops->log_wait(r->exec, r->id, r->offset, WAIT_MS, &err);
    if (f->idle++ % IDLE_EACH)
        return true;
    return outflow_write(f->flow, STR(":\n\n"));
}

/* A piece of what is new; *ret_sent false when there was no whole line. */
static bool follow_send(struct follower *f, bool *ret_sent)
{
    struct reading *r = &f->reading;
    struct err err = {0};
    size_t n;
    int64_t at = r->offset;
    *ret_sent = false;
    if (!f->space)
        f->space = base_alloc(FOLLOW_PAGE);
    if (!r->exec->ops->log_read(r->exec, r->id, &at, f->space, FOLLOW_PAGE, &n, &err))
        return false;
    auto_buf struct buf out = {0};
    struct json_out o;
    buf_z(&out, "event: lines\ndata: ");
    json_begin(&o, &out);
    json_array(&o);
    size_t done = write_lines(&o, f->space, n);
    json_array_end(&o);
    r->offset = at - (int64_t)n + (int64_t)done;
    if (!done)
        return true;
    *ret_sent = true;
    f->idle = 0;
    buf_printf(&out, "\nid: %lld\n\n", (long long)r->offset);
    return outflow_write(f->flow, buf_view(&out));
}

/* *ret_more false at the end. */
static bool follow_step(struct follower *f, bool *ret_more)
{
    struct reading *r = &f->reading;
    struct err err = {0};
    struct exec_log log;
    bool sent = false, awaited;
    *ret_more = false;
    if (!look_at_log(r, &log, &awaited, &err))
        return true; /* the job was deleted: the stream ends */
    if (log.end > r->offset && !follow_send(f, &sent))
        return false;
    *ret_more = sent || !log.closed;
    if (sent)
        return true;
    return log.closed ? outflow_write(f->flow, STR("event: end\ndata: {}\n\n")) : follow_idle(f, awaited);
}

static void follow_all(void *arg)
{
    struct follower *f = arg;
    bool more = true;
    while (more && !lasting_ending() && follow_step(f, &more)) {
    }
    outflow_end(f->flow, true);
    free(f->space);
    free(f);
    atomic_fetch_sub(&followers, 1);
}

static void run_follow(struct api_call *call)
{
    struct follower *f = base_zalloc(sizeof *f);
    struct err err = {0};
    const struct header headers[] = {{STR("Content-Type"), STR("text/event-stream")},
                                     {STR("Cache-Control"), STR("no-store")}};
    bool counted = atomic_fetch_add(&followers, 1) < FOLLOWERS_MAX;
    if (!counted)
        err_set(&err, ERR_UNAVAILABLE, NULL, "too many logs are being followed");
    if (!counted || !open_reading(call, true, &f->reading, &err)) {
        atomic_fetch_sub(&followers, 1);
        free(f);
        api_problem(call, &err, NULL, 0);
        return;
    }
    f->flow = outflow_begin(call->request, 200, headers, countof(headers));
    lasting_thread("follow", follow_all, f);
}

#define LOG "/api/v1/jobs/{job_id}/log"

const struct route job_log_routes[] = {
    {"GET", LOG, NULL, run_log, .summary = "Lines of a job's log",
     .query = "rank:int attempt:int after:int line:int", .answer = ROUTE_ANSWER("JobLog")},
    {"GET", LOG "/search", NULL, run_search, .summary = "Lines of a job's log with a text",
     .query = "rank:int attempt:int q! line:int limit:int ignore_case:int",
     .answer = ROUTE_ANSWER("JobLogMatches")},
    {"GET", LOG "/download", NULL, run_download, .summary = "A job's log as a file",
     .query = "rank:int attempt:int times:int", .answer = "{\"type\":\"string\"}", .type = "text/plain"},
    {"GET", LOG "/follow", NULL, run_follow, .summary = "A job's log as it is written, as Server-Sent Events",
     .query = "rank:int attempt:int after:int", .answer = "{\"type\":\"string\"}",
     .type = "text/event-stream"},
    {0},
};
