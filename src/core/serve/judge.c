#include "core/serve/judge.h"

#include "base/messages.h"

#include <math.h>

#define LINEAR       16 /* times below are counted one by one, and each doubling above in so many parts */
#define OCTAVES_FROM 4  /* 2^4 is LINEAR */
#define MIN_REQUESTS 20
#define Z_SQUARED    15  /* one look: one in twenty thousand, on the canary's side */
#define EXACT_UP_TO  500 /* n q (1 - q): above, the binomial is as good as normal */

unsigned judge_bucket(uint64_t us)
{
    if (us < LINEAR)
        return (unsigned)us;
    if (us > UINT32_MAX)
        us = UINT32_MAX;
    unsigned octave = 63 - (unsigned)__builtin_clzll(us) - OCTAVES_FROM;
    return LINEAR + octave * LINEAR + (unsigned)((us >> octave) & (LINEAR - 1));
}

uint64_t judge_bucket_us(unsigned bucket)
{
    if (bucket < LINEAR)
        return bucket;
    unsigned octave = bucket / LINEAR - 1, part = bucket % LINEAR;
    return ((uint64_t)(LINEAR + part + 1) << octave) - 1;
}

void judge_add(struct judge_side *to, const struct judge_side *more)
{
    to->requests += more->requests;
    to->errors += more->errors;
    for (size_t i = 0; i < JUDGE_BUCKETS; i++)
        to->times[i] += more->times[i];
}

void judge_minus(const struct judge_side *a, const struct judge_side *b, struct judge_side *ret)
{
    struct judge_side r = {.requests = a->requests - b->requests, .errors = a->errors - b->errors};
    for (size_t i = 0; i < JUDGE_BUCKETS; i++)
        r.times[i] = a->times[i] - b->times[i];
    *ret = r;
}

static uint64_t answered(const struct judge_side *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < JUDGE_BUCKETS; i++)
        n += s->times[i];
    return n;
}

/* Of the rank-th shortest time, from 1. */
static uint64_t time_of_rank(const struct judge_side *s, uint64_t rank)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < JUDGE_BUCKETS; i++) {
        n += s->times[i];
        if (n >= rank)
            return judge_bucket_us(i);
    }
    return judge_bucket_us(JUDGE_BUCKETS - 1);
}

uint64_t judge_quantile(const struct judge_side *s, double q)
{
    uint64_t n = answered(s);
    double rank = ceil(q * (double)n);
    return n ? time_of_rank(s, rank < 1 ? 1 : (uint64_t)rank) : 0;
}

/* --- how sure --- */

/* The law of the iterated logarithm: with each doubling of the requests the interval has to last for more
 * looks. */
static double z_for(uint64_t n, uint64_t first)
{
    double doublings = n > first ? log2((double)n / (double)first) : 0;
    return sqrt(Z_SQUARED + 2 * log1p(doublings));
}

/* Wilson's interval of a proportion. */
static void wilson(uint64_t errors, uint64_t n, double z, double *ret_low, double *ret_high)
{
    if (n == 0) {
        *ret_low = 0;
        *ret_high = 1;
        return;
    }
    double count = (double)n, p = (double)errors / count, zz = z * z;
    double middle = (p + zz / (2 * count)) / (1 + zz / count);
    double half = z / (1 + zz / count) * sqrt(p * (1 - p) / count + zz / (4 * count * count));
    *ret_low = fmax(0, middle - half);
    *ret_high = fmin(1, middle + half);
}

static double rate(const struct judge_side *s)
{
    return s->requests ? (double)s->errors / (double)s->requests : 0;
}

/* How much more of the canary's requests fail, at the least: the lower end of Newcombe's interval of the
 * difference. */
static double more_errors(const struct judge_side *production, const struct judge_side *canary, double z)
{
    double low, high, unused;
    wilson(canary->errors, canary->requests, z, &low, &unused);
    if (production->requests == 0)
        return low;
    wilson(production->errors, production->requests, z, &unused, &high);
    double p = rate(production), c = rate(canary);
    return c - p - sqrt((c - low) * (c - low) + (high - p) * (high - p));
}

