#include "core/data/s3_in.h"

#include "core/quota.h"
#include "store/manifest.h"
#include "store/s3.h"

#define FIELD "s3"

static const struct source_member members[] = {
    {.name = "endpoint"}, {.name = "region"}, {.name = "bucket", .required = true},
    {.name = "prefix"},   {.name = "key"},    {.name = "access_key"},
    {.name = "ca"},       {.name = NULL},
};

static struct s3 *open_bucket(struct core *core, struct arena *a, yyjson_val *v, const char *secret,
                              const char *ca, struct err *err)
{
    struct s3_options o = {.endpoint = sources_text(a, v, "endpoint"),
                           .region = sources_text(a, v, "region"),
                           .bucket = sources_text(a, v, "bucket"),
                           .key = sources_text(a, v, "access_key"),
                           .secret = secret,
                           .ca_file = ca};
    struct s3 *s = s3_new(&o, err);
    bool plain = o.endpoint && str_starts(str_of(o.endpoint), "http://");
    if (s && !sources_allow(core, FIELD ".endpoint", s3_host(s), plain ? 80 : 443, err)) {
        s3_free(s);
        return NULL;
    }
    return s;
}

bool s3_in_check(struct op *op, yyjson_val *v, struct str secret, struct err *err)
{
    if (!sources_check(FIELD, members, v, err) || !sources_check_ca(FIELD, v, err))
        return false;
    if (sources_text(op->arena, v, "key") && sources_text(op->arena, v, "prefix"))
        return err_set(err, ERR_INVALID, FIELD, "s3: give a key or a prefix, not both");
    struct s3 *s =
        open_bucket(op->core, op->arena, v, secret.n ? arena_strz(op->arena, secret) : NULL, NULL, err);
    s3_free(s);
    return s != NULL;
}

/* --- one object into a blob --- */

struct fetching {
    struct task *task;
    struct unpacked *out;
    int64_t done, bytes; /* of all objects */
};

static bool fetch_piece(void *ctx, struct str piece, struct err *err)
{
    struct fetching *f = ctx;
    f->done += (int64_t)piece.n; /* reading the source is the first half of an import */
    return unpack_piece(f->out, piece, err) && task_progress(f->task, f->done / 2, f->bytes, err);
}

/* Its pieces; nothing of it when it fails. */
static bool fetch(struct fetching *f, struct s3 *s, struct str key, struct err *err)
{
    if (s3_get(s, key, 0, -1, &(struct s3_sink){fetch_piece, f, NULL}, err))
        return true;
    unpack_drop(f->out);
    return false;
}

static struct str after_slash(struct str key)
{
    size_t i = key.n;
    while (i > 0 && key.p[i - 1] != '/')
        i--;
    return (struct str){key.p + i, key.n - i};
}

static bool take_one(struct task *t, struct s3 *s, struct str key, struct unpacked *out, struct err *err)
{
    struct fetching f = {.task = t, .out = out};
    struct digest d;
    int64_t size;
    if (!s3_head(s, key, &size, err) || !quota_admit_size(t->core, t->project, size, err))
        return false;
    f.bytes = size;
    return fetch(&f, s, key, err) && blob_batch_end(out->batch, &d, &size, err) &&
           blob_batch_flush(out->batch, err) && unpack(t, after_slash(key), &d, out, err);
}

/* --- all below a prefix --- */

struct found {
    struct s3_object *item;
    size_t n, cap;
    int64_t bytes;
};

/* Keys that end with a slash are what tools make for folders. */
static bool list_all(struct task *t, struct s3 *s, struct str prefix, struct found *f, struct err *err)
{
    struct str token = STR_NULL;
    do {
        struct s3_page page;
        auto_arena struct arena a;
        arena_init(&a);
        if (!s3_list(s, &a, prefix, token, &page, err) || !task_progress(t, 0, 0, err))
            return false;
        for (size_t i = 0; i < page.n; i++) {
            if (page.object[i].key.p[page.object[i].key.n - 1] == '/')
                continue;
            if (f->n == UNPACK_MAX_FILES)
                return err_set(err, ERR_TOO_LARGE, FIELD, "s3: more than %d objects", UNPACK_MAX_FILES);
            if (f->n == f->cap) {
                size_t cap = f->cap ? f->cap * 2 : 1024;
                f->item = arena_grow(t->arena, f->item, f->cap * sizeof *f->item, cap * sizeof *f->item);
                f->cap = cap;
            }
            f->item[f->n++] =
                (struct s3_object){arena_str(t->arena, page.object[i].key), page.object[i].size};
            f->bytes += page.object[i].size;
        }
        token = page.next.p ? arena_str(t->arena, page.next) : STR_NULL;
    } while (token.p);
    return f->n > 0 ||
           err_set(err, ERR_INVALID, FIELD, "s3: there is no object whose key starts with \"" STR_FMT "\"",
                   STR_ARG(prefix));
}

static bool take_prefix(struct task *t, struct s3 *s, struct str prefix, struct unpacked *out,
                        struct err *err)
{
    struct found found = {0};
    size_t folder = (size_t)(after_slash(prefix).p - prefix.p);
    if (!list_all(t, s, prefix, &found, err) || !quota_admit_size(t->core, t->project, found.bytes, err))
        return false;
    struct fetching f = {.task = t, .out = out, .bytes = found.bytes};
    for (size_t i = 0; i < found.n; i++) {
        struct str key = found.item[i].key, name = {key.p + folder, key.n - folder};
        struct err why = {0};
        if (!manifest_check_path(name, &why)) {
            task_problem(t, key, NULL, "left out: %s", why.message);
            continue;
        }
        if (fetch(&f, s, key, &why)) {
            if (!unpack_file(out, name, err) || !unpack_keep(t, out, err))
                return false;
        } else if (why.code == ERR_NOT_FOUND) {
            task_problem(t, key, NULL, "left out: it was removed while the import ran");
        } else {
            *err = why;
            return false;
        }
    }
    return true;
}

static bool take_all(struct task *t, yyjson_val *v, const char *secret, const char *ca, struct unpacked *out,
                     struct err *err)
{
    struct s3 *s = open_bucket(t->core, t->arena, v, secret, ca, err);
    if (!s)
        return false;
    struct str key = json_str(yyjson_obj_get(v, "key")), prefix = json_str(yyjson_obj_get(v, "prefix"));
    bool ok =
        key.n ? take_one(t, s, key, out, err) : take_prefix(t, s, prefix.n ? prefix : STR(""), out, err);
    s3_free(s);
    return ok;
}

bool s3_in(struct task *t, yyjson_val *v, struct unpacked *out, struct err *err)
{
    const char *secret, *ca;
    if (!sources_secret(t, &secret, err) || !sources_ca(t, v, &ca, err))
        return false;
    bool ok = take_all(t, v, secret, ca, out, err);
    sources_ca_end(t, v);
    return ok;
}
