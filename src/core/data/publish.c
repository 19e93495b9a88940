#include "core/data/publish.h"

#include "base/messages.h"
#include "core/data/version.h"

#define AT_ONCE_TRIES 10

/* --- the list --- */

struct listing {
    struct core *core;
    struct arena *arena;
    int64_t version;
    struct task *task; /* NULL: the request waits */
    int64_t done, total;
    struct blob_writer *writer;
};

/* One line per sample, by name: blob, size, name, part, annotation. Equal versions have equal digests. */
static bool list_one(void *ctx, const struct sample *s, struct err *err)
{
    struct listing *l = ctx;
    auto_buf struct buf line = {0};
    struct json_out o;
    char hex[SHA256_HEX + 1];
    digest_hex(&s->blob, hex);
    json_begin(&o, &line);
    json_object(&o);
    json_kstr(&o, "name", s->name);
    json_kz(&o, "sha256", hex);
    json_kint(&o, "size", s->size);
    json_kint(&o, "width", s->width);
    json_kint(&o, "height", s->height);
    if (s->split)
        json_kz(&o, "split", codec_split_names[s->split]);
    json_key(&o, "annotation");
    json_raw(&o, s->annotation);
    json_object_end(&o);
    buf_char(&line, '\n');
    return blob_writer_add(l->writer, buf_view(&line), err) &&
           (!l->task || ++l->done % 1000 != 0 || task_progress(l->task, l->done, l->total, err));
}

