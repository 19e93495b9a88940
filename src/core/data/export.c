#include "core/data/export.h"

#include "base/messages.h"
#include "codec/codec.h"
#include "core/data/classes.h"
#include "core/data/sample.h"
#include "core/data/zip_out.h"

#include <stdio.h>
#include <sys/mman.h>

#define PAGE 500

/* The version's samples, pulled page by page; cleaned ones take no part. */
struct source {
    struct task *task;
    int64_t version;
    unsigned states; /* training data: a bit for each state that takes part; 0: an export, of all */
    struct arena arena;
    struct sample *page;
    size_t n, at;
    int64_t after, passed, total;
    struct str mapped;
    struct zip_out *zip;
    struct codec_training_counts used; /* of training data */
};

static bool load_page(struct source *s, struct err *err)
{
    arena_release(&s->arena);
    arena_init(&s->arena);
    s->at = s->n = 0;
    struct sample_query q = {.state = -1, .after = s->after, .limit = PAGE};
    if (!sample_list(s->task->core->db, &s->arena, s->version, &q, &s->page, &s->n, err))
        return false;
    if (s->n)
        s->after = s->page[s->n - 1].position;
    return task_progress(s->task, s->passed < s->total ? s->passed : s->total, s->total, err);
}

/* The next sample that takes part; NULL at the end. */
static bool next_sample(struct source *s, const struct sample **ret, struct err *err)
{
    do {
        if (s->at == s->n && !load_page(s, err))
            return false;
        *ret = s->n ? &s->page[s->at++] : NULL;
        s->passed++;
    } while (*ret && s->states && !(s->states & 1u << (*ret)->state));
    return true;
}

static bool source_next(void *ctx, struct codec_sample *ret, bool *end, struct err *err)
{
    struct source *s = ctx;
    const struct sample *x;
    if (!next_sample(s, &x, err))
        return false;
    *end = !x;
    if (!x)
        return true;
    bool annotated = s->states || x->state != SAMPLE_UNANNOTATED;
    *ret = (struct codec_sample){.path = x->name,
                                 .width = (uint32_t)x->width,
                                 .height = (uint32_t)x->height,
                                 .annotation = annotated ? x->annotation : STR_NULL,
                                 .split = x->split};
    return true;
}

static bool source_rewind(void *ctx, struct err *err)
{
    (void)err;
    struct source *s = ctx;
    s->after = 0;
    s->at = s->n = 0;
    return true;
}

static void unmap(struct source *s)
{
    if (s->mapped.n)
        munmap((void *)s->mapped.p, s->mapped.n);
    s->mapped = STR_NULL;
}

