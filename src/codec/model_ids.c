/* Ids of shapes, spans and segments: given where there are none, and left out where only what is said counts.
 */
#include "base/hash.h"
#include "base/map.h"
#include "codec/model.h"

#include <stdio.h>

enum { ID_HEX = 9, ID_SIZE = 1 + ID_HEX };

struct giving {
    struct arena *a;
    struct map *taken;   /* ids of this annotation */
    struct map *numbers; /* hash of what an entry says -> how many said it before, plus 1 */
    struct buf text;
    uint32_t given;
};

/* The hash must be the same on every server and at every time, which hash64 is not. */
static void derive(const struct giving *g, uint64_t number, char ret[ID_SIZE + 1])
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX + 1];
    struct buf b = {0};
    buf_str(&b, buf_view(&g->text));
    buf_printf(&b, "#%llu", (unsigned long long)number);
    sha256_of(buf_view(&b), digest);
    buf_release(&b);
    hex_encode(digest, sizeof digest, hex);
    snprintf(ret, ID_SIZE + 1, "s%.*s", ID_HEX, hex);
}

/* How many entries before said the same. */
static uint64_t count_equal(struct giving *g)
{
    uint8_t digest[SHA256_SIZE];
    sha256_of(buf_view(&g->text), digest);
    struct str key = {(const char *)digest, sizeof digest};
    uintptr_t before = (uintptr_t)map_get(g->numbers, key);
    map_set(g->numbers, key, (void *)(before + 1)); // NOLINT(performance-no-int-to-ptr): a count, no address
    return before;
}

static void give(struct giving *g, struct str *id)
{
    char name[ID_SIZE + 1];
    uint64_t number = count_equal(g);
    do
        derive(g, number++, name);
    while (map_get(g->taken, (struct str){name, ID_SIZE}));
    *id = arena_str(g->a, (struct str){name, ID_SIZE});
    map_set(g->taken, *id, g);
    g->given++;
}

/* Takes the id unless another has it; false: one is to be given. */
static bool keep(struct giving *g, struct str *id)
{
    if (id->n && !map_set(g->taken, *id, g))
        return true;
    *id = STR_NULL;
    return false;
}

static void give_parts(struct giving *g, struct part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].id.n)
            continue;
        buf_clear(&g->text);
        model_write_part(&g->text, &parts[i]);
        give(g, &parts[i].id);
    }
}

static bool all_different(struct giving *g, struct annotation *n)
{
    bool ok = true;
    for (uint32_t i = 0; i < n->shape_count; i++)
        ok = keep(g, &n->shapes[i].id) && ok;
    for (uint32_t i = 0; i < n->span_count; i++)
        ok = keep(g, &n->spans[i].id) && ok;
    for (uint32_t i = 0; i < n->segment_count; i++)
        ok = keep(g, &n->segments[i].id) && ok;
    return ok;
}

uint32_t model_give_ids(struct arena *a, struct annotation *n)
{
    struct giving g = {.a = a, .taken = map_new(), .numbers = map_new()};
    if (!all_different(&g, n)) {
        for (uint32_t i = 0; i < n->shape_count; i++) {
            if (n->shapes[i].id.n)
                continue;
            buf_clear(&g.text);
            model_write_shape(&g.text, &n->shapes[i]);
            give(&g, &n->shapes[i].id);
        }
        give_parts(&g, n->spans, n->span_count);
        give_parts(&g, n->segments, n->segment_count);
    }
    map_free(g.taken);
    map_free(g.numbers);
    buf_release(&g.text);
    return g.given;
}

void model_drop_ids(struct annotation *n)
{
    for (uint32_t i = 0; i < n->shape_count; i++)
        n->shapes[i].id = STR_NULL;
    for (uint32_t i = 0; i < n->span_count; i++)
        n->spans[i].id = STR_NULL;
    for (uint32_t i = 0; i < n->segment_count; i++)
        n->segments[i].id = STR_NULL;
}

bool annotation_with_ids(struct arena *a, struct str json, struct str *ret_json, struct err *err)
{
    struct annotation n;
    if (!model_parse(a, MODEL_ANY, json, &n, err))
        return false;
    model_give_ids(a, &n);
    *ret_json = model_text(a, &n);
    return true;
}

bool annotation_without_ids(struct arena *a, struct str json, struct str *ret_json, struct err *err)
{
    static const char member[] = "\"id\"";
    if (!memmem(json.p, json.n, member, sizeof member - 1)) {
        *ret_json = json;
        return true;
    }
    struct annotation n;
    if (!model_parse(a, MODEL_ANY, json, &n, err))
        return false;
    model_drop_ids(&n);
    *ret_json = model_text(a, &n);
    return true;
}
