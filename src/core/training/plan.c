/* What one-click training would do with a dataset version. Counts are those that the platform keeps: no
 * samples are gone through, but for what a version of moderate size allows. */
#include "base/messages.h"
#include "base/messages_learn.h"
#include "core/compute/spec.h"
#include "core/data/sample.h"
#include "core/training/built_in.h"
#include "core/training/one_click.h"

#include <math.h>

#define MEMORY      (INT64_C(2) << 30) /* of the spec at least */
#define SCANNED     200000             /* samples that may be gone through for parts and negatives */
#define FEWEST      10                 /* samples from which on there is a test part, as the trainer has it */
#define VAL_SHARE   0.15
#define MOST_LABELS 10000
#define AREA_LABELS 254 /* one byte for each pixel, as the code of one-click has it */
#define FEW         10  /* samples of a class below which it is often wrong */
#define ENOUGH      30
#define NAMED       20 /* small classes that have a remark of their own */
#define BASE_MODEL  "imagenet-classifier"

/* --- remarks --- */

/* NULL when there are too many already, which errors never are. */
static struct plan_remark *add_remark(struct one_click *p, enum plan_level level, struct str label)
{
    if (p->n_remarks >= PLAN_MAX_REMARKS - (level == PLAN_ERROR ? 0 : PLAN_MAX_ERRORS))
        return NULL;
    p->remarks[p->n_remarks] = (struct plan_remark){.level = level, .label = label};
    return &p->remarks[p->n_remarks++];
}

#define REMARK(p, how, of, ...)                                                                              \
    do {                                                                                                     \
        struct plan_remark *r_ = add_remark((p), (how), (of));                                               \
        if (r_)                                                                                              \
            (void)err_message(&r_->said, ERR_INVALID, NULL, __VA_ARGS__);                                    \
    } while (0)

const struct plan_remark *one_click_obstacle(const struct one_click *p)
{
    for (size_t i = 0; i < p->n_remarks; i++)
        if (p->remarks[i].level == PLAN_ERROR)
            return &p->remarks[i];
    return NULL;
}

/* --- what is there --- */

/* Each sample has one label at most. */
static bool is_single(enum annotation_type t)
{
    return t == ANNOTATION_IMAGE_CLASS || t == ANNOTATION_TEXT_CLASS || t == ANNOTATION_AUDIO_CLASS;
}

static bool count_samples(struct op *op, struct one_click *p, struct err *err)
{
    struct sample_counts n;
    if (!sample_counts(op->core->db, p->version.id, &n, err))
        return false;
    p->all = n.samples;
    p->unannotated = n.states[SAMPLE_UNANNOTATED];
    p->rejected = n.states[SAMPLE_REJECTED];
    p->usable = n.states[SAMPLE_ANNOTATED] + n.states[SAMPLE_MACHINE] + n.states[SAMPLE_REVIEW] +
                n.states[SAMPLE_ACCEPTED];
    return true;
}

static struct plan_class *class_of(struct one_click *p, struct str label)
{
    for (size_t i = 0; i < p->n_classes; i++)
        if (str_eq(p->classes[i].label, label))
            return &p->classes[i];
    return NULL;
}

static bool has_label(yyjson_val *list, struct str label)
{
    size_t i, n;
    yyjson_val *v;
    yyjson_arr_foreach(list, i, n, v)
    {
        if (str_eq(json_str(v), label))
            return true;
    }
    return false;
}