static bool source_bytes(void *ctx, const struct codec_sample *sample, struct str *ret, struct err *err)
{
    (void)sample;
    struct source *s = ctx;
    const struct sample *x = &s->page[s->at - 1];
    auto_fd int fd = blob_open(s->task->core->store, &x->blob, NULL, err);
    unmap(s);
    if (fd < 0)
        return false;
    if (x->size == 0) {
        *ret = STR("");
        return true;
    }
    void *p = mmap(NULL, (size_t)x->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return err_set(err, ERR_UNAVAILABLE, NULL, "a sample cannot be mapped");
    *ret = s->mapped = (struct str){p, (size_t)x->size};
    return true;
}

/* --- the archive --- */

static bool out_begin(void *ctx, const char *path, struct err *err)
{
    return zip_out_begin(((struct source *)ctx)->zip, path, err);
}

static bool out_write(void *ctx, const void *p, size_t n, struct err *err)
{
    return zip_out_write(((struct source *)ctx)->zip, p, n, err);
}

static bool out_end(void *ctx, struct err *err)
{
    return zip_out_end(((struct source *)ctx)->zip, err);
}

static bool out_media(void *ctx, const struct codec_sample *sample, const char *path, struct err *err)
{
    (void)sample;
    struct source *s = ctx;
    return zip_out_blob(s->zip, path, &s->page[s->at - 1].blob, err);
}

static void out_problem(void *ctx, const struct codec_problem *p)
{
    struct source *s = ctx;
    char position[200];
    snprintf(position, sizeof position, STR_FMT, STR_ARG(p->position));
    task_problem(s->task, p->path, p->position.p ? position : NULL, "%s: %s", codec_problem_names[p->kind],
                 p->reason);
}

/* --- training data --- */

/* What people annotated and no reviewer rejected; the fallback of the field `states` names the same. */
#define DEFAULT_STATES (1u << SAMPLE_ANNOTATED | 1u << SAMPLE_REVIEW | 1u << SAMPLE_ACCEPTED)

/* The states of a list of names as bits; those that were cleaned take part in nothing. */
static bool states_of(yyjson_val *list, unsigned *ret, struct err *err)
{
    yyjson_val *v;
    size_t i, max;
    *ret = 0;
    yyjson_arr_foreach(list, i, max, v)
    {
        enum sample_state state;
        if (!sample_state_of(json_str(v), &state) || state == SAMPLE_CLEANED)
            return err_message(err, ERR_INVALID, "states", MESSAGE_NO_CHOICE, "states",
                               yyjson_is_str(v) ? yyjson_get_str(v) : "",
                               "unannotated, annotated, machine, review, accepted, rejected");
        *ret |= 1u << state;
    }
    return *ret || err_message(err, ERR_INVALID, "states", MESSAGE_COUNT, "states", 0LL, 1LL,
                               (long long)SAMPLE_CLEANED);
}

static void write_states(struct json_out *o, unsigned states)
{
    json_key(o, "states");
    json_array(o);
    for (int i = 0; i < SAMPLE_STATE_COUNT; i++)
        if (states & 1u << i)
            json_string(o, str_of(sample_state_names[i]));
    json_array_end(o);
}

/* What was used, and what was left out for its state. */
static void write_used(struct json_out *o, const struct source *s, const struct sample_counts *n)
{
    json_kint(o, "train", (int64_t)s->used.train);
    json_kint(o, "test", (int64_t)s->used.test);
    json_kint(o, "negatives", (int64_t)s->used.negatives);
    write_states(o, s->states);
    json_kstr(o, "split", json_str(yyjson_obj_get(s->task->params, "split")));
    json_key(o, "left_out");
    json_object(o);
    for (int i = 0; i < SAMPLE_CLEANED; i++)
        if (n->states[i] && !(s->states & 1u << i))
            json_kint(o, sample_state_names[i], n->states[i]);
    json_object_end(o);
}

static bool write_training(struct source *s, const struct sample_set *set, const struct codec_source *src,
                           const struct codec_output *out, struct err *err)
{
    yyjson_val *params = s->task->params;
    struct codec_training t = {.seed = (uint64_t)yyjson_get_sint(yyjson_obj_get(params, "seed")),
                               .test_share = yyjson_get_num(yyjson_obj_get(params, "test_share")),
                               .keep_split = str_is(json_str(yyjson_obj_get(params, "split")), "imported")};
    yyjson_val *states = yyjson_obj_get(params, "states");
    s->states = DEFAULT_STATES; /* also of a task that waited since a version that had no such choice */
    return (!states || states_of(states, &s->states, err)) &&
           codec_training_write(src, set->type, &t, out, out_problem, s, &s->used, err) &&
           (s->used.train + s->used.test > 0 ||
            err_message(err, ERR_CONFLICT, "states", MESSAGE_TRAINING_NONE));
}

static bool write_all(struct source *s, const struct sample_set *set, struct err *err)
{
    yyjson_val *params = s->task->params;
    bool samples = yyjson_get_bool(yyjson_obj_get(params, "samples"));
    struct codec_label *labels;
    size_t label_count;
    if (!classes_of(s->task->core->db, s->task->arena, s->version, &labels, &label_count, err))
        return false;
    struct codec_source src = {.ctx = s,
                               .next = source_next,
                               .rewind = source_rewind,
                               .bytes = source_bytes,
                               .labels = labels,
                               .label_count = label_count};
    struct codec_output out = {.ctx = s,
                               .file_begin = out_begin,
                               .write = out_write,
                               .file_end = out_end,
                               .media = samples ? out_media : NULL};
    struct str format = json_str(yyjson_obj_get(params, "format"));
    if (format.p) {
        const struct codec *c = codec_asked(format, err);
        return c && codec_write(c, &src, set->type, &out, out_problem, s, err);
    }
    return write_training(s, set, &src, &out, err);
}

/* --- the same again: a finished export is given once more while the version is what it was --- */

/* A text that changes with the samples and their classes: new samples have greater ids, every other change a
 * greater revision. */
static bool stamp_of(struct core *core, struct arena *a, int64_t version, const char **ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, a,
                      "SELECT COUNT(*), CAST(COALESCE(SUM(id), 0) AS BIGINT),"
                      " CAST(COALESCE(SUM(revision), 0) AS BIGINT),"
                      " (SELECT CAST(COALESCE(SUM(LENGTH(definition)), 0) AS BIGINT) FROM version_classes"
                      " WHERE version = ?),"
                      " (SELECT COALESCE(MAX(s.id * 1000000 + s.revision), 0) FROM dataset_versions v"
                      " JOIN datasets d ON d.id = v.dataset JOIN label_sets s ON s.id = d.label_set"
                      " WHERE v.id = ?) FROM samples WHERE version = ?",
                      db_args(db_int(version), db_int(version), db_int(version)), &row, &found, err))
        return false;
    *ret = arena_printf(a, "%lld-%lld-%lld-%lld-%lld", (long long)row.v[0].i, (long long)row.v[1].i,
                        (long long)row.v[2].i, (long long)row.v[3].i, (long long)row.v[4].i);
    return true;
}

