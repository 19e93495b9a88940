/* What the files of an import say of one sample, and what the version knows of it already. */
#include "base/map.h"
#include "base/messages.h"
#include "codec/echo.h"
#include "core/data/import_own.h"

#define UNASKED_MOST 100 /* attributes that are told */

/* --- names of labels --- */

struct naming {
    struct import *import;
    struct str file; /* that says them */
    bool former;
};

static void name_label(void *ctx, struct str label, uint32_t count)
{
    struct naming *n = ctx;
    struct import *m = n->import;
    struct str now = relabel_name(m->rules.former, m->rules.former_count, label);
    (void)count;
    if (str_eq(now, label))
        return;
    n->former = true;
    if (map_get(m->renamed, label))
        return;
    map_set(m->renamed, arena_str(m->task->arena, label), m);
    task_note(m->task, n->file, NULL, MESSAGE_LABEL_FORMER, STR_ARG(label), STR_ARG(now));
}

/* Labels that were renamed or merged since get the names they have today; each is told once. */
static bool name_today(struct import *m, struct str file, struct str *annotation, struct err *err)
{
    struct naming n = {.import = m, .file = file};
    return !annotation->p || !m->rules.former_count ||
           (annotation_each_label(*annotation, name_label, &n, err) &&
            (!n.former || label_rules_name(&m->batch_arena, &m->rules, m->set.type, annotation, err)));
}

bool import_label(void *ctx, const struct codec_label *l, struct err *err)
{
    struct import *m = ctx;
    const struct label_rules *r = &m->rules;
    struct codec_label now = *l;
    (void)err;
    now.name = relabel_name(r->former, r->former_count, l->name);
    now.parent = relabel_name(r->former, r->former_count, l->parent);
    classes_note(&m->classes, m->task->arena, &now);
    return true;
}

/* --- what is known of it --- */

/* Of a sample that is in the version already: its own blob, so that only the annotation changes. */
static bool existing_blob(struct import *m, struct str name, struct sample_new *n, bool *found,
                          struct err *err)
{
    struct db_row row;
    if (!db_query_one(
            m->task->core->db, &m->batch_arena,
            "SELECT digest, size, width, height, duration FROM samples WHERE version = ? AND name = ?",
            db_args(db_int(m->version.id), db_text(name)), &row, found, err))
        return false;
    if (!*found)
        return true;
    memcpy(n->blob.b, row.v[0].s.p, sizeof n->blob.b);
    n->size = row.v[1].i;
    n->width = row.v[2].i;
    n->height = row.v[3].i;
    n->duration = row.v[4].r;
    return true;
}

/* Every sample must be what its dataset is made of. */
static bool measure(struct import *m, const struct unpacked_file *f, struct sample_new *n, bool *usable,
                    struct err *err)
{
    enum annotation_data data = annotation_types[m->set.type].data;
    struct media_info info = {0};
    struct err why = {0};
    *usable = true;
    n->blob = f->blob;
    n->size = f->size;
    if (data == ANNOTATION_TEXT)
        return true;
    if (!import_probe(m, f, &info, &why)) {
        if (why.code != ERR_INVALID) {
            *err = why;
            return false;
        }
        unpack_left_out(m->task, f->path, NULL, &why);
        *usable = false;
        return true;
    }
    if (strcmp(info.kind, annotation_data_names[data]) != 0) {
        err_message(&why, ERR_INVALID, NULL, MESSAGE_OTHER_DATA, info.kind, annotation_data_names[data]);
        unpack_left_out(m->task, f->path, NULL, &why);
        *usable = false;
    }
    if (*usable && data == ANNOTATION_IMAGE && info.frames > 1)
        task_note(m->task, f->path, NULL, MESSAGE_PAGES_LEFT_OUT, (long long)info.frames);
    n->width = info.width;
    n->height = info.height;
    n->duration = info.duration;
    return true;
}

/* Bytes that stand in the annotation file: a text of a CSV, a picture of LabelMe. */
static bool measure_content(struct import *m, const struct codec_sample *s, struct sample_new *n,
                            bool *usable, struct err *err)
{
    struct unpacked_file f = {.path = s->path, .size = (int64_t)s->content.n};
    unpack_check(&f, s->content);
    return blob_batch_data(m->files.batch, s->content, &f.blob, err) &&
           unpack_admit(&m->files, &f.blob, f.size, err) && measure(m, &f, n, usable, err);
}

static bool wait_for_it(struct import *m, const struct codec_sample *s, struct err *err)
{
    if (!s->annotation.p && !s->split)
        return true;
    struct sample_waiting w = {s->path, s->annotation, s->split};
    m->met++;
    const char *at = s->position.p ? arena_strz(&m->batch_arena, s->position) : NULL;
    struct str file = s->source.p ? s->source : s->path;
    if (s->annotation.p)
        task_note(m->task, file, at, MESSAGE_ANNOTATION_WAITS, STR_ARG(s->path));
    else
        task_note(m->task, file, at, MESSAGE_SPLIT_WAITS, STR_ARG(s->path));
    return spool_waiting(m->spool, &w, err);
}