/* Of n times, how many lie above their true quantile q: the smallest number that more than a part p of all
 * such draws do not exceed. */
static uint64_t above_quantile(uint64_t n, double q, double p, double z)
{
    double count = (double)n, spread = count * q * (1 - q);
    if (spread > EXACT_UP_TO)
        return (uint64_t)fmax(0, ceil(count * (1 - q) + (p < 0.5 ? -z : z) * sqrt(spread)));
    double chance = pow(q, count), sum = chance; /* of none */
    uint64_t k = 0;
    for (; k < n && sum <= p; k++) {
        chance *= (double)(n - k) / (double)(k + 1) * (1 - q) / q;
        sum += chance;
    }
    return k;
}

/* The interval of a quantile by the order of the times, without an idea of how they are spread: its ends are
 * times of certain ranks. UINT64_MAX and 0: there are too few for an end. */
static uint64_t quantile_at_most(const struct judge_side *s, double q, double z)
{
    uint64_t n = answered(s), k = above_quantile(n, q, 0.5 * erfc(z / sqrt(2)), z);
    return k == 0 || n == 0 ? UINT64_MAX : time_of_rank(s, n - k + 1);
}

static uint64_t quantile_at_least(const struct judge_side *s, double q, double z)
{
    uint64_t n = answered(s), k = above_quantile(n, q, 1 - 0.5 * erfc(z / sqrt(2)), z);
    return k >= n ? 0 : time_of_rank(s, n - k);
}

/* --- the rules --- */

static bool breaks_errors(const struct judge_rules *rules, const struct judge_side *production,
                          const struct judge_side *canary, double z, struct err *ret)
{
    if (rules->error_rate < 0 || more_errors(production, canary, z) <= rules->error_rate)
        return false;
    if (production->requests == 0) {
        err_message(ret, ERR_CONFLICT, NULL, MESSAGE_CANARY_ERRORS_ALONE, (unsigned long long)canary->errors,
                    (unsigned long long)canary->requests, 100 * rate(canary), 100 * rules->error_rate);
        return true;
    }
    err_message(ret, ERR_CONFLICT, NULL, MESSAGE_CANARY_ERRORS, (unsigned long long)canary->errors,
                (unsigned long long)canary->requests, 100 * rate(canary), 100 * rate(production),
                (unsigned long long)production->requests, 100 * rules->error_rate);
    return true;
}

static bool breaks_times(const struct judge_rules *rules, const struct judge_side *production,
                         const struct judge_side *canary, double z, struct err *ret)
{
    if (rules->p95_ratio <= 0)
        return false;
    uint64_t theirs = quantile_at_most(production, 0.95, z), own = quantile_at_least(canary, 0.95, z);
    if (theirs == UINT64_MAX || (double)own <= rules->p95_ratio * (double)theirs)
        return false;
    double p = (double)judge_quantile(production, 0.95), c = (double)judge_quantile(canary, 0.95);
    err_message(ret, ERR_CONFLICT, NULL, MESSAGE_CANARY_SLOW, c / 1000, p / 1000, c / fmax(p, 1),
                rules->p95_ratio, (unsigned long long)canary->requests);
    return true;
}

enum judge judge_canary(const struct judge_rules *rules, const struct judge_side *production,
                        const struct judge_side *canary, struct err *ret_reason)
{
    uint64_t first = rules->min_requests > 0 ? (uint64_t)rules->min_requests : MIN_REQUESTS;
    if (canary->requests < first)
        return JUDGE_WAIT;
    double z = z_for(canary->requests, first);
    return breaks_errors(rules, production, canary, z, ret_reason) ||
                   breaks_times(rules, production, canary, z, ret_reason)
               ? JUDGE_BAD
               : JUDGE_KEEP;
}
