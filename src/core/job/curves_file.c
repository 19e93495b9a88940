#include "core/job/curves_file.h"

#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MINUTE     INT64_C(60000000)
#define LINE_MAX_N 4096

static const char *container_path(struct core *core, struct arena *a, struct exec_id id)
{
    char text[EXEC_ID_MAX];
    return arena_printf(a, "%s/curves/%s.2", core->data, exec_id_format(id, text)); /* format 2 */
}

static const char *project_path(struct core *core, struct arena *a, int64_t project)
{
    return arena_printf(a, "%s/curves/project-%lld", core->data, (long long)project);
}

static bool append(const char *path, struct str data, int64_t *ret_size, struct err *err)
{
    auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, errno, "cannot open %s", path);
    *ret_size = (int64_t)(st.st_size + (off_t)data.n);
    return fs_write_all(fd, data.p, data.n, err);
}

/* Absent is empty. */
static bool read_all(const char *path, struct arena *a, struct str *ret, struct err *err)
{
    *ret = STR_NULL;
    return access(path, F_OK) != 0 || fs_read(a, path, 16 << 20, ret, err);
}

/* --- containers --- */

bool curves_file_read(struct core *core, struct exec_id id, struct arena *a, struct curve_point **ret,
                      size_t *ret_n, struct err *err)
{
    struct str data;
    if (!read_all(container_path(core, a, id), a, &data, err))
        return false;
    size_t n = data.n / sizeof **ret, skip = n > CURVES_MINUTES ? n - CURVES_MINUTES : 0;
    *ret = arena_array(a, struct curve_point, n - skip + 1);
    if (n)
        memcpy(*ret, data.p + skip * sizeof **ret, (n - skip) * sizeof **ret);
    *ret_n = n - skip;
    return true;
}

bool curves_file_add(struct core *core, struct exec_id id, const struct curve_point *p, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    const char *path = container_path(core, &a, id);
    int64_t size;
    if (!append(path, (struct str){(const char *)p, sizeof *p}, &size, err))
        return false;
    if (size < (int64_t)(2 * CURVES_MINUTES * sizeof *p))
        return true;
    struct curve_point *kept;
    size_t n;
    return curves_file_read(core, id, &a, &kept, &n, err) &&
           fs_write_atomic(path, (struct str){(const char *)kept, n * sizeof *kept}, 0600, err);
}

void curves_forget(struct core *core, struct exec_id id)
{
    auto_arena struct arena a;
    char text[EXEC_ID_MAX];
    arena_init(&a);
    unlink(container_path(core, &a, id));
    unlink(arena_printf(&a, "%s/curves/%s", core->data, exec_id_format(id, text))); /* of format 1 */
}

/* --- projects --- */

static void write_line(struct buf *out, const struct curve_point *p, const struct curves_cards *cards,
                       size_t n)
{
    struct json_out o;
    char at[CLOCK_TEXT_MAX];
    json_begin(&o, out);
    json_object(&o);
    json_kz(&o, "at", clock_format(p->at, at));
    int64_t millis = p->cpu / 1000; /* no more digits than mean something */
    json_key(&o, "cpu");
    json_real(&o, (double)millis / 1000);
    json_kint(&o, "memory", p->memory);
    json_key(&o, "accelerators");
    json_object(&o);
    for (size_t i = 0; i < n; i++) {
        json_key(&o, cards[i].kind);
        json_real(&o, cards[i].count);
    }
    json_object_end(&o);
    json_object_end(&o);
}

/* The last lines of the text, at most so many. */
static struct str newest(struct str text, size_t lines)
{
    size_t at = text.n, seen = 0;
    while (at > 0 && (text.p[at - 1] != '\n' || seen++ < lines))
        at--;
    return (struct str){text.p + at, text.n - at};
}

bool curves_file_add_project(struct core *core, int64_t project, const struct curve_point *p,
                             const struct curves_cards *cards, size_t n, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf line = {0};
    const char *path = project_path(core, &a, project);
    int64_t size;
    struct str all;
    write_line(&line, p, cards, n);
    buf_char(&line, '\n');
    if (line.n > LINE_MAX_N)
        return err_set(err, ERR_TOO_LARGE, NULL, "too many kinds of accelerators for one curve");
    if (!append(path, buf_view(&line), &size, err))
        return false;
    if (size < (int64_t)(2 * CURVES_MINUTES * line.n))
        return true;
    return read_all(path, &a, &all, err) && fs_write_atomic(path, newest(all, CURVES_MINUTES), 0600, err);
}

static void write_zero(struct json_out *out, int64_t at)
{
    auto_buf struct buf line = {0};
    write_line(&line, &(struct curve_point){.at = at}, NULL, 0);
    json_raw(out, buf_view(&line));
}

struct line {
    struct str text;
    int64_t at;
};

/* A line that a crash cut short is passed over. */
static bool next_line(struct str *rest, struct line *ret)
{
    while (rest->p) {
        struct str text = str_cut(*rest, '\n', rest);
        if (text.n > 40 && text.p[text.n - 1] == '}' && str_starts(text, "{\"at\":\"") &&
            clock_parse((struct str){text.p + 7, 27}, &ret->at)) {
            ret->text = text;
            return true;
        }
    }
    return false;
}

bool curves_write_project(struct core *core, int64_t project, struct json_out *out, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str text;
    if (!read_all(project_path(core, &a, project), &a, &text, err))
        return false;
    int64_t now = clock_now(), last = now - CURVES_MINUTES * MINUTE;
    struct str rest = text.n ? newest(text, CURVES_MINUTES) : STR_NULL;
    struct line line;
    json_array(out);
    write_zero(out, last);
    while (next_line(&rest, &line)) {
        if (line.at <= last)
            continue;
        if (line.at - last > 2 * MINUTE) {
            write_zero(out, last + MINUTE);
            write_zero(out, line.at - MINUTE);
        }
        json_raw(out, line.text);
        last = line.at;
    }
    if (now - last > 2 * MINUTE) {
        write_zero(out, last + MINUTE);
        write_zero(out, now);
    }
    json_array_end(out);
    return true;
}