/* Fills n; *usable false: reported, nothing to add. */
static bool resolve(struct import *m, const struct codec_sample *s, struct sample_new *n, bool *usable,
                    struct err *err)
{
    const struct unpacked_file *f = map_get(m->by_path, s->path);
    *usable = true;
    n->name = f && f->sample.p ? f->sample : s->path;
    if (s->content.p)
        return measure_content(m, s, n, usable, err);
    if (f)
        return measure(m, f, n, usable, err);
    bool told = s->annotation.p || (s->split && s->source.p);
    *usable = s->missing || told;
    if (!*usable) { /* in the version already, and nothing new about it */
        m->met++;
        return true;
    }
    bool found;
    if (!existing_blob(m, s->path, n, &found, err))
        return false;
    *usable = found && told;
    m->met += found && !told;
    return found || wait_for_it(m, s, err);
}

/* What waited for the picture since an earlier import. */
static bool take_waiting(struct import *m, struct sample_new *n, struct err *err)
{
    struct db_row row;
    bool found;
    if (!m->waited_for || n->annotation.p)
        return true;
    if (!db_query_one(m->task->core->db, &m->batch_arena,
                      "SELECT annotation, split FROM sample_waiting WHERE version = ? AND name = ?",
                      db_args(db_int(m->version.id), db_text(n->name)), &row, &found, err))
        return false;
    if (found && !annotation_empty(row.v[0].s))
        n->annotation = row.v[0].s;
    if (found && row.v[1].i)
        n->split = (enum codec_split)row.v[1].i;
    return name_today(m, n->name, &n->annotation, err);
}

bool import_look_for_waiting(struct import *m, struct err *err)
{
    struct db_row row;
    return db_query_one(m->task->core->db, m->task->arena,
                        "SELECT 1 FROM sample_waiting WHERE version = ? LIMIT 1",
                        db_args(db_int(m->version.id)), &row, &m->waited_for, err);
}

/* An annotation file may speak of the picture as it is stored, before its EXIF rotation, or of another size
 * of it. */
static bool fit(struct import *m, const struct codec_sample *s, struct sample_new *n, struct err *err)
{
    int64_t w = s->width, h = s->height;
    double turn[6];
    struct unpacked_file f = {.path = s->path, .blob = n->blob, .size = n->size};
    struct media_info info;
    if (!s->annotation.p || !w || !h || n->width <= 0 || (w == n->width && h == n->height))
        return true;
    const char *at = s->position.p ? arena_strz(&m->batch_arena, s->position) : NULL;
    struct str file = s->source.p ? s->source : s->path;
    if (w == n->height && h == n->width && import_probe(m, &f, &info, err) &&
        media_upright(info.orientation, w, h, turn) &&
        annotation_transform(&m->batch_arena, m->set.type, n->annotation, turn, (uint32_t)n->width,
                             (uint32_t)n->height, &n->annotation, NULL, err)) {
        task_note(m->task, file, at, MESSAGE_SHAPES_TURNED, STR_ARG(s->path));
        return true;
    }
    *err = (struct err){0};
    task_note(m->task, file, at, MESSAGE_OTHER_SIZE, STR_ARG(s->path), (long long)n->width,
              (long long)n->height, (long long)w, (long long)h);
    return true;
}

/* Boxes outside the picture are cut at its edge, and said so. */
static bool clip(struct import *m, const struct codec_sample *s, struct sample_new *n, struct err *err)
{
    struct annotation_changes c = {0};
    struct str cut;
    if (!n->annotation.p || n->width <= 0 || n->height <= 0)
        return true;
    if (!annotation_clip(&m->batch_arena, n->annotation, (uint32_t)n->width, (uint32_t)n->height, &cut, &c,
                         err)) {
        if (err->code != ERR_INVALID)
            return false;
        err_because(err, err->code, NULL, err, MESSAGE_ANNOTATION_LEFT_OUT);
        task_note_err(m->task, s->path, NULL, err);
        *err = (struct err){0};
        n->annotation = STR_NULL;
        return true;
    }
    if (c.changed || c.dropped)
        task_note(m->task, s->path, NULL, MESSAGE_SHAPES_CUT, c.changed, c.dropped);
    n->annotation = cut;
    return true;
}

