#include "core/training/cause.h"

#include "base/buf.h"
#include "base/messages_training.h"
#include "core/runtime/runtime.h"

#include <ctype.h>

#define LOOK_BACK    60 /* lines at the end in which a cause is looked for */
#define PATTERNS_MAX 12

/* A row fits when one of its texts is in a line of the log; letters of either case, `*` is one word, which
 * the sentence then names. What `sure` has in the job's own reason is beyond doubt, what `hint` and
 * `exit_code` have is for when no line tells. Rows before others know more. */
struct row {
    const char *id, *en, *zh;
    const char *lines[PATTERNS_MAX];
    const char *sure[4];
    const char *hint;
    int exit_code;
};

static const struct row rows[] = {
    {MESSAGE_CAUSE_DEVICE_MEMORY,
     .lines = {"cuda out of memory", "cuda error: out of memory", "npu out of memory", "hip out of memory",
               "cublas_status_alloc_failed"}},
    {MESSAGE_CAUSE_MEMORY,
     .lines = {"memoryerror", "cannot allocate memory", "std::bad_alloc", "can't allocate memory",
               "unable to allocate", "out of memory"},
     .sure = {"out of memory", "more memory than its spec", "ended by the memory limit"}},
    {MESSAGE_CAUSE_MODULE, .lines = {"no module named '*'", "no module named *", "cannot find module '*'"}},
    {MESSAGE_CAUSE_SHARED_MEMORY,
     .lines = {"unable to open shared memory object", "bus error", "insufficient shared memory"}},
    {MESSAGE_CAUSE_SPACE, .lines = {"no space left on device", "disk quota exceeded"},
     .sure = {"disk was full", "the project may store", "disk is full"}},
    {MESSAGE_CAUSE_DEVICE,
     .lines = {"no cuda gpus are available", "found no nvidia driver", "not compiled with cuda enabled",
               "no cuda-capable device", "cuda is not available", "cuda driver version is insufficient",
               "libcuda.so.1: cannot open", "invalid device ordinal", "torch.cuda.is_available() is false",
               "no such device"}},
    {MESSAGE_CAUSE_TIME,
     .lines = {"timeouterror", "timeoutexpired", "timed out", "deadline exceeded", "operation timeout"},
     .sure = {"its hours are over"}, .exit_code = 124},
    {MESSAGE_CAUSE_NAN,
     .lines = {"loss is nan", "loss became nan", "nan loss", "loss: nan", "loss=nan", "loss nan",
               "loss\": nan", "loss = nan", "contains nan", "nan or inf", "nan values"}},
    {MESSAGE_CAUSE_COMMAND, .lines = {"*: command not found", "sh: *: not found", "sh: 1: *: not found"},
     .sure = {"cannot run '*'"}, .exit_code = 127},
    {MESSAGE_CAUSE_FILE,
     .lines = {"can't open file '*'", "no such file or directory: '*'", "*: no such file or directory",
               "no such file or directory", "there is no folder '*'"}},
    {MESSAGE_CAUSE_PERMISSION,
     .lines = {"permission denied: '*'", "*: permission denied", "permission denied",
               "read-only file system: '*'", "read-only file system"},
     .exit_code = 126},
    {MESSAGE_CAUSE_KILLED, .lines = {"killed"}, .hint = "ended by signal", .exit_code = 137},
    {MESSAGE_CAUSE_EXCEPTION, .lines = {"*error:", "*exception:", "*error", "*exception"}},
};
static const struct row other = {MESSAGE_CAUSE_OTHER, .exit_code = 0};
/* Added to a missing module that one of the platform's own runtimes has. */
static const struct row in_runtime = {MESSAGE_CAUSE_RUNTIME, .exit_code = 0};

/* --- lines --- */

static struct str after(struct str s, size_t n)
{
    return (struct str){s.p + n, s.n - n};
}

/* The bytes of the escape sequence that s begins with; 0: none. */
static size_t escape(struct str s)
{
    size_t n = 2;
    if (s.n < 2 || s.p[0] != 27 || s.p[1] != '[')
        return s.n && s.p[0] == 27 ? 1 : 0;
    while (n < s.n && (s.p[n] < '@' || s.p[n] > '~'))
        n++;
    return n < s.n ? n + 1 : n;
}

struct str cause_plain(struct arena *a, struct str line)
{
    auto_buf struct buf out = {0};
    while (line.n && strchr("\r \t", line.p[line.n - 1]))
        line.n--;
    for (size_t i = line.n; i > 0; i--)
        if (line.p[i - 1] == '\r') {
            line = after(line, i);
            break;
        }
    for (size_t i = 0, n; i < line.n && out.n < CAUSE_WIDTH; i += n) {
        struct str rest = after(line, i);
        if ((n = escape(rest)))
            continue;
        n = utf8_sequence(rest);
        if (n == 0 || out.n + n > CAUSE_WIDTH || ((unsigned char)*rest.p < ' ' && *rest.p != '\t'))
            n = 1;
        else
            buf_add(&out, rest.p, n);
    }
    return arena_str(a, buf_view(&out));
}

/* --- patterns --- */

static bool in_word(char c)
{
    return c && !strchr(" \t'\":;,()[]<>", c);
}

