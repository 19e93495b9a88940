#include "core/data/operate.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "base/messages.h"
#include "core/data/document.h"
#include "core/data/label_check.h"
#include "core/data/layer.h"
#include "core/data/room.h"
#include "core/data/sample_own.h"
#include "core/pending.h"
#include "store/store.h"

const char *const operate_states[] = {"applied", "already", "conflict", "refused"};

/* The row, without the annotation that the document mostly has. */
struct head {
    struct operation_place place;
    int64_t stamp, by, position, size, width, height;
    enum sample_state state, former;
    bool by_person;
};

struct operating {
    struct op *op;
    const struct sample_set *set;
    const struct operate_item *item;
    struct operate_result *ret;
    struct head head;
    struct document *document;
    struct operation given; /* with the names that labels have now */
    struct str json;        /* the same as text */
};

#define PICTURE "s.position, s.size, s.width, s.height, s.state, s.former, s.by_person"

/* A layer's part of a sample that has none yet is empty, at revision 0. */
static const char *const head_sql[] = {
    "SELECT s.revision, s.pack, s.updated_at, s.updated_by, " PICTURE
    " FROM samples s WHERE s.id = ? AND s.version = ?",
    "SELECT COALESCE(l.revision, 0), COALESCE(l.pack, 0), COALESCE(l.updated_at, 0),"
    " COALESCE(l.updated_by, 0), " PICTURE
    " FROM samples s LEFT JOIN layer_samples l ON l.sample = s.id AND l.layer = ?"
    " WHERE s.id = ? AND s.version = ? AND EXISTS (SELECT 1 FROM layers y WHERE y.id = ? AND"
    " y.dataset_version = s.version)"};

static bool load_head(struct db *db, struct db_conn *c, struct arena *a, const struct operation_place *at,
                      struct head *ret, bool *found, struct err *err)
{
    struct db_value sample = db_int(at->sample), version = db_int(at->version), layer = db_int(at->layer);
    struct db_args args = at->layer ? db_args(layer, sample, version, layer) : db_args(sample, version);
    const char *sql = head_sql[at->layer != 0];
    struct db_row row;
    if (!(c ? conn_query_one(c, a, sql, args, &row, found, err)
            : db_query_one(db, a, sql, args, &row, found, err)))
        return false;
    if (!*found)
        return true;
    const struct db_value *v = row.v;
    *ret = (struct head){.place = *at,
                         .stamp = v[2].i,
                         .by = v[3].i,
                         .position = v[4].i,
                         .size = v[5].i,
                         .width = v[6].i,
                         .height = v[7].i,
                         .state = (enum sample_state)v[8].i,
                         .former = (enum sample_state)v[9].i,
                         .by_person = v[10].i != 0};
    ret->place.revision = v[0].i;
    ret->place.pack = v[1].i;
    return true;
}

static bool no_sample(int64_t sample, struct err *err)
{
    return err_message(err, ERR_NOT_FOUND, "sample", MESSAGE_SAMPLE_GONE, (long long)sample);
}

bool operate_place(struct db *db, struct arena *a, int64_t version, int64_t sample, int64_t layer,
                   struct operation_place *ret, struct err *err)
{
    struct head head;
    bool found;
    const struct operation_place at = {.sample = sample, .layer = layer, .version = version};
    if (!load_head(db, NULL, a, &at, &head, &found, err))
        return false;
    if (!found)
        return no_sample(sample, err);
    *ret = head.place;
    return true;
}

/* --- the document --- */

static bool load_text(struct operating *o, struct str *ret, struct err *err)
{
    const struct operation_place *p = &o->head.place;
    struct db_row row;
    bool found;
    bool ok = p->layer
                  ? conn_query_one(o->op->conn, o->op->arena,
                                   "SELECT annotation FROM layer_samples WHERE layer = ? AND sample = ?",
                                   db_args(db_int(p->layer), db_int(p->sample)), &row, &found, err)
                  : conn_query_one(o->op->conn, o->op->arena, "SELECT annotation FROM samples WHERE id = ?",
                                   db_args(db_int(p->sample)), &row, &found, err);
    if (ok)
        *ret = found ? row.v[0].s : STR("{}");
    return ok;
}

