/* operation_apply: what each kind of operation does to an annotation in memory. */
#include "base/json.h"
#include "base/messages.h"
#include "codec/geometry.h"
#include "codec/operation.h"

#include <math.h>

struct applying {
    struct arena *a;
    enum annotation_type type;
    struct annotation *n;
    struct operation *op;
    uint32_t w, h;
    struct operation_outcome out;
    struct err *err;
};

/* ---- the list of the type, be it of shapes or of parts ---- */

struct list {
    enum model_list which;
    char *items;
    uint32_t count;
    size_t size, id_at;
};

static struct list list_of(const struct applying *ap)
{
    const struct annotation *n = ap->n;
    struct list l = {.which = model_list_of(ap->type), .size = sizeof(struct part)};
    l.id_at = offsetof(struct part, id);
    if (l.which == MODEL_SPANS) {
        l.items = (char *)n->spans;
        l.count = n->span_count;
    } else if (l.which == MODEL_SEGMENTS) {
        l.items = (char *)n->segments;
        l.count = n->segment_count;
    } else {
        l.items = (char *)n->shapes;
        l.count = n->shape_count;
        l.size = sizeof(struct shape);
        l.id_at = offsetof(struct shape, id);
    }
    return l;
}

static void list_set(const struct applying *ap, const struct list *l)
{
    struct annotation *n = ap->n;
    if (l->which == MODEL_SPANS) {
        n->spans = (void *)l->items;
        n->span_count = l->count;
    } else if (l->which == MODEL_SEGMENTS) {
        n->segments = (void *)l->items;
        n->segment_count = l->count;
    } else {
        n->shapes = (void *)l->items;
        n->shape_count = l->count;
    }
}

static struct str id_at(const struct list *l, uint32_t i)
{
    struct str id;
    memcpy(&id, l->items + i * l->size + l->id_at, sizeof id);
    return id;
}

/* The number of the entry of that id; the count when there is none. */
static uint32_t find(const struct list *l, struct str id)
{
    uint32_t i = 0;
    while (i < l->count && !str_eq(id_at(l, i), id))
        i++;
    return i;
}

static void list_cut(struct list *l, uint32_t i)
{
    char *at = l->items + i * l->size;
    memmove(at, at + l->size, (size_t)(l->count - i - 1) * l->size);
    l->count--;
}

static void list_insert(struct applying *ap, struct list *l, uint32_t i, const void *entry)
{
    struct annotation *n = ap->n;
    if (l->count >= n->room) {
        uint32_t room = l->count < 8 ? 16 : l->count * 2;
        char *items = arena_alloc(ap->a, room * l->size);
        if (l->count)
            memcpy(items, l->items, l->count * l->size);
        l->items = items;
        n->room = room;
    }
    char *at = l->items + i * l->size;
    memmove(at + l->size, at, (size_t)(l->count - i) * l->size);
    memcpy(at, entry, l->size);
    l->count++;
}

/* ---- limits of the whole annotation ---- */

struct load {
    uint64_t points, bytes; /* bytes: at most */
};

enum { NUMBER_BYTES = 26, ENTRY_BYTES = 420, ESCAPED = 6 };

static struct load load_of(const struct list *l, uint32_t i)
{
    const char *at = l->items + i * l->size;
    if (l->which != MODEL_SHAPES) {
        const struct part *p = (const void *)at;
        return (struct load){0, ENTRY_BYTES + ESCAPED * (p->id.n + p->label.n + p->text.n) + p->attributes.n};
    }
    const struct shape *s = (const void *)at;
    struct load load = {s->point_count, ENTRY_BYTES + s->attributes.n + 2 * s->counts.n};
    load.bytes += ESCAPED * (s->id.n + s->label.n + s->text.n + s->skeleton.n);
    for (uint32_t k = 0; k < s->ring_count; k++)
        load.points += s->rings[k].count;
    for (uint32_t k = 0; k < s->hole_count; k++)
        load.points += s->holes[k].count;
    load.bytes += load.points * 3 * NUMBER_BYTES + (s->ring_count + s->hole_count) * 2;
    return load;
}

static bool too_large(const struct applying *ap)
{
    return err_message(ap->err, ERR_INVALID, ap->op->kind == OPERATION_PUT ? "shape" : NULL,
                       MESSAGE_ANNOTATION_TOO_LARGE, ANNOTATION_MAX_BYTES >> 20);
}

