/* Adding samples: new names, and names that are there already. */
#include "base/clock.h"
#include "base/json.h"
#include "core/data/document.h"
#include "core/data/operate.h"
#include "core/data/room.h"
#include "core/data/sample_own.h"
#include "core/pending.h"
#include "core/search.h"

bool sample_history_add(struct db_conn *c, const struct sample *s, struct err *err)
{
    return conn_exec(c,
                     "INSERT INTO sample_history (sample, revision, at, by_user, state, annotation)"
                     " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sample, revision) DO NOTHING",
                     db_args(db_int(s->id), db_int(s->revision), db_int(s->updated_at), db_int(s->updated_by),
                             db_int(s->state), db_text(s->annotation)),
                     NULL, err);
}

bool sample_wait(struct op *op, const struct sample_set *set, const struct sample_waiting *w, size_t n,
                 struct err *err)
{
    if (!sample_set_open(set, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct str annotation = w[i].annotation.p ? w[i].annotation : STR("{}");
        if (!conn_exec(
                op->conn,
                "INSERT INTO sample_waiting (version, name, annotation, split) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (version, name) DO UPDATE SET annotation = excluded.annotation,"
                " split = excluded.split",
                db_args(db_int(set->version), db_text(w[i].name), db_text(annotation), db_int(w[i].split)),
                NULL, err))
            return false;
    }
    return true;
}

#define USES 64 /* counted together: few enough to be a small part of a write */
struct sample_putting {
    struct op *op;
    const struct sample_set *set;
    int64_t first, position; /* of the first and of the next new one */
    bool waiting;            /* annotations wait for samples of this version */
    struct tally tally;
    struct store_used used[USES]; /* by new ones, not counted yet */
    size_t uses;
};

struct sample_putting *sample_put_begin(struct op *op, const struct sample_set *set, struct err *err)
{
    struct sample_putting *p = arena_new(op->arena, struct sample_putting);
    struct db_row row;
    bool found;
    if (!sample_set_open(set, err) ||
        !conn_query_one(op->conn, op->arena, "SELECT next_position FROM version_totals WHERE version = ?",
                        db_args(db_int(set->version)), &row, &found, err))
        return NULL;
    p->op = op;
    p->set = set;
    p->first = p->position = found ? row.v[0].i : 1;
    if (!conn_query_one(op->conn, op->arena, "SELECT 1 FROM sample_waiting WHERE version = ? LIMIT 1",
                        db_args(db_int(set->version)), &row, &p->waiting, err))
        return NULL;
    tally_begin(&p->tally, op->arena, set->version);
    return p;
}

static bool set_position(const struct sample_putting *p, struct err *err)
{
    return p->position == p->first ||
           conn_exec(p->op->conn,
                     "INSERT INTO version_totals (version, next_position, bytes) VALUES (?, ?, 0)"
                     " ON CONFLICT (version) DO UPDATE SET next_position = excluded.next_position",
                     db_args(db_int(p->set->version), db_int(p->position)), NULL, err);
}

static bool count_uses(struct sample_putting *p, struct err *err)
{
    size_t n = p->uses;
    p->uses = 0;
    return store_use_all(p->op->conn, p->set->project, p->used, n, NULL, err);
}

/* The annotation and the part that wait for a sample of this name, if it brings none itself. */
static bool take_waiting(struct op *op, const struct sample_set *set, const struct sample_new *n,
                         struct str *annotation, enum codec_split *split, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(
            op->conn, op->arena,
            "DELETE FROM sample_waiting WHERE version = ? AND name = ? RETURNING annotation, split",
            db_args(db_int(set->version), db_text(n->name)), &row, &found, err))
        return false;
    if (found && !n->annotation.p)
        *annotation = row.v[0].s;
    if (found && row.v[1].i && !(n->annotation.p && n->split))
        *split = (enum codec_split)row.v[1].i;
    return true;
}

