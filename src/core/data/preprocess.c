#include "core/data/preprocess.h"

#include "base/messages.h"
#include "codec/reader.h"
#include "codec/sides.h"
#include "core/data/classes.h"
#include "core/data/sample.h"
#include "core/pending.h"
#include "media/media.h"

#include <math.h>

#define MAX_STEPS 20
#define BATCH     32

enum step_kind { STEP_BLUR, STEP_CROP, STEP_ROTATE, STEP_MIRROR_H, STEP_MIRROR_V };
static const char *const step_names[] = {"blur", "crop", "rotate", "mirror-h", "mirror-v"};

struct step {
    enum step_kind kind;
    double threshold;
    struct media_op op;
};

/* --- the steps as JSON --- */

static bool number(yyjson_val *v, const char *key, double low, double high, double fallback, double *ret,
                   struct err *err)
{
    yyjson_val *x = yyjson_obj_get(v, key);
    *ret = x ? yyjson_get_num(x) : fallback;
    if ((!x || yyjson_is_num(x)) && isfinite(*ret) && *ret >= low && *ret <= high)
        return true;
    return err_set(err, ERR_INVALID, "steps", "steps: %s must be a number from %g to %g", key, low, high);
}

static bool read_crop(yyjson_val *v, struct media_op *op, struct err *err)
{
    double x, y, w, h;
    if (!number(v, "x", 0, 1e6, 0, &x, err) || !number(v, "y", 0, 1e6, 0, &y, err) ||
        !number(v, "w", 1, 1e6, -1, &w, err) || !number(v, "h", 1, 1e6, -1, &h, err))
        return false;
    *op = (struct media_op){
        .kind = MEDIA_CROP, .x = (int64_t)x, .y = (int64_t)y, .w = (int64_t)w, .h = (int64_t)h};
    return true;
}

static bool read_step(yyjson_val *v, struct step *ret, struct err *err)
{
    struct str name = json_str(yyjson_obj_get(v, "op"));
    size_t k = 0;
    while (k < countof(step_names) && !str_is(name, step_names[k]))
        k++;
    *ret = (struct step){.kind = (enum step_kind)k};
    switch (k) {
    case STEP_BLUR:
        return number(v, "threshold", 0, 5000, 50, &ret->threshold, err);
    case STEP_CROP:
        return read_crop(v, &ret->op, err);
    case STEP_ROTATE:
        ret->op.kind = MEDIA_ROTATE;
        return number(v, "angle", -360, 360, 90, &ret->op.angle, err);
    case STEP_MIRROR_H:
        ret->op.kind = MEDIA_MIRROR_H;
        return true;
    case STEP_MIRROR_V:
        ret->op.kind = MEDIA_MIRROR_V;
        return true;
    default:
        return err_set(err, ERR_INVALID, "steps",
                       "steps: \"" STR_FMT "\" is none of blur, crop, rotate, mirror-h, mirror-v",
                       STR_ARG(name));
    }
}

static bool read_steps(yyjson_val *list, struct step ret[MAX_STEPS], size_t *ret_n, struct err *err)
{
    yyjson_val *v;
    size_t i, max;
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) == 0 || yyjson_arr_size(list) > MAX_STEPS)
        return err_set(err, ERR_INVALID, "steps", "steps: a list of 1 to %d steps", MAX_STEPS);
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!read_step(v, &ret[i], err))
            return false;
    }
    *ret_n = yyjson_arr_size(list);
    return true;
}

/* --- one sample through all steps --- */

struct work {
    struct task *task;
    struct sample_set set;
    struct sides *sides; /* of keypoints; else NULL */
    struct step steps[MAX_STEPS];
    size_t step_count;
    struct arena arena; /* of the batch */
};

struct outcome {
    const struct sample *sample;
    bool cleaned, changed;
    struct sample_new now;
};

static bool sharp_enough(struct work *w, const struct digest *blob, double threshold, bool *ret,
                         struct err *err)
{
    struct media_measures m;
    auto_fd int fd = blob_open(w->task->core->store, blob, NULL, err);
    if (fd < 0 || !media_measure(w->task->core->media, fd, &m, err))
        return false;
    *ret = m.sharpness >= threshold;
    return true;
}

/* Names end as their bytes do: what cannot be written as it was (BMP, TIFF, GIF) is a PNG now. */
static struct str name_for(struct work *w, struct str name, const char *format)
{
    static const struct {
        const char *ending, *format; /* the first of a format is the one that is given */
    } endings[] = {{".jpg", "jpeg"}, {".jpeg", "jpeg"}, {".png", "png"},   {".webp", "webp"},
                   {".bmp", "bmp"},  {".tif", "tiff"},  {".tiff", "tiff"}, {".gif", "gif"}};
    size_t of = 0, to = 0;
    while (of < countof(endings) && !path_has_ending(name, endings[of].ending))
        of++;
    while (to < countof(endings) && strcmp(endings[to].format, format) != 0)
        to++;
    if (of == countof(endings) || to == countof(endings) || strcmp(endings[of].format, format) == 0)
        return name;
    return str_of(arena_printf(&w->arena, "%.*s%s", (int)(name.n - strlen(endings[of].ending)), name.p,
                               endings[to].ending));
}

