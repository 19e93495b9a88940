#include "core/data/document.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"

#define CLIENTS      4
#define CLIENT_BYTES 25
#define BLOAT        (64u << 10)

struct document {
    struct documents *of;
    struct document *newer, *older; /* by use */
    struct {
        int64_t sample, layer;
    } key;
    int64_t revision, stamp;
    enum annotation_type type;
    struct arena arena;
    size_t first, counted; /* bytes of the arena: as it was read; as `of` counts them */
    struct annotation n;
    struct map *entries; /* id -> struct str *, canonical text of a shape, span or segment */
    char clients[CLIENTS][CLIENT_BYTES];
    unsigned next_client;
};

struct documents {
    struct map *all; /* key -> struct document */
    struct document *newest, *oldest;
    size_t bytes;
    int64_t stamp;
};

struct documents *documents_new(void)
{
    struct documents *d = base_zalloc(sizeof *d);
    d->all = map_new();
    return d;
}

int64_t documents_stamp(struct documents *d)
{
    int64_t now = clock_now();
    d->stamp = now > d->stamp ? now : d->stamp + 1;
    return d->stamp;
}

static struct str key_of(const struct document *d)
{
    return (struct str){(const char *)&d->key, sizeof d->key};
}

/* --- order of use --- */

static void unlink_document(struct document *d)
{
    *(d->newer ? &d->newer->older : &d->of->newest) = d->older;
    *(d->older ? &d->older->newer : &d->of->oldest) = d->newer;
    d->newer = d->older = NULL;
}

static void link_newest(struct document *d)
{
    struct documents *all = d->of;
    d->older = all->newest;
    *(d->older ? &d->older->newer : &all->oldest) = d;
    all->newest = d;
}

static void drop(struct document *d)
{
    unlink_document(d);
    map_remove(d->of->all, key_of(d));
    d->of->bytes -= d->counted;
    map_free(d->entries);
    arena_release(&d->arena);
    free(d);
}

/* Counts what it takes now; the oldest others make room. */
static void settle(struct document *d)
{
    struct documents *all = d->of;
    size_t now = arena_size(&d->arena);
    all->bytes += now - d->counted;
    d->counted = now;
    for (struct document *last = all->oldest, *next; last != d; last = next) {
        if (all->bytes <= DOCUMENTS_MAX_BYTES && map_count(all->all) <= DOCUMENTS_MAX)
            return;
        next = last->newer;
        drop(last);
    }
}

void documents_free(struct documents *d)
{
    if (!d)
        return;
    for (struct document *last = d->oldest, *next; last; last = next) {
        next = last->newer;
        drop(last);
    }
    map_free(d->all);
    free(d);
}

/* --- finding and reading --- */

/* Operations leave memory behind: one that grew far beyond what it says is read again. */
static bool is_bloated(const struct document *d)
{
    return d->counted > 4 * d->first + BLOAT;
}

struct document *documents_find(struct documents *all, int64_t sample, int64_t layer, int64_t revision,
                                int64_t stamp)
{
    struct document wanted = {.key = {sample, layer}};
    struct document *d = map_get(all->all, key_of(&wanted));
    if (!d)
        return NULL;
    if (d->revision != revision || d->stamp != stamp || is_bloated(d)) {
        drop(d);
        return NULL;
    }
    unlink_document(d);
    link_newest(d);
    return d;
}

struct document *documents_read(struct documents *all, int64_t sample, int64_t layer,
                                enum annotation_type type, struct str json, struct err *err)
{
    struct document *d = base_zalloc(sizeof *d);
    *d = (struct document){.of = all, .key = {sample, layer}, .type = type, .entries = map_new()};
    arena_init(&d->arena);
    if (!model_parse(&d->arena, type, arena_str(&d->arena, json), &d->n, err)) {
        map_free(d->entries);
        arena_release(&d->arena);
        free(d);
        return NULL;
    }
    model_give_ids(&d->arena, &d->n); /* all have one, and no two the same: `entries` relies on it */
    d->first = arena_size(&d->arena);
    struct document *former = map_get(all->all, key_of(d));
    if (former)
        drop(former);
    map_set(all->all, key_of(d), d);
    link_newest(d);
    settle(d);
    return d;
}

void document_is_at(struct document *d, int64_t revision, int64_t stamp)
{
    d->revision = revision;
    d->stamp = stamp;
}

