/* The log of a program that a background task ran, a file, page by page: the answer ScriptLog. */
#ifndef INGOT_CORE_TASK_LOG_PAGE_H
#define INGOT_CORE_TASK_LOG_PAGE_H

#include "base/json.h"
#include "core/kind.h"

extern const struct field log_page_fields[]; /* of the action: `offset` */
/* A file that is not there is an empty log; one that began anew is read from its beginning. */
bool log_page(const char *path, int64_t from, struct json_out *out, struct err *err);
/* The last line that says something, for a reason; in the arena, of at most LOG_LINE_MAX bytes. */
#define LOG_LINE_MAX 300
struct str log_last_line(struct arena *a, const char *path);

#endif
