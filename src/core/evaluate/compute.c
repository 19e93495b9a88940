/* The task of an evaluation: what was found against the truth, and the blobs that come of it. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/messages_evaluate.h"
#include "core/data/layer.h"
#include "core/evaluate/details.h"
#include "core/evaluate/evaluate.h"
#include "core/evaluate/found.h"
#include "core/evaluate/latency.h"
#include "core/evaluate/report.h"
#include "model/manifest.h"
#include "store/store.h"

#include <math.h>

#define PROBLEMS_TOLD 20

struct computing {
    struct task *task;
    struct object o;
    int64_t layer;
    struct evaluate *evaluate;
    struct slices *slices;
    struct found *found; /* NULL: a layer */
    struct blob_writer *out;
    uint64_t written;
    int64_t done, total, failed;
    struct buf problems;
    struct latency latency;
    struct str figures;
    struct digest report, details;
};

/* --- one sample --- */

static bool look_up(struct computing *c, const struct sample *s, struct arena *a, struct found_line *ret,
                    struct err *err)
{
    bool is = false;
    *ret = (struct found_line){.annotation = STR("{}")};
    if (!c->layer)
        return found_get(c->found, s->name, ret, &is, err) &&
               (is || ((*ret = (struct found_line){.annotation = STR("{}")}), true));
    struct sample of_layer = *s;
    if (!layer_get(c->task->core->db, a, object_int(&c->o, "dataset_version"), c->layer, &of_layer, err))
        return false;
    ret->annotation = of_layer.annotation;
    return true;
}

static void note_problem(struct computing *c, struct str file, struct str error)
{
    struct json_out o;
    if (c->failed++ >= PROBLEMS_TOLD)
        return;
    if (c->problems.n)
        buf_char(&c->problems, ',');
    json_begin(&o, &c->problems);
    json_object(&o);
    json_kstr(&o, "file", file);
    json_kstr(&o, "error", error);
    json_object_end(&o);
}

static bool keep_text(struct computing *c, const struct sample *s, const struct found_line *f,
                      struct err *err)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_object(&o);
    json_kstr(&o, "file", s->name);
    json_kint(&o, "width", s->width);
    json_kint(&o, "height", s->height);
    json_kz(&o, "split", s->split ? codec_split_names[s->split] : NULL);
    json_key(&o, "truth");
    json_raw(&o, s->annotation);
    json_key(&o, "found");
    json_raw(&o, f->annotation);
    if (f->error.p)
        json_kstr(&o, "error", f->error);
    json_object_end(&o);
    struct matches *m = evaluate_matches(c->evaluate);
    m->samples[m->sample_count - 1].text_at = c->written;
    m->samples[m->sample_count - 1].text_bytes = (uint32_t)b.n;
    c->written += b.n;
    return blob_writer_add(c->out, buf_view(&b), err);
}

static struct str folder_of(struct str name)
{
    const char *slash = memrchr(name.p, '/', name.n);
    return slash ? (struct str){name.p, (size_t)(slash - name.p)} : STR("/");
}

static bool add_sample(struct computing *c, const struct sample *s, struct found_line *f, struct err *err)
{
    bool kept;
    struct evaluate_sample e = {.id = s->id,
                                .split = (uint32_t)s->split,
                                .truth = s->annotation,
                                .found = f->annotation,
                                .w = s->width ? (uint32_t)s->width : f->width,
                                .h = s->height ? (uint32_t)s->height : f->height};
    latency_add(&c->latency, f->us);
    slices_put(c->slices, "split", STR_NULL, s->split ? str_of(codec_split_names[s->split]) : STR("-"));
    slices_put(c->slices, "folder", STR_NULL, folder_of(s->name));
    slices_attributes(c->slices, s->annotation);
    struct err bad = {0};
    bool ok = evaluate_add_sample(c->evaluate, &e, &kept, &bad);
    if (!ok && bad.code == ERR_INVALID && !f->error.p) {
        /* What was found is no annotation of the type: nothing was found. */
        f->error = str_of(arena_strdup(c->task->arena, bad.message));
        f->annotation = e.found = STR("{}");
        ok = evaluate_add_sample(c->evaluate, &e, &kept, &bad);
    }
    slices_end(c->slices, ok && kept);
    if (!ok) {
        *err = bad;
        return false;
    }
    if (f->error.p)
        note_problem(c, s->name, f->error);
    return !kept || keep_text(c, s, f, err);
}

/* Whether it was stopped or started anew meanwhile. */
static bool still_wanted(struct computing *c, struct err *err)
{
    auto_arena struct arena a;
    struct object now;
    arena_init(&a);
    if (!engine_get(c->task->core, &caller_system, &kind_evaluation, 0, c->o.id, &a, &now, err))
        return err->code == ERR_NOT_FOUND && err_message(err, ERR_CONFLICT, NULL, MESSAGE_EVALUATION_GONE);
    return (!evaluation_is_over(&now) && object_int(&now, "task") == c->task->id) ||
           err_message(err, ERR_CONFLICT, "state", MESSAGE_EVALUATION_OVER);
}

