/* ingot exec: a command in a job's container, with this terminal when there is one. */
#include "cli/remote.h"
#include "cli/running.h"
#include "net/url.h"
#include "net/ws_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

const struct flag running_exec_flags[] = {
    {"interactive", 'i', FLAG_SWITCH, NULL, "pass standard input on", NULL},
    {"tty", 't', FLAG_SWITCH, NULL, "give the command a terminal", NULL},
    {"rank", 0, FLAG_VALUE, "N", "of a job of several nodes: which (0)", NULL},
    {"project", 'p', FLAG_VALUE, "NAME", "where names are looked up", NULL},
};

struct session {
    struct cli *cli;
    struct ws_client *ws;
    bool tty, input, has_code;
    int code;
};

static volatile sig_atomic_t resized;

static void on_resize(int number)
{
    (void)number;
    resized = 1;
}

/* --- the terminal here --- */

static struct termios saved;
static bool is_raw;

static void leave_raw(void)
{
    if (is_raw)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
    is_raw = false;
}

static void enter_raw(void)
{
    struct termios raw;
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &saved) != 0)
        return;
    raw = saved;
    cfmakeraw(&raw);
    is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
    atexit(leave_raw);
}

static bool send_size(struct session *s, struct err *err)
{
    struct winsize size;
    char text[64];
    resized = 0;
    if (!s->tty || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_row || !size.ws_col)
        return true;
    int n = snprintf(text, sizeof text, "{\"rows\":%u,\"cols\":%u}", size.ws_row, size.ws_col);
    return ws_client_send(s->ws, WS_TEXT, (struct str){text, (size_t)n}, err);
}

/* --- bytes both ways --- */

static bool write_out(struct str data)
{
    while (data.n > 0) {
        ssize_t n = write(STDOUT_FILENO, data.p, data.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data.p += n;
        data.n -= (size_t)n;
    }
    return true;
}

static bool on_frame(void *ctx, enum ws_opcode opcode, struct str payload)
{
    struct session *s = ctx;
    struct err ignored = {0};
    if (opcode == WS_BINARY)
        return write_out(payload);
    yyjson_val *code = yyjson_obj_get(json_parse(&s->cli->arena, payload, &ignored), "exit_code");
    if (code) {
        s->has_code = true;
        s->code = (int)yyjson_get_sint(code);
    }
    return true;
}

static bool pass_input(struct session *s, struct err *err)
{
    char space[16 << 10];
    ssize_t n = read(STDIN_FILENO, space, sizeof space);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN || err_errno(err, errno, "standard input");
    if (n > 0)
        return ws_client_send(s->ws, WS_BINARY, (struct str){space, (size_t)n}, err);
    s->input = false;
    return s->tty ? ws_client_send(s->ws, WS_BINARY, STR("\004"), err)
                  : ws_client_send(s->ws, WS_TEXT, STR("{\"eof\":true}"), err);
}

static bool pass_bytes(struct session *s, struct err *err)
{
    bool open = true;
    while (ws_client_receive(s->ws, &open, err) && open) {
        struct pollfd p[] = {{.fd = ws_client_fd(s->ws), .events = POLLIN},
                             {.fd = s->input ? STDIN_FILENO : -1, .events = POLLIN}};
        int n = poll(p, countof(p), -1);
        if (n < 0 && errno != EINTR)
            return err_errno(err, errno, "poll");
        if (resized && !send_size(s, err))
            return false;
        if (n > 0 && p[1].revents && !pass_input(s, err))
            return false;
    }
    return !err->code;
}

static const char *make_path(struct cli *cli, int64_t job, int64_t rank, bool tty, const struct args *args)
{
    struct arena *a = &cli->arena;
    auto_buf struct buf argv = {0};
    struct json_out o;
    const char *path =
        arena_printf(a, "/jobs/%lld/terminal?rank=%lld&tty=%d", (long long)job, (long long)rank, tty);
    if (args->word_count < 2)
        return path;
    json_begin(&o, &argv);
    json_array(&o);
    for (size_t i = 1; i < args->word_count; i++)
        json_z(&o, args->words[i]);
    json_array_end(&o);
    return arena_printf(a, "%s&argv=%s", path, url_encode(a, buf_view(&argv)));
}

static bool run_session(struct session *s, const char *path, struct err *err)
{
    struct client_request q;
    struct client_header headers[4];
    struct client_answer answer = {0};
    if (!remote_prepare(s->cli, "GET", path, &q, headers, err))
        return false;
    s->ws = ws_client_open(&s->cli->arena, &q, on_frame, s, &answer, err);
    if (!s->ws)
        return err->code ? false : remote_refused(s->cli, answer.status, answer.body, err);
    struct sigaction act = {.sa_handler = on_resize};
    sigaction(SIGWINCH, &act, NULL);
    if (s->tty && s->input)
        enter_raw();
    bool ok = send_size(s, err) && pass_bytes(s, err);
    leave_raw();
    ws_client_free(s->ws);
    if (ok && !s->has_code)
        return err_set(err, ERR_UPSTREAM, NULL, "the connection ended before the command");
    s->cli->exit_code = s->code;
    return ok;
}

bool running_exec(struct cli *cli, const struct args *args, struct err *err)
{
    struct session s = {.cli = cli, .tty = args_has(args, "tty"), .input = args_has(args, "interactive")};
    int64_t rank = 0, job;
    return args_count(args, 1, 1000, "ingot exec [-it] JOB | TRAINING[/RUN] [-- COMMAND...]", err) &&
           args_int(args, "rank", 0, 63, &rank, err) && running_job(cli, args->words[0], &job, err) &&
           run_session(&s, make_path(cli, job, rank, s.tty, args), err);
}
