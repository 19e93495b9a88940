#include "core/data/label_rename.h"

#include "base/messages.h"
#include "core/data/label_rules.h"

/* One label of the two levels. */
struct place {
    struct str parent, name; /* parent: STR_NULL at the top */
    yyjson_val *label;
};

static bool is_at(const struct place *p, struct str given)
{
    if (str_eq(p->name, given))
        return true;
    struct str child, parent = str_cut(given, '/', &child);
    return p->parent.p && str_eq(parent, p->parent) && str_eq(child, p->name);
}

struct walk {
    struct place *item;
    size_t n;
};

static struct walk all_places(struct arena *a, yyjson_val *labels)
{
    struct walk w = {0};
    size_t i, n, j, m, count = 0;
    yyjson_val *label, *child;
    yyjson_arr_foreach(labels, i, n, label)
    {
        count += 1 + yyjson_arr_size(yyjson_obj_get(label, "children"));
    }
    w.item = arena_array(a, struct place, count + 1);
    yyjson_arr_foreach(labels, i, n, label)
    {
        struct str name = json_str(yyjson_obj_get(label, "name"));
        w.item[w.n++] = (struct place){STR_NULL, name, label};
        yyjson_arr_foreach(yyjson_obj_get(label, "children"), j, m, child)
        {
            w.item[w.n++] = (struct place){name, json_str(yyjson_obj_get(child, "name")), child};
        }
    }
    return w;
}

static size_t count_named(const struct walk *w, struct str name)
{
    size_t count = 0;
    for (size_t i = 0; i < w->n; i++)
        count += str_eq(w->item[i].name, name);
    return count;
}

static bool find_place(const struct walk *w, const char *field, struct str given, struct place *ret,
                       struct err *err)
{
    size_t count = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (!is_at(&w->item[i], given))
            continue;
        *ret = w->item[i];
        count++;
    }
    if (count > 1)
        return err_message(err, ERR_INVALID, field, MESSAGE_LABEL_AMBIGUOUS, field, STR_ARG(given));
    return count || err_message(err, ERR_INVALID, field, MESSAGE_LABEL_UNKNOWN, field, STR_ARG(given));
}

static struct str path_of(struct arena *a, struct str parent, struct str name)
{
    return parent.p ? str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(parent), STR_ARG(name))) : name;
}

/* --- the new list --- */

/* How it differs from the old one: one has another name, or some are gone. */
struct changes {
    yyjson_val *renamed;
    struct str name;
    yyjson_val *gone[LABEL_MERGE_MAX];
    size_t gone_count;
};

static bool is_gone(const struct changes *c, yyjson_val *label)
{
    for (size_t i = 0; i < c->gone_count; i++)
        if (c->gone[i] == label)
            return true;
    return false;
}

static void write_list(struct json_out *o, yyjson_val *list, const struct changes *c);

static void write_label(struct json_out *o, yyjson_val *label, const struct changes *c)
{
    size_t i, n;
    yyjson_val *key, *value;
    json_object(o);
    yyjson_obj_foreach(label, i, n, key, value)
    {
        struct str k = json_str(key);
        json_key(o, yyjson_get_str(key));
        if (str_is(k, "name") && label == c->renamed)
            json_string(o, c->name);
        else if (str_is(k, "children") && yyjson_is_arr(value))
            write_list(o, value, c);
        else
            json_value(o, value);
    }
    json_object_end(o);
}

static void write_list(struct json_out *o, yyjson_val *list, const struct changes *c)
{
    size_t i, n;
    yyjson_val *label;
    json_array(o);
    yyjson_arr_foreach(list, i, n, label)
    {
        if (!is_gone(c, label))
            write_label(o, label, c);
    }
    json_array_end(o);
}

static struct str new_list(struct arena *a, yyjson_val *labels, const struct changes *c)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    write_list(&o, labels, c);
    return arena_str(a, buf_view(&text));
}

/* --- names --- */

static void add_name(struct label_renamed *r, struct str from, struct str to)
{
    if (!str_eq(from, to))
        r->names[r->count++] = (struct relabel){from, to};
}

bool label_rename(struct arena *a, yyjson_val *labels, struct str from, struct str to,
                  struct label_renamed *ret, struct err *err)
{
    struct walk w = all_places(a, labels);
    struct place p;
    size_t i, n;
    yyjson_val *children, *child;
    if (!find_place(&w, "from", from, &p, err))
        return false;
    if (count_named(&w, to))
        return err_message(err, ERR_CONFLICT, "to", MESSAGE_LABEL_TAKEN, STR_ARG(to));
    children = yyjson_obj_get(p.label, "children");
    struct label_renamed r = {.names = arena_array(a, struct relabel, yyjson_arr_size(children) + 2)};
    if (count_named(&w, p.name) == 1)
        add_name(&r, p.name, to);
    if (p.parent.p)
        add_name(&r, path_of(a, p.parent, p.name), path_of(a, p.parent, to));
    yyjson_arr_foreach(children, i, n, child)
    {
        struct str name = json_str(yyjson_obj_get(child, "name"));
        add_name(&r, path_of(a, p.name, name), path_of(a, to, name));
    }
    r.labels = new_list(a, labels, &(struct changes){.renamed = p.label, .name = to});
    *ret = r;
    return true;
}

