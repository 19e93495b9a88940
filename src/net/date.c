#include "net/date.h"

#include "base/clock.h"

#include <time.h>

static void refresh(struct loop *l)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec == l->date_second)
        return;
    l->date_second = now.tv_sec;
    char text[CLOCK_TEXT_MAX];
    memcpy(l->date, clock_http(now.tv_sec * INT64_C(1000000), text), sizeof text);
    memcpy(l->stamp, clock_format(now.tv_sec * INT64_C(1000000), text), sizeof text);
    l->stamp[19] = '\0';
}

const char *date_http(struct loop *l)
{
    refresh(l);
    return l->date;
}

const char *date_log(struct loop *l)
{
    refresh(l);
    return l->stamp;
}