/* A new name that labels are merged into is a class, too. */
static bool count_classes(struct op *op, struct one_click *p, yyjson_val *values, struct err *err)
{
    struct sample_label_count *labels;
    size_t n, i, max;
    yyjson_val *leave_out = yyjson_obj_get(values, "leave_out"), *merge = yyjson_obj_get(values, "merge"),
               *key, *to;
    if (!sample_label_counts(op->core->db, op->arena, p->version.id, &labels, &n, err))
        return false;
    if (n > MOST_LABELS)
        n = MOST_LABELS;
    p->classes = arena_array(op->arena, struct plan_class, n + yyjson_obj_size(merge) + 1);
    for (i = 0; i < n; i++)
        p->classes[p->n_classes++] = (struct plan_class){.label = labels[i].label,
                                                         .into = algorithm_merged(merge, labels[i].label),
                                                         .samples = labels[i].samples,
                                                         .shapes = labels[i].shapes,
                                                         .left_out = has_label(leave_out, labels[i].label)};
    yyjson_obj_foreach(merge, i, max, key, to)
    {
        if (!class_of(p, json_str(key)))
            REMARK(p, PLAN_WARNING, json_str(key), MESSAGE_PLAN_NO_LABEL, STR_ARG(json_str(key)));
        if (!class_of(p, json_str(to)))
            p->classes[p->n_classes++] = (struct plan_class){.label = json_str(to), .into = json_str(to)};
    }
    yyjson_arr_foreach(leave_out, i, max, to)
    {
        if (!class_of(p, json_str(to)))
            REMARK(p, PLAN_WARNING, json_str(to), MESSAGE_PLAN_NO_LABEL, STR_ARG(json_str(to)));
    }
    for (i = 0; i < p->n_classes; i++) {
        struct plan_class *c = &p->classes[i], *into = class_of(p, c->into);
        if (!c->left_out && into)
            into->total += c->samples;
        if (c->left_out && is_single(p->type))
            p->usable -= c->samples;
    }
    return true;
}

static bool count_negatives(struct op *op, struct one_click *p, struct err *err)
{
    struct db_row row;
    bool found;
    p->negatives = -1;
    if (is_single(p->type)) {
        p->negatives = 0;
        return true;
    }
    if (p->all > SCANNED)
        return true;
    if (!db_query_one(
            op->core->db, op->arena,
            "SELECT COUNT(*) FROM samples s WHERE s.version = ? AND s.state NOT IN (?, ?, ?) AND NOT"
            " EXISTS (SELECT 1 FROM sample_labels l WHERE l.version = s.version AND l.sample = s.id)",
            db_args(db_int(p->version.id), db_int(SAMPLE_UNANNOTATED), db_int(SAMPLE_REJECTED),
                    db_int(SAMPLE_CLEANED)),
            &row, &found, err))
        return false;
    p->negatives = row.v[0].i;
    return true;
}

/* As the trainer splits: parts that samples have stay, what is missing is taken from the rest. */
static bool share_out(struct op *op, struct one_click *p, double test_share, struct err *err)
{
    struct db_rows rows;
    int64_t had[CODEC_SPLIT_COUNT] = {0};
    if (p->all <= SCANNED) {
        if (!db_query(op->core->db, op->arena,
                      "SELECT split, COUNT(*) FROM samples WHERE version = ? AND state NOT IN (?, ?, ?)"
                      " GROUP BY split",
                      db_args(db_int(p->version.id), db_int(SAMPLE_UNANNOTATED), db_int(SAMPLE_REJECTED),
                              db_int(SAMPLE_CLEANED)),
                      &rows, err))
            return false;
        for (size_t i = 0; i < rows.n; i++)
            if (rows.row[i].v[0].i >= 0 && rows.row[i].v[0].i < CODEC_SPLIT_COUNT)
                had[rows.row[i].v[0].i] = rows.row[i].v[1].i;
    }
    p->train = p->usable;
    p->val = p->test = 0;
    if (p->usable < FEWEST)
        return true;
    int64_t loose = had[CODEC_SPLIT_NONE] ? had[CODEC_SPLIT_NONE] : p->usable;
    p->test = had[CODEC_TEST] ? had[CODEC_TEST] : (int64_t)lround((double)loose * test_share);
    if (p->test > p->usable)
        p->test = p->usable;
    int64_t rest = p->usable - p->test;
    p->val = had[CODEC_VAL]       ? had[CODEC_VAL]
             : rest >= 2 * FEWEST ? (int64_t)lround((double)rest * VAL_SHARE)
                                  : 0;
    if (p->val > rest)
        p->val = rest;
    p->train = rest - p->val;
    return true;
}

/* --- what is doubtful --- */