static bool needs_base(struct operating *o, bool *ret, struct err *err)
{
    struct db_row row;
    bool found;
    const struct operation_place *p = &o->head.place;
    if (!conn_query_one(o->op->conn, o->op->arena,
                        "SELECT 1 FROM sample_operations WHERE sample = ? AND layer = ? AND revision = ?",
                        db_args(db_int(p->sample), db_int(p->layer), db_int(p->revision)), &row, &found, err))
        return false;
    *ret = !found && p->revision > 0;
    return true;
}

/* Keeps the state before the first operation after something else, for whoever asks for it later. */
static bool keep_base(struct operating *o, struct str text, struct err *err)
{
    const struct head *h = &o->head;
    const struct operation_place *p = &h->place;
    bool needed;
    if (!needs_base(o, &needed, err))
        return false;
    if (!needed)
        return true;
    if (!p->layer)
        return conn_exec(o->op->conn,
                         "INSERT INTO sample_history (sample, revision, at, by_user, state, annotation)"
                         " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sample, revision) DO NOTHING",
                         db_args(db_int(p->sample), db_int(p->revision), db_int(h->stamp), db_int(h->by),
                                 db_int(h->state), db_text(text)),
                         NULL, err);
    const char *body = arena_printf(
        o->op->arena, "{\"annotation\":" STR_FMT ",\"id\":\"\",\"op\":\"replace\"}", STR_ARG(text));
    return operation_log_add(o->op->conn, p,
                             &(struct operation_entry){.revision = p->revision,
                                                       .at = h->stamp,
                                                       .by = h->by,
                                                       .state = h->state,
                                                       .client = STR(""),
                                                       .number = p->revision,
                                                       .target = STR("*"),
                                                       .body = str_of(body)},
                             err);
}

static bool open_document(struct operating *o, struct err *err)
{
    const struct head *h = &o->head;
    struct documents *all = o->op->core->documents;
    struct str text;
    o->document = documents_find(all, h->place.sample, h->place.layer, h->place.revision, h->stamp);
    if (o->document)
        return true;
    if (!load_text(o, &text, err) || !keep_base(o, text, err))
        return false;
    o->document = documents_read(all, h->place.sample, h->place.layer, o->set->type, text, err);
    return o->document != NULL;
}

/* --- labels --- */

struct label_counts {
    struct arena *arena;
    struct map *map; /* label -> int64_t[2]: before, after */
};

static void count_label(struct label_counts *c, struct str label, int when)
{
    if (!label.n)
        return;
    int64_t *n = map_get(c->map, label);
    if (!n) {
        n = arena_array(c->arena, int64_t, 2);
        map_set(c->map, label, n);
    }
    n[when]++;
}

static void count_labels(struct label_counts *c, const struct annotation *n, int when)
{
    for (uint32_t i = 0; i < n->label_count; i++)
        count_label(c, n->labels[i], when);
    for (uint32_t i = 0; i < n->shape_count; i++)
        count_label(c, n->shapes[i].label, when);
    for (uint32_t i = 0; i < n->span_count; i++)
        count_label(c, n->spans[i].label, when);
    for (uint32_t i = 0; i < n->segment_count; i++)
        count_label(c, n->segments[i].label, when);
}

static bool write_label(const struct operating *o, struct str label, int64_t count, struct err *err)
{
    struct db_value version = db_int(o->set->version), position = db_int(o->head.position);
    if (!count)
        return conn_exec(o->op->conn,
                         "DELETE FROM sample_labels WHERE version = ? AND label = ? AND position = ?",
                         db_args(version, db_text(label), position), NULL, err);
    return conn_exec(
        o->op->conn,
        "INSERT INTO sample_labels (version, label, position, sample, count) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (version, label, position) DO UPDATE SET count = excluded.count",
        db_args(version, db_text(label), position, db_int(o->head.place.sample), db_int(count)), NULL, err);
}

