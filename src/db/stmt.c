#include "db/stmt.h"

#include "base/map.h"

struct entry {
    struct entry *newer, *older;
    void *handle;
    size_t n;
    char key[];
};

struct stmt_cache {
    struct map *map;
    struct entry *newest, *oldest;
    size_t max;
    void (*drop)(void *owner, void *handle);
    void *owner;
};

struct stmt_cache *stmt_cache_new(size_t max, void (*drop)(void *owner, void *handle), void *owner)
{
    struct stmt_cache *s = base_alloc(sizeof *s);
    *s = (struct stmt_cache){.map = map_new(), .max = max, .drop = drop, .owner = owner};
    return s;
}

static void unlink_entry(struct stmt_cache *s, struct entry *e)
{
    *(e->newer ? &e->newer->older : &s->newest) = e->older;
    *(e->older ? &e->older->newer : &s->oldest) = e->newer;
}

static void link_newest(struct stmt_cache *s, struct entry *e)
{
    e->newer = NULL;
    e->older = s->newest;
    *(s->newest ? &s->newest->newer : &s->oldest) = e;
    s->newest = e;
}

static void remove_entry(struct stmt_cache *s, struct entry *e)
{
    unlink_entry(s, e);
    map_remove(s->map, (struct str){e->key, e->n});
    s->drop(s->owner, e->handle);
    free(e);
}

void stmt_cache_free(struct stmt_cache *s)
{
    if (!s)
        return;
    for (struct entry *e = s->newest, *older; e; e = older) {
        older = e->older;
        s->drop(s->owner, e->handle);
        free(e);
    }
    map_free(s->map);
    free(s);
}

void *stmt_cache_get(struct stmt_cache *s, struct str key)
{
    struct entry *e = map_get(s->map, key);
    if (!e)
        return NULL;
    if (e != s->newest) {
        unlink_entry(s, e);
        link_newest(s, e);
    }
    return e->handle;
}

void stmt_cache_add(struct stmt_cache *s, struct str key, void *handle)
{
    if (map_count(s->map) >= s->max)
        remove_entry(s, s->oldest);
    struct entry *e = base_alloc(sizeof *e + key.n);
    *e = (struct entry){.handle = handle, .n = key.n};
    memcpy(e->key, key.p, key.n);
    map_set(s->map, key, e);
    link_newest(s, e);
}

void stmt_cache_drop(struct stmt_cache *s, struct str key)
{
    struct entry *e = map_get(s->map, key);
    if (e)
        remove_entry(s, e);
}
