/* ingot logs: what a job printed, or the platform itself. */
#include "cli/remote.h"
#include "cli/running.h"
#include "cli/scope.h"
#include "cli/service.h"
#include "net/url.h"

#include <time.h>

const struct flag running_logs_flags[] = {
    {"follow", 'f', FLAG_SWITCH, NULL, "go on until the job is over", NULL},
    {"rank", 0, FLAG_VALUE, "N", "of a job of several nodes: which (0)", NULL},
    {"attempt", 0, FLAG_VALUE, "N", "of a job that was tried again: which (the last)", NULL},
    {"project", 'p', FLAG_VALUE, "NAME", "where names are looked up", NULL},
    {"platform", 0, FLAG_SWITCH, NULL, "the platform's own log instead of a job's (administrators)", NULL},
    {"service", 0, FLAG_VALUE, "NAME", "of all replicas of a service, by time", NULL},
    {"level", 0, FLAG_VALUE, "LEVEL", "of the platform's log: at least debug, info, warn or error", NULL},
};

#define FOLLOW_TRIES 5

/* --- which job --- */

static bool get(struct cli *cli, const char *path, yyjson_val **ret, struct err *err)
{
    return remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, ret, err);
}

void running_nap(void)
{
    const struct timespec t = {.tv_nsec = 200000000};
    nanosleep(&t, NULL);
}

static void read_state(yyjson_val *job, struct running_state *ret)
{
    struct str state = json_str(yyjson_obj_get(job, "state")),
               reason = json_str(yyjson_obj_get(job, "reason"));
    *ret = (struct running_state){
        .attempt = yyjson_get_sint(yyjson_obj_get(job, "attempt")),
        .exit_code = yyjson_get_sint(yyjson_obj_get(job, "exit_code")),
        .owner = yyjson_get_sint(yyjson_obj_get(job, "owner")),
        .completed = str_is(state, "completed"),
        .stopped = str_is(state, "stopped"),
        .of_training = str_is(json_str(yyjson_obj_get(job, "owner_kind")), "training_instance")};
    ret->over = ret->completed || ret->stopped || str_is(state, "failed");
    snprintf(ret->reason, sizeof ret->reason, STR_FMT, STR_ARG(reason));
}

bool running_look(struct cli *cli, int64_t id, struct running_state *ret, struct err *err)
{
    struct arena kept = cli->arena;
    yyjson_val *job;
    arena_init(&cli->arena);
    bool ok = get(cli, arena_printf(&cli->arena, "/jobs/%lld", (long long)id), &job, err);
    if (ok)
        read_state(job, ret);
    cli->problem = NULL;
    arena_release(&cli->arena);
    cli->arena = kept;
    return ok;
}

/* The newest instance, or the one of that name or number. */
static bool instance_job(struct cli *cli, int64_t training, struct str run, int64_t *ret, struct err *err)
{
    struct arena *a = &cli->arena;
    uint64_t number;
    yyjson_val *answer;
    const char *path = arena_printf(a, "/trainings/%lld/instances?limit=1", (long long)training);
    if (run.n && str_to_u64(run, &number))
        run = str_of(arena_printf(a, "run-" STR_FMT, STR_ARG(run)));
    if (run.n) {
        const char *filter = arena_printf(a, "name = %s", scope_quote(a, run));
        path = arena_printf(a, "%s&filter=%s", path, url_encode(a, str_of(filter)));
    }
    if (!get(cli, path, &answer, err))
        return false;
    yyjson_val *one = yyjson_arr_get_first(yyjson_obj_get(answer, "items"));
    if (!one)
        return err_set(err, ERR_NOT_FOUND, NULL, "the training has no run%s" STR_FMT, run.n ? " " : "",
                       STR_ARG(run));
    *ret = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(one, "job"), "id"));
    return *ret > 0 ||
           err_set(err, ERR_CONFLICT, NULL, "the run has no job yet: its checkpoint is being copied");
}

/* An environment has a job of its name for every start: the latest is meant. False without an error: there is
 * none. */
static bool environment_job(struct cli *cli, const char *name, int64_t *ret, struct err *err)
{
    struct err none = {0};
    yyjson_val *o;
    int64_t id;
    if (!scope_id(cli, kind_by_name(STR("environment")), NULL, name, &id, &none)) {
        cli->problem = NULL;
        if (none.code != ERR_NOT_FOUND && none.code != ERR_FORBIDDEN)
            *err = none;
        return false;
    }
    if (!get(cli, arena_printf(&cli->arena, "/environments/%lld", (long long)id), &o, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(o, "job"), "id"));
    return *ret > 0 || err_set(err, ERR_CONFLICT, NULL, "%s was never started", name);
}