/* *added false: there is one of this name, or it failed. */
static bool insert_sample(struct sample_putting *p, const struct sample_new *n, bool *added, struct err *err)
{
    struct op *op = p->op;
    const struct sample_set *set = p->set;
    struct str annotation = n->annotation.p ? n->annotation : STR("{}");
    enum codec_split split = n->split;
    *added = false;
    if (p->waiting && !take_waiting(op, set, n, &annotation, &split, err))
        return false;
    enum sample_state state = sample_state_for(annotation, n->machine);
    struct err why = {0};
    int64_t now = clock_now(), id;
    if (!conn_insert(
            op->conn,
            "INSERT INTO samples (version, position, name, digest, size, width, height, duration, state, "
            "former,"
            " revision, annotation, split, updated_at, updated_by)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1, ?, ?, ?, ?) ON CONFLICT (version, name) DO NOTHING",
            db_args(db_int(set->version), db_int(p->position), db_text(n->name), digest_arg(&n->blob),
                    db_int(n->size), db_int(n->width), db_int(n->height), db_real(n->duration), db_int(state),
                    db_text(annotation), db_int(split), db_int(now), db_int(op->caller->user)),
            &id, &why)) {
        if (why.code != ERR_EXISTS)
            *err = why;
        return why.code == ERR_EXISTS;
    }
    p->used[p->uses++] = (struct store_used){n->blob, n->size};
    *added = (p->uses < USES || count_uses(p, err)) &&
             sample_labels_set(op->conn, set->version, id, p->position++, annotation, false, err) &&
             tally_sample(&p->tally, state, annotation, n->size, 1, err);
    return *added;
}

