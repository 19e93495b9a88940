#include "sched/play.h"

enum {
    QUEUE_MAX = 1000
}; /* jobs before the new one that are played forward; with more there is no forecast */

static void look_ahead(struct pass *p, int32_t job, struct sched_forecast *f)
{
    int32_t before = 0, starting = p->n_starts;
    while (p->order[before] != job)
        before++;
    if (before >= starting + QUEUE_MAX)
        return;
    int64_t *starts = arena_array(p->arena, int64_t, (size_t)p->s->n_waiting);
    play_forward(p, before + 1, job, starts);
    f->start = starts[job] ? starts[job] : p->waits[job].estimate;
}

bool sched_forecast(const struct sched_snapshot *s, const struct sched_waiting *job, struct arena *a,
                    struct sched_forecast *ret, struct err *err)
{
    struct sched_snapshot with = *s;
    struct sched_waiting *waiting = arena_array(a, struct sched_waiting, (size_t)s->n_waiting + 1);
    if (s->n_waiting > 0)
        memcpy(waiting, s->waiting, sizeof *waiting * (size_t)s->n_waiting);
    int32_t at = s->n_waiting > 0 ? s->n_waiting : 0;
    waiting[at] = *job;
    waiting[at].id = INT64_MAX;
    waiting[at].submitted_at = s->now;
    with.waiting = waiting;
    with.n_waiting = at + 1;
    if (!sched_check(&with, err))
        return false;
    struct pass p;
    pass_init(&p, &with, a);
    struct demand d = demand_of(&job->request, job->n_ranks);
    struct sched_forecast f = {.admitted = quota_short(&p.quotas, p.quotas.used, job->project, &d) < 0};
    pass_run(&p);
    f.why = p.waits[at];
    f.possible = !sched_reason_is_final(f.why.reason);
    if (f.why.reason == SCHED_STARTS)
        f.start = s->now;
    else if (f.possible)
        look_ahead(&p, at, &f);
    *ret = f;
    return true;
}

static void write_span(struct buf *out, int64_t us, enum sched_language lang)
{
    static const struct {
        int64_t us;
        const char *one, *many, *zh;
    } units[] = {
        {INT64_C(86400000000), "day", "days", "天"},
        {INT64_C(3600000000), "hour", "hours", "小时"},
        {INT64_C(60000000), "minute", "minutes", "分钟"},
        {INT64_C(1000000), "second", "seconds", "秒"},
    };
    size_t i = 0;
    while (i + 1 < countof(units) && us < 2 * units[i].us)
        i++;
    int64_t n = (us + units[i].us / 2) / units[i].us;
    n = n < 1 ? 1 : n;
    buf_printf(out, "%lld %s", (long long)n,
               lang == SCHED_ZH ? units[i].zh
               : n == 1         ? units[i].one
                                : units[i].many);
}

void sched_forecast_write(const struct sched_snapshot *s, const struct sched_forecast *f,
                          enum sched_language lang, struct buf *out)
{
    bool en = lang == SCHED_EN;
    if (f->why.reason == SCHED_STARTS) {
        buf_z(out, en ? "starts at once" : "可立即启动");
        return;
    }
    if (f->possible && f->start > s->now) {
        buf_z(out, en ? "starts in about " : "预计 ");
        write_span(out, f->start - s->now, lang);
        buf_z(out, en ? ": " : "后启动：");
    } else if (f->possible) {
        buf_z(out, en ? "when it starts cannot be told: " : "无法估计启动时间：");
    }
    sched_reason_write(s, &f->why, lang, out);
}
