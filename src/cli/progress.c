#include "cli/progress.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>
#include <sys/ioctl.h>

#define BAR       24
#define REDRAW_NS (UINT64_C(100) * 1000000)
#define LINE_NS   (UINT64_C(10) * 1000000000)

char *progress_bytes(int64_t n, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)n;
    size_t u = 0;
    for (; v >= 1024 && u + 1 < countof(units); u++)
        v /= 1024;
    snprintf(text, 32, u ? "%.1f %s" : "%.0f %s", v, units[u]);
    return text;
}

void progress_begin(struct progress *p, const char *what, bool bytes, bool quiet)
{
    *p = (struct progress){.what = what,
                           .bytes = bytes,
                           .quiet = quiet,
                           .terminal = isatty(STDERR_FILENO),
                           .began = clock_mono(),
                           .first = -1};
}

static void amount(const struct progress *p, int64_t n, struct buf *out)
{
    char text[32];
    if (p->bytes)
        buf_z(out, progress_bytes(n, text));
    else
        buf_printf(out, "%lld", (long long)n);
}

/* Speed and time left, by what moved since the beginning. */
static void rate(const struct progress *p, struct buf *out)
{
    double seconds = (double)(clock_mono() - p->since) / 1e9;
    double moved = (double)(p->done - p->first);
    if (seconds < 0.5 || moved <= 0)
        return;
    buf_z(out, "  ");
    amount(p, (int64_t)(moved / seconds), out);
    buf_z(out, "/s");
    if (p->total <= p->done)
        return;
    int64_t left = (int64_t)((double)(p->total - p->done) * seconds / moved) + 1;
    if (left >= 3600)
        buf_printf(out, "  %lld h %02lld min left", (long long)(left / 3600), (long long)(left / 60 % 60));
    else
        buf_printf(out, "  %lld:%02lld left", (long long)(left / 60), (long long)(left % 60));
}

static void write_line(const struct progress *p, struct buf *out)
{
    int share = p->total > 0 ? (int)((double)p->done / (double)p->total * 100) : 0;
    buf_printf(out, "%-10s ", p->what);
    if (p->terminal) {
        buf_char(out, '[');
        for (int i = 0; i < BAR; i++)
            buf_char(out, i * 100 < share * BAR ? '#' : '.');
        buf_z(out, "] ");
    }
    if (p->total > 0)
        buf_printf(out, "%3d %%  ", share);
    amount(p, p->done, out);
    if (p->total > 0) {
        buf_z(out, " / ");
        amount(p, p->total, out);
    }
    rate(p, out);
}

static void draw(struct progress *p)
{
    auto_buf struct buf out = {0};
    struct winsize w;
    write_line(p, &out);
    if (p->terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 && out.n >= w.ws_col)
        out.n = w.ws_col - 1u;
    if (p->terminal)
        fprintf(stderr, "\r" STR_FMT "\033[K", STR_ARG(buf_view(&out)));
    else
        fprintf(stderr, STR_FMT "\n", STR_ARG(buf_view(&out)));
    fflush(stderr);
    p->drawn = true;
    p->shown = clock_mono();
}

void progress_show(struct progress *p, int64_t done, int64_t total)
{
    uint64_t now = clock_mono();
    if (p->first < 0 || total != p->total) { /* another stretch, maybe in another unit */
        p->since = p->first < 0 ? p->began : now;
        p->first = done;
    }
    p->done = done;
    p->total = total;
    uint64_t last = p->shown ? p->shown : p->terminal ? 0 : p->began;
    if (!p->quiet && now - last >= (p->terminal ? REDRAW_NS : LINE_NS))
        draw(p);
}

void progress_end(struct progress *p)
{
    if (p->quiet || p->first < 0)
        return;
    draw(p);
    if (p->terminal)
        fputc('\n', stderr);
}
