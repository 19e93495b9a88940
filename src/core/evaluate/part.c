/* Which samples an evaluation is made of, and what the model's own files say of that. */
#include "base/map.h"
#include "base/messages_evaluate.h"
#include "core/data/sample.h"
#include "core/evaluate/evaluate.h"
#include "core/folder/folder.h"
#include "model/manifest.h"

#define SPLIT_FILE "split.json"

/* --- files of the model --- */

static bool open_file(struct core *core, int64_t version, const char *name, struct arena *a, struct str *ret,
                      struct err *err)
{
    struct object o;
    struct manifest m;
    return engine_get(core, &caller_system, &kind_model_version, 0, version, a, &o, err) &&
           folder_manifest(core, &o, a, &m, err) && folder_map(core, &m, str_of(name), ret, err);
}

bool evaluation_manifest(struct core *core, int64_t version, struct arena *a, struct model_manifest *ret,
                         struct err *err)
{
    struct str text;
    if (!open_file(core, version, MODEL_MANIFEST_FILE, a, &text, err))
        return err->code == ERR_NOT_FOUND &&
               err_message(err, ERR_INVALID, "model_version", MESSAGE_EVALUATION_MANIFEST);
    bool ok = model_manifest_parse(a, text, ret, err);
    folder_unmap(text);
    return ok;
}

static bool read_split(struct str text, const char *part, struct map *files, struct err *err)
{
    auto_arena struct arena a;
    size_t i, max;
    yyjson_val *v;
    arena_init(&a);
    yyjson_val *split = json_parse(&a, text, err);
    if (!split)
        return false;
    yyjson_arr_foreach(yyjson_obj_get(split, part), i, max, v)
    {
        struct str name = json_str(v);
        if (name.n)
            map_set(files, name, files); /* any value: it is a set */
    }
    return true;
}

bool evaluation_split(struct core *core, int64_t version, const char *part, struct map **ret, struct err *err)
{
    auto_arena struct arena a;
    struct str text;
    arena_init(&a);
    *ret = NULL;
    if (!open_file(core, version, SPLIT_FILE, &a, &text, err))
        return err->code == ERR_NOT_FOUND &&
               err_message(err, ERR_CONFLICT, "part", MESSAGE_EVALUATION_NO_SPLIT);
    struct map *files = map_new();
    bool ok = read_split(text, part, files, err);
    folder_unmap(text);
    if (ok && !map_count(files))
        ok = err_message(err, ERR_CONFLICT, "part", MESSAGE_EVALUATION_NO_SPLIT);
    if (ok)
        *ret = files;
    else
        map_free(files);
    return ok;
}

/* --- samples --- */

struct evaluation_part {
    struct core *core;
    int64_t version;
    struct map *files; /* of the test part; NULL: all */
    unsigned splits;   /* bits of codec_split; 0: all */
    int64_t unlabelled, machine;
};

static unsigned split_bits(struct arena *a, struct str list)
{
    struct err ignored = {0};
    size_t i, max;
    unsigned bits = 0;
    yyjson_val *v, *all = json_parse(a, list.n ? list : STR("[]"), &ignored);
    yyjson_arr_foreach(all, i, max, v)
    {
        for (unsigned k = 0; k < CODEC_SPLIT_COUNT; k++)
            if (str_is(json_str(v), codec_split_names[k]))
                bits |= 1u << k;
    }
    return bits;
}

bool evaluation_part_open(struct core *core, const struct object *o, struct evaluation_part **ret,
                          struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct op op = {.core = core, .caller = &caller_system, .arena = &a};
    struct evaluation_part p = {.core = core, .version = object_int(o, "dataset_version")};
    int64_t model;
    if (!evaluation_model(&op, o, &model, err))
        return false;
    if (str_is(object_text(o, "part"), "test") && !evaluation_split(core, model, "test", &p.files, err))
        return false;
    if (str_is(object_text(o, "part"), "splits"))
        p.splits = split_bits(&a, object_text(o, "splits"));
    *ret = base_zalloc(sizeof **ret);
    **ret = p;
    return true;
}

void evaluation_part_close(struct evaluation_part *p)
{
    if (!p)
        return;
    map_free(p->files);
    free(p);
}

struct passing {
    struct evaluation_part *part;
    evaluation_sample_fn fn;
    void *ctx;
};

static bool pass(void *ctx, const struct sample *s, struct err *err)
{
    struct passing *k = ctx;
    struct evaluation_part *p = k->part;
    if ((p->files && !map_get(p->files, s->name)) || (p->splits && !(p->splits & 1u << s->split)))
        return true;
    if (s->state == SAMPLE_UNANNOTATED) {
        p->unlabelled++;
        return true;
    }
    if (s->state == SAMPLE_MACHINE) {
        p->machine++;
        return true;
    }
    return k->fn(k->ctx, s, err);
}

bool evaluation_part_each(struct evaluation_part *p, evaluation_sample_fn fn, void *ctx, struct err *err)
{
    struct passing k = {p, fn, ctx};
    struct sample_query q = {.state = -1, .limit = 500};
    p->unlabelled = p->machine = 0;
    return sample_each(p->core->db, p->version, &q, pass, &k, err);
}

void evaluation_part_passed(const struct evaluation_part *p, int64_t *ret_unlabelled, int64_t *ret_machine)
{
    *ret_unlabelled = p->unlabelled;
    *ret_machine = p->machine;
}