static void remark_class(struct one_click *p, const struct plan_class *c)
{
    if (c->total < 3)
        REMARK(p, PLAN_WARNING, c->label, MESSAGE_PLAN_HARDLY, STR_ARG(c->label), (long long)c->total);
    else if (c->total < FEW)
        REMARK(p, PLAN_WARNING, c->label, MESSAGE_PLAN_FEW, STR_ARG(c->label), (long long)c->total);
    else
        REMARK(p, PLAN_NOTE, c->label, MESSAGE_PLAN_SOME, STR_ARG(c->label), (long long)c->total);
}

static void remark_classes(struct one_click *p)
{
    int64_t least = INT64_MAX, most = 0, n = 0, small = 0, further = 0, few = 0;
    for (size_t i = 0; i < p->n_classes; i++) {
        const struct plan_class *c = &p->classes[i];
        if (c->left_out || !c->total)
            continue;
        n++;
        least = c->total < least ? c->total : least;
        most = c->total > most ? c->total : most;
        if (c->total >= ENOUGH)
            continue;
        if (small++ < NAMED)
            remark_class(p, c);
        else if (further++, c->total < FEW)
            few++;
    }
    if (further)
        REMARK(p, PLAN_WARNING, STR_NULL, MESSAGE_PLAN_FURTHER, (long long)further, (long long)few);
    if (n == 1 && (is_single(p->type) || (p->type == ANNOTATION_IMAGE_CLASSES && p->negatives == 0)))
        REMARK(p, PLAN_ERROR, STR_NULL, MESSAGE_PLAN_ONE_CLASS);
    if (n == 0 && p->usable > 0)
        REMARK(p, PLAN_ERROR, STR_NULL, MESSAGE_PLAN_NO_CLASS);
    if (n > AREA_LABELS && p->type == ANNOTATION_SEGMENTATION)
        REMARK(p, PLAN_ERROR, STR_NULL, MESSAGE_PLAN_AREA_LABELS, (long long)n, AREA_LABELS);
    if (n > 1 && most >= 10 * least)
        REMARK(p, PLAN_WARNING, STR_NULL, MESSAGE_PLAN_UNBALANCED, (long long)most, (long long)least);
}

static void remark_samples(struct one_click *p)
{
    if (p->all == 0)
        REMARK(p, PLAN_ERROR, STR_NULL, MESSAGE_PLAN_EMPTY);
    else if (p->usable <= 0)
        REMARK(p, PLAN_ERROR, STR_NULL, MESSAGE_PLAN_UNANNOTATED);
    else if (p->unannotated > 0)
        REMARK(p, PLAN_NOTE, STR_NULL, MESSAGE_PLAN_NOT_USED, (long long)p->unannotated);
    if (p->rejected > 0)
        REMARK(p, PLAN_NOTE, STR_NULL, MESSAGE_PLAN_REJECTED, (long long)p->rejected);
    if (p->usable > 0 && p->test == 0)
        REMARK(p, PLAN_WARNING, STR_NULL, MESSAGE_PLAN_NO_TEST);
}

static void note_unused(struct one_click *p, yyjson_val *label, size_t *missing, struct buf *list)
{
    struct str name = json_str(yyjson_obj_get(label, "name"));
    if (name.p && !class_of(p, name) && (*missing)++ < 5)
        buf_printf(list, "%s" STR_FMT, list->n ? ", " : "", STR_ARG(name));
}

/* Labels of the dataset's label set that no sample has. */
static bool remark_unused(struct op *op, struct one_click *p, struct err *err)
{
    struct db_rows rows;
    auto_buf struct buf list = {0};
    size_t missing = 0;
    if (!db_query(op->core->db, op->arena,
                  "SELECT s.labels FROM label_sets s JOIN datasets d ON d.label_set = s.id WHERE d.id = ?",
                  db_args(db_int(p->dataset.id)), &rows, err))
        return false;
    if (!rows.n || rows.row[0].v[0].type != DB_TEXT)
        return true;
    size_t i, n, k, max;
    yyjson_val *labels = json_parse(op->arena, rows.row[0].v[0].s, err), *v, *child;
    if (!labels)
        return false;
    yyjson_arr_foreach(labels, i, n, v)
    {
        yyjson_val *children = yyjson_obj_get(v, "children");
        if (!yyjson_arr_size(children))
            note_unused(p, v, &missing, &list);
        yyjson_arr_foreach(children, k, max, child) note_unused(p, child, &missing, &list);
    }
    if (missing)
        REMARK(p, PLAN_NOTE, STR_NULL, MESSAGE_PLAN_UNUSED, (long long)missing, list.p);
    return true;
}

