#include "core/label/instructions.h"

#include "base/json.h"
#include "base/messages.h"
#include "core/core.h"
#include "media/media.h"
#include "store/upload.h"

#define NAME_DIGITS 16

/* --- the text --- */

/* "](upload:ID)" or "](picture:NAME)". */
static const char *const schemes[] = {"](upload:", "](picture:"};
enum { UPLOAD, PICTURE };

struct mention {
    int scheme;
    struct str before; /* of the text, up to its address */
    struct str id;
};

/* The first one in the text; what is behind it becomes *text. */
static bool next_mention(struct str *text, struct mention *ret)
{
    ptrdiff_t first = -1;
    for (int i = 0; i < (int)countof(schemes); i++) {
        ptrdiff_t at = str_find(*text, str_of(schemes[i]));
        if (at < 0 || (first >= 0 && at > first))
            continue;
        first = at;
        ret->scheme = i;
    }
    if (first < 0)
        return false;
    size_t begin = (size_t)first + strlen("]("), id = (size_t)first + strlen(schemes[ret->scheme]), end = id;
    while (end < text->n && text->p[end] != ')')
        end++;
    ret->before = (struct str){text->p, begin};
    ret->id = (struct str){text->p + id, end - id};
    *text = (struct str){text->p + end, text->n - end};
    return true;
}

/* --- the list --- */

struct pictures {
    struct str hex[INSTRUCTIONS_PICTURES]; /* whole digests */
    size_t n;
};

static struct pictures pictures_of(struct arena *a, const struct object *task)
{
    struct pictures list = {.n = 0};
    struct err ignored = {0};
    struct str text = task ? object_text(task, "pictures") : STR_NULL;
    yyjson_val *v = text.n ? json_parse(a, text, &ignored) : NULL, *item;
    size_t i, max;
    yyjson_arr_foreach(v, i, max, item)
    {
        if (list.n < INSTRUCTIONS_PICTURES)
            list.hex[list.n++] = json_str(item);
    }
    return list;
}

/* Its whole digest; STR_NULL when the list has none of that name. */
static struct str find(const struct pictures *list, struct str name)
{
    for (size_t i = 0; name.n >= NAME_DIGITS && i < list->n; i++)
        if (list->hex[i].n >= name.n && memcmp(list->hex[i].p, name.p, name.n) == 0)
            return list->hex[i];
    return STR_NULL;
}

static bool add(struct pictures *list, struct str hex, struct err *err)
{
    if (find(list, hex).n)
        return true;
    if (list->n == INSTRUCTIONS_PICTURES)
        return err_message(err, ERR_INVALID, "instructions", MESSAGE_INSTRUCTIONS_MANY,
                           INSTRUCTIONS_PICTURES);
    list->hex[list->n++] = hex;
    return true;
}

static struct db_value written(struct arena *a, const struct pictures *list)
{
    auto_buf struct buf out = {0};
    buf_char(&out, '[');
    for (size_t i = 0; i < list->n; i++)
        buf_printf(&out, "%s\"%.*s\"", i ? "," : "", STR_ARG(list->hex[i]));
    buf_char(&out, ']');
    return db_text(arena_str(a, buf_view(&out)));
}

/* --- before the write --- */

static bool take_upload(struct op *op, const struct object *o, struct str id, struct str *ret,
                        struct err *err)
{
    struct upload u;
    struct digest picture;
    char hex[SHA256_HEX + 1];
    auto_buf struct buf jpeg = {0};
    if (!upload_take(op->core->store, id, op->caller->user, o->project, "instructions", op->arena, &u, err))
        return false;
    if (u.length > INSTRUCTIONS_BYTES)
        return err_message(err, ERR_TOO_LARGE, "instructions", MESSAGE_INSTRUCTIONS_LARGE,
                           INSTRUCTIONS_BYTES >> 20);
    auto_fd int fd = blob_open(op->core->store, &u.blob, NULL, err);
    if (fd < 0)
        return false;
    if (!media_thumbnail(op->core->media, fd, INSTRUCTIONS_SIDE, &jpeg, err))
        return err->code == ERR_INVALID
                   ? err_because(err, ERR_INVALID, "instructions", err, MESSAGE_EXAMPLE_PICTURE)
                   : false;
    if (!blob_put(op->core->store, buf_view(&jpeg), &picture, err))
        return false;
    digest_hex(&picture, hex);
    *ret = str_of(arena_strz(op->arena, str_of(hex)));
    return true;
}

/* The digest that a mention means. */
static bool resolve(struct op *op, const struct pictures *had, const struct object *o,
                    const struct mention *m, struct str *ret, struct err *err)
{
    if (m->scheme == UPLOAD)
        return take_upload(op, o, m->id, ret, err);
    struct str shown = m->id.n <= SHA256_HEX ? m->id : STR("?");
    *ret = find(had, m->id);
    return ret->n ||
           err_message(err, ERR_INVALID, "instructions", MESSAGE_INSTRUCTIONS_PICTURE, STR_ARG(shown));
}

bool instructions_prepare(struct op *op, const struct object *old, struct object *o, struct err *err)
{
    struct pictures had = pictures_of(op->arena, old), now = {.n = 0};
    auto_buf struct buf out = {0};
    struct str rest = object_text(o, "instructions"), hex;
    struct mention m;
    if (old && str_eq(object_text(old, "instructions"), rest))
        return true;
    size_t most = INSTRUCTIONS_PICTURES * 4; /* the same one may stand there again */
    while (next_mention(&rest, &m)) {
        if (!most--)
            return err_message(err, ERR_INVALID, "instructions", MESSAGE_INSTRUCTIONS_MANY,
                               INSTRUCTIONS_PICTURES);
        if (!resolve(op, &had, o, &m, &hex, err) || !add(&now, hex, err))
            return false;
        buf_str(&out, m.before);
        buf_printf(&out, "picture:%.*s", NAME_DIGITS, hex.p);
    }
    if (now.n) {
        buf_str(&out, rest);
        *object_value(o, "instructions") = db_text(arena_str(op->arena, buf_view(&out)));
    }
    *object_value(o, "pictures") = written(op->arena, &now);
    return true;
}

/* --- in the write --- */

/* Of those in `list` that are not in `other`. */
static bool use_rest(struct op *op, int64_t project, const struct pictures *list,
                     const struct pictures *other, int64_t count, struct err *err)
{
    struct digest d;
    for (size_t i = 0; i < list->n; i++)
        if (!find(other, list->hex[i]).n && digest_parse(list->hex[i], &d) &&
            !store_use(op->conn, project, &d, count, err))
            return false;
    return true;
}

bool instructions_use(struct op *op, const struct object *old, const struct object *now, struct err *err)
{
    struct pictures had = pictures_of(op->arena, old), has = pictures_of(op->arena, now);
    int64_t project = (now ? now : old)->project;
    return use_rest(op, project, &has, &had, 1, err) && use_rest(op, project, &had, &has, -1, err);
}

bool instructions_picture(struct arena *a, const struct object *task, struct str name, struct digest *ret,
                          struct err *err)
{
    struct pictures list = pictures_of(a, task);
    return digest_parse(find(&list, name), ret) ||
           err_set(err, ERR_NOT_FOUND, NULL, "there is no such picture");
}