/* Then the classes that imports named, in their order. */
static bool list_classes(struct listing *l, struct err *err)
{
    struct db_rows rows;
    if (!db_query(l->core->db, l->arena,
                  "SELECT definition FROM version_classes WHERE version = ? ORDER BY position",
                  db_args(db_int(l->version)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const char *line = arena_printf(l->arena, "{\"class\":" STR_FMT "}\n", STR_ARG(rows.row[i].v[0].s));
        if (!blob_writer_add(l->writer, str_of(line), err))
            return false;
    }
    return true;
}

static bool write_listing(struct listing *l, struct digest *ret, struct err *err)
{
    struct sample_query q = {.state = -1};
    l->writer = blob_writer_new(l->core->store, err);
    if (!l->writer)
        return false;
    if (!sample_each_by_name(l->core->db, l->version, &q, list_one, l, err) || !list_classes(l, err)) {
        blob_writer_abort(l->writer);
        return false;
    }
    return blob_writer_finish(l->writer, ret, NULL, err);
}

/* --- the version --- */

struct publishing {
    const struct object *version;
    const char *from; /* the state that it must be in */
    struct object now;
    struct digest digest;
    char hex[SHA256_HEX + 1];
    int64_t samples, revisions; /* when the list was begun: how many, and their revisions added up */
};

/* Somebody may label while the list is written: what is published must be what is listed. */
static bool count_revisions(struct db *db, struct db_conn *c, struct arena *a, int64_t version,
                            int64_t *ret_samples, int64_t *ret_revisions, struct err *err)
{
    const char *sql =
        "SELECT COUNT(*), COALESCE(CAST(SUM(revision) AS BIGINT), 0) FROM samples WHERE version = ?";
    struct db_row row;
    bool found;
    if (!(c ? conn_query_one(c, a, sql, db_args(db_int(version)), &row, &found, err)
            : db_query_one(db, a, sql, db_args(db_int(version)), &row, &found, err)))
        return false;
    *ret_samples = row.v[0].i;
    *ret_revisions = row.v[1].i;
    return true;
}

static bool same_revisions(struct op *op, const struct publishing *p, struct err *err)
{
    int64_t samples, revisions;
    return count_revisions(NULL, op->conn, op->arena, p->version->id, &samples, &revisions, err) &&
           ((samples == p->samples && revisions == p->revisions) ||
            err_set(err, ERR_STALE, NULL, "the version's samples are being changed: try again"));
}

static bool load(struct op *op, struct publishing *p, struct object *ret, struct err *err)
{
    bool found;
    if (!engine_load_row(op, p->version->kind, p->version->id, ret, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    return (ret->revision == p->version->revision && str_is(object_text(ret, "state"), p->from)) ||
           err_set(err, ERR_CONFLICT, "state", "the version is published already or was changed meanwhile");
}

static bool publish_write(struct op *op, void *ctx, struct err *err)
{
    struct publishing *p = ctx;
    struct object now;
    /* A task of its own is the only one that works on a version in the state publishing. */
    if (!load(op, p, &now, err) || (strcmp(p->from, "publishing") != 0 &&
                                    (!version_is_idle(op, now.id, err) || !same_revisions(op, p, err))))
        return false;
    *object_value(&now, "state") = db_textz("published");
    *object_value(&now, "digest") = db_textz(arena_strz(op->arena, str_of(p->hex)));
    if (!store_use(op->conn, now.project, &p->digest, 1, err) || !engine_update_row(op, &now, err))
        return false;
    p->now = now;
    return true;
}

static bool publish_listed(struct listing *l, const struct caller *caller, struct publishing *p,
                           struct err *err)
{
    if (!write_listing(l, &p->digest, err))
        return false;
    digest_hex(&p->digest, p->hex);
    return engine_write(l->core, caller, l->arena, publish_write, p, err);
}

/* While people label it is listed again, a few times. */
static bool publish_at_once(struct listing *l, const struct caller *caller, struct publishing *p,
                            struct err *err)
{
    struct err why = {0};
    for (int i = 0; i < AT_ONCE_TRIES; i++) {
        why = (struct err){0};
        if (!count_revisions(l->core->db, NULL, l->arena, l->version, &p->samples, &p->revisions, err))
            return false;
        if (publish_listed(l, caller, p, &why))
            return true;
        if (why.code != ERR_STALE)
            break;
    }
    *err = why;
    return false;
}

/* --- the task --- */

static bool begin_write(struct op *op, void *ctx, struct err *err)
{
    struct publishing *p = ctx;
    struct object now;
    int64_t task;
    if (!load(op, p, &now, err) || !version_is_idle(op, now.id, err))
        return false;
    *object_value(&now, "state") = db_textz("publishing");
    if (!engine_update_row(op, &now, err) ||
        !task_create(op,
                     &(struct task_new){.type = task_publish.name,
                                        .project = now.project,
                                        .subject_kind = "dataset_version",
                                        .subject = now.id,
                                        .name = task_name(op->arena, MESSAGE_NAME_PUBLISH,
                                                          STR_ARG(object_text(&now, "name"))),
                                        .params = STR("{}")},
                     &task, err))
        return false;
    p->now = now;
    return true;
}

static bool run_task(struct task *t, struct err *err)
{
    struct object version;
    if (!engine_get(t->core, &caller_system, &kind_dataset_version, 0, t->subject, t->arena, &version, err))
        return false;
    if (str_is(object_text(&version, "state"), "published"))
        return true; /* a server was killed between that and the end of the task */
    struct publishing p = {.version = &version, .from = "publishing"};
    struct listing l = {.core = t->core,
                        .arena = t->arena,
                        .version = version.id,
                        .task = t,
                        .total = object_int(&version, "samples")};
    return publish_listed(&l, &t->caller, &p, err) && task_progress(t, l.total, l.total, err);
}

static bool undo_write(struct op *op, void *ctx, struct err *err)
{
    const struct task *t = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, t->subject, &now, &found, err))
        return false;
    if (!found || !str_is(object_text(&now, "state"), "publishing"))
        return true;
    *object_value(&now, "state") = db_textz("draft");
    return engine_update_row(op, &now, err);
}

static void undo_task(struct task *t)
{
    struct err err = {0};
    if (!engine_write(t->core, &caller_system, t->arena, undo_write, t, &err))
        task_problem(t, STR("version"), NULL, "the version could not be made a draft again: %s", err.message);
}

const struct task_type task_publish = {
    .name = "publish", .title = {"Publish", "发布"}, .run = run_task, .undo = undo_task, .undo_always = true};

/* --- the action --- */

bool publish_start(struct op *op, struct object *o, const char *from, struct json_out *out, int *status,
                   struct err *err)
{
    struct publishing p = {.version = o, .from = from};
    struct listing l = {.core = op->core, .arena = op->arena, .version = o->id};
    if (!version_is_idle(op, o->id, err))
        return false;
    bool at_once = object_int(o, "samples") <= PUBLISH_AT_ONCE;
    if (at_once ? !publish_at_once(&l, op->caller, &p, err)
                : !engine_write(op->core, op->caller, op->arena, begin_write, &p, err))
        return false;
    *status = at_once ? 200 : 202;
    return engine_answer(op, &p.now, out, err);
}

bool publish_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)input;
    if (str_is(object_text(o, "state"), "publishing"))
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_VERSION_PUBLISHING);
    if (str_is(object_text(o, "state"), "reviewing"))
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_VERSION_REVIEWING);
    if (!str_is(object_text(o, "state"), "draft"))
        return err_set(err, ERR_CONFLICT, "state", "the version is published already");
    if (object_int(o, "samples") == 0)
        return err_set(err, ERR_CONFLICT, "samples",
                       "the version has no samples yet: import some before publishing it");
    return publish_start(op, o, "draft", out, status, err);
}