/* The bytes are counted from above; only an annotation that could be too large by that is written to see. */
static bool within_limits(const struct applying *ap)
{
    const struct annotation *n = ap->n;
    struct list l = list_of(ap);
    struct load sum = {0, n->attributes.n + ESCAPED * n->text.n};
    for (uint32_t i = 0; i < l.count; i++) {
        struct load one = load_of(&l, i);
        sum.points += one.points;
        sum.bytes += one.bytes;
    }
    for (uint32_t i = 0; i < n->label_count; i++)
        sum.bytes += 2 * (ESCAPED * n->labels[i].n + NUMBER_BYTES);
    if (sum.points > ANNOTATION_MAX_POINTS)
        return err_message(ap->err, ERR_INVALID, "shape", MESSAGE_POINTS_TOO_MANY, ANNOTATION_MAX_POINTS);
    if (sum.bytes + ENTRY_BYTES <= ANNOTATION_MAX_BYTES)
        return true;
    auto_buf struct buf text = {0};
    model_write(&text, ap->n);
    return text.n <= ANNOTATION_MAX_BYTES || too_large(ap);
}

/* ---- shapes ---- */

/* The member that says where a shape of each kind lies. */
static const char *const places[] = {
    [SHAPE_BOX] = "shape.x",
    [SHAPE_POLYGON] = "shape.rings",
    [SHAPE_MASK] = "shape.counts",
    [SHAPE_KEYPOINTS] = "shape.points",
};

/* Points alone have no area and need none. */
static bool has_area(const struct shape *s)
{
    struct shape bare = *s;
    bare.has_area = false;
    return s->kind == SHAPE_KEYPOINTS || geometry_area_of(&bare) > 0;
}

static bool fit_shape(struct applying *ap)
{
    struct shape *s = &ap->op->shape;
    const char *place = places[s->kind];
    if (!has_area(s))
        return err_message(ap->err, ERR_INVALID, place, MESSAGE_SHAPE_NO_AREA, place);
    if (!ap->w || !ap->h)
        return true;
    if (s->counts.n && (s->size[0] != ap->h || s->size[1] != ap->w))
        return err_message(ap->err, ERR_INVALID, "shape.size", MESSAGE_SHAPE_MASK_SIZE, "shape.size",
                           s->size[1], s->size[0], ap->w, ap->h);
    enum model_fate fate = model_clip_shape(ap->a, s, ap->w, ap->h);
    if (fate == MODEL_GONE)
        return err_message(ap->err, ERR_INVALID, place, MESSAGE_SHAPE_OUTSIDE, place, ap->w, ap->h);
    ap->out.clipped = fate == MODEL_CHANGED;
    return true;
}

static void write_entry(struct buf *b, const struct list *l, uint32_t i)
{
    const void *at = l->items + i * l->size;
    if (l->which == MODEL_SHAPES)
        model_write_shape(b, at);
    else
        model_write_part(b, at);
}

/* Ids come at the first edit: what was imported long ago has none, and whoever edits knows the derived ones.
 */
static void need_ids(struct applying *ap)
{
    struct list l = list_of(ap);
    for (uint32_t i = 0; i < l.count; i++)
        if (!id_at(&l, i).n) {
            ap->out.changed = model_give_ids(ap->a, ap->n) > 0;
            return;
        }
}

/* The entry moves to another place, or comes in when it was not there (was is then the count). */
static void place_entry(struct applying *ap, struct list *l, uint32_t was, uint32_t to, const void *entry)
{
    if (was < l->count && to == was) {
        memcpy(l->items + to * l->size, entry, l->size);
        return;
    }
    if (was < l->count)
        list_cut(l, was);
    list_insert(ap, l, to, entry);
}

static bool put_entry(struct applying *ap, struct list *l, uint32_t was, uint32_t to, const void *entry)
{
    struct shape saved; /* the larger of what entries are */
    bool there = was < l->count;
    if (there)
        memcpy(&saved, l->items + was * l->size, l->size);
    place_entry(ap, l, was, to, entry);
    list_set(ap, l);
    if (within_limits(ap))
        return true;
    if (there)
        place_entry(ap, l, to, was, &saved);
    else
        list_cut(l, to);
    list_set(ap, l);
    return false;
}

