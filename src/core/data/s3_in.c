#include "core/data/s3_in.h"

#include "base/messages.h"
#include "core/quota.h"
#include "store/manifest.h"
#include "store/s3.h"

#define FIELD "s3"

#define KEY_BYTES_MAX   (512 << 20) /* of all objects that an import takes */
#define EMPTY_PAGES_MAX 1000

static const struct source_member members[] = {
    {.name = "endpoint"}, {.name = "region"}, {.name = "bucket", .required = true},
    {.name = "prefix"},   {.name = "key"},    {.name = "access_key"},
    {.name = "ca"},       {.name = NULL},
};

/* What an import fetches: asked for while it waits, so that a cancelled one, or one of a server that stops,
 * ends whatever the object store does. */
struct fetching {
    struct task *task;
    struct unpacked *out;
    int64_t done, bytes; /* of all objects */
    const struct s3_object *object;
    int64_t left; /* of this object, as it was told before */
};

static bool go_on(const struct fetching *f, struct err *err)
{
    return task_progress(f->task, f->done / 2, f->bytes, err); /* reading is the first half of an import */
}

static bool is_wanted(void *ctx)
{
    struct err why;
    return go_on(ctx, &why);
}

/* f: NULL when nothing is fetched. */
static struct s3 *open_bucket(struct core *core, struct arena *a, yyjson_val *v, const char *secret,
                              const char *ca, struct fetching *f, struct err *err)
{
    struct s3_options o = {.endpoint = sources_text(a, v, "endpoint"),
                           .region = sources_text(a, v, "region"),
                           .bucket = sources_text(a, v, "bucket"),
                           .key = sources_text(a, v, "access_key"),
                           .secret = secret,
                           .ca_file = ca,
                           .alive = f ? is_wanted : NULL,
                           .ctx = f};
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
        open_bucket(op->core, op->arena, v, secret.n ? arena_strz(op->arena, secret) : NULL, NULL, NULL, err);
    s3_free(s);
    return s != NULL;
}

/* --- one object into a blob --- */

static bool changed(const struct fetching *f, struct err *err)
{
    const struct s3_object *o = f->object;
    return err_message(err, ERR_UPSTREAM, FIELD, MESSAGE_OBJECT_CHANGED, (long long)o->size, (int)o->key.n,
                       o->key.p);
}

static bool fetch_piece(void *ctx, struct str piece, struct err *err)
{
    struct fetching *f = ctx;
    f->done += (int64_t)piece.n;
    f->left -= (int64_t)piece.n;
    if (f->left < 0)
        return changed(f, err);
    return unpack_piece(f->out, piece, err) && go_on(f, err);
}

/* Its pieces, as many bytes as it was said to have: there is room for those. Nothing of it when it fails. */
static bool fetch(struct fetching *f, struct s3 *s, const struct s3_object *o, struct err *err)
{
    f->object = o;
    f->left = o->size;
    if (s3_get(s, o->key, 0, -1, &(struct s3_sink){fetch_piece, f, NULL}, err) &&
        (f->left == 0 || changed(f, err)))
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

static bool take_one(struct fetching *f, struct s3 *s, struct str key, struct err *err)
{
    struct task *t = f->task;
    struct digest d;
    struct s3_object o = {.key = key};
    if (!s3_head(s, key, &o.size, err) || !quota_admit_size(t->core, t->project, o.size, err))
        return false;
    f->bytes = o.size;
    return fetch(f, s, &o, err) && blob_batch_end(f->out->batch, &d, &o.size, err) &&
           blob_batch_flush(f->out->batch, err) && unpack(t, after_slash(key), &d, f->out, err);
}

/* --- all below a prefix --- */

struct found {
    struct s3_object *item;
    size_t n, cap, key_bytes;
    int64_t bytes;
};

static bool add_found(struct task *t, struct found *f, const struct s3_object *o, struct err *err)
{
    if (o->key.p[o->key.n - 1] == '/')
        return true; /* what tools make for folders */
    f->key_bytes += o->key.n;
    if (f->n == UNPACK_MAX_FILES || f->key_bytes > KEY_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, FIELD, "s3: more than %d objects, or %d MiB of keys",
                       UNPACK_MAX_FILES, KEY_BYTES_MAX >> 20);
    if (__builtin_add_overflow(f->bytes, o->size, &f->bytes))
        return err_set(err, ERR_TOO_LARGE, FIELD, "s3: the objects are too large together");
    if (f->n == f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 1024;
        f->item = arena_grow(t->arena, f->item, f->cap * sizeof *f->item, cap * sizeof *f->item);
        f->cap = cap;
    }
    f->item[f->n++] = (struct s3_object){arena_str(t->arena, o->key), o->size};
    return true;
}

/* A store that says nothing new lists for ever: pages with objects are as many as there may be objects, the
 * others are few. */
static bool list_all(struct task *t, struct s3 *s, struct str prefix, struct found *f, struct err *err)
{
    auto_buf struct buf token = {0};
    for (size_t empty = 0;;) {
        struct s3_page page;
        auto_arena struct arena a;
        arena_init(&a);
        if (!s3_list(s, &a, prefix, buf_view(&token), &page, err) || !task_progress(t, 0, 0, err))
            return false;
        for (size_t i = 0; i < page.n; i++)
            if (!add_found(t, f, &page.object[i], err))
                return false;
        empty += page.n == 0;
        if (!page.next.p)
            break;
        if (empty > EMPTY_PAGES_MAX || str_eq(page.next, buf_view(&token)))
            return err_message(err, ERR_UPSTREAM, FIELD, MESSAGE_OBJECTS_ENDLESS);
        buf_clear(&token);
        buf_str(&token, page.next);
    }
    return f->n > 0 || err_message(err, ERR_INVALID, FIELD, MESSAGE_S3_NO_OBJECT, STR_ARG(prefix));
}

static bool take_prefix(struct fetching *f, struct s3 *s, struct str prefix, struct err *err)
{
    struct task *t = f->task;
    struct found found = {0};
    size_t folder = (size_t)(after_slash(prefix).p - prefix.p);
    if (!list_all(t, s, prefix, &found, err) || !quota_admit_size(t->core, t->project, found.bytes, err))
        return false;
    f->bytes = found.bytes;
    for (size_t i = 0; i < found.n; i++) {
        struct str key = found.item[i].key, name = {key.p + folder, key.n - folder};
        struct err why = {0};
        if (!manifest_check_path(name, &why)) {
            unpack_left_out(t, key, NULL, &why);
            continue;
        }
        if (fetch(f, s, &found.item[i], &why)) {
            if (!unpack_file(f->out, name, err) || !unpack_keep(t, f->out, err))
                return false;
        } else if (why.code == ERR_NOT_FOUND) {
            err_message(&why, ERR_NOT_FOUND, NULL, MESSAGE_REMOVED_MEANWHILE);
            unpack_left_out(t, key, NULL, &why);
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
    struct fetching f = {.task = t, .out = out};
    struct s3 *s = open_bucket(t->core, t->arena, v, secret, ca, &f, err);
    if (!s)
        return false;
    struct str key = json_str(yyjson_obj_get(v, "key")), prefix = json_str(yyjson_obj_get(v, "prefix"));
    bool ok = key.n ? take_one(&f, s, key, err) : take_prefix(&f, s, prefix.n ? prefix : STR(""), err);
    s3_free(s);
    if (!ok)
        go_on(&f, err); /* a cancelled one, and one of a server that stops, failed for that reason */
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