bool running_job(struct cli *cli, const char *word, int64_t *ret, struct err *err)
{
    const struct kind *job = kind_by_name(STR("job")), *training = kind_by_name(STR("training"));
    struct str run, name = str_cut(str_of(word), '/', &run);
    struct err none = {0};
    int64_t id;
    if (!run.p && !(str_to_i64(name, &id) && id > 0) && (environment_job(cli, word, ret, err) || err->code))
        return !err->code;
    if (!run.p) {
        if (scope_id(cli, job, NULL, word, ret, &none))
            return true;
        if (none.code != ERR_NOT_FOUND) {
            *err = none;
            return false;
        }
        cli->problem = NULL;
    }
    none = (struct err){0};
    if (scope_id(cli, training, NULL, arena_strz(&cli->arena, name), &id, &none))
        return instance_job(cli, id, run, ret, err);
    if (none.code != ERR_NOT_FOUND || run.p) {
        *err = none;
        return false;
    }
    return err_set(err, ERR_NOT_FOUND, NULL, "there is no job, environment or training called \"%s\"", word);
}

/* --- printing --- */

struct printer {
    struct buf event; /* of the stream, not whole yet */
    int64_t after;
    bool ended;
};

static void print_lines(yyjson_val *lines)
{
    size_t i, max;
    yyjson_val *line;
    yyjson_arr_foreach(lines, i, max, line)
    {
        struct str text = json_str(yyjson_obj_get(line, "text"));
        FILE *to = str_is(json_str(yyjson_obj_get(line, "stream")), "output") ? stdout : stderr;
        fwrite(text.p, 1, text.n, to);
        fputc('\n', to);
    }
}

static void take_event(struct printer *p, struct str event)
{
    auto_arena struct arena a;
    struct err ignored = {0};
    arena_init(&a);
    for (struct str rest = event; rest.p;) {
        struct str line = str_cut(rest, '\n', &rest);
        if (str_starts(line, "id: "))
            str_to_i64((struct str){line.p + 4, line.n - 4}, &p->after);
        else if (str_starts(line, "data: ["))
            print_lines(json_parse(&a, (struct str){line.p + 6, line.n - 6}, &ignored));
        else if (str_is(line, "event: end"))
            p->ended = true;
    }
    fflush(stdout);
}

static bool on_piece(void *ctx, struct str piece)
{
    struct printer *p = ctx;
    buf_str(&p->event, piece);
    for (ptrdiff_t end; p->event.n && (end = str_find(buf_view(&p->event), STR("\n\n"))) >= 0;) {
        take_event(p, (struct str){p->event.p, (size_t)end});
        buf_consume(&p->event, (size_t)end + 2);
    }
    return !ferror(stdout) && p->event.n < 64 << 20;
}

/* One stream, until the attempt's log is closed or the connection breaks. */
static bool follow_stream(struct cli *cli, const struct running_follow *f, struct printer *p, struct err *err)
{
    auto_arena struct arena a;
    struct client_request q;
    struct client_header headers[4];
    struct client_answer answer;
    arena_init(&a);
    const char *path =
        arena_printf(&a, "/jobs/%lld/log/follow?rank=%lld&attempt=%lld&after=%lld", (long long)f->job,
                     (long long)f->rank, (long long)f->attempt, (long long)p->after);
    if (!remote_prepare(cli, "GET", path, &q, headers, err))
        return false;
    q.sink = on_piece;
    q.sink_ctx = p;
    if (!client_do(&a, &q, &answer, err))
        return false;
    return answer.status < 400 || remote_refused(cli, answer.status, buf_view(&p->event), err);
}

/* A stream that breaks off, or is not there yet because the container is being made, is taken up again; not
 * for ever when nothing can come any more. */
static bool again(struct cli *cli, const struct running_follow *f, int *tries, struct err *lost)
{
    struct running_state now;
    bool known = !lost->code || lost->code == ERR_UPSTREAM;
    running_nap();
    if (!known || ++*tries == FOLLOW_TRIES)
        return false;
    if (!lost->code && running_look(cli, f->job, &now, lost) && !now.over)
        *tries = 0;
    return !lost->code || lost->code == ERR_UPSTREAM;
}

