/* The end of a failed run's log, and the cause that it tells, kept with the instance. */
#include "core/training/training.h"

#define TAIL_LINES 200
#define TAIL_BYTES (256 << 10)

/* The rank that failed, as far as the executor still knows; else the first. */
static int32_t failed_rank(struct exec *x, const struct object *job, struct arena *a)
{
    for (int32_t rank = 0; rank < object_int(job, "nodes"); rank++) {
        struct exec_status s;
        struct err ignored = {0};
        struct exec_id id = {job->id, (int32_t)object_int(job, "attempt"), rank};
        if (x->ops->status(x, a, id, &s, &ignored) && s.state == EXEC_EXITED && s.code != 0 &&
            s.end != EXEC_END_STOPPED)
            return rank;
    }
    return 0;
}

static size_t split(struct arena *a, struct str text, struct cause_line *ret, size_t room)
{
    size_t n = 0;
    while (text.n && n < room) {
        struct str rest, line = str_cut(text, '\n', &rest);
        text = rest.p ? rest : STR_NULL;
        if (line.n < EXEC_LOG_HEAD || line.p[28] == 'i')
            continue;
        struct str said = {line.p + EXEC_LOG_HEAD, line.n - EXEC_LOG_HEAD};
        ret[n++] = (struct cause_line){cause_plain(a, said), line.p[28] == 'e'};
    }
    return n;
}

/* No log is no failure: a job that could not start has none. */
static size_t read_tail(struct exec *x, struct exec_id id, struct arena *a, struct cause_line *ret)
{
    struct exec_log log;
    struct err ignored = {0};
    int64_t at;
    size_t n = 0;
    if (!x->ops->log(x, id, &log, &ignored) ||
        !x->ops->log_line(x, id, log.end_line > TAIL_LINES ? log.end_line - TAIL_LINES : 0, &at, &ignored))
        return 0;
    bool cut = log.end - at > TAIL_BYTES;
    if (cut)
        at = log.end - TAIL_BYTES;
    char *space = arena_alloc(a, TAIL_BYTES);
    for (size_t got; n < TAIL_BYTES; n += got)
        if (!x->ops->log_read(x, id, &at, space + n, TAIL_BYTES - n, &got, &ignored) || got == 0)
            break;
    struct str text = {space, n};
    if (cut)
        str_cut(text, '\n', &text); /* half a line */
    return text.p ? split(a, text, ret, TAIL_LINES) : 0;
}

struct str training_cause_json(struct arena *a, const struct cause *c)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    json_object(&out);
    json_kz(&out, "id", c->id);
    json_kz(&out, "sentence", c->en);
    json_kz(&out, "sentence_zh", c->zh);
    json_kstr(&out, "detail", c->detail);
    json_key(&out, "lines");
    json_array(&out);
    for (size_t i = 0; i < c->n; i++)
        json_string(&out, c->line[i]);
    json_array_end(&out);
    json_object_end(&out);
    return arena_str(a, buf_view(&text));
}

void training_cause_find(struct core *core, const struct object *job, struct arena *a, struct cause *ret)
{
    struct exec *x = jobs_exec(core->jobs);
    struct cause_line *line = arena_array(a, struct cause_line, TAIL_LINES);
    const struct db_value *code = object_value(job, "exit_code");
    struct cause_facts f = {.line = line,
                            .reason = object_text(job, "reason"),
                            .exit_code = code->type == DB_INT ? (int)code->i : -1};
    if (x)
        f.n = read_tail(
            x, (struct exec_id){job->id, (int32_t)object_int(job, "attempt"), failed_rank(x, job, a)}, a,
            line);
    cause_find(a, &f, ret);
}

bool training_cause_keep(struct core *core, const struct object *instance, struct arena *a, struct err *err)
{
    struct object job;
    struct err gone = {0};
    int64_t id = object_int(instance, "job");
    if (!str_is(object_text(instance, "state"), "failed"))
        return true;
    bool has = id && engine_get(core, &caller_system, &kind_job, 0, id, a, &job, &gone);
    if (!has)
        return !gone.code || gone.code == ERR_NOT_FOUND || (*err = gone, false);
    struct cause found;
    training_cause_find(core, &job, a, &found);
    return engine_write_status(core, &kind_training_instance, instance->id,
                               ENGINE_STATUSES(status_set("cause", db_text(training_cause_json(a, &found)))),
                               err);
}
