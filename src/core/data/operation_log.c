#include "core/data/operation_log.h"

#include "base/json.h"
#include "codec/operation.h"

#define COLUMNS "revision, at, by_user, state, client, number, target, body"
#define EVER    INT64_MAX

/* Whoever is further behind than so many operations conflicts with whatever happened since. */
#define BEHIND_MAX 4096

bool operation_log_add(struct db_conn *c, const struct operation_place *p, const struct operation_entry *e,
                       struct err *err)
{
    return conn_exec(
        c, "INSERT INTO sample_operations (sample, layer, " COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        db_args(db_int(p->sample), db_int(p->layer), db_int(e->revision), db_int(e->at), db_int(e->by),
                db_int(e->state), db_text(e->client), db_int(e->number), db_text(e->target),
                db_text(e->body)),
        NULL, err);
}

static bool query(struct db *db, struct db_conn *c, struct arena *a, const char *sql, struct db_args args,
                  struct db_rows *ret, struct err *err)
{
    return c ? conn_query(c, a, sql, args, ret, err) : db_query(db, a, sql, args, ret, err);
}

/* --- packs --- */

/* The section in that pack; *found false when there is no such pack, or nothing of the place in it. */
static bool read_pack(struct db *db, struct db_conn *c, struct arena *a, const struct operation_place *p,
                      int64_t pack, struct operation_section *ret, bool *found, struct err *err)
{
    struct db_rows rows;
    *found = false;
    if (!pack)
        return true;
    if (!query(db, c, a, "SELECT data FROM operation_packs WHERE id = ?", db_args(db_int(pack)), &rows, err))
        return false;
    return !rows.n || operation_pack_read(a, rows.row[0].v[0].s, p->sample, p->layer, ret, found, err);
}

bool operation_log_find(struct db_conn *c, struct arena *a, const struct operation_place *p,
                        struct str client, int64_t number, bool packs, int64_t *ret_revision, bool *found,
                        struct err *err)
{
    struct db_row row;
    if (!conn_query_one(c, a,
                        "SELECT revision FROM sample_operations WHERE sample = ? AND layer = ?"
                        " AND client = ? AND number = ?",
                        db_args(db_int(p->sample), db_int(p->layer), db_text(client), db_int(number)), &row,
                        found, err))
        return false;
    if (*found)
        *ret_revision = row.v[0].i;
    struct operation_section s = {0};
    bool more = packs && !*found;
    for (int64_t pack = p->pack; more && pack; pack = s.before) {
        if (!read_pack(NULL, c, a, p, pack, &s, &more, err))
            return false;
        for (size_t i = 0; more && i < s.n; i++)
            if (s.entries[i].number == number && str_eq(s.entries[i].client, client)) {
                *ret_revision = s.entries[i].revision;
                *found = true;
                return true;
            }
    }
    return true;
}

bool operation_log_packs_name(struct db_conn *c, struct arena *a, const struct operation_place *p,
                              struct str client, bool *ret, struct err *err)
{
    struct operation_section s = {0};
    bool more = true;
    *ret = false;
    for (int64_t pack = p->pack; more && pack && !*ret; pack = s.before) {
        if (!read_pack(NULL, c, a, p, pack, &s, &more, err))
            return false;
        for (size_t i = 0; more && i < s.n && !*ret; i++)
            *ret = str_eq(s.entries[i].client, client);
    }
    return true;
}

/* --- reading in order --- */

static struct operation_entry row_entry(const struct db_row *row)
{
    const struct db_value *v = row->v;
    return (struct operation_entry){.revision = v[0].i,
                                    .at = v[1].i,
                                    .by = v[2].i,
                                    .state = (enum sample_state)v[3].i,
                                    .client = v[4].s,
                                    .number = v[5].i,
                                    .target = v[6].s,
                                    .body = v[7].s};
}

/* Packs from the newest to the oldest that may have something above `low`; in the order of revisions in
 * ret[0..n). */
#define CHAIN_MAX 1024
static bool read_chain(struct db *db, struct db_conn *c, struct arena *a, const struct operation_place *p,
                       int64_t low, struct operation_section **ret, size_t *ret_n, struct err *err)
{
    struct operation_section s = {0}, *list = arena_array(a, struct operation_section, CHAIN_MAX);
    size_t n = 0;
    bool more = true;
    for (int64_t pack = p->pack; more && pack && n < CHAIN_MAX; pack = s.before) {
        if (!read_pack(db, c, a, p, pack, &s, &more, err))
            return false;
        if (more)
            list[n++] = s;
        if (more && s.n && s.entries[0].revision <= low)
            break;
    }
    for (size_t i = 0; i < n / 2; i++) {
        struct operation_section t = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = t;
    }
    *ret = list;
    *ret_n = n;
    return true;
}