const struct annotation *document_annotation(const struct document *d)
{
    return &d->n;
}

/* --- changing --- */

bool document_apply(struct document *d, struct str json, uint32_t w, uint32_t h, struct operation *ret_op,
                    struct operation_outcome *ret, struct err *err)
{
    struct arena *a = &d->arena;
    yyjson_val *v = json_parse(a, arena_str(a, json), err);
    bool ok = v && operation_read(a, d->type, v, ret_op, err) &&
              operation_apply(a, d->type, &d->n, ret_op, w, h, ret, err);
    if (ok && (ret_op->kind == OPERATION_PUT || ret_op->kind == OPERATION_REMOVE))
        map_remove(d->entries, ret_op->shape_id);
    if (ok && (ret_op->kind == OPERATION_REPLACE || ret_op->kind == OPERATION_RELABEL)) {
        map_free(d->entries);
        d->entries = map_new();
        model_give_ids(a, &d->n);
    }
    settle(d);
    return ok;
}

/* --- writing --- */

/* The text of an entry, spelled once. */
static struct str keep_text(struct document *d, struct str id, const struct buf *b)
{
    struct str *known = arena_new(&d->arena, struct str);
    *known = arena_str(&d->arena, buf_view(b));
    map_set(d->entries, id, known);
    return *known;
}

static struct str shape_text(struct document *d, const struct shape *s)
{
    struct str *known = map_get(d->entries, s->id);
    if (known)
        return *known;
    auto_buf struct buf b = {0};
    model_write_shape(&b, s);
    return keep_text(d, s->id, &b);
}

static struct str part_text(struct document *d, const struct part *p)
{
    struct str *known = map_get(d->entries, p->id);
    if (known)
        return *known;
    auto_buf struct buf b = {0};
    model_write_part(&b, p);
    return keep_text(d, p->id, &b);
}

static void write_entries(struct document *d, struct buf *b, const char *key, const struct shape *shapes,
                          const struct part *parts, uint32_t count)
{
    if (!count || (!shapes && !parts))
        return;
    if (b->p[b->n - 1] != '{')
        buf_char(b, ',');
    buf_printf(b, "\"%s\":[", key);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buf_char(b, ',');
        buf_str(b, shapes ? shape_text(d, &shapes[i]) : part_text(d, &parts[i]));
    }
    buf_char(b, ']');
}

/* The keys of canonical text are sorted: attributes, labels and scores stand before the lists, the text
 * behind. */
void document_write(struct document *d, struct buf *b)
{
    const struct annotation *n = &d->n;
    struct annotation before = {
        .labels = n->labels, .scores = n->scores, .label_count = n->label_count, .attributes = n->attributes};
    struct annotation behind = {.text = n->text};
    auto_buf struct buf rest = {0};
    model_write(b, &before);
    b->n--; /* its brace */
    write_entries(d, b, "segments", NULL, n->segments, n->segment_count);
    write_entries(d, b, "shapes", n->shapes, NULL, n->shape_count);
    write_entries(d, b, "spans", NULL, n->spans, n->span_count);
    model_write(&rest, &behind);
    if (rest.n > 2 && b->p[b->n - 1] != '{')
        buf_char(b, ',');
    buf_add(b, rest.p + 1, rest.n - 1);
    settle(d);
}

struct str document_entry(struct document *d, struct str id)
{
    const struct annotation *n = &d->n;
    for (uint32_t i = 0; i < n->shape_count; i++)
        if (str_eq(n->shapes[i].id, id))
            return shape_text(d, &n->shapes[i]);
    const struct part *parts = n->span_count ? n->spans : n->segments;
    uint32_t count = n->span_count ? n->span_count : n->segment_count;
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(parts[i].id, id))
            return part_text(d, &parts[i]);
    return STR_NULL;
}

/* --- clients --- */

bool document_knows_client(const struct document *d, struct str client)
{
    for (size_t i = 0; i < CLIENTS; i++)
        if (str_is(client, d->clients[i]))
            return true;
    return false;
}

void document_note_client(struct document *d, struct str client)
{
    char *to = d->clients[d->next_client++ % CLIENTS];
    size_t n = client.n < CLIENT_BYTES ? client.n : CLIENT_BYTES - 1;
    memcpy(to, client.p, n);
    to[n] = '\0';
}
