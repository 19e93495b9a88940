#include "metric/matches.h"

#include <math.h>

#define MAGIC "INGOTMT1"

struct head {
    char magic[8];
    uint32_t type, label_count;
    uint64_t samples, found, truths, draws, figures, names;
};

struct matches *matches_new(enum annotation_type type)
{
    struct matches *m = base_zalloc(sizeof *m);
    m->type = type;
    arena_init(&m->arena);
    m->numbers = map_new();
    return m;
}

void matches_free(struct matches *m)
{
    if (!m)
        return;
    if (m->numbers) { /* it was made here; else all is in the arena */
        map_free(m->numbers);
        free(m->labels);
        free(m->samples);
        free(m->found);
        free(m->truth);
    }
    arena_release(&m->arena);
    free(m);
}

static void *one_more(void *p, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return p;
    *cap = *cap ? *cap * 2 : 64;
    return base_realloc(p, *cap * size);
}

static uint32_t number_of(struct matches *m, struct str label)
{
    uintptr_t known = (uintptr_t)map_get(m->numbers, label);
    if (known)
        return (uint32_t)(known - 1);
    m->labels = one_more(m->labels, m->label_count, &m->label_cap, sizeof *m->labels);
    m->labels[m->label_count] = arena_str(&m->arena, label);
    map_set(m->numbers, label, (void *)(uintptr_t)(m->label_count + 1));
    return (uint32_t)m->label_count++;
}

bool matches_begin(struct matches *m, int64_t id, uint32_t split, struct err *err)
{
    if (m->found_count > MATCHES_MAX_FOUND || m->truth_count > MATCHES_MAX_FOUND ||
        m->label_count > MATCHES_MAX_LABELS)
        return err_set(err, ERR_TOO_LARGE, NULL, "more than %zu things were found, or %d labels",
                       MATCHES_MAX_FOUND, MATCHES_MAX_LABELS);
    m->samples = one_more(m->samples, m->sample_count, &m->sample_cap, sizeof *m->samples);
    m->samples[m->sample_count++] = (struct matches_sample){.id = id,
                                                            .split = split,
                                                            .first_found = (uint32_t)m->found_count,
                                                            .first_truth = (uint32_t)m->truth_count};
    return true;
}

void matches_truth(struct matches *m, struct str label, uint32_t size)
{
    m->truth = one_more(m->truth, m->truth_count, &m->truth_cap, sizeof *m->truth);
    m->truth[m->truth_count++] = (struct matches_truth){number_of(m, label), size};
}

void matches_found(struct matches *m, struct str label, double score, uint32_t truth, uint32_t place,
                   unsigned flags)
{
    m->found = one_more(m->found, m->found_count, &m->found_cap, sizeof *m->found);
    m->found[m->found_count++] =
        (struct matches_found){(float)score, number_of(m, label), truth, place << 2 | flags};
}

void matches_errors(struct matches *m, double errors, double length)
{
    struct matches_sample *s = &m->samples[m->sample_count - 1];
    s->errors += (float)errors;
    s->length += (float)length;
}

static int by_score(const void *x, const void *y)
{
    const struct matches_found *a = x, *b = y;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

void matches_end(struct matches *m, bool kept)
{
    struct matches_sample *s = &m->samples[m->sample_count - 1];
    if (!kept) {
        m->found_count = s->first_found;
        m->truth_count = s->first_truth;
        m->sample_count--;
        return;
    }
    s->found_count = (uint32_t)(m->found_count - s->first_found);
    s->truth_count = (uint32_t)(m->truth_count - s->first_truth);
    if (s->found_count > 1)
        qsort(m->found + s->first_found, s->found_count, sizeof *m->found, by_score);
}

/* --- bytes --- */

static void put(struct buf *out, const void *p, size_t n)
{
    if (n)
        buf_add(out, p, n);
}

static void put_names(struct buf *out, const struct str *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put(out, names[i].p, names[i].n);
        buf_char(out, 0);
    }
}

