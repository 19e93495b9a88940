#include "core/account/failures.h"

#include "base/hash.h"

#include <pthread.h>

/* Sets of a few slots each; a new name takes the slot of its set that was used longest ago. */
enum { SETS = 1024, WAYS = 4 };
#define SECOND INT64_C(1000000)
#define FORGET (3600 * SECOND)

struct slot {
    uint64_t key; /* 0: empty */
    unsigned count;
    int64_t last, until;
};

struct failures {
    pthread_mutex_t lock;
    struct slot slots[SETS][WAYS];
};

/* What the two ways of counting allow. */
static const struct policy {
    unsigned free, longest; /* failures, seconds */
} by_address = {FAILURES_FREE, 900}, by_name = {4 * FAILURES_FREE, 60};

struct failures *failures_new(void)
{
    struct failures *f = base_zalloc(sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

void failures_free(struct failures *f)
{
    if (!f)
        return;
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* Case does not make another name, and only so much of a long one counts. */
static uint64_t key_of(struct str name, struct str address)
{
    char text[256];
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < 160; i++) {
        char c = name.p[i];
        text[n++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    text[n++] = 0;
    for (size_t i = 0; i < address.n && n < sizeof text; i++)
        text[n++] = address.p[i];
    uint64_t key = hash64((struct str){text, n});
    return key ? key : 1;
}

static struct slot *find(struct failures *f, uint64_t key)
{
    struct slot *set = f->slots[key % SETS];
    for (size_t i = 0; i < WAYS; i++)
        if (set[i].key == key)
            return &set[i];
    return NULL;
}

static struct slot *take(struct failures *f, uint64_t key)
{
    struct slot *s = find(f, key);
    if (s)
        return s;
    struct slot *set = f->slots[key % SETS];
    s = set;
    for (size_t i = 1; i < WAYS; i++)
        if (set[i].last < s->last)
            s = &set[i];
    *s = (struct slot){.key = key};
    return s;
}

static void count(struct failures *f, uint64_t key, struct policy p, int64_t now)
{
    struct slot *s = take(f, key);
    if (now - s->last > FORGET)
        s->count = 0;
    s->last = now;
    s->count++;
    if (s->count < p.free)
        return;
    unsigned doublings = s->count - p.free;
    unsigned wait = doublings < 16 ? 1u << doublings : p.longest;
    s->until = now + (wait < p.longest ? wait : p.longest) * SECOND;
}

static unsigned wait_of(struct failures *f, uint64_t key, int64_t now)
{
    const struct slot *s = find(f, key);
    if (!s || s->until <= now)
        return 0;
    return (unsigned)((s->until - now + SECOND - 1) / SECOND);
}

unsigned failures_wait(struct failures *f, struct str name, struct str address, int64_t now)
{
    pthread_mutex_lock(&f->lock);
    unsigned here = wait_of(f, key_of(name, address), now);
    unsigned anywhere = wait_of(f, key_of(name, STR_NULL), now);
    pthread_mutex_unlock(&f->lock);
    return here > anywhere ? here : anywhere;
}

void failures_add(struct failures *f, struct str name, struct str address, int64_t now)
{
    pthread_mutex_lock(&f->lock);
    count(f, key_of(name, address), by_address, now);
    count(f, key_of(name, STR_NULL), by_name, now);
    pthread_mutex_unlock(&f->lock);
}

void failures_clear(struct failures *f, struct str name, struct str address)
{
    pthread_mutex_lock(&f->lock);
    struct slot *s = find(f, key_of(name, address));
    if (s)
        *s = (struct slot){0};
    pthread_mutex_unlock(&f->lock);
}
