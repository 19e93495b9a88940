#include "net/traffic.h"

#include "base/metric.h"

#include <stdio.h>

static const char *const methods[] = {"GET",    "HEAD",    "POST",    "PUT",  "PATCH",
                                      "DELETE", "OPTIONS", "CONNECT", "other"};
static const char *const classes[TRAFFIC_COUNT] = {
    [TRAFFIC_OTHER] = "other",       [TRAFFIC_API] = "api", [TRAFFIC_UPLOAD] = "upload",
    [TRAFFIC_REGISTRY] = "registry", [TRAFFIC_WEB] = "web", [TRAFFIC_TOOLS] = "tools",
    [TRAFFIC_SERVICES] = "services"};
/* 499: the client left before it was answered. 0: any other. */
static const int statuses[] = {200, 101, 201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 400,
                               401, 403, 404, 405, 408, 409, 410, 411, 412, 413, 414, 415, 416,
                               422, 428, 429, 431, 499, 500, 501, 502, 503, 504, 507, 0};

static struct {
    _Alignas(64) metric_number count[TRAFFIC_COUNT][countof(methods)][countof(statuses)];
} shards[METRIC_SHARDS];
static struct metric_times times[TRAFFIC_COUNT];

void traffic_answered(struct str method, enum traffic class, int status, uint64_t us)
{
    size_t m = 0, s = 0;
    while (m < countof(methods) - 1 && !str_is(method, methods[m]))
        m++;
    while (s < countof(statuses) - 1 && statuses[s] != status)
        s++;
    metric_add(&shards[metric_shard()].count[class][m][s], 1);
    metric_took(&times[class], us);
}

static uint64_t counted(size_t class, size_t m, size_t s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < METRIC_SHARDS; i++)
        n += metric_read(&shards[i].count[class][m][s]);
    return n;
}

void traffic_write_counts(struct buf *out, const char *name)
{
    for (size_t i = 0; i < TRAFFIC_COUNT * countof(methods) * countof(statuses); i++) {
        size_t s = i % countof(statuses), m = i / countof(statuses) % countof(methods),
               c = i / countof(statuses) / countof(methods);
        uint64_t n = counted(c, m, s);
        char status[12] = "other";
        if (statuses[s])
            snprintf(status, sizeof status, "%d", statuses[s]);
        const char *labels[] = {"method", methods[m], "class", classes[c], "status", status, NULL};
        if (n)
            metric_value(out, name, "_total", labels, (double)n);
    }
}

void traffic_write_times(struct buf *out, const char *name)
{
    for (size_t c = 0; c < TRAFFIC_COUNT; c++)
        metric_times_write(out, name, (const char *[]){"class", classes[c], NULL}, &times[c]);
}