static bool each(void *ctx, const struct sample *s, struct err *err)
{
    struct computing *c = ctx;
    struct found_line f;
    auto_arena struct arena a;
    arena_init(&a);
    if (!look_up(c, s, &a, &f, err) || !add_sample(c, s, &f, err) ||
        !task_progress(c->task, ++c->done, c->total, err))
        return false;
    return c->done % 200 != 0 || still_wanted(c, err);
}

/* --- all of them --- */

static bool count_one(void *ctx, const struct sample *s, struct err *err)
{
    (void)s;
    (void)err;
    ++*(int64_t *)ctx;
    return true;
}

/* Labels of a model count from its own threshold on; shapes are looked at at all scores. */
static bool set_score(struct computing *c, enum annotation_type type, struct err *err)
{
    struct db_value *asked = object_value(&c->o, "score");
    struct op op = {.core = c->task->core, .caller = &caller_system, .arena = c->task->arena};
    struct model_manifest m;
    int64_t model;
    bool labels =
        type == ANNOTATION_IMAGE_CLASSES || type == ANNOTATION_TEXT_CLASS || type == ANNOTATION_AUDIO_CLASS;
    if (asked->type == DB_REAL || asked->type == DB_INT) {
        evaluate_set_score(c->evaluate, asked->type == DB_REAL ? asked->r : (double)asked->i);
        return true;
    }
    if (!labels || c->layer)
        return true;
    if (!evaluation_model(&op, &c->o, &model, err) ||
        !evaluation_manifest(c->task->core, model, c->task->arena, &m, err))
        return false;
    evaluate_set_score(c->evaluate, m.thresholds[MODEL_THRESHOLD_SCORE]);
    return true;
}

static bool begin(struct computing *c, struct err *err)
{
    struct core *core = c->task->core;
    struct op op = {.core = core, .caller = &caller_system, .arena = c->task->arena};
    struct object version;
    struct sample_set set;
    if (!engine_get(core, &caller_system, &kind_dataset_version, 0, object_int(&c->o, "dataset_version"),
                    c->task->arena, &version, err) ||
        !sample_set_of(&op, &version, &set, err))
        return false;
    c->evaluate = evaluate_new(set.type, err);
    c->slices = slices_new();
    c->layer = object_int(&c->o, "layer");
    if (!c->evaluate || !set_score(c, set.type, err))
        return false;
    if (!c->layer) {
        c->found = found_open(evaluation_path(core, c->task->arena, &c->o, "out/" EVALUATION_FOUND), err);
        if (!c->found)
            return err->code == ERR_NOT_FOUND
                       ? err_message(err, ERR_CONFLICT, NULL, MESSAGE_EVALUATION_FOUND_GONE)
                       : false;
    }
    c->out = blob_writer_new(core->store, err);
    return c->out != NULL;
}

static bool put_details(struct computing *c, struct err *err)
{
    auto_buf struct buf index = {0};
    matches_write(evaluate_matches(c->evaluate), &index);
    struct details_tail tail = {c->written, index.n};
    bool ok = blob_writer_add(c->out, buf_view(&index), err) &&
              blob_writer_add(c->out, (struct str){(const char *)&tail, sizeof tail}, err);
    if (!ok)
        return false;
    ok = blob_writer_finish(c->out, &c->details, NULL, err);
    c->out = NULL;
    return ok;
}

static bool put_report(struct computing *c, const struct evaluation_part *part, struct err *err)
{
    struct arena *a = c->task->arena;
    struct report_input in = {.evaluate = c->evaluate,
                              .slices = c->slices,
                              .draws = (uint32_t)object_int(&c->o, "draws"),
                              .failed = c->failed};
    evaluation_part_passed(part, &in.unlabelled, &in.machine);
    in.problems = str_of(arena_printf(a, "[" STR_FMT "]", STR_ARG(buf_view(&c->problems))));
    if (c->found)
        in.known = found_labels(c->found, &in.known_count);
    struct str report = report_write(&in, a, &c->figures);
    return put_details(c, err) && blob_put(c->task->core->store, report, &c->report, err);
}

static bool compare_all(struct computing *c, struct err *err)
{
    struct evaluation_part *part;
    if (!evaluation_part_open(c->task->core, &c->o, &part, err))
        return false;
    bool ok = evaluation_part_each(part, count_one, &c->total, err);
    if (ok && !c->total)
        ok = err_message(err, ERR_CONFLICT, "dataset_version", MESSAGE_EVALUATION_EMPTY);
    ok = ok && evaluation_part_each(part, each, c, err);
    if (ok && c->failed == c->total) {
        struct str first = buf_view(&c->problems);
        ok = err_message(err, ERR_CONFLICT, NULL, MESSAGE_EVALUATION_ALL_FAILED, (long long)c->total,
                         (int)(first.n < 200 ? first.n : 200), first.p);
    }
    ok = ok && put_report(c, part, err);
    evaluation_part_close(part);
    return ok;
}

