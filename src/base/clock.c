#include "base/clock.h"

#include <stdio.h>
#include <time.h>

enum { DAY = 86400 };

int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

uint64_t clock_mono(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct civil {
    int64_t year;
    int month, day, hour, minute, second, us, weekday; /* weekday 0 is Sunday */
};

/* Days since 1970 of a date of the proleptic Gregorian calendar; years counted from March so that the leap
 * day is a year's last. */
static int64_t days_of(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t yoe = year - era * 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static struct civil civil_of(int64_t us)
{
    struct civil c = {0};
    int64_t seconds = us / 1000000, rest = us % 1000000;
    if (rest < 0) {
        rest += 1000000;
        seconds--;
    }
    int64_t days = seconds / DAY, tod = seconds % DAY;
    if (tod < 0) {
        tod += DAY;
        days--;
    }
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    c.day = (int)(doy - (153 * mp + 2) / 5 + 1);
    c.month = (int)(mp < 10 ? mp + 3 : mp - 9);
    c.year = yoe + era * 400 + (c.month <= 2);
    c.hour = (int)(tod / 3600);
    c.minute = (int)(tod / 60 % 60);
    c.second = (int)(tod % 60);
    c.us = (int)rest;
    c.weekday = (int)(((days + 4) % 7 + 7) % 7);
    return c;
}

char *clock_format(int64_t us, char ret[CLOCK_TEXT_MAX])
{
    struct civil c = civil_of(us);
    snprintf(ret, CLOCK_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", (int)c.year, c.month, c.day, c.hour,
             c.minute, c.second, c.us);
    return ret;
}

char *clock_http(int64_t us, char ret[CLOCK_TEXT_MAX])
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct civil c = civil_of(us);
    snprintf(ret, CLOCK_TEXT_MAX, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * c.weekday, c.day,
             months + 3 * (c.month - 1), (int)c.year, c.hour, c.minute, c.second);
    return ret;
}

/* Takes n digits from the front of s. */
static bool take(struct str *s, size_t n, int *ret)
{
    int v = 0;
    if (s->n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        v = v * 10 + (s->p[i] - '0');
    }
    *s = (struct str){s->p + n, s->n - n};
    *ret = v;
    return true;
}

static bool skip(struct str *s, const char *any)
{
    if (s->n == 0 || s->p[0] == 0 || !strchr(any, s->p[0]))
        return false;
    *s = (struct str){s->p + 1, s->n - 1};
    return true;
}

static bool take_fraction(struct str *s, int *ret_us)
{
    int us = 0, digits = 0;
    while (s->n && s->p[0] >= '0' && s->p[0] <= '9') {
        if (digits++ < 6)
            us = us * 10 + (s->p[0] - '0');
        *s = (struct str){s->p + 1, s->n - 1};
    }
    for (int i = digits; i < 6; i++)
        us *= 10;
    *ret_us = us;
    return digits > 0;
}

static bool take_offset(struct str *s, int *ret_minutes)
{
    if (skip(s, "Zz")) {
        *ret_minutes = 0;
        return true;
    }
    int sign = s->n && s->p[0] == '-' ? -1 : 1, h, m;
    if (!skip(s, "+-") || !take(s, 2, &h) || !skip(s, ":") || !take(s, 2, &m) || h > 23 || m > 59)
        return false;
    *ret_minutes = sign * (h * 60 + m);
    return true;
}

bool clock_parse(struct str s, int64_t *ret)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    struct civil c = {0};
    int year, offset;
    if (!take(&s, 4, &year) || !skip(&s, "-") || !take(&s, 2, &c.month) || !skip(&s, "-") ||
        !take(&s, 2, &c.day) || !skip(&s, "Tt ") || !take(&s, 2, &c.hour) || !skip(&s, ":") ||
        !take(&s, 2, &c.minute) || !skip(&s, ":") || !take(&s, 2, &c.second))
        return false;
    if (skip(&s, ".") && !take_fraction(&s, &c.us))
        return false;
    if (!take_offset(&s, &offset) || s.n)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (c.month < 1 || c.month > 12 || c.day < 1 ||
        c.day > month_days[c.month - 1] + (c.month == 2 && leap) || c.hour > 23 || c.minute > 59 ||
        c.second > 60)
        return false;
    int64_t seconds =
        days_of(year, c.month, c.day) * DAY + c.hour * 3600 + (c.minute - offset) * 60 + c.second;
    *ret = seconds * 1000000 + c.us;
    return true;
}