static bool may_merge(const struct place *from, const struct place *to, struct err *err)
{
    size_t points = yyjson_arr_size(yyjson_obj_get(from->label, "keypoints")),
           others = yyjson_arr_size(yyjson_obj_get(to->label, "keypoints"));
    if (from->label == to->label)
        return err_message(err, ERR_INVALID, "from", MESSAGE_LABEL_ITSELF, STR_ARG(from->name));
    if (yyjson_arr_size(yyjson_obj_get(from->label, "children")))
        return err_message(err, ERR_CONFLICT, "from", MESSAGE_LABEL_CHILDREN, STR_ARG(from->name));
    return points == others || err_message(err, ERR_CONFLICT, "from", MESSAGE_LABEL_SKELETONS,
                                           STR_ARG(from->name), STR_ARG(to->name));
}

/* Where the labels of the list are, each once. */
static bool find_sources(const struct walk *w, yyjson_val *from, const struct place *to, struct place *ret,
                         struct changes *c, struct err *err)
{
    size_t i, n;
    yyjson_val *v;
    if (!yyjson_is_arr(from) || yyjson_arr_size(from) < 1 || yyjson_arr_size(from) > LABEL_MERGE_MAX)
        return err_message(err, ERR_INVALID, "from", MESSAGE_LABEL_MERGE_COUNT, LABEL_MERGE_MAX);
    yyjson_arr_foreach(from, i, n, v)
    {
        struct place p;
        if (!find_place(w, "from", json_str(v), &p, err) || !may_merge(&p, to, err))
            return false;
        if (is_gone(c, p.label))
            continue;
        ret[c->gone_count] = p;
        c->gone[c->gone_count++] = p.label;
    }
    return true;
}

static size_t count_left(const struct walk *w, const struct place *gone, size_t n, struct str name)
{
    size_t count = count_named(w, name);
    for (size_t i = 0; i < n; i++)
        count -= str_eq(gone[i].name, name);
    return count;
}

bool label_merge(struct arena *a, yyjson_val *labels, yyjson_val *from, struct str to,
                 struct label_renamed *ret, struct err *err)
{
    struct walk w = all_places(a, labels);
    struct place target, p[LABEL_MERGE_MAX];
    struct changes c = {0};
    if (!find_place(&w, "to", to, &target, err) || !find_sources(&w, from, &target, p, &c, err))
        return false;
    size_t n = c.gone_count;
    struct label_renamed r = {.names = arena_array(a, struct relabel, 2 * n)};
    bool alone = count_left(&w, p, n, target.name) == 1;
    struct str name = alone ? target.name : path_of(a, target.parent, target.name);
    for (size_t i = 0; i < n; i++) {
        if (count_left(&w, p, n, p[i].name) == 0)
            add_name(&r, p[i].name, name);
        if (p[i].parent.p)
            add_name(&r, path_of(a, p[i].parent, p[i].name), name);
    }
    r.labels = new_list(a, labels, &c);
    *ret = r;
    return true;
}

size_t label_names(struct arena *a, yyjson_val *labels, struct str name, struct str ret[2])
{
    struct walk w = all_places(a, labels);
    struct place p;
    struct err ignored = {0};
    size_t n = 0;
    if (!find_place(&w, "labels", name, &p, &ignored)) {
        ret[n++] = name;
        return n;
    }
    if (count_named(&w, p.name) == 1)
        ret[n++] = p.name;
    if (p.parent.p)
        ret[n++] = path_of(a, p.parent, p.name);
    return n;
}

/* --- memory --- */

static bool names_it(const struct label_renamed *now, struct str name)
{
    for (size_t i = 0; i < now->count; i++)
        if (str_eq(now->names[i].from, name) || str_eq(now->names[i].to, name))
            return true;
    return false;
}

static void write_pair(struct json_out *o, struct str from, struct str to)
{
    json_array(o);
    json_string(o, from);
    json_string(o, to);
    json_array_end(o);
}

struct str label_remember(struct arena *a, yyjson_val *renames, const struct label_renamed *now)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    size_t i, n, all = yyjson_arr_size(renames) + now->count,
                 skip = all > LABEL_MAX_RENAMES ? all - LABEL_MAX_RENAMES : 0;
    yyjson_val *pair;
    json_begin(&o, &text);
    json_array(&o);
    yyjson_arr_foreach(renames, i, n, pair)
    {
        struct str from = json_str(yyjson_arr_get(pair, 0)), to = json_str(yyjson_arr_get(pair, 1));
        /* What had become this has become that; what is called so now, or was until now, is no former. */
        if (i >= skip && !names_it(now, from))
            write_pair(&o, from, relabel_name(now->names, now->count, to));
    }
    for (i = 0; i < now->count; i++)
        write_pair(&o, now->names[i].from, now->names[i].to);
    json_array_end(&o);
    return arena_str(a, buf_view(&text));
}
