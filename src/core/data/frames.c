#include "core/data/frames.h"

#include "base/messages.h"

static const char *const endings[] = {".mp4", ".mov", ".avi",  ".mkv", ".webm",
                                      ".m4v", ".mpg", ".mpeg", ".ts",  ".flv"};

bool frames_is_video(struct str path)
{
    char lower[8] = {0};
    size_t n = path.n < 7 ? path.n : 7;
    for (size_t i = 0; i < n; i++) {
        char c = path.p[path.n - n + i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    for (size_t i = 0; i < countof(endings); i++)
        if (str_ends((struct str){lower, n}, endings[i]))
            return true;
    return false;
}

struct expanding {
    struct task *task;
    struct unpacked *out, *files; /* files: where the video is from */
    struct str stem;              /* the video's path without its ending */
};

static bool take_frame(void *ctx, int64_t number, double time, struct str jpeg, struct err *err)
{
    (void)time;
    struct expanding *x = ctx;
    if (number < 0)
        return task_progress(x->task, (int64_t)x->out->n, 0, err);
    const char *path =
        arena_printf(x->task->arena, STR_FMT "/%06lld.jpg", STR_ARG(x->stem), (long long)number);
    return unpack_piece(x->out, jpeg, err) && unpack_file(x->out, str_of(path), err) &&
           unpack_keep(x->task, x->out, err) && unpack_keep(x->task, x->files, err) &&
           task_progress(x->task, (int64_t)x->out->n, 0, err);
}

static struct str stem_of(struct str path)
{
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '.')
        n--;
    return (struct str){path.p, n ? n - 1 : path.n};
}

static bool expand_one(struct expanding *x, const struct unpacked_file *f, const struct media_frames *how,
                       struct err *err)
{
    auto_fd int fd = blob_open(x->task->core->store, &f->blob, NULL, err);
    if (fd < 0)
        return false;
    x->stem = stem_of(f->path);
    size_t before = x->out->n;
    struct media_flaws flaws;
    if (media_video(x->task->core->media, fd, how, take_frame, x, &flaws, err)) {
        if (flaws.broken)
            task_note(x->task, f->path, NULL, MESSAGE_PACKETS_BROKEN, (long long)flaws.broken);
        if (flaws.cut)
            task_note(x->task, f->path, NULL, MESSAGE_VIDEO_CUT);
        return true;
    }
    if (err->code != ERR_INVALID)
        return false;
    if (x->out->n > before)
        err_because(err, err->code, NULL, err, MESSAGE_FRAMES_SOME, x->out->n - before);
    else
        err_because(err, err->code, NULL, err, MESSAGE_LEFT_OUT);
    task_note_err(x->task, f->path, NULL, err);
    *err = (struct err){0};
    return true;
}

static bool has_video(const struct unpacked *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (frames_is_video(files->file[i].path))
            return true;
    return false;
}

bool frames_expand(struct task *t, struct unpacked *files, const struct media_frames *how, struct err *err)
{
    if (!has_video(files))
        return true;
    if (!blob_batch_flush(files->batch, err))
        return false;
    struct unpacked out = *files;
    out.file = NULL;
    out.n = out.cap = 0;
    out.bytes = 0;
    struct expanding x = {.task = t, .out = &out, .files = files};
    for (size_t i = 0; i < files->n; i++) {
        const struct unpacked_file *f = &files->file[i];
        bool ok = frames_is_video(f->path) ? expand_one(&x, f, how, err)
                                           : unpack_add(&out, f->path, &f->blob, f->size, err);
        if (!ok)
            return false;
    }
    *files = out;
    return true;
}
