#include "cli/prompt.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <termios.h>

#define LINE_MAX_BYTES 4096

bool prompt_possible(void)
{
    return isatty(STDIN_FILENO);
}

/* Byte by byte: what follows the line is left for the next reader. */
bool prompt_read_line(struct arena *a, const char **ret, struct err *err)
{
    char line[LINE_MAX_BYTES];
    size_t n = 0;
    for (;;) {
        char c;
        ssize_t got = read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "standard input");
        if (got == 0 && n == 0)
            return err_set(err, ERR_MALFORMED, NULL, "standard input is empty: a line was expected there");
        if (got == 0 || c == '\n')
            break;
        if (n + 1 == sizeof line)
            return err_set(err, ERR_TOO_LARGE, NULL, "the line on standard input is longer than %d bytes",
                           LINE_MAX_BYTES - 1);
        line[n++] = c;
    }
    if (n && line[n - 1] == '\r')
        n--;
    *ret = arena_strz(a, (struct str){line, n});
    return true;
}

bool prompt_read_all(struct arena *a, size_t max, struct str *ret, struct err *err)
{
    auto_buf struct buf b = {0};
    char piece[8192];
    for (;;) {
        ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "standard input");
        if (got == 0)
            break;
        if (b.n + (size_t)got > max)
            return err_set(err, ERR_TOO_LARGE, NULL, "standard input is longer than %zu bytes", max);
        buf_add(&b, piece, (size_t)got);
    }
    *ret = arena_str(a, buf_view(&b));
    return true;
}

bool prompt_text(struct arena *a, const char *question, const char **ret, struct err *err)
{
    fprintf(stderr, "%s: ", question);
    fflush(stderr);
    return prompt_read_line(a, ret, err);
}

bool prompt_secret(struct arena *a, const char *question, const char **ret, struct err *err)
{
    struct termios old, quiet;
    bool hidden = tcgetattr(STDIN_FILENO, &old) == 0;
    if (hidden) {
        quiet = old;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    }
    bool ok = prompt_text(a, question, ret, err);
    if (hidden) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
        fputc('\n', stderr);
    }
    return ok;
}

bool prompt_sure(struct arena *a, const char *question)
{
    const char *answer;
    struct err ignored;
    if (!prompt_text(a, arena_printf(a, "%s [y/N]", question), &answer, &ignored))
        return false;
    return strcmp(answer, "y") == 0 || strcmp(answer, "yes") == 0;
}