static bool move_annotation(struct work *w, struct outcome *o, const struct media_result *r, struct err *err)
{
    struct annotation_changes changes;
    const double *m = r->matrix;
    bool mirrored = m[0] * m[4] - m[1] * m[3] < 0;
    if (!annotation_transform(&w->arena, w->set.type, o->now.annotation, m, (uint32_t)r->width,
                              (uint32_t)r->height, &o->now.annotation, &changes, err) ||
        (mirrored && w->sides &&
         !sides_swap(w->sides, &w->arena, w->set.type, o->now.annotation, &o->now.annotation, err)))
        return false;
    if (changes.dropped)
        task_note(w->task, o->sample->name, NULL, MESSAGE_SHAPES_DROPPED, changes.dropped);
    return true;
}

static bool transform(struct work *w, struct outcome *o, const struct media_op *ops, size_t n,
                      struct err *err)
{
    auto_buf struct buf out = {0};
    struct media_result r;
    auto_fd int fd = blob_open(w->task->core->store, &o->now.blob, NULL, err);
    if (fd < 0 || !media_transform(w->task->core->media, fd, ops, n, &out, &r, err) ||
        !blob_put(w->task->core->store, buf_view(&out), &o->now.blob, err) || !move_annotation(w, o, &r, err))
        return false;
    if (r.pages > 1)
        task_note(w->task, o->sample->name, NULL, MESSAGE_PAGES_DROPPED, (long long)r.pages);
    o->now.name = name_for(w, o->now.name, r.format);
    o->now.size = (int64_t)out.n;
    o->now.width = r.width;
    o->now.height = r.height;
    o->changed = true;
    return true;
}

static bool through_steps(struct work *w, struct outcome *o, struct err *err)
{
    for (size_t i = 0; i < w->step_count && !o->cleaned;) {
        if (w->steps[i].kind == STEP_BLUR) {
            bool sharp;
            if (!sharp_enough(w, &o->now.blob, w->steps[i++].threshold, &sharp, err))
                return false;
            o->cleaned = !sharp;
            continue;
        }
        struct media_op ops[MAX_STEPS];
        size_t n = 0;
        while (i < w->step_count && w->steps[i].kind != STEP_BLUR)
            ops[n++] = w->steps[i++].op;
        if (!transform(w, o, ops, n, err))
            return false;
    }
    return true;
}

/* A picture that cannot be worked on is said so and stays as it is. */
static bool work_on(struct work *w, const struct sample *s, struct outcome *o, struct err *err)
{
    *o = (struct outcome){.sample = s,
                          .now = {.name = s->name,
                                  .blob = s->blob,
                                  .size = s->size,
                                  .width = s->width,
                                  .height = s->height,
                                  .annotation = s->annotation,
                                  .keep_state = true}};
    struct sample_new before = o->now;
    if (through_steps(w, o, err))
        return true;
    if (err->code != ERR_INVALID)
        return false;
    err_because(err, err->code, NULL, err, MESSAGE_LEFT_AS_IS);
    task_note_err(w->task, s->name, NULL, err);
    *err = (struct err){0};
    o->now = before;
    o->changed = o->cleaned = false;
    return true;
}

/* --- batches: what was computed and how far it is go into one write, so that nothing is done twice --- */

struct batch {
    struct work *work;
    struct outcome *outcome;
    size_t n;
    int64_t last;
};

static bool mark(struct op *op, int64_t task, int64_t position, struct err *err)
{
    return conn_exec(op->conn,
                     "INSERT INTO task_marks (task, position) VALUES (?, ?)"
                     " ON CONFLICT (task) DO UPDATE SET position = excluded.position",
                     db_args(db_int(task), db_int(position)), NULL, err);
}

static bool batch_write(struct op *op, void *ctx, struct err *err)
{
    struct batch *b = ctx;
    const struct sample_set *set = &b->work->set;
    for (size_t i = 0; i < b->n; i++) {
        struct outcome *o = &b->outcome[i];
        int64_t id = o->sample->id, changed;
        if (o->changed && !sample_replace(op, set, id, &o->now, err))
            return false;
        if (o->cleaned && !sample_clean(op, set, &id, 1, true, &changed, err))
            return false;
    }
    return mark(op, b->work->task->id, b->last, err);
}

