/* Files of the folder log: OFFSET-LINE (both 16 hex digits) hold the records from there on; `index` has the
 * offset of every 1024th line as a 64-bit number. */
#include "exec/shim/shim.h"

#include "exec/local/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 16384
#define SEGMENTS       16
#define STAMP          27

struct stream {
    char text[LINE_MAX_BYTES];
    size_t n;
};

static struct stream streams[3]; /* by number */
static const char letters[] = "ioe";
static int dir = -1, file = -1, index_file = -1;
static int64_t end, lines, segment_start, segment_size;
static char names[SEGMENTS + 1][LOGS_NAME_MAX]; /* oldest first */
static int n_names;
static int64_t kept_end, kept_lines; /* what is in the files; the rest is in `out` */
static bool told, broken, lost;      /* broken: `out` cannot be written; lost: lines are missing */
static char *out;
static size_t out_n, out_cap;
static char stamp[40];
static int64_t stamp_us;

void logfile_limit(int64_t bytes)
{
    segment_size = bytes / SEGMENTS;
}

/* With the first line: many jobs print none, and folders and files cost time. */
static void make_folder(void)
{
    if (mkdirat(job_dir, "log", 0700) != 0 && errno != EEXIST)
        return;
    dir = openat(job_dir, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    index_file = openat(dir, "index", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* Without room for one more the last goes on. */
static void next_segment(void)
{
    char name[LOGS_NAME_MAX];
    if (dir < 0)
        make_folder();
    snprintf(name, sizeof name, "%016llx-%016llx", (unsigned long long)end, (unsigned long long)lines);
    int next = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (next < 0)
        return;
    if (file >= 0)
        close(file);
    if (n_names == SEGMENTS + 1) {
        unlinkat(dir, names[0], 0);
        memmove(names[0], names[1], sizeof names[0] * SEGMENTS);
        n_names--;
    }
    memcpy(names[n_names++], name, sizeof name);
    file = next;
    segment_start = end;
}

static void put(const void *p, size_t n)
{
    if (out_n + n > out_cap) {
        size_t cap = (out_n + n) * 2;
        char *bigger = realloc(out, cap);
        if (!bigger) {
            broken = true;
            return;
        }
        out = bigger;
        out_cap = cap;
    }
    memcpy(out + out_n, p, n);
    out_n += n;
}

/* On a full disk the container goes on, and what it prints meanwhile is lost: as if it had not been. */
static void write_out(void)
{
    if (out_n > 0 && !broken && file >= 0 && write_all(file, out, out_n)) {
        kept_end = end;
        kept_lines = lines;
    } else if (out_n > 0) {
        lost = true;
        end = kept_end;
        lines = kept_lines;
        int64_t indexed = (kept_lines + LOGS_INDEX_EVERY - 1) / LOGS_INDEX_EVERY * (int64_t)sizeof end;
        if ((file >= 0 && ftruncate(file, kept_end - segment_start) != 0) ||
            (index_file >= 0 && ftruncate(index_file, indexed) != 0))
            fail_errno("cannot shorten the log");
    }
    broken = false;
    out_n = 0;
}

static void restamp(void)
{
    int64_t us = now_us();
    if (us <= stamp_us)
        return; /* the clock was set back: times in a log only grow */
    time_t s = (time_t)(us / 1000000);
    struct tm tm;
    gmtime_r(&s, &tm);
    size_t n = strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(stamp + n, sizeof stamp - n, ".%06dZ", (int)(us % 1000000));
    stamp_us = us;
}

static void record(char letter, bool more, const char *p, size_t n, const char *q, size_t m)
{
    if (file >= 0 && end - segment_start >= segment_size)
        write_out();
    if (file < 0 || end - segment_start >= segment_size)
        next_segment();
    off_t place = lines / LOGS_INDEX_EVERY * (off_t)sizeof end;
    if (lines % LOGS_INDEX_EVERY == 0 && pwrite(index_file, &end, sizeof end, place) != sizeof end)
        broken = true;
    char head[3] = {' ', letter, more ? '+' : ' '};
    put(stamp, STAMP);
    put(head, sizeof head);
    put(p, n);
    put(q, m);
    put("\n", 1);
    end += (int64_t)(STAMP + sizeof head + n + m + 1);
    lines++;
}

static void hold(struct stream *s, const char *p, size_t n)
{
    while (s->n + n >= LINE_MAX_BYTES) {
        size_t room = LINE_MAX_BYTES - s->n;
        record(letters[s - streams], true, s->text, s->n, p, room);
        s->n = 0;
        p += room;
        n -= room;
    }
    memcpy(s->text + s->n, p, n);
    s->n += n;
}

void logfile_add(int stream, const char *p, size_t n)
{
    struct stream *s = &streams[stream];
    restamp();
    if (lost) {
        lost = false;
        logfile_remark("lines are missing here: the disk was full");
    }
    while (n > 0) {
        const char *newline = memchr(p, '\n', n);
        if (!newline) {
            hold(s, p, n);
            break;
        }
        size_t length = (size_t)(newline - p);
        if (s->n + length >= LINE_MAX_BYTES) {
            hold(s, p, length);
            length = 0;
        }
        record(letters[s - streams], false, s->text, s->n, p, length);
        s->n = 0;
        n -= (size_t)(newline + 1 - p);
        p = newline + 1;
    }
    bool full = n_names == SEGMENTS + 1 && !told;
    told = told || full;
    if (full)
        logfile_remark("the log has reached its limit: from here on the oldest lines are dropped");
    write_out();
}

void logfile_remark(const char *text)
{
    restamp();
    record('i', false, text, strlen(text), "", 0);
    write_out();
}

bool logfile_pending(void)
{
    return streams[1].n > 0 || streams[2].n > 0;
}

void logfile_flush(bool last)
{
    restamp();
    for (int i = 1; i <= 2; i++) {
        struct stream *s = &streams[i];
        if (s->n > 0)
            record(letters[s - streams], !last, s->text, s->n, "", 0);
        s->n = 0;
    }
    write_out();
}

void logfile_close(void)
{
    int *const fds[] = {&dir, &file, &index_file};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    end = lines = segment_start = kept_end = kept_lines = 0;
    n_names = 0;
    told = broken = lost = false;
    out_n = streams[1].n = streams[2].n = 0;
}