/* The sample of this name as it is, with the text it has when it is one. */
static bool existing(struct import *m, const struct sample_new *n, struct codec_sample *ret,
                     struct str *ret_text, bool *found, struct err *err)
{
    struct db_row row;
    *ret_text = STR_NULL;
    if (!db_query_one(m->task->core->db, &m->batch_arena,
                      "SELECT annotation, split, state, width, height, digest FROM samples"
                      " WHERE version = ? AND name = ?",
                      db_args(db_int(m->version.id), db_text(n->name)), &row, found, err))
        return false;
    if (*found)
        *found = memcmp(row.v[5].s.p, n->blob.b, sizeof n->blob.b) == 0;
    if (!*found)
        return true;
    *ret = (struct codec_sample){.path = n->name,
                                 .annotation = row.v[2].i == SAMPLE_UNANNOTATED ? STR_NULL : row.v[0].s,
                                 .split = (enum codec_split)row.v[1].i,
                                 .width = (uint32_t)row.v[3].i,
                                 .height = (uint32_t)row.v[4].i};
    struct unpacked_file f = {.path = n->name, .blob = n->blob, .size = n->size};
    return annotation_types[m->set.type].data != ANNOTATION_TEXT || import_map(m, &f, 0, ret_text, err);
}

static bool says_no_more(const struct codec_sample *s, struct str annotation, enum codec_split split)
{
    return s->annotation.n == annotation.n && (!annotation.n || str_eq(s->annotation, annotation)) &&
           (!s->split || s->split == split);
}

static void note_label(void *ctx, struct str label, uint32_t count)
{
    (void)count;
    map_set(ctx, label, ctx);
}

/* Names that only the format made of others ("a_b" of "a/b") are no classes of the version. */
static void forget_made_up(struct import *m, struct str was, struct str said)
{
    struct map *mine = map_new(), *theirs = map_new();
    struct err ignored = {0};
    struct str label;
    void *value;
    annotation_each_label(was, note_label, mine, &ignored);
    annotation_each_label(said, note_label, theirs, &ignored);
    for (size_t i = 0; map_next(theirs, &i, &label, &value);)
        if (!map_get(mine, label))
            classes_forget(&m->classes, label);
    map_free(mine);
    map_free(theirs);
}

/* What the files say of a sample that is there is nothing new when it is all that their format can say of it
 * as it is: then it stays as it is, with what the format cannot say. */
static bool leave_known(struct import *m, const struct codec_sample *s, struct sample_new *n, struct err *err)
{
    struct codec_sample was;
    struct str text, echo;
    enum codec_split split;
    struct err ignored = {0};
    bool found;
    if (!m->filled || (!s->annotation.p && (!s->split || n->annotation.p)))
        return true;
    if (!existing(m, n, &was, &text, &found, err))
        return false;
    bool same = found && says_no_more(s, was.annotation, was.split);
    if (found && !same &&
        codec_echo(m->codec, m->set.type, &was, text, &m->batch_arena, &echo, &split, &ignored))
        same = says_no_more(s, echo, split);
    if (found)
        import_unmap(text);
    if (same) {
        if (was.annotation.p && s->annotation.p)
            forget_made_up(m, was.annotation, s->annotation);
        n->annotation = STR_NULL;
        n->split = CODEC_SPLIT_NONE;
    }
    return true;
}

/* Attributes that the labels do not ask for are taken, and said once each. */
static void tell_unasked(struct import *m, const struct codec_sample *s, const struct sample_new *n)
{
    struct annotation parsed;
    struct err ignored = {0};
    if (!m->rules.set || m->unasked_count == UNASKED_MOST || !n->annotation.p ||
        str_find(n->annotation, STR("\"attributes\":")) < 0 ||
        !model_parse(&m->batch_arena, m->set.type, n->annotation, &parsed, &ignored))
        return;
    struct str name = label_check_found(&m->batch_arena, &m->rules, &parsed, m->unasked);
    if (!name.p)
        return;
    map_set(m->unasked, arena_str(m->task->arena, name), m);
    m->unasked_count++;
    task_note(m->task, s->path, NULL, MESSAGE_ATTRIBUTE_TAKEN, STR_ARG(name));
}

bool import_sample(void *ctx, const struct codec_sample *given, struct err *err)
{
    struct import *m = ctx;
    struct sample_new n = {0};
    struct codec_sample named = *given;
    const struct codec_sample *s = &named;
    bool usable;
    if (!name_today(m, given->source.p ? given->source : given->path, &named.annotation, err) ||
        !resolve(m, s, &n, &usable, err))
        return false;
    if (!usable)
        return true;
    m->met++;
    n.annotation = s->annotation;
    n.split = s->split;
    if (!take_waiting(m, &n, err) || !fit(m, s, &n, err) || !clip(m, s, &n, err))
        return false;
    tell_unasked(m, s, &n);
    uint32_t annotations = n.annotation.p && s->annotation.p ? (uint32_t)s->annotations : 0;
    if (!leave_known(m, s, &n, err) || !spool_sample(m->spool, &n, annotations, err))
        return false;
    if (++m->read % IMPORT_BATCH)
        return true;
    arena_release(&m->batch_arena);
    arena_init(&m->batch_arena);
    return unpack_keep(m->task, &m->files, err) && import_progress(m, m->read, (int64_t)m->listed, 2, err);
}