/* The newest finished export with these parameters of the version as it is now; *ret is 0 when there is none.
 */
static bool find_same(struct op *op, const struct object *version, struct str params, int64_t *ret,
                      struct err *err)
{
    struct db_rows rows;
    const char *stamp;
    struct err bad;
    *ret = 0;
    if (!stamp_of(op->core, op->arena, version->id, &stamp, err) ||
        !db_query(op->core->db, op->arena,
                  "SELECT id, result FROM tasks WHERE subject_kind = 'dataset_version' AND subject = ?"
                  " AND type = 'export' AND state = 'done' AND params = ? AND output IS NOT NULL"
                  " ORDER BY id DESC LIMIT 50",
                  db_args(db_int(version->id), db_text(params)), &rows, err))
        return false;
    for (size_t i = 0; !*ret && i < rows.n; i++) {
        struct str text = rows.row[i].v[1].s;
        yyjson_val *result = text.n ? json_parse(op->arena, text, &bad) : NULL;
        if (result && str_is(json_str(yyjson_obj_get(result, "stamp")), stamp))
            *ret = rows.row[i].v[0].i;
    }
    return true;
}

/* Starts the task, or answers with the one that made the same before. */
static bool start(struct op *op, struct object *version, struct words name, struct str params, bool reuse,
                  struct json_out *out, int *status, struct err *err)
{
    int64_t same = 0;
    if (reuse && !find_same(op, version, params, &same, err))
        return false;
    if (!same)
        return version_start_task(op, version, "export", name, params, out, err);
    *status = 200;
    return engine_answer_id(op, &kind_task, same, out, err);
}

static void write_result(struct source *s, const struct sample_counts *n, int64_t bytes, const char *stamp)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    json_kint(&o, "samples", s->states ? (int64_t)(s->used.train + s->used.test) : n->samples);
    json_kint(&o, "bytes", bytes);
    json_kz(&o, "stamp", stamp);
    if (s->states)
        write_used(&o, s, n);
    json_object_end(&o);
    task_result(s->task, buf_view(&text));
}

static bool run_export(struct task *t, struct err *err)
{
    struct op op = {.core = t->core, .caller = &t->caller, .arena = t->arena};
    struct object version;
    struct sample_set set;
    struct sample_counts counts;
    struct digest digest;
    int64_t size;
    const char *before, *after;
    if (!engine_get(t->core, &caller_system, &kind_dataset_version, 0, t->subject, t->arena, &version, err) ||
        !sample_set_of(&op, &version, &set, err) || !sample_counts(t->core->db, version.id, &counts, err) ||
        !stamp_of(t->core, t->arena, version.id, &before, err))
        return false;
    struct source s = {
        .task = t, .version = version.id, .total = counts.samples, .zip = zip_out_new(t->core->store, err)};
    arena_init(&s.arena);
    bool ok = s.zip && write_all(&s, &set, err);
    unmap(&s);
    arena_release(&s.arena);
    if (!ok) {
        zip_out_abort(s.zip);
        return false;
    }
    if (!zip_out_finish(s.zip, &digest, &size, err) || !stamp_of(t->core, t->arena, version.id, &after, err))
        return false;
    task_output(t, &digest, json_str(yyjson_obj_get(t->params, "name")));
    /* Without a stamp, because the version changed meanwhile, it is not given again. */
    write_result(&s, &counts, size, strcmp(before, after) == 0 ? after : "");
    return task_progress(t, counts.samples, counts.samples, err);
}

const struct task_type task_export = {.name = "export", .title = {"Export", "导出"}, .run = run_export};

/* --- the actions --- */

/* What both actions ask for. */
#define OUTPUT_FIELDS                                                                                        \
    {.name = "samples",                                                                                      \
     .type = FIELD_BOOL,                                                                                     \
     .flags = FIELD_CREATE,                                                                                  \
     .fallback = "true",                                                                                     \
     .title = {"With the samples", "包含样本文件"}},                                                         \
    {                                                                                                        \
        .name = "reuse", .type = FIELD_BOOL, .flags = FIELD_CREATE, .fallback = "false",                     \
        .title = {"Reuse", "复用已有结果"}, .help = {                                                        \
            "true gives the last result of the same request again while the version is unchanged.",          \
            "true 时，若版本未变化，直接返回上次相同请求的结果。"                     \
        }                                                                                                    \
    }