/* Rows of the labels whose count is another now, and the version's counters. */
static bool write_labels(const struct operating *o, const struct label_counts *c, struct tally *t,
                         struct err *err)
{
    struct str label;
    void *value;
    for (size_t i = 0; map_next(c->map, &i, &label, &value);) {
        const int64_t *n = value;
        if (n[0] == n[1])
            continue;
        if (!write_label(o, label, n[1], err))
            return false;
        if (o->head.state != SAMPLE_CLEANED)
            tally_label(t, label, (n[1] > 0) - (n[0] > 0), n[1] - n[0]);
    }
    return true;
}

/* --- writing --- */

static bool is_empty(const struct annotation *n)
{
    return !n->label_count && !n->shape_count && !n->span_count && !n->segment_count && !n->text.p &&
           !n->attributes.p;
}

/* What the sample's row says after the operation. */
static struct head after(const struct operating *o)
{
    struct head now = o->head;
    bool empty = is_empty(document_annotation(o->document));
    enum sample_state state = empty ? SAMPLE_UNANNOTATED : SAMPLE_ANNOTATED;
    now.place.revision++;
    now.stamp = documents_stamp(o->op->core->documents);
    now.by = o->op->caller->user;
    if (!o->item->platform)
        now.by_person = !empty;
    if (!o->item->keep_state && !o->item->platform && !now.place.layer)
        *(now.state == SAMPLE_CLEANED ? &now.former : &now.state) = state;
    return now;
}

static bool write_row(const struct operating *o, const struct head *now, struct str text, struct err *err)
{
    const struct operation_place *p = &now->place;
    if (p->layer)
        return conn_exec(
            o->op->conn,
            "INSERT INTO layer_samples (layer, sample, revision, annotation, updated_at, updated_by)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (layer, sample) DO UPDATE SET"
            " revision = excluded.revision, annotation = excluded.annotation,"
            " updated_at = excluded.updated_at, updated_by = excluded.updated_by",
            db_args(db_int(p->layer), db_int(p->sample), db_int(p->revision), db_text(text),
                    db_int(now->stamp), db_int(now->by)),
            NULL, err);
    return conn_exec(o->op->conn,
                     "UPDATE samples SET annotation = ?, state = ?, former = ?, by_person = ?, revision = ?,"
                     " updated_at = ?, updated_by = ? WHERE id = ?",
                     db_args(db_text(text), db_int(now->state), db_int(now->former), db_int(now->by_person),
                             db_int(p->revision), db_int(now->stamp), db_int(now->by), db_int(p->sample)),
                     NULL, err);
}

/* A layer counts how many samples it says something about. */
static bool count_layer(const struct operating *o, const struct head *now, struct err *err)
{
    return !now->place.layer || now->place.revision > 1 ||
           engine_set_status(o->op, &kind_layer, now->place.layer, ENGINE_STATUSES(status_add("samples", 1)),
                             err);
}

static bool write_counters(const struct operating *o, const struct head *now, const struct label_counts *c,
                           struct err *err)
{
    struct tally t;
    if (now->place.layer)
        return count_layer(o, now, err);
    tally_begin(&t, o->op->arena, o->set->version);
    bool ok = write_labels(o, c, &t, err);
    if (now->state != o->head.state) {
        tally_state(&t, o->head.state, -1, 0);
        tally_state(&t, now->state, 1, 0);
    }
    return tally_end(&t, o->op, ok, err);
}

void operate_write_item(struct json_out *o, const struct operation_entry *e, const char *by,
                        struct str operation)
{
    char at[CLOCK_TEXT_MAX], id[OPERATION_MAX_ID + 24];
    snprintf(id, sizeof id, STR_FMT ".%lld", STR_ARG(e->client), (long long)e->number);
    json_object(o);
    json_kz(o, "id", e->client.n ? id : NULL);
    json_kstr(o, "client", e->client);
    json_kint(o, "revision", e->revision);
    json_kz(o, "at", clock_format(e->at, at));
    json_key(o, "by");
    json_object(o);
    json_kint(o, "id", e->by);
    json_kz(o, "name", by);
    json_object_end(o);
    json_kz(o, "state", sample_state_names[e->state]);
    json_key(o, "operation");
    json_raw(o, operation);
    json_object_end(o);
}