void matches_write(const struct matches *m, struct buf *out)
{
    auto_buf struct buf names = {0};
    put_names(&names, m->labels, m->label_count);
    put_names(&names, m->figures, m->figure_count);
    struct head h = {.type = (uint32_t)m->type,
                     .label_count = (uint32_t)m->label_count,
                     .samples = m->sample_count,
                     .found = m->found_count,
                     .truths = m->truth_count,
                     .draws = m->draw_count,
                     .figures = m->figure_count,
                     .names = names.n};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    put(out, &h, sizeof h);
    put(out, m->samples, m->sample_count * sizeof *m->samples);
    put(out, m->draws, m->draw_count * m->figure_count * sizeof *m->draws);
    put(out, m->found, m->found_count * sizeof *m->found);
    put(out, m->truth, m->truth_count * sizeof *m->truth);
    put(out, names.p, names.n);
}

/* A piece of the bytes; copied, as it may lie at any address. */
static bool take(struct arena *a, struct str *left, uint64_t count, size_t size, void *ret)
{
    if (count > left->n / size)
        return false;
    size_t n = (size_t)count * size;
    void *p = n ? arena_copy(a, left->p, n) : arena_alloc(a, 1);
    memcpy(ret, &p, sizeof p);
    *left = (struct str){left->p + n, left->n - n};
    return true;
}

static struct str *take_names(struct arena *a, struct str *left, size_t n)
{
    struct str *names = arena_array(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        const char *end = left->n ? memchr(left->p, 0, left->n) : NULL;
        if (!end)
            return NULL;
        names[i] = (struct str){left->p, (size_t)(end - left->p)};
        *left = (struct str){end + 1, left->n - names[i].n - 1};
    }
    return names;
}

/* Every number that is used as one of a place is of a place that is there. */
static bool fits(const struct matches *m)
{
    for (size_t i = 0; i < m->sample_count; i++) {
        const struct matches_sample *s = &m->samples[i];
        if ((uint64_t)s->first_found + s->found_count > m->found_count ||
            (uint64_t)s->first_truth + s->truth_count > m->truth_count || isnan(s->errors) ||
            isnan(s->length))
            return false;
        for (uint32_t k = 0; k < s->found_count; k++) {
            const struct matches_found *f = &m->found[s->first_found + k];
            if (f->label >= m->label_count || (f->truth != MATCHES_NONE && f->truth >= s->truth_count) ||
                isnan(f->score))
                return false;
        }
    }
    for (size_t i = 0; i < m->truth_count; i++)
        if (m->truth[i].label >= m->label_count || (m->truth[i].size > 3 && m->truth[i].size != MATCHES_NONE))
            return false;
    return true;
}

static bool read_parts(struct matches *m, const struct head *h, struct str left)
{
    struct arena *a = &m->arena;
    m->type = (enum annotation_type)h->type;
    m->label_count = h->label_count;
    m->sample_count = (size_t)h->samples;
    m->found_count = (size_t)h->found;
    m->truth_count = (size_t)h->truths;
    m->draw_count = (size_t)h->draws;
    m->figure_count = (size_t)h->figures;
    if (h->figures > 1000 || h->draws > 100000 || h->label_count > MATCHES_MAX_LABELS * 2)
        return false;
    if (!take(a, &left, h->samples, sizeof *m->samples, &m->samples) ||
        !take(a, &left, h->draws * h->figures, sizeof *m->draws, &m->draws) ||
        !take(a, &left, h->found, sizeof *m->found, &m->found) ||
        !take(a, &left, h->truths, sizeof *m->truth, &m->truth) || left.n != h->names)
        return false;
    m->labels = take_names(a, &left, m->label_count);
    m->figures = m->labels ? take_names(a, &left, m->figure_count) : NULL;
    return m->figures && fits(m);
}

bool matches_read(struct str bytes, struct matches **ret, struct err *err)
{
    struct head h;
    struct matches *m = base_zalloc(sizeof *m);
    arena_init(&m->arena);
    bool ok = bytes.n >= sizeof h;
    if (ok) {
        memcpy(&h, bytes.p, sizeof h);
        ok = memcmp(h.magic, MAGIC, sizeof h.magic) == 0 && h.type < ANNOTATION_TYPE_COUNT &&
             read_parts(m, &h, (struct str){bytes.p + sizeof h, bytes.n - sizeof h});
    }
    if (!ok) {
        matches_free(m);
        return err_set(err, ERR_INVALID, NULL, "the matches of the evaluation are damaged");
    }
    *ret = m;
    return true;
}