const struct field export_fields[] = {
    {.name = "format",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .max = 50,
     .title = {"Format", "格式"}},
    OUTPUT_FIELDS,
    {0},
};

static bool states_check(struct arena *a, const struct field *f, const struct db_value *value,
                         struct err *err)
{
    (void)f;
    unsigned states;
    yyjson_val *list = json_parse(a, value->s, err);
    return list && states_of(list, &states, err);
}

static const struct choice splits[] = {{"seed", {"New, by the seed", "按随机种子重新划分"}},
                                       {"imported", {"As it was imported", "沿用导入的划分"}},
                                       {NULL, {NULL, NULL}}};

enum { SEED, TEST_SHARE, STATES, SPLIT, SAMPLES, REUSE }; /* of the input */
const struct field training_fields[] = {
    {.name = "seed",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .fallback = "0",
     .title = {"Seed", "随机种子"}},
    {.name = "test_share",
     .type = FIELD_REAL,
     .flags = FIELD_CREATE,
     .fallback = "0.2",
     .title = {"Share of the test part", "测试集比例"},
     .help = {"0 to 0.9; fewer than 10 samples give no test part.",
              "0 到 0.9；样本少于 10 个时不划分测试集。"}},
    {.name = "states",
     .type = FIELD_TEXTS,
     .flags = FIELD_CREATE,
     .max = SAMPLE_STATE_COUNT,
     .item_max = 20,
     .fallback = "[\"annotated\",\"review\",\"accepted\"]",
     .check = states_check,
     .title = {"States", "样本状态"},
     .help = {"Samples in these states are used, those with nothing on them too: unannotated, annotated, "
              "machine, review, accepted, rejected.",
              "使用处于这些状态的样本，包括其中没有目标的样本：unannotated、annotated、machine、review、accep"
              "ted、"
              "rejected。"}},
    {.name = "split",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE,
     .choices = splits,
     .fallback = "\"seed\"",
     .title = {"Split", "划分"},
     .help = {"imported: samples stay in the part that their files put them into; val is the test part where "
              "there is no test, else part of train. Samples without a part are dealt out by the seed.",
              "imported：样本保留其文件给出的划分；没有 test 时以 val 为测试集，否则 val "
              "归入训练集。没有划分的样本按"
              "随机种子分配。"}},
    OUTPUT_FIELDS,
    {0},
};

static const char *file_name(struct op *op, const struct object *version, const char *what)
{
    return arena_printf(op->arena, "%lld-" STR_FMT "-%s.zip", (long long)version->parent,
                        STR_ARG(object_text(version, "name")), what);
}

bool export_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    struct sample_set set;
    const struct codec *c = codec_asked(input[0].s, err);
    if (!c || !sample_set_of(op, version, &set, err))
        return false;
    if (!c->write || !(c->writes & 1u << set.type))
        return err_set(err, ERR_INVALID, "format",
                       "format: \"" STR_FMT "\" cannot carry annotations of the type %s", STR_ARG(input[0].s),
                       annotation_types[set.type].name);
    const char *params =
        arena_printf(op->arena, "{\"format\":\"%s\",\"samples\":%s,\"name\":\"%s\"}", c->name,
                     input[1].i ? "true" : "false", file_name(op, version, c->name));
    return start(op, version, task_name(op->arena, MESSAGE_NAME_EXPORT, c->title_en), str_of(params),
                 input[2].i != 0, out, status, err);
}

bool training_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                  int *status, struct err *err)
{
    double share = input[TEST_SHARE].type == DB_INT ? (double)input[TEST_SHARE].i : input[TEST_SHARE].r;
    unsigned states;
    auto_buf struct buf params = {0};
    struct json_out o;
    if (share < 0 || share > 0.9)
        return err_set(err, ERR_INVALID, "test_share", "test_share: must be from 0 to 0.9");
    if (!states_of(json_parse(op->arena, input[STATES].s, err), &states, err))
        return false;
    json_begin(&o, &params);
    json_object(&o);
    json_kint(&o, "seed", input[SEED].i);
    json_key(&o, "test_share");
    json_real(&o, share);
    write_states(&o, states);
    json_kstr(&o, "split", input[SPLIT].s);
    json_kbool(&o, "samples", input[SAMPLES].i != 0);
    json_kz(&o, "name", file_name(op, version, "training"));
    json_object_end(&o);
    return start(op, version, task_name(op->arena, MESSAGE_NAME_TRAINING_DATA), buf_view(&params),
                 input[REUSE].i != 0, out, status, err);
}