static void note(const struct operating *o, const struct head *now, const struct operation_entry *e,
                 struct operation *done)
{
    auto_buf struct buf text = {0}, item = {0};
    struct json_out out;
    operation_write(&text, done);
    json_begin(&out, &item);
    operate_write_item(&out, e, o->op->caller->name, buf_view(&text));
    pending_note(o->op->pending, &(struct room_note){.sample = now->place.sample,
                                                     .layer = now->place.layer,
                                                     .version = o->set->version,
                                                     .revision = now->place.revision,
                                                     .state = now->state,
                                                     .item = arena_str(o->op->arena, buf_view(&item))});
}

static bool log_operation(const struct operating *o, const struct head *now, struct operation *done,
                          struct err *err)
{
    auto_buf struct buf body = {0};
    struct operation_entry e = {.revision = now->place.revision,
                                .at = now->stamp,
                                .by = now->by,
                                .state = now->state,
                                .client = o->item->platform ? STR("") : done->client,
                                .number = o->item->platform ? now->place.revision : done->number,
                                .target = done->target};
    struct str id = done->id;
    note(o, now, &e, done);
    done->id = STR("");
    operation_write(&body, done);
    done->id = id;
    e.body = buf_view(&body);
    return operation_log_add(o->op->conn, &now->place, &e, err);
}

static bool write_all(struct operating *o, const struct label_counts *c, struct operation *done,
                      struct err *err)
{
    struct head now = after(o);
    auto_buf struct buf text = {0};
    document_write(o->document, &text);
    if (!log_operation(o, &now, done, err) || !write_row(o, &now, buf_view(&text), err) ||
        !write_counters(o, &now, c, err))
        return false;
    document_is_at(o->document, now.place.revision, now.stamp);
    o->ret->state = OPERATE_APPLIED;
    o->ret->revision = now.place.revision;
    return true;
}

/* --- one operation --- */

/* Settles it: refused, with a sentence. Of a refusal nothing is written, so the write goes on. */
static bool refuse(struct operating *o, enum operate_state state, const struct err *why)
{
    o->ret->state = state;
    o->ret->problem = *why;
    return true;
}

/* --- former names --- */

static struct str now_called(const struct operating *o, struct str label)
{
    const struct label_rules *r = o->item->rules;
    return r ? relabel_name(r->former, r->former_count, label) : label;
}

static struct str written(struct operating *o, struct operation *op)
{
    auto_buf struct buf text = {0};
    operation_write(&text, op);
    return arena_str(o->op->arena, buf_view(&text));
}

/* The operation with the names that labels have now; as it was given when they are the same. */
static void take_names(struct operating *o)
{
    o->given = *o->item->op;
    o->json = o->item->json;
    struct operation *op = &o->given;
    struct str *label = op->kind == OPERATION_LABEL ? &op->label
                        : op->kind != OPERATION_PUT ? NULL
                        : op->list == MODEL_SHAPES  ? &op->shape.label
                                                    : &op->part.label;
    const struct label_rules *r = o->item->rules;
    bool other = op->kind == OPERATION_REPLACE && r &&
                 relabel_all(o->op->arena, &op->annotation, r->former, r->former_count);
    if (label && label->n && !str_eq(now_called(o, *label), *label)) {
        *label = now_called(o, *label);
        other = true;
    }
    if (!other)
        return;
    if (op->kind == OPERATION_LABEL)
        o->ret->label = op->label;
    o->json = written(o, op);
}

static bool apply(struct operating *o, struct err *err)
{
    struct label_counts counts = {o->op->arena, map_new()};
    struct operation_outcome out = {0};
    struct operation done;
    struct err why = {0};
    count_labels(&counts, document_annotation(o->document), 0);
    bool applied = document_apply(o->document, o->json, (uint32_t)o->head.width, (uint32_t)o->head.height,
                                  &done, &out, &why);
    if (applied)
        count_labels(&counts, document_annotation(o->document), 1);
    bool idle = applied && o->item->platform && !out.changed;
    o->ret->state = OPERATE_ALREADY;
    bool ok = idle || (applied ? write_all(o, &counts, &done, err) : refuse(o, OPERATE_REFUSED, &why));
    map_free(counts.map);
    if (!applied || !ok)
        return ok;
    o->ret->clipped = out.clipped;
    o->ret->shape = out.shape.p ? arena_str(o->op->arena, out.shape) : STR_NULL;
    return true;
}