struct collecting {
    struct operation_entry *list;
    size_t n;
    int64_t low, high;
};

static void collect(struct collecting *k, const struct operation_entry *e)
{
    if (e->revision > k->low && e->revision < k->high)
        k->list[k->n++] = *e;
}

bool operation_log_range(struct db *db, struct db_conn *c, struct arena *a, const struct operation_place *p,
                         int64_t low, int64_t high, size_t limit, bool oldest, struct operation_entry **ret,
                         size_t *ret_n, struct err *err)
{
    struct db_rows rows;
    struct operation_section *packs;
    size_t n_packs, most = 0;
    const char *sql = oldest ? "SELECT " COLUMNS " FROM sample_operations WHERE sample = ? AND layer = ?"
                               " AND revision > ? AND revision < ? ORDER BY revision LIMIT ?"
                             : "SELECT " COLUMNS " FROM sample_operations WHERE sample = ? AND layer = ?"
                               " AND revision > ? AND revision < ? ORDER BY revision DESC LIMIT ?";
    if (!query(
            db, c, a, sql,
            db_args(db_int(p->sample), db_int(p->layer), db_int(low), db_int(high), db_int((int64_t)limit)),
            &rows, err))
        return false;
    /* The newest are in rows; packs are only read when those were not enough. */
    const struct operation_place none = {0};
    const struct operation_place *packed = !oldest && rows.n == limit ? &none : p;
    if (!read_chain(db, c, a, packed, low, &packs, &n_packs, err))
        return false;
    for (size_t i = 0; i < n_packs; i++)
        most += packs[i].n;
    struct collecting k = {arena_array(a, struct operation_entry, most + rows.n + 1), 0, low, high};
    for (size_t i = 0; i < n_packs; i++)
        for (size_t j = 0; j < packs[i].n; j++)
            collect(&k, &packs[i].entries[j]);
    for (size_t i = 0; i < rows.n; i++) {
        struct operation_entry e = row_entry(&rows.row[oldest ? i : rows.n - 1 - i]);
        collect(&k, &e);
    }
    size_t n = k.n < limit ? k.n : limit;
    *ret = oldest ? k.list : k.list + (k.n - n);
    *ret_n = n;
    return true;
}

bool operation_log_text(struct arena *a, const struct operation_entry *e, struct str *ret, struct err *err)
{
    yyjson_val *v = json_parse(a, e->body, err), *key, *value;
    auto_buf struct buf b = {0};
    struct json_out o;
    size_t i, max;
    if (!v)
        return false;
    json_begin(&o, &b);
    json_object(&o);
    yyjson_obj_foreach(v, i, max, key, value)
    {
        json_key(&o, yyjson_get_str(key));
        if (str_is(json_str(key), "id"))
            json_string(&o, e->client.n ? str_of(arena_printf(a, STR_FMT ".%lld", STR_ARG(e->client),
                                                              (long long)e->number))
                                        : STR_NULL);
        else
            json_value(&o, value);
    }
    json_object_end(&o);
    *ret = arena_str(a, buf_view(&b));
    return true;
}

/* --- without gaps --- */

/* Entries and states of the revisions from first on, each at its place; a place that is not known is 0. */
struct window {
    int64_t first;
    size_t n;
    struct operation_entry *entries;
    struct sample_past *states; /* [0] is the one before the first */
};

static void put_state(struct window *w, const struct sample_past *s)
{
    if (s->revision >= w->first - 1 && s->revision < w->first + (int64_t)w->n)
        w->states[s->revision - w->first + 1] = *s;
}