/* --- what it needs --- */

static bool find_needs(struct op *op, struct one_click *p, struct err *err)
{
    struct op reading = *op;
    /* Spectrograms of sounds are pictures to it. */
    p->wants_base = annotation_types[p->type].data == ANNOTATION_IMAGE ||
                    annotation_types[p->type].data == ANNOTATION_AUDIO;
    if (p->wants_base && !built_in_model(op->core, op->arena, BASE_MODEL, &p->base_model, err))
        return false;
    if (p->wants_base && !p->base_model)
        REMARK(p, PLAN_WARNING, STR_NULL, MESSAGE_PLAN_NO_BASE, BASE_MODEL);
    if (!training_runtime(op->core, p->function->runtime, op->arena, &p->image, &p->runtime_why)) {
        struct plan_remark *r = add_remark(p, PLAN_ERROR, STR_NULL);
        p->image = NULL;
        if (r)
            (void)err_because(&r->said, ERR_INVALID, NULL, &p->runtime_why, MESSAGE_PLAN_RUNTIME,
                              STR_ARG(p->function->runtime));
    }
    if (p->spec)
        return true;
    reading.conn = db_read_begin(op->core->db, err);
    if (!reading.conn)
        return false;
    bool ok = spec_smallest(&reading, MEMORY, &p->spec, err);
    db_read_end(op->core->db, reading.conn);
    if (ok && !p->spec)
        REMARK(p, PLAN_ERROR, STR_NULL, MESSAGE_PLAN_SPEC, (int)(MEMORY >> 30));
    return ok;
}

static bool find_code(struct op *op, struct one_click *p, struct err *err)
{
    struct algorithm *m = arena_array(op->arena, struct algorithm, 1);
    bool there;
    return built_in_algorithm(op->core, op->arena, &p->algorithm, err) &&
           algorithm_load(op->core, &p->algorithm, op->arena, m, &there, err) &&
           algorithm_function(m, str_of(algorithm_function_names[ALGORITHM_TRAIN]), &p->function, err);
}

static void remark_type(struct one_click *p)
{
    auto_buf struct buf list = {0};
    if (!p->function->types || p->function->types & 1u << p->type)
        return;
    for (int i = 0; i < ANNOTATION_TYPE_COUNT; i++)
        if (p->function->types & 1u << i)
            buf_printf(&list, "%s%s", list.n ? ", " : "", annotation_types[i].name);
    REMARK(p, PLAN_ERROR, STR_NULL, MESSAGE_PLAN_TYPE, annotation_types[p->type].name, list.p);
}

bool one_click_make(struct op *op, const struct object *version, struct one_click *p, struct err *err)
{
    p->version = *version;
    p->remarks = arena_array(op->arena, struct plan_remark, PLAN_MAX_REMARKS);
    if (!find_code(op, p, err) ||
        !engine_get(op->core, &caller_system, &kind_dataset, 0, version->parent, op->arena, &p->dataset, err))
        return false;
    if (!annotation_type_of(object_text(&p->dataset, "annotation_type"), &p->type))
        return err_set(err, ERR_INVALID, NULL, "the dataset has an annotation type that is not known");
    yyjson_val *given = json_parse(op->arena, p->parameters.n ? p->parameters : STR("{}"), err);
    if (!given || !algorithm_values(op->arena, p->function, given, true, &p->values, err))
        return false;
    yyjson_val *values = json_parse(op->arena, p->values, err), *minutes = yyjson_obj_get(values, "minutes");
    p->minutes = yyjson_is_num(minutes) ? yyjson_get_num(minutes) : 10;
    remark_type(p);
    if (!values || !count_samples(op, p, err) || !count_classes(op, p, values, err) ||
        !count_negatives(op, p, err) ||
        !share_out(op, p, yyjson_get_num(yyjson_obj_get(values, "test_share")), err))
        return false;
    remark_samples(p);
    remark_classes(p);
    return remark_unused(op, p, err) && find_needs(op, p, err);
}