static bool follow_attempt(struct cli *cli, const struct running_follow *f, struct err *err)
{
    struct printer p = {0};
    struct err lost = {0};
    for (int tries = 0; !p.ended && !ferror(stdout);) {
        int64_t before = p.after;
        lost = (struct err){0};
        follow_stream(cli, f, &p, &lost);
        buf_clear(&p.event);
        if (p.after > before)
            tries = 0;
        if (!p.ended && !again(cli, f, &tries, &lost))
            break;
    }
    buf_release(&p.event);
    if (p.ended || !lost.code)
        return true;
    *err = lost;
    return false;
}

static bool follow(struct cli *cli, struct running_follow *f, struct err *err)
{
    int64_t done = f->attempt > 0 ? f->attempt - 1 : 0;
    for (bool one = f->attempt > 0;;) {
        struct running_state now;
        if (!running_look(cli, f->job, &now, err))
            return false;
        if (now.attempt > done) {
            f->attempt = one || done ? done + 1 : now.attempt;
            if (!follow_attempt(cli, f, err))
                return false;
            done = f->attempt;
            if (one)
                return true;
        } else if (now.over || ferror(stdout)) {
            return true;
        } else {
            running_nap();
        }
    }
}

static bool print_pages(struct cli *cli, const struct running_follow *f, struct err *err)
{
    const char *attempt = f->attempt ? arena_printf(&cli->arena, "&attempt=%lld", (long long)f->attempt) : "";
    for (int64_t after = 0;;) {
        yyjson_val *page;
        const char *path = arena_printf(&cli->arena, "/jobs/%lld/log?rank=%lld&after=%lld%s",
                                        (long long)f->job, (long long)f->rank, (long long)after, attempt);
        if (!get(cli, path, &page, err))
            return false;
        print_lines(yyjson_obj_get(page, "lines"));
        int64_t next = yyjson_get_sint(yyjson_obj_get(page, "next"));
        if (next <= after || next >= yyjson_get_sint(yyjson_obj_get(page, "end")) || ferror(stdout))
            return true;
        after = next;
    }
}

bool running_print(struct cli *cli, const struct running_follow *f, struct err *err)
{
    struct running_follow own = *f;
    return f->follow ? follow(cli, &own, err) : print_pages(cli, f, err);
}

/* --- the platform --- */

static void print_platform(yyjson_val *lines)
{
    size_t i, max;
    yyjson_val *line;
    yyjson_arr_foreach(lines, i, max, line)
    {
        struct str at = json_str(yyjson_obj_get(line, "at")), level = json_str(yyjson_obj_get(line, "level")),
                   text = json_str(yyjson_obj_get(line, "text"));
        printf(STR_FMT " %-5.*s " STR_FMT "\n", STR_ARG(at), STR_ARG(level), STR_ARG(text));
    }
    fflush(stdout);
}

/* The newest lines; to follow, those that come after them. */
static bool platform_logs(struct cli *cli, const struct args *args, struct err *err)
{
    const char *level = args_value(args, "level");
    const char *more =
        level ? arena_printf(&cli->arena, "&level=%s", url_encode(&cli->arena, str_of(level))) : "";
    int64_t next = -1;
    if (!args_count(args, 0, 0, "ingot logs --platform [-f] [--level LEVEL]", err))
        return false;
    for (;;) {
        struct arena kept = cli->arena;
        yyjson_val *page;
        arena_init(&cli->arena);
        const char *from = next < 0 ? "" : arena_printf(&cli->arena, "&after=%lld", (long long)next);
        bool ok = get(cli, arena_printf(&cli->arena, "/log?limit=1000%s%s", from, more), &page, err);
        if (ok) {
            print_platform(yyjson_obj_get(page, "lines"));
            next = yyjson_get_sint(yyjson_obj_get(page, "next"));
        }
        cli->problem = NULL;
        arena_release(&cli->arena);
        cli->arena = kept;
        if (!ok || !args_has(args, "follow") || ferror(stdout))
            return ok;
        running_nap();
    }
}

bool running_logs(struct cli *cli, const struct args *args, struct err *err)
{
    if (args_has(args, "platform"))
        return platform_logs(cli, args, err);
    if (args_has(args, "service"))
        return args_count(args, 0, 0, "ingot logs --service NAME [-f]", err) &&
               service_logs(cli, args_value(args, "service"), args_has(args, "follow"), err);
    struct running_follow f = {.follow = args_has(args, "follow")};
    return args_count(args, 1, 1, "ingot logs [-f] JOB | TRAINING[/RUN] | --service NAME | --platform",
                      err) &&
           args_int(args, "rank", 0, 63, &f.rank, err) &&
           args_int(args, "attempt", 1, 1000, &f.attempt, err) &&
           running_job(cli, args->words[0], &f.job, err) && running_print(cli, &f, err);
}
