#include "core/task/log_page.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_PAGE (128 << 10)

const struct field log_page_fields[] = {
    {.name = "offset",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .max = INT64_C(1) << 40,
     .fallback = "0",
     .title = {"Offset", "偏移"},
     .help = {"`next` of the answer before", "上次回答中的 next"}},
    {0},
};

/* Whole characters only: a page may end within one. */
static void make_utf8(char *p, ssize_t *n, bool at_end)
{
    for (int i = 0; i < 4 && !at_end && *n && !utf8_valid((struct str){p, (size_t)*n}); i++)
        --*n;
    if (!utf8_valid((struct str){p, (size_t)*n}))
        for (ssize_t i = 0; i < *n; i++)
            p[i] = (unsigned char)p[i] < 0x80 ? p[i] : '?';
}

bool log_page(const char *path, int64_t from, struct json_out *out, struct err *err)
{
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    auto_free char *space = base_alloc(LOG_PAGE);
    struct stat st = {0};
    if (fd < 0 && errno != ENOENT)
        return err_errno(err, errno, "cannot read the log");
    if (fd >= 0 && fstat(fd, &st) != 0)
        return err_errno(err, errno, "cannot read the log");
    from = from > st.st_size ? 0 : from; /* it began anew */
    ssize_t n = fd >= 0 ? pread(fd, space, LOG_PAGE, from) : 0;
    if (n < 0)
        return err_errno(err, errno, "cannot read the log");
    make_utf8(space, &n, from + n == st.st_size);
    json_object(out);
    json_kstr(out, "text", (struct str){space, (size_t)n});
    json_kint(out, "from", from);
    json_kint(out, "next", from + n);
    json_kint(out, "end", st.st_size);
    json_object_end(out);
    return true;
}

struct str log_last_line(struct arena *a, const char *path)
{
    struct str text, line = STR_NULL, rest;
    struct err ignored = {0};
    if (!fs_read(a, path, 4 << 20, &text, &ignored))
        return STR("no reason was given");
    for (rest = text; rest.n;) {
        struct str one = str_trim(str_cut(rest, '\n', &rest));
        if (one.n && !str_starts(one, "[notice]"))
            line = one;
    }
    line.n = line.n > LOG_LINE_MAX ? LOG_LINE_MAX : line.n;
    return line.n && utf8_valid(line) ? line : STR("no reason was given");
}
