/* The two blobs of an evaluation that is completed. The details are lines of JSON, a sample each, then the
 * index (metric/matches.h), then the index's place and length. */
#include "core/evaluate/details.h"

#include "base/messages_evaluate.h"
#include "core/evaluate/evaluate.h"
#include "store/store.h"

#include <errno.h>

#define REPORT_MAX ((size_t)256 << 20)
#define INDEX_MAX  ((size_t)2 << 30)
#define TEXT_MAX   ((size_t)128 << 20)

static bool digest_of(const struct object *o, const char *field, struct digest *ret, struct err *err)
{
    struct str state = object_text(o, "state");
    return digest_parse(object_text(o, field), ret) ||
           err_message(err, ERR_CONFLICT, "state", MESSAGE_EVALUATION_NO_REPORT, STR_ARG(state));
}

bool evaluation_report(struct core *core, const struct object *o, struct arena *a, struct str *ret,
                       struct err *err)
{
    struct digest d;
    return digest_of(o, "report", &d, err) && blob_read(core->store, a, &d, REPORT_MAX, ret, err);
}

double evaluation_score(yyjson_val *report)
{
    yyjson_val *v = yyjson_obj_get(report, "score");
    return yyjson_is_num(v) ? yyjson_get_num(v) : 0;
}

static bool read_at(int fd, void *to, size_t n, int64_t at, struct err *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, (char *)to + done, n - done, at + (int64_t)done);
        if (got <= 0)
            return err_errno(err, got ? errno : EIO, "the details of the evaluation");
        done += (size_t)got;
    }
    return true;
}

static bool read_index(struct evaluation_details *d, int64_t size, struct err *err)
{
    struct details_tail tail;
    if (size < (int64_t)sizeof tail || !read_at(d->fd, &tail, sizeof tail, size - (int64_t)sizeof tail, err))
        return err->code || err_set(err, ERR_INTERNAL, NULL, "the details of the evaluation are cut off");
    if (tail.bytes > INDEX_MAX || tail.at > (uint64_t)size || tail.bytes > (uint64_t)size - tail.at)
        return err_set(err, ERR_INTERNAL, NULL, "the details of the evaluation are damaged");
    char *index = base_zalloc((size_t)tail.bytes + 1);
    bool ok = read_at(d->fd, index, (size_t)tail.bytes, (int64_t)tail.at, err);
    d->texts = (int64_t)tail.at;
    d->index = index;
    return ok && matches_read((struct str){index, (size_t)tail.bytes}, &d->matches, err);
}

bool evaluation_details_open(struct core *core, const struct object *o, struct evaluation_details *ret,
                             struct err *err)
{
    struct digest d;
    int64_t size;
    *ret = (struct evaluation_details){.fd = -1};
    if (!digest_of(o, "details", &d, err))
        return false;
    ret->fd = blob_open(core->store, &d, &size, err);
    if (ret->fd >= 0 && read_index(ret, size, err))
        return true;
    evaluation_details_close(ret);
    return false;
}

void evaluation_details_close(struct evaluation_details *d)
{
    matches_free(d->matches);
    free(d->index);
    if (d->fd >= 0)
        close(d->fd);
    *d = (struct evaluation_details){.fd = -1};
}

bool evaluation_details_text(const struct evaluation_details *d, size_t sample, struct arena *a,
                             struct str *ret, struct err *err)
{
    const struct matches_sample *s = &d->matches->samples[sample];
    if (s->text_at > (uint64_t)d->texts || s->text_bytes > (uint64_t)d->texts - s->text_at ||
        s->text_bytes > TEXT_MAX)
        return err_set(err, ERR_INTERNAL, NULL, "the details of the evaluation are damaged");
    char *text = arena_alloc(a, (size_t)s->text_bytes + 1);
    text[s->text_bytes] = 0;
    *ret = (struct str){text, s->text_bytes};
    return read_at(d->fd, text, s->text_bytes, (int64_t)s->text_at, err);
}