static bool check_and_apply(struct operating *o, struct err *err)
{
    struct err why = {0};
    take_names(o);
    if (!label_check_operation(o->op, o->item->rules, &o->head.place, &o->given,
                               document_annotation(o->document), &why, err))
        return false;
    return why.code ? refuse(o, OPERATE_REFUSED, &why) : apply(o, err);
}

static bool find_replay(struct operating *o, bool *ret, struct err *err)
{
    const struct operation *op = o->item->op;
    const struct operation_place *p = &o->head.place;
    struct document *d =
        documents_find(o->op->core->documents, p->sample, p->layer, p->revision, o->head.stamp);
    bool packs = p->pack && !(d && document_knows_client(d, op->client));
    if (!operation_log_find(o->op->conn, o->op->arena, p, op->client, op->number, packs, &o->ret->revision,
                            ret, err))
        return false;
    bool named = false;
    if (packs && d && !*ret &&
        !operation_log_packs_name(o->op->conn, o->op->arena, p, op->client, &named, err))
        return false;
    if (packs && d && !named)
        document_note_client(d, op->client);
    return true;
}

static bool find_conflict(struct operating *o, bool *ret, struct err *err)
{
    const struct operation *op = o->item->op;
    *ret = false;
    return op->base < 0 || op->base >= o->head.place.revision ||
           operation_log_meets(o->op->conn, o->op->arena, &o->head.place, op->base, op->client, op->target,
                               ret, err);
}

static bool tell_conflict(struct operating *o, struct err *err)
{
    struct err why = {0};
    if (!open_document(o, err))
        return false;
    struct str shape = document_entry(o->document, o->item->op->shape_id);
    o->ret->revision = o->head.place.revision;
    o->ret->shape = shape.p ? arena_str(o->op->arena, shape) : STR_NULL;
    err_message(&why, ERR_CONFLICT, "base", MESSAGE_OPERATION_CONFLICT);
    return refuse(o, OPERATE_CONFLICT, &why);
}

/* A project whose storage is used up takes what removes something only. What is refused stays in the journal
 * of the browser, which sends it again when a person asks for it. */
static bool find_room(struct operating *o, bool *ret, struct err *err)
{
    struct err why = {0};
    *ret = o->item->op->kind == OPERATION_REMOVE ||
           store_has_room(o->op->conn, o->set->project, (int64_t)o->item->json.n, &why);
    if (*ret)
        return true;
    if (why.code != ERR_QUOTA) {
        *err = why;
        return false;
    }
    return refuse(o, OPERATE_REFUSED, &why);
}

bool operate(struct op *op, const struct sample_set *set, const struct operate_item *item,
             struct operate_result *ret, struct err *err)
{
    struct operating o = {.op = op, .set = set, .item = item, .ret = ret};
    const struct operation_place at = {.sample = item->sample, .layer = item->layer, .version = set->version};
    struct err why = {0};
    bool found, already, conflict, fits;
    *ret = (struct operate_result){.state = OPERATE_REFUSED};
    if (!load_head(NULL, op->conn, op->arena, &at, &o.head, &found, err))
        return false;
    if (!found) {
        no_sample(item->sample, &why);
        return refuse(&o, OPERATE_REFUSED, &why);
    }
    if (item->platform)
        return (item->layer || sample_set_open(set, &why) || refuse(&o, OPERATE_REFUSED, &why)) &&
               (why.code || (open_document(&o, err) && check_and_apply(&o, err)));
    if (!find_replay(&o, &already, err))
        return false;
    if (already) {
        ret->state = OPERATE_ALREADY;
        return true;
    }
    if (!item->layer && !sample_set_open(set, &why))
        return refuse(&o, OPERATE_REFUSED, &why);
    if (!find_conflict(&o, &conflict, err))
        return false;
    if (conflict)
        return tell_conflict(&o, err);
    return find_room(&o, &fits, err) && (!fits || (open_document(&o, err) && check_and_apply(&o, err)));
}