static bool marked(struct task *t, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(t->core->db, t->arena, "SELECT position FROM task_marks WHERE task = ?",
                      db_args(db_int(t->id)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

static bool one_batch(struct work *w, int64_t *after, size_t *ret_n, struct err *err)
{
    struct sample *list;
    arena_release(&w->arena);
    arena_init(&w->arena);
    struct sample_query q = {.state = -1, .after = *after, .limit = BATCH};
    if (!sample_list(w->task->core->db, &w->arena, w->set.version, &q, &list, ret_n, err))
        return false;
    if (*ret_n == 0)
        return true;
    struct batch b = {.work = w, .n = *ret_n, .last = list[*ret_n - 1].position};
    b.outcome = arena_array(&w->arena, struct outcome, b.n);
    for (size_t i = 0; i < b.n; i++)
        if (!work_on(w, &list[i], &b.outcome[i], err))
            return false;
    *after = b.last;
    return engine_write(w->task->core, &w->task->caller, &w->arena, batch_write, &b, err);
}

/* Which points of skeletons swap when a picture is mirrored. */
static bool find_sides(struct work *w, struct err *err)
{
    struct codec_label *labels;
    size_t n;
    bool mirrors = false;
    for (size_t i = 0; i < w->step_count; i++)
        mirrors = mirrors || w->steps[i].kind == STEP_MIRROR_H || w->steps[i].kind == STEP_MIRROR_V;
    if (w->set.type != ANNOTATION_KEYPOINTS || !mirrors)
        return true;
    if (!classes_of(w->task->core->db, w->task->arena, w->set.version, &labels, &n, err))
        return false;
    w->sides = sides_new(w->task->arena, labels, n);
    if (!sides_any(w->sides))
        task_note(w->task, STR("keypoints"), NULL, MESSAGE_NO_SIDES);
    return true;
}

static bool open_work(struct work *w, struct task *t, struct object *version, struct err *err)
{
    struct op op = {.core = t->core, .caller = &t->caller, .arena = t->arena};
    w->task = t;
    return engine_get(t->core, &caller_system, &kind_dataset_version, 0, t->subject, t->arena, version,
                      err) &&
           sample_set_of(&op, version, &w->set, err) && sample_set_open(&w->set, err) &&
           read_steps(yyjson_obj_get(t->params, "steps"), w->steps, &w->step_count, err) &&
           find_sides(w, err);
}

static bool run_preprocess(struct task *t, struct err *err)
{
    struct work w = {0};
    struct object version;
    int64_t after, done = 0, total;
    size_t n = 1;
    if (!open_work(&w, t, &version, err) || !marked(t, &after, err)) {
        sides_free(w.sides);
        return false;
    }
    total = object_int(&version, "samples");
    arena_init(&w.arena);
    bool ok = true;
    while (ok && n > 0) {
        ok = one_batch(&w, &after, &n, err);
        done += (int64_t)n;
        ok = ok && task_progress(t, done < total ? done : total, total, err);
    }
    arena_release(&w.arena);
    sides_free(w.sides);
    pending_tell_one(t->core, &version, "samples");
    return ok;
}

const struct task_type task_preprocess = {.name = "preprocess",
                                          .title = {"Preprocess", "预处理"},
                                          .run = run_preprocess,
                                          .undo = version_undo,
                                          .undo_always = true};

/* --- the action: a new version from this one, then the task on it --- */

const struct field preprocess_fields[] = {
    {.name = "steps",
     .type = FIELD_JSON,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .max = 1 << 16,
     .title = {"Steps", "步骤"},
     .help = {"In this order: [{\"op\": \"blur\", \"threshold\": 50}, {\"op\": \"crop\", \"x\", \"y\", "
              "\"w\", \"h\"}, {\"op\": "
              "\"rotate\", \"angle\"}, {\"op\": \"mirror-h\"}, {\"op\": \"mirror-v\"}]",
              "按顺序执行：[{\"op\": \"blur\", \"threshold\": 50}, {\"op\": \"crop\", …}, {\"op\": "
              "\"rotate\", \"angle\"}, …]"}},
    {0},
};

bool preprocess_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err)
{
    (void)status;
    struct step steps[MAX_STEPS];
    size_t n;
    yyjson_val *list = json_parse(op->arena, input[0].s, err);
    struct sample_set set;
    if (!list || !read_steps(list, steps, &n, err) || !sample_set_of(op, version, &set, err))
        return false;
    if (annotation_types[set.type].data != ANNOTATION_IMAGE)
        return err_set(err, ERR_CONFLICT, NULL, "only datasets of images can be preprocessed");
    struct object next;
    const char *body =
        arena_printf(op->arena, "{\"from\":%lld,\"description\":\"Preprocessed from " STR_FMT "\"}",
                     (long long)version->id, STR_ARG(object_text(version, "name")));
    yyjson_val *fields = json_parse(op->arena, str_of(body), err);
    if (!fields || !engine_create(op->core, op->caller, &kind_dataset_version, version->parent, fields,
                                  op->arena, &next, err))
        return false;
    const char *params = arena_printf(op->arena, "{\"steps\":" STR_FMT "}", STR_ARG(input[0].s));
    return version_start_task(op, &next, "preprocess", task_name(op->arena, MESSAGE_NAME_PREPROCESS),
                              str_of(params), out, err);
}