static bool put(struct applying *ap)
{
    struct operation *op = ap->op;
    if (op->list == MODEL_SHAPES && !fit_shape(ap))
        return false;
    need_ids(ap);
    struct list l = list_of(ap);
    uint32_t was = find(&l, op->shape_id);
    bool there = was < l.count;
    if (!there && l.count >= ANNOTATION_MAX_SHAPES)
        return err_message(ap->err, ERR_INVALID, "shape", MESSAGE_SHAPES_TOO_MANY, ANNOTATION_MAX_SHAPES);
    uint32_t last = l.count - there;
    uint32_t to = op->at < 0 ? was : op->at > (int64_t)last ? last : (uint32_t)op->at;
    auto_buf struct buf old = {0}, now = {0};
    if (there)
        write_entry(&old, &l, was);
    if (!put_entry(ap, &l, was, to,
                   l.which == MODEL_SHAPES ? (const void *)&op->shape : (const void *)&op->part))
        return false;
    write_entry(&now, &l, to);
    ap->out.shape = arena_str(ap->a, buf_view(&now));
    ap->out.changed = ap->out.changed || !there || to != was || !str_eq(buf_view(&old), buf_view(&now));
    return true;
}

static bool take_away(struct applying *ap)
{
    need_ids(ap);
    struct list l = list_of(ap);
    uint32_t i = find(&l, ap->op->shape_id);
    if (i == l.count)
        return true;
    list_cut(&l, i);
    list_set(ap, &l);
    ap->out.changed = true;
    return true;
}

/* ---- the sample's own ---- */

static uint32_t find_label(const struct annotation *n, struct str label)
{
    uint32_t i = 0;
    while (i < n->label_count && !str_eq(n->labels[i], label))
        i++;
    return i;
}

/* The labels but the one at `without`, and one more if it is given: always a new list, since the old one may
 * be another operation's. */
static void rebuild_labels(struct applying *ap, uint32_t without, struct str more)
{
    struct annotation *n = ap->n;
    struct str *labels = arena_array(ap->a, struct str, n->label_count + 1);
    double *scores = n->scores ? arena_array(ap->a, double, n->label_count + 1) : NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->label_count; i++) {
        if (i == without)
            continue;
        labels[count] = n->labels[i];
        if (scores)
            scores[count] = n->scores[i];
        count++;
    }
    if (more.n) {
        labels[count] = more;
        if (scores)
            scores[count] = NAN;
        count++;
    }
    n->labels = labels;
    n->scores = scores;
    n->label_count = count;
}

static bool set_label(struct applying *ap)
{
    const struct annotation *n = ap->n;
    bool one = model_takes_one_label(ap->type), on = ap->op->on;
    uint32_t i = find_label(n, ap->op->label);
    ap->out.changed = (i < n->label_count) != on;
    if (!ap->out.changed)
        return true;
    if (on && !one && n->label_count >= ANNOTATION_MAX_LABELS)
        return err_message(ap->err, ERR_INVALID, "label", MESSAGE_SHAPES_TOO_MANY, ANNOTATION_MAX_LABELS);
    rebuild_labels(ap, on && one ? 0 : i, on ? ap->op->label : STR_NULL);
    return true;
}

static bool set_text(struct applying *ap)
{
    ap->out.changed = !str_eq(ap->n->text, ap->op->text);
    ap->n->text = ap->op->text;
    return true;
}

/* Keys of canonical text are in the order of their bytes. */
static bool comes_before(struct str x, struct str y)
{
    size_t n = x.n < y.n ? x.n : y.n;
    int c = memcmp(x.p, y.p, n);
    return c < 0 || (c == 0 && x.n < y.n);
}

static void put_member(struct buf *b, struct str key, struct str value)
{
    if (!value.p)
        return;
    buf_char(b, b->n ? ',' : '{');
    model_write_string(b, key);
    buf_char(b, ':');
    buf_str(b, value);
}