/* What a star before `rest` takes: the word, without its end where rest goes on with that. 0: nothing. */
static size_t star_takes(const char *rest, struct str s, struct str *ret_word)
{
    size_t n = 0, same = 0;
    while (n < s.n && in_word(s.p[n]))
        n++;
    while (in_word(rest[same]))
        same++;
    *ret_word = (struct str){s.p, n};
    return n > same ? n - same : 0;
}

/* The pattern at the beginning of s, and no longer word in the place of its last one. */
static bool fits_here(const char *pattern, struct str s, struct str *ret)
{
    char last = 0;
    for (; *pattern; pattern++) {
        size_t n = 1;
        if (*pattern == '*')
            n = star_takes(pattern + 1, s, ret);
        if (n == 0 || s.n == 0 || (*pattern != '*' && tolower((unsigned char)*s.p) != *pattern))
            return false;
        last = *pattern;
        s = after(s, n);
    }
    return !(s.n && isalnum((unsigned char)last) && isalnum((unsigned char)*s.p));
}

static bool fits(const char *pattern, struct str s, struct str *ret)
{
    for (size_t i = 0; i < s.n; i++) {
        struct str star = STR_NULL;
        bool inside = i > 0 && (*pattern == '*'
                                    ? in_word(s.p[i - 1])
                                    : isalnum((unsigned char)*pattern) && isalnum((unsigned char)s.p[i - 1]));
        if (!inside && fits_here(pattern, after(s, i), &star)) {
            *ret = star;
            return true;
        }
    }
    return false;
}

static bool any(const char *const *patterns, size_t n, struct str s, struct str *ret)
{
    for (size_t i = 0; i < n && patterns[i]; i++)
        if (fits(patterns[i], s, ret))
            return true;
    return false;
}

/* --- finding --- */

/* What stands before the last trace of calls tells nothing of the end. */
static size_t window(const struct cause_facts *f)
{
    size_t from = f->n > LOOK_BACK ? f->n - LOOK_BACK : 0;
    for (size_t i = f->n; i > from; i--)
        if (str_find(f->line[i - 1].text, STR("Traceback (most recent call last)")) >= 0)
            return i - 1;
    return from;
}

static bool in_lines(const struct row *r, const struct cause_facts *f, size_t from, struct str *ret)
{
    for (size_t i = f->n; i > from; i--)
        if (any(r->lines, countof(r->lines), f->line[i - 1].text, ret))
            return true;
    return false;
}

static const struct row *find(const struct cause_facts *f, size_t from, struct str *ret)
{
    struct str ignored;
    for (size_t i = 0; i < countof(rows); i++)
        if (any(rows[i].sure, countof(rows[i].sure), f->reason, ret))
            return &rows[i];
    for (size_t i = 0; i < countof(rows); i++)
        if (in_lines(&rows[i], f, from, ret))
            return &rows[i];
    for (size_t i = 0; i < countof(rows); i++)
        if ((rows[i].hint && fits(rows[i].hint, f->reason, &ignored)) ||
            (rows[i].exit_code && rows[i].exit_code == f->exit_code))
            return &rows[i];
    return &other;
}

/* The sentence with what was found in the place of its star. A sentence in braces is for when it was. */
static const char *fill(struct arena *a, const char *sentence, struct str detail)
{
    auto_buf struct buf out = {0};
    bool skip = false;
    for (const char *s = sentence; *s; s++) {
        if (*s == '{')
            skip = !detail.n;
        else if (*s == '}')
            skip = false;
        else if (!skip && *s == '*')
            buf_str(&out, detail);
        else if (!skip)
            buf_char(&out, *s);
    }
    return arena_strz(a, buf_view(&out));
}

/* The last lines of errors, in their order; those of the output when there are none. */
static void quote(const struct cause_facts *f, size_t from, struct cause *ret)
{
    bool errors = false;
    size_t n = 0;
    for (size_t i = from; i < f->n; i++)
        errors = errors || (f->line[i].error && f->line[i].text.n);
    for (size_t i = f->n; i > from && n < CAUSE_LINES; i--)
        if ((f->line[i - 1].error || !errors) && (n || f->line[i - 1].text.n))
            ret->line[CAUSE_LINES - ++n] = f->line[i - 1].text;
    memmove(ret->line, ret->line + CAUSE_LINES - n, n * sizeof *ret->line);
    ret->n = n;
}

void cause_find(struct arena *a, const struct cause_facts *f, struct cause *ret)
{
    struct str detail = STR_NULL;
    size_t from = window(f);
    *ret = (struct cause){0};
    const struct row *r = find(f, from, &detail);
    ret->id = r->id + strlen("cause-");
    ret->detail = detail;
    ret->en = fill(a, r->en, detail);
    ret->zh = fill(a, r->zh, detail);
    const char *runtime = strcmp(ret->id, "module-missing") == 0 ? runtime_of_module(detail) : NULL;
    if (runtime) {
        ret->en = arena_printf(a, "%s%s", ret->en, fill(a, in_runtime.en, str_of(runtime)));
        ret->zh = arena_printf(a, "%s%s", ret->zh, fill(a, in_runtime.zh, str_of(runtime)));
    }
    quote(f, from, ret);
}