/* --- the end --- */

static bool use_blob(struct op *op, struct object *o, const char *field, const struct digest *d,
                     struct err *err)
{
    struct digest old;
    char *hex = arena_alloc(op->arena, SHA256_HEX + 1);
    if (digest_parse(object_text(o, field), &old) && !store_use(op->conn, o->project, &old, -1, err))
        return false;
    digest_hex(d, hex);
    *object_value(o, field) = db_textz(hex);
    return store_use(op->conn, o->project, d, 1, err);
}

static bool end_write(struct op *op, void *ctx, struct err *err)
{
    struct computing *c = ctx;
    struct object o;
    bool found;
    if (!engine_load_row(op, &kind_evaluation, c->o.id, &o, &found, err))
        return false;
    if (!found || evaluation_is_over(&o) || object_int(&o, "task") != c->task->id)
        return true; /* deleted, stopped or started anew meanwhile */
    *object_value(&o, "state") = db_textz("completed");
    *object_value(&o, "note") = *object_value(&o, "note_zh") = db_null();
    *object_value(&o, "figures") = db_text(c->figures);
    struct str latency;
    if (!latency_write(&c->latency, c->found, op, object_int(&o, "job"), &latency, err))
        return false;
    *object_value(&o, "latency") = latency.p ? db_text(latency) : db_null();
    *object_value(&o, "samples") = db_int((int64_t)evaluate_matches(c->evaluate)->sample_count);
    *object_value(&o, "done") = *object_value(&o, "total") = db_int(c->total);
    *object_value(&o, "ended_at") = db_int(clock_now());
    return use_blob(op, &o, "report", &c->report, err) && use_blob(op, &o, "details", &c->details, err) &&
           engine_update_row(op, &o, err);
}

struct ending {
    struct task *task;
    const char *state, *note, *note_zh;
};

static bool fail_write(struct op *op, void *ctx, struct err *err)
{
    struct ending *e = ctx;
    struct object o;
    bool found;
    if (!engine_load_row(op, &kind_evaluation, e->task->subject, &o, &found, err))
        return false;
    if (!found || evaluation_is_over(&o) || object_int(&o, "task") != e->task->id)
        return true;
    *object_value(&o, "state") = db_textz(e->state);
    *object_value(&o, "note") = db_textz(e->note);
    *object_value(&o, "note_zh") = e->note_zh ? db_textz(e->note_zh) : db_null();
    *object_value(&o, "ended_at") = db_int(clock_now());
    return engine_update_row(op, &o, err);
}

static bool say_running(struct op *op, void *ctx, struct err *err)
{
    struct computing *c = ctx;
    bool found;
    if (!engine_load_row(op, &kind_evaluation, c->task->subject, &c->o, &found, err))
        return false;
    if (!found || evaluation_is_over(&c->o) || object_int(&c->o, "task") != c->task->id) {
        c->o.id = 0;
        return true;
    }
    if (str_is(object_text(&c->o, "state"), "running"))
        return true;
    *object_value(&c->o, "state") = db_textz("running");
    if (!object_int(&c->o, "started_at"))
        *object_value(&c->o, "started_at") = db_int(clock_now());
    return engine_update_row(op, &c->o, err);
}

static void release(struct computing *c)
{
    found_close(c->found);
    slices_free(c->slices);
    evaluate_free(c->evaluate);
    blob_writer_abort(c->out);
    buf_release(&c->problems);
    latency_release(&c->latency);
}

static bool run(struct task *t, struct err *err)
{
    struct computing c = {.task = t};
    if (!engine_write(t->core, &caller_system, t->arena, say_running, &c, err))
        return false;
    if (!c.o.id)
        return true; /* done before the server was killed, stopped, or deleted */
    bool ok = begin(&c, err) && compare_all(&c, err) &&
              engine_write(t->core, &caller_system, t->arena, end_write, &c, err);
    if (ok)
        task_result(t, c.figures);
    release(&c);
    struct err ignored = {0};
    if (ok)
        fs_remove_tree(AT_FDCWD, evaluation_path(t->core, t->arena, &c.o, ""), &ignored);
    struct ending e = {t, "failed", err->message, err->id ? err->zh : NULL};
    if (!ok && err->code != ERR_UNAVAILABLE && task_progress(t, c.done, c.total, &ignored) &&
        !engine_write(t->core, &caller_system, t->arena, fail_write, &e, &ignored))
        task_problem(t, STR("evaluation"), NULL, "%s", ignored.message);
    return ok;
}

/* Of one that was cancelled: a failure was said already. */
static void undo(struct task *t)
{
    struct ending e = {t, "stopped", "its task was cancelled", "其后台任务已取消"};
    struct err err = {0};
    if (!engine_write(t->core, &caller_system, t->arena, fail_write, &e, &err))
        task_problem(t, STR("evaluation"), NULL, "%s", err.message);
}

const struct task_type task_evaluate = {
    .name = "evaluate", .title = {"Evaluate", "评估"}, .run = run, .undo = undo, .undo_always = true};