/* The attributes with the operation's, in the order of their keys. */
static void merge_attribute(struct buf *b, yyjson_val *v, const struct operation *op)
{
    auto_buf struct buf one = {0};
    bool written = false;
    size_t i, max;
    yyjson_val *key, *item;
    yyjson_obj_foreach(v, i, max, key, item)
    {
        struct str k = json_str(key);
        if (!written && !comes_before(k, op->name)) {
            put_member(b, op->name, op->value);
            written = true;
        }
        if (str_eq(k, op->name))
            continue;
        buf_clear(&one);
        model_write_value(&one, item);
        put_member(b, k, buf_view(&one));
    }
    if (!written)
        put_member(b, op->name, op->value);
    if (b->n)
        buf_char(b, '}');
}

static bool set_attribute(struct applying *ap)
{
    struct str old = ap->n->attributes;
    yyjson_val *v = json_parse(ap->a, old.n ? old : STR("{}"), ap->err);
    if (!v)
        return false;
    auto_buf struct buf b = {0};
    merge_attribute(&b, v, ap->op);
    if (b.n > MODEL_MAX_ATTRIBUTES)
        return err_message(ap->err, ERR_INVALID, "value", MESSAGE_ATTRIBUTES_TOO_LARGE,
                           MODEL_MAX_ATTRIBUTES / 1024);
    ap->out.changed = !str_eq(buf_view(&b), old);
    ap->n->attributes = b.n ? arena_str(ap->a, buf_view(&b)) : STR_NULL;
    return true;
}

/* ---- the whole ---- */

static bool cut_shapes(struct applying *ap, struct annotation *n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->shape_count; i++) {
        const struct shape *s = &n->shapes[i];
        char place[40];
        snprintf(place, sizeof place, "shapes[%u].size", i);
        if (s->counts.n && (s->size[0] != ap->h || s->size[1] != ap->w))
            return err_message(ap->err, ERR_INVALID, place, MESSAGE_SHAPE_MASK_SIZE, place, s->size[1],
                               s->size[0], ap->w, ap->h);
    }
    for (uint32_t i = 0; i < n->shape_count; i++) {
        enum model_fate fate = model_clip_shape(ap->a, &n->shapes[i], ap->w, ap->h);
        ap->out.clipped = ap->out.clipped || fate == MODEL_CHANGED;
        ap->out.dropped += fate == MODEL_GONE;
        if (fate != MODEL_GONE)
            n->shapes[kept++] = n->shapes[i];
    }
    n->shape_count = kept;
    return true;
}

static bool replace(struct applying *ap)
{
    struct annotation *with = &ap->op->annotation;
    if (ap->w && ap->h && !cut_shapes(ap, with))
        return false;
    auto_buf struct buf old = {0}, now = {0};
    model_write(&old, ap->n);
    model_write(&now, with);
    if (now.n > ANNOTATION_MAX_BYTES)
        return too_large(ap);
    ap->out.changed = !str_eq(buf_view(&old), buf_view(&now));
    *ap->n = *with;
    /* op keeps its own list: later operations move the entries of n. */
    struct list l = list_of(ap);
    if (l.count)
        l.items = arena_copy(ap->a, l.items, l.count * l.size);
    list_set(ap, &l);
    return true;
}

static bool relabel(struct applying *ap)
{
    ap->out.changed = relabel_all(ap->a, ap->n, ap->op->names, ap->op->name_count);
    return true;
}

bool operation_apply(struct arena *a, enum annotation_type type, struct annotation *n, struct operation *op,
                     uint32_t w, uint32_t h, struct operation_outcome *ret, struct err *err)
{
    static bool (*const apply[])(struct applying * ap) = {
        [OPERATION_PUT] = put,         [OPERATION_REMOVE] = take_away,        [OPERATION_LABEL] = set_label,
        [OPERATION_TEXT] = set_text,   [OPERATION_ATTRIBUTE] = set_attribute, [OPERATION_REPLACE] = replace,
        [OPERATION_RELABEL] = relabel,
    };
    struct applying ap = {.a = a, .type = type, .n = n, .op = op, .w = w, .h = h, .err = err};
    struct annotation before = *n;
    bool own = op->kind != OPERATION_PUT && op->kind != OPERATION_REMOVE && op->kind != OPERATION_REPLACE;
    if (!apply[op->kind](&ap))
        return false;
    if (own && !within_limits(&ap)) {
        *n = before;
        return false;
    }
    *ret = ap.out;
    return true;
}