/* The states that are kept whole: rows, what packs took of them, and the sample as it is. */
static bool read_states(struct db *db, struct arena *a, const struct operation_place *p,
                        const struct sample *now, struct window *w, struct err *err)
{
    struct db_rows rows;
    struct operation_section *packs;
    size_t n;
    int64_t low = w->first - 1, last = low + (int64_t)w->n;
    if (!db_query(db, a,
                  "SELECT revision, at, by_user, state, annotation FROM sample_history WHERE sample = ?"
                  " AND revision >= ? AND revision <= ?",
                  db_args(db_int(p->sample), db_int(low), db_int(last)), &rows, err) ||
        !read_chain(db, NULL, a, p, low, &packs, &n, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        put_state(w, &(struct sample_past){v[0].i, v[1].i, v[2].i, (enum sample_state)v[3].i, v[4].s});
    }
    for (size_t i = 0; i < n; i++)
        if (packs[i].base.revision)
            put_state(w, &packs[i].base);
    put_state(w, &(struct sample_past){now->revision, now->updated_at, now->updated_by, now->state,
                                       now->annotation});
    return true;
}

/* What made the state s; before it was `was`, with revision 0 when that is not known. */
static struct operation_entry entry_between(struct arena *a, const struct sample_past *was,
                                            const struct sample_past *s)
{
    struct operation_entry e = {
        .revision = s->revision, .at = s->at, .by = s->by, .state = s->state, .client = STR("")};
    bool same = was->revision && str_eq(was->annotation, s->annotation);
    const char *op = s->revision == 1 ? "create" : "replace";
    e.body = same ? STR("{\"id\":\"\",\"op\":\"state\"}")
                  : str_of(arena_printf(a, "{\"annotation\":" STR_FMT ",\"id\":\"\",\"op\":\"%s\"}",
                                        STR_ARG(s->annotation), op));
    return e;
}

static struct window window_of(struct arena *a, int64_t low, int64_t high, size_t limit, bool oldest)
{
    size_t n = high > low + 1 ? (size_t)(high - low - 1) : 0;
    struct window w = {.n = n < limit ? n : limit};
    w.first = oldest ? low + 1 : high - (int64_t)w.n;
    w.entries = arena_array(a, struct operation_entry, w.n + 1);
    w.states = arena_array(a, struct sample_past, w.n + 1);
    return w;
}

bool operation_log_whole(struct db *db, struct arena *a, const struct operation_place *p,
                         const struct sample *now, int64_t low, int64_t high, size_t limit, bool oldest,
                         struct operation_entry **ret, size_t *ret_n, struct err *err)
{
    struct operation_entry *made;
    size_t n, known = 0;
    if (p->layer) /* every revision of a layer was made by an operation */
        return operation_log_range(db, NULL, a, p, low, high, limit, oldest, ret, ret_n, err);
    int64_t end = (now->revision < p->revision ? now->revision : p->revision) + 1;
    struct window w = window_of(a, low, high < end ? high : end, limit, oldest);
    *ret = w.entries;
    *ret_n = 0;
    if (!w.n)
        return true;
    if (!operation_log_range(db, NULL, a, p, w.first - 1, w.first + (int64_t)w.n, w.n, true, &made, &n,
                             err) ||
        (n < w.n && !read_states(db, a, p, now, &w, err)))
        return false;
    for (size_t i = 0; i < n; i++)
        w.entries[made[i].revision - w.first] = made[i];
    for (size_t i = 0; i < w.n; i++) {
        struct operation_entry e = w.entries[i];
        if (!e.revision && w.states[i + 1].revision)
            e = entry_between(a, &w.states[i], &w.states[i + 1]);
        if (e.revision)
            w.entries[known++] = e;
    }
    *ret_n = known;
    return true;
}

/* --- conflicts --- */

/* Packed operations have no target of their own: their body says it. */
static struct str target_of(struct arena *a, const struct operation_entry *e)
{
    static const struct {
        const char *op, *key, *prefix;
    } targets[] = {{"put", "shape", "shape:"},   {"remove", "shape", "shape:"},
                   {"label", "label", "label:"}, {"text", NULL, "text"},
                   {"relabel", NULL, "names"},   {"attribute", "name", "attribute:"}};
    struct err ignored = {0};
    if (e->target.n)
        return e->target;
    yyjson_val *v = json_parse(a, e->body, &ignored);
    struct str op = json_str(yyjson_obj_get(v, "op"));
    for (size_t i = 0; i < countof(targets); i++) {
        if (!str_is(op, targets[i].op))
            continue;
        yyjson_val *name = targets[i].key ? yyjson_obj_get(v, targets[i].key) : NULL;
        struct str text = json_str(yyjson_is_obj(name) ? yyjson_obj_get(name, "id") : name);
        return str_of(arena_printf(a, "%s" STR_FMT, targets[i].prefix, STR_ARG(text)));
    }
    return STR("*");
}

bool operation_log_meets(struct db_conn *c, struct arena *a, const struct operation_place *p, int64_t base,
                         struct str client, struct str target, bool *ret, struct err *err)
{
    struct operation_entry *list;
    size_t n;
    size_t since = p->revision > base ? (size_t)(p->revision - base) : 0;
    *ret = since > BEHIND_MAX;
    if (*ret)
        return true;
    if (!operation_log_range(NULL, c, a, p, base, EVER, since + 1, true, &list, &n, err))
        return false;
    /* A revision that no operation made replaced everything. */
    *ret = n < since;
    for (size_t i = 0; i < n && !*ret; i++) {
        struct str other = target_of(a, &list[i]);
        /* Of types with one label both are "label"; packs do not tell the type. */
        bool one = str_is(target, "label") && str_starts(other, "label");
        *ret = !str_eq(list[i].client, client) && (one || operation_meets(target, other));
    }
    return true;
}

/* --- earlier states --- */

/* The nearest state at or before the revision that is kept whole. */
static bool find_base(struct db *db, struct arena *a, const struct operation_place *p, int64_t revision,
                      struct sample_past *ret, struct err *err)
{
    struct db_rows rows;
    struct operation_section *packs;
    size_t n;
    *ret = (struct sample_past){.revision = p->layer ? 0 : -1, .annotation = STR("{}")};
    if (!p->layer &&
        !db_query(db, a,
                  "SELECT revision, at, by_user, state, annotation FROM sample_history WHERE sample = ?"
                  " AND revision <= ? ORDER BY revision DESC LIMIT 1",
                  db_args(db_int(p->sample), db_int(revision)), &rows, err))
        return false;
    if (!p->layer && rows.n) {
        const struct db_value *v = rows.row[0].v;
        *ret = (struct sample_past){v[0].i, v[1].i, v[2].i, (enum sample_state)v[3].i, v[4].s};
    }
    if (!read_chain(db, NULL, a, p, 0, &packs, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (packs[i].base.revision > ret->revision && packs[i].base.revision <= revision)
            *ret = packs[i].base;
    return true;
}

static bool apply_one(struct arena *a, enum annotation_type type, struct annotation *n,
                      const struct operation_entry *e, struct err *err)
{
    struct operation op;
    struct operation_outcome out;
    struct operation_entry named = *e;
    struct str text;
    if (!named.client.n) /* the platform's own, but operation_read wants an id */
        named = (struct operation_entry){.client = STR("platform"), .number = 1, .body = e->body};
    if (!operation_log_text(a, &named, &text, err))
        return false;
    yyjson_val *v = json_parse(a, text, err);
    return v && operation_read(a, type, v, &op, err) && operation_apply(a, type, n, &op, 0, 0, &out, err);
}

static bool replay(struct arena *a, enum annotation_type type, const struct operation_entry *list, size_t n,
                   struct sample_past *s, struct err *err)
{
    struct annotation document;
    if (!model_parse(a, type, s->annotation, &document, err))
        return false;
    model_give_ids(a, &document);
    for (size_t i = 0; i < n; i++) {
        const struct operation_entry *e = &list[i];
        if (!apply_one(a, type, &document, e, err))
            return false;
        *s = (struct sample_past){e->revision, e->at, e->by, e->state, STR_NULL};
    }
    s->annotation = model_text(a, &document);
    return true;
}

bool operation_log_state(struct db *db, struct arena *a, const struct operation_place *p,
                         enum annotation_type type, const struct sample *now, int64_t revision,
                         struct sample_past *ret, struct err *err)
{
    struct operation_entry *list = NULL;
    size_t n = 0;
    struct sample_past s;
    if (revision == now->revision) {
        *ret = (struct sample_past){now->revision, now->updated_at, now->updated_by, now->state,
                                    now->annotation};
        return replay(a, type, NULL, 0, ret, err);
    }
    if (!find_base(db, a, p, revision, &s, err) ||
        (s.revision >= 0 && !operation_log_range(db, NULL, a, p, s.revision, revision + 1,
                                                 (size_t)(revision - s.revision) + 1, true, &list, &n, err)))
        return false;
    if (revision < 1 || s.revision < 0 || (int64_t)n != revision - s.revision)
        return err_set(err, ERR_NOT_FOUND, "revision", "the sample has no earlier revision %lld",
                       (long long)revision);
    if (!replay(a, type, list, n, &s, err)) /* of none, too: for the ids that operations name */
        return false;
    *ret = s;
    return true;
}
