#include "base/map.h"

#include "base/hash.h"

/* Open addressing, linear probing, at most 3/4 full; removing moves later entries back, so there are no
 * tombstones. */
struct slot {
    char *key; /* NULL: free */
    size_t n;
    uint64_t hash;
    void *value;
};

struct map {
    struct slot *slots;
    size_t size, count; /* size is a power of two */
};

struct map *map_new(void)
{
    struct map *m = base_alloc(sizeof *m);
    *m = (struct map){.slots = base_zalloc(8 * sizeof(struct slot)), .size = 8};
    return m;
}

void map_free(struct map *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->size; i++)
        free(m->slots[i].key);
    free(m->slots);
    free(m);
}

/* The slot that holds key, or the free one where it would go. */
static size_t find(const struct map *m, struct str key, uint64_t hash)
{
    size_t i = hash & (m->size - 1);
    while (m->slots[i].key &&
           (m->slots[i].hash != hash || !str_eq((struct str){m->slots[i].key, m->slots[i].n}, key)))
        i = (i + 1) & (m->size - 1);
    return i;
}

void *map_get(const struct map *m, struct str key)
{
    return m->slots[find(m, key, hash64(key))].value;
}

static void grow(struct map *m)
{
    struct map bigger = {.slots = base_zalloc(m->size * 2 * sizeof(struct slot)), .size = m->size * 2};
    for (size_t i = 0; i < m->size; i++) {
        struct slot *s = &m->slots[i];
        if (s->key)
            bigger.slots[find(&bigger, (struct str){s->key, s->n}, s->hash)] = *s;
    }
    free(m->slots);
    m->slots = bigger.slots;
    m->size = bigger.size;
}

void *map_set(struct map *m, struct str key, void *value)
{
    uint64_t hash = hash64(key);
    size_t i = find(m, key, hash);
    if (m->slots[i].key) {
        void *former = m->slots[i].value;
        m->slots[i].value = value;
        return former;
    }
    if ((m->count + 1) * 4 > m->size * 3) {
        grow(m);
        i = find(m, key, hash);
    }
    char *copy = base_alloc(key.n + 1);
    if (key.n)
        memcpy(copy, key.p, key.n);
    copy[key.n] = 0;
    m->slots[i] = (struct slot){copy, key.n, hash, value};
    m->count++;
    return NULL;
}

void *map_remove(struct map *m, struct str key)
{
    size_t mask = m->size - 1, hole = find(m, key, hash64(key));
    if (!m->slots[hole].key)
        return NULL;
    void *former = m->slots[hole].value;
    free(m->slots[hole].key);
    m->count--;
    for (size_t i = (hole + 1) & mask; m->slots[i].key; i = (i + 1) & mask) {
        size_t home = m->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole] = (struct slot){0};
    return former;
}

size_t map_count(const struct map *m)
{
    return m->count;
}

bool map_next(const struct map *m, size_t *i, struct str *ret_key, void **ret_value)
{
    for (; *i < m->size; ++*i) {
        const struct slot *s = &m->slots[*i];
        if (!s->key)
            continue;
        *ret_key = (struct str){s->key, s->n};
        *ret_value = s->value;
        ++*i;
        return true;
    }
    return false;
}