static bool same_blob(const struct digest *a, const struct digest *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool swap_blob(struct op *op, const struct sample_set *set, const struct sample *old,
                      const struct sample_new *n, struct err *err)
{
    return store_use(op->conn, set->project, &n->blob, 1, err) &&
           store_use(op->conn, set->project, &old->blob, -1, err) &&
           conn_exec(op->conn,
                     "UPDATE samples SET digest = ?, size = ?, width = ?, height = ?, duration = ?, "
                     "sharpness = NULL,"
                     " phash = NULL WHERE id = ?",
                     db_args(digest_arg(&n->blob), db_int(n->size), db_int(n->width), db_int(n->height),
                             db_real(n->duration), db_int(old->id)),
                     NULL, err);
}

/* Who has the sample open sees it as an operation that replaces everything. */
static void note_replaced(struct op *op, const struct sample_set *set, const struct sample *old,
                          const struct sample *now, int64_t at)
{
    struct room_note note = {
        .sample = old->id, .version = set->version, .revision = old->revision + 1, .state = now->state};
    const struct operation_entry e = {
        .revision = note.revision, .at = at, .by = op->caller->user, .state = now->state, .client = STR("")};
    auto_buf struct buf text = {0}, item = {0};
    struct json_out o;
    if (op->core->rooms && rooms_has(op->core->rooms, old->id, 0)) {
        buf_printf(&text, "{\"annotation\":" STR_FMT ",\"id\":null,\"op\":\"replace\"}",
                   STR_ARG(now->annotation));
        json_begin(&o, &item);
        operate_write_item(&o, &e, op->caller->name, buf_view(&text));
        note.item = arena_str(op->arena, buf_view(&item));
    }
    pending_note(op->pending, &note);
}

/* The sample becomes what `now` says: annotation, state, former and by_person. */
static bool write_annotation(struct op *op, const struct sample_set *set, const struct sample *old,
                             const struct sample *now, struct err *err)
{
    int64_t at = documents_stamp(op->core->documents);
    note_replaced(op, set, old, now, at);
    return sample_history_add(op->conn, old, err) &&
           conn_exec(op->conn,
                     "UPDATE samples SET annotation = ?, state = ?, former = ?, by_person = ?,"
                     " revision = revision + 1, updated_at = ?, updated_by = ? WHERE id = ?",
                     db_args(db_text(now->annotation), db_int(now->state), db_int(now->former),
                             db_int(now->by_person), db_int(at), db_int(op->caller->user), db_int(old->id)),
                     NULL, err) &&
           sample_labels_set(op->conn, set->version, old->id, old->position, now->annotation, true, err);
}

static bool set_split(struct op *op, int64_t id, enum codec_split split, struct err *err)
{
    return conn_exec(op->conn, "UPDATE samples SET split = ? WHERE id = ?",
                     db_args(db_int(split), db_int(id)), NULL, err);
}

static bool other_text(const struct sample *old, const struct sample_new *n)
{
    return n->annotation.p && !annotation_equal(n->annotation, old->annotation);
}

bool sample_differs(const struct sample *old, const struct sample_new *n)
{
    return !same_blob(&old->blob, &n->blob) || other_text(old, n) || (n->split && n->split != old->split);
}

enum sample_fate sample_fate_of(const struct sample *old, const struct sample_new *n, struct sample_new *ret)
{
    bool others = !same_blob(&old->blob, &n->blob) || other_text(old, n);
    *ret = *n;
    if (others && old->by_person && !n->replace) {
        ret->blob = old->blob;
        ret->size = old->size;
        ret->annotation = STR_NULL;
        return SAMPLE_KEPT;
    }
    return others && old->by_person ? SAMPLE_REPLACED : sample_differs(old, n) ? SAMPLE_CHANGED : SAMPLE_SAME;
}

/* A cleaned sample stays out of the set: what its annotation makes of it is its state when it comes back. */
static struct sample after(const struct sample *old, const struct sample_new *n)
{
    struct sample now = *old;
    if (!other_text(old, n))
        return now;
    now.annotation = n->annotation;
    if (n->keep_state && !annotation_empty(n->annotation))
        return now;
    enum sample_state state = sample_state_for(n->annotation, n->machine);
    *(old->state == SAMPLE_CLEANED ? &now.former : &now.state) = state;
    now.by_person = false;
    return now;
}

static bool overwrite(struct op *op, const struct sample_set *set, const struct sample *old,
                      const struct sample_new *n, struct tally *t, struct err *err)
{
    struct sample now = after(old, n);
    if (!sample_differs(old, n))
        return true;
    return tally_sample(t, old->state, old->annotation, old->size, -1, err) &&
           tally_sample(t, now.state, now.annotation, n->size, 1, err) &&
           (same_blob(&old->blob, &n->blob) || swap_blob(op, set, old, n, err)) &&
           (!n->split || n->split == old->split || set_split(op, old->id, n->split, err)) &&
           write_annotation(op, set, old, &now, err);
}

/* Most are new; only when annotations wait, for samples that are not there, that has to be known first. */
bool sample_put(struct sample_putting *p, const struct sample_new *n, enum sample_fate *fate, struct err *err)
{
    struct db_row row;
    struct sample_new taken;
    bool found, added;
    *fate = SAMPLE_ADDED;
    if (!p->waiting && (!insert_sample(p, n, &added, err) || added))
        return added;
    if (!conn_query_one(p->op->conn, p->op->arena,
                        "SELECT " SAMPLE_COLUMNS " FROM samples s WHERE s.version = ? AND s.name = ?",
                        db_args(db_int(p->set->version), db_text(n->name)), &row, &found, err))
        return false;
    if (!found)
        return insert_sample(p, n, &added, err);
    struct sample old = sample_row(&row);
    *fate = sample_fate_of(&old, n, &taken);
    return count_uses(p, err) && overwrite(p->op, p->set, &old, &taken, &p->tally, err);
}

bool sample_put_end(struct sample_putting *p, bool ok, struct err *err)
{
    ok = ok && count_uses(p, err) && set_position(p, err);
    return tally_end(&p->tally, p->op, ok, err);
}

bool sample_change(struct op *op, const struct sample_set *set, const struct sample_edit *e,
                   struct sample *ret, struct err *err)
{
    struct sample old;
    struct tally t;
    if (!sample_set_open(set, err) || !sample_get(NULL, op->conn, op->arena, set->version, e->id, &old, err))
        return false;
    if (e->revision && e->revision != old.revision)
        return err_set(err, ERR_STALE, NULL, "somebody changed the sample meanwhile: it has revision %lld",
                       (long long)old.revision);
    struct sample now = old;
    if (e->annotation.p)
        now.annotation = e->annotation;
    if (e->state >= 0)
        now.state = (enum sample_state)e->state;
    else if (e->annotation.p)
        now.state = sample_state_for(now.annotation, false);
    if (now.state == SAMPLE_CLEANED && old.state != SAMPLE_CLEANED)
        now.former = old.state;
    else if (e->person)
        now.by_person = now.state != SAMPLE_UNANNOTATED && now.state != SAMPLE_MACHINE;
    tally_begin(&t, op->arena, set->version);
    bool ok = tally_sample(&t, old.state, old.annotation, old.size, -1, err) &&
              tally_sample(&t, now.state, now.annotation, old.size, 1, err) &&
              write_annotation(op, set, &old, &now, err);
    return tally_end(&t, op, ok, err) && sample_get(NULL, op->conn, op->arena, set->version, e->id, ret, err);
}

bool sample_clean(struct op *op, const struct sample_set *set, const int64_t *ids, size_t n, bool cleaned,
                  int64_t *changed, struct err *err)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct sample s;
        if (!sample_get(NULL, op->conn, op->arena, set->version, ids[i], &s, err))
            return false;
        if ((s.state == SAMPLE_CLEANED) == cleaned)
            continue;
        struct sample_edit e = {.id = ids[i], .state = cleaned ? SAMPLE_CLEANED : (int)s.former};
        if (!sample_change(op, set, &e, &s, err))
            return false;
        count++;
    }
    *changed = count;
    return sample_set_open(set, err);
}

