/* Time. Wall time is microseconds since 1970 UTC (what the database keeps); texts are RFC 3339 with a Z. */
#ifndef INGOT_BASE_CLOCK_H
#define INGOT_BASE_CLOCK_H

#include "base/str.h"

int64_t clock_now(void);   /* wall, microseconds */
uint64_t clock_mono(void); /* monotonic, nanoseconds */
#define CLOCK_TEXT_MAX 32
/* "2026-11-16T09:51:30.123456Z"; returns ret. */
char *clock_format(int64_t us, char ret[CLOCK_TEXT_MAX]);
/* Accepts RFC 3339 with Z or an offset, fraction optional. */
bool clock_parse(struct str s, int64_t *ret);
/* "Mon, 16 Nov 2026 09:51:30 GMT" for HTTP. */
char *clock_http(int64_t us, char ret[CLOCK_TEXT_MAX]);

#endif
