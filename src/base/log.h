/* The program's log: one line per event on standard error, `time level thread message`, thread-safe, one
 * write(2) each. Only outermost layers log; nothing is both logged and returned as an error. */
#ifndef INGOT_BASE_LOG_H
#define INGOT_BASE_LOG_H

#include "base/base.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

void log_set_level(enum log_level level);
bool log_level_from(const char *name, enum log_level *ret);
/* Where lines go besides (base/logbook.h), each with its newline; called by any thread. NULL: nowhere. */
typedef void log_sink_fn(const char *line, size_t n);
void log_also(log_sink_fn *sink);
void log_write(enum log_level level, const char *fmt, ...) printf_like(2, 3);

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
