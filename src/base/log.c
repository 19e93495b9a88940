#include "base/log.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

enum { LINE_MAX_BYTES = 4096 };

static const char *const names[] = {
    [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"};

static atomic_int threshold = LOG_INFO;
static log_sink_fn *_Atomic also;

void log_also(log_sink_fn *sink)
{
    also = sink;
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&threshold, level, memory_order_relaxed);
}

bool log_level_from(const char *name, enum log_level *ret)
{
    for (size_t i = 0; i < countof(names); i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_write(enum log_level level, const char *fmt, ...)
{
    if ((int)level < atomic_load_explicit(&threshold, memory_order_relaxed))
        return;
    int saved = errno;
    char line[LINE_MAX_BYTES], time[CLOCK_TEXT_MAX], thread[16] = "";
    pthread_getname_np(pthread_self(), thread, sizeof thread);
    int head = snprintf(line, sizeof line, "%s %-5s %s ", clock_format(clock_now(), time), names[level],
                        thread[0] ? thread : "-");
    va_list args;
    va_start(args, fmt);
    errno = saved; /* for %m */
    int body = vsnprintf(line + head, sizeof line - (size_t)head - 1, fmt, args);
    va_end(args);
    size_t n = (size_t)head + (body < 0 ? 0 : (size_t)body);
    if (n > sizeof line - 2)
        n = sizeof line - 2;
    /* One event is one line, whatever a client put into it. */
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = ' ';
    line[n] = '\n';
    ssize_t done = write(STDERR_FILENO, line, n + 1);
    (void)done; /* there is nowhere left to tell */
    log_sink_fn *sink = also;
    if (sink)
        sink(line, n + 1);
    errno = saved;
}
