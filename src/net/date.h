/* The texts of the current second, made once per loop and second. */
#ifndef INGOT_NET_DATE_H
#define INGOT_NET_DATE_H

#include "net/loop.h"

/* "Mon, 16 Nov 2026 09:51:30 GMT" */
const char *date_http(struct loop *l);
/* "2026-11-16T09:51:30" */
const char *date_log(struct loop *l);

#endif