/* Under the name, or with a number behind it when another sample has that. */
static bool rename_sample(struct op *op, const struct sample_set *set, const struct sample *old,
                          struct str name, struct err *err)
{
    size_t dot = name.n;
    while (dot > 0 && name.p[dot - 1] != '.' && name.p[dot - 1] != '/')
        dot--;
    size_t stem = dot > 0 && name.p[dot - 1] == '.' ? dot - 1 : name.n;
    struct str ending = {name.p + stem, name.n - stem};
    int64_t done = 0;
    for (int i = 1; !done; i++) {
        struct str next =
            i == 1
                ? name
                : str_of(arena_printf(op->arena, "%.*s-%d" STR_FMT, (int)stem, name.p, i, STR_ARG(ending)));
        if (!conn_exec(op->conn,
                       "UPDATE samples SET name = ? WHERE id = ?"
                       " AND NOT EXISTS (SELECT 1 FROM samples o WHERE o.version = ? AND o.name = ?)",
                       db_args(db_text(next), db_int(old->id), db_int(set->version), db_text(next)), &done,
                       err))
            return false;
    }
    return search_changed(op->conn, SEARCH_SAMPLES, set->version, old->position, err);
}

bool sample_replace(struct op *op, const struct sample_set *set, int64_t id, const struct sample_new *n,
                    struct err *err)
{
    struct sample old;
    struct tally t;
    if (!sample_set_open(set, err) || !sample_get(NULL, op->conn, op->arena, set->version, id, &old, err))
        return false;
    tally_begin(&t, op->arena, set->version);
    bool ok = overwrite(op, set, &old, n, &t, err) &&
              (str_eq(n->name, old.name) || rename_sample(op, set, &old, n->name, err));
    return tally_end(&t, op, ok, err);
}

bool sample_revert(struct op *op, const struct sample_set *set, const struct sample *was, bool *ret_done,
                   struct err *err)
{
    struct db_row row;
    struct tally t;
    struct sample_new blob = {.blob = was->blob,
                              .size = was->size,
                              .width = was->width,
                              .height = was->height,
                              .duration = was->duration};
    *ret_done = false;
    if (!sample_set_open(set, err) ||
        !conn_query_one(
            op->conn, op->arena,
            "SELECT " SAMPLE_COLUMNS " FROM samples s WHERE s.id = ? AND s.version = ? AND s.revision = ?",
            db_args(db_int(was->id), db_int(set->version), db_int(was->revision + 1)), &row, ret_done, err))
        return false;
    if (!*ret_done)
        return true;
    struct sample now = sample_row(&row);
    tally_begin(&t, op->arena, set->version);
    bool ok = tally_sample(&t, now.state, now.annotation, now.size, -1, err) &&
              tally_sample(&t, was->state, was->annotation, was->size, 1, err) &&
              (same_blob(&now.blob, &was->blob) || swap_blob(op, set, &now, &blob, err)) &&
              (now.split == was->split || set_split(op, was->id, was->split, err)) &&
              write_annotation(op, set, &now, was, err) &&
              (!was->measured || sample_measured(op, was->id, was->sharpness, was->phash, err));
    return tally_end(&t, op, ok, err);
}

bool sample_measured(struct op *op, int64_t id, double sharpness, uint64_t phash, struct err *err)
{
    return conn_exec(op->conn, "UPDATE samples SET sharpness = ?, phash = ? WHERE id = ?",
                     db_args(db_real(sharpness), db_int((int64_t)phash), db_int(id)), NULL, err);
}
