#include "infer/trace.h"

#include "base/hash.h"

#include <stdio.h>

#define SPAN_HEX 16

/* Ids need to differ, not to be secret: one seed per thread, then splitmix64. */
static uint64_t next_random(void)
{
    static _Thread_local uint64_t state;
    if (!state)
        random_bytes(&state, sizeof state);
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* Lower-case hex, not all zero. */
static bool is_id(const char *p, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
            return false;
        any |= p[i] != '0';
    }
    return any;
}

/* "00-TRACE-SPAN-FLAGS"; later versions may go on after that. */
static bool valid(struct str h)
{
    if (h.n < 55 || h.p[2] != '-' || h.p[35] != '-' || h.p[52] != '-' || memcmp(h.p, "ff", 2) == 0)
        return false;
    char version[3] = {h.p[0], h.p[1], '1'}, flags[3] = {h.p[53], h.p[54], '1'};
    return is_id(version, 3) && is_id(flags, 3) && is_id(h.p + 3, TRACE_ID_HEX) &&
           is_id(h.p + 36, SPAN_HEX) && (h.n == 55 || (memcmp(h.p, "00", 2) != 0 && h.p[55] == '-'));
}

void trace_begin(struct trace *t, struct str header)
{
    const char *flags = "01";
    header = str_trim(header);
    bool goes_on = valid(header);
    if (goes_on)
        memcpy(t->id, header.p + 3, TRACE_ID_HEX);
    else
        snprintf(t->id, sizeof t->id, "%016llx%016llx", (unsigned long long)(next_random() | 1),
                 (unsigned long long)next_random());
    t->id[TRACE_ID_HEX] = 0;
    if (goes_on)
        flags = header.p + 53;
    snprintf(t->parent, sizeof t->parent, "00-%s-%016llx-%.2s", t->id,
             (unsigned long long)(next_random() | 1), flags);
}
