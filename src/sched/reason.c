/* Sentences, in English and Chinese side by side. Where a reason reads differently by its figures, it has
 * variants. */
#include "base/clock.h"
#include "sched/sched.h"

#include <stdio.h>

static const struct {
    const char *name;
    bool final;
} reasons[SCHED_REASON_COUNT] = {
    [SCHED_STARTS] = {"starts", false},
    [SCHED_BACKOFF] = {"backoff", false},
    [SCHED_QUOTA] = {"quota", false},
    [SCHED_OVER_QUOTA] = {"over_quota", true},
    [SCHED_NO_NODE] = {"no_node", true},
    [SCHED_NO_ARCH] = {"no_arch", true},
    [SCHED_POOL_CLOSED] = {"pool_closed", true},
    [SCHED_POOL_EMPTY] = {"pool_empty", true},
    [SCHED_NOT_SHARED] = {"not_shared", true},
    [SCHED_GANG_TOO_LARGE] = {"gang_too_large", true},
    [SCHED_OUT_OF_SERVICE] = {"out_of_service", false},
    [SCHED_RESOURCE] = {"resource", false},
    [SCHED_GANG] = {"gang", false},
    [SCHED_TURN] = {"turn", false},
    [SCHED_EVICTING] = {"evicting", false},
};

/* Placeholders: W wanted, L limit, M most, each with its unit; f free and u used, the bare figure; g most as
 * a count of ranks; i "is" or "are" for f; r ranks; n count; j count of jobs; k the device; p the pool, after
 * a space when there is one; a arch; t until. */
enum sentence {
    STARTS,
    BACKOFF,
    QUOTA_FULL,
    QUOTA_SHORT,
    QUOTA_NONE,
    OVER_QUOTA,
    NO_NODE,
    NO_NODE_KIND,
    NO_NODE_TOGETHER,
    NO_ARCH,
    POOL_CLOSED,
    POOL_EMPTY,
    NOT_SHARED,
    GANG_TOO_LARGE,
    OUT_OF_SERVICE,
    RESOURCE,
    RESOURCE_SCATTERED,
    RESOURCE_TOGETHER,
    GANG,
    GANG_UNCOUNTED,
    TURN,
    TURN_NEXT,
    EVICTING,
    CLAIMED,
};

static const char *const sentences[][2] = {
    [STARTS] = {"starts now", "立即启动"},
    [BACKOFF] = {"backs off until {t}", "退避重试，等待至 {t}"},
    [QUOTA_FULL] = {"the project's quota of {L} is used up ({u} in use)",
                    "项目的 {L} 配额已用尽（已用 {u}）"},
    [QUOTA_SHORT] = {"the project's quota of {L} has no room for {W} more ({u} in use)",
                     "项目的 {L} 配额容不下新增的 {W}（已用 {u}）"},
    [QUOTA_NONE] = {"wants {W}, but the project's quota admits none: it can never start",
                    "需要 {W}，而项目配额不允许使用：永远无法启动"},
    [OVER_QUOTA] = {"wants {W}, but the project's quota is {L}: it can never start",
                    "需要 {W}，而项目配额为 {L}：永远无法启动"},
    [NO_NODE] = {"no node{p} has {W} (the largest has {M}): it can never start",
                 "{p}没有节点拥有 {W}（最大的有 {M}）：永远无法启动"},
    [NO_NODE_KIND] = {"no node{p} has {k}: it can never start", "{p}没有节点拥有 {k}：永远无法启动"},
    [NO_NODE_TOGETHER] = {"no node{p} has {W} together with the rest of its request: it can never start",
                          "{p}没有节点同时拥有 {W} 和其余所需资源：永远无法启动"},
    [NO_ARCH] = {"there is no {a} node{p} for it: it can never start",
                 "{p}没有可用的 {a} 节点：永远无法启动"},
    [POOL_CLOSED] = {"it may not use nodes{p}, reserved to other projects: it can never start",
                     "{p}保留给其他项目：永远无法启动"},
    [POOL_EMPTY] = {"there are no nodes{p} for it: it can never start", "{p}没有可用节点：永远无法启动"},
    [NOT_SHARED] = {"{k} cannot be shared, only whole cards: it can never start",
                    "{k} 不支持共享，只能申请整卡：永远无法启动"},
    [GANG_TOO_LARGE] = {"its gang needs {r} nodes, but there are only {g} even when all is free: "
                        "it can never start",
                        "同组需要 {r} 个节点，全部空闲时也只有 {g} 个：永远无法启动"},
    [OUT_OF_SERVICE] = {"waits for nodes that are drained or lost ({n})",
                        "等待已排空或失联的节点恢复（{n} 个）"},
    [RESOURCE] = {"waits for {W}; {f} {i} free{p}", "等待 {W}；{p}空闲 {f}"},
    [RESOURCE_SCATTERED] = {"waits for {W} on one node; {f} {i} free{p}, but at most {M} on one",
                            "等待同一节点上的 {W}；{p}共空闲 {f}，单个节点最多 {M}"},
    [RESOURCE_TOGETHER] = {"waits for a node{p} with {W} and the rest of its request free together",
                           "等待{p}某个节点同时空出 {W} 和其余所需资源"},
    [GANG] = {"waits for all {r} nodes of its gang; there is room for {g}",
              "等待同组全部 {r} 个节点；目前可容纳 {g} 个"},
    [GANG_UNCOUNTED] = {"waits for all {r} nodes of its gang", "等待同组全部 {r} 个节点"},
    [TURN] = {"waits its turn: {j} before it", "排队等候：前面还有 {n} 个作业"},
    [TURN_NEXT] = {"waits its turn: it is the next", "排队等候：下一个就是它"},
    [EVICTING] = {"waits until {j} stopped to make room for it", "等待 {n} 个低优先级作业停止，为其腾出资源"},
    [CLAIMED] = {"waits until jobs that are being stopped have left its room", "等待正在停止的作业释放资源"},
};

static enum sentence pick(const struct sched_wait *w)
{
    switch (w->reason) {
    case SCHED_STARTS:
        return STARTS;
    case SCHED_BACKOFF:
        return BACKOFF;
    case SCHED_QUOTA:
        return w->used >= w->limit ? QUOTA_FULL : QUOTA_SHORT;
    case SCHED_OVER_QUOTA:
        return w->limit ? OVER_QUOTA : QUOTA_NONE;
    case SCHED_NO_NODE:
        if (w->most >= w->wanted)
            return NO_NODE_TOGETHER;
        return w->resource == SCHED_DEVICE && !w->most ? NO_NODE_KIND : NO_NODE;
    case SCHED_NO_ARCH:
        return NO_ARCH;
    case SCHED_POOL_CLOSED:
        return POOL_CLOSED;
    case SCHED_POOL_EMPTY:
        return POOL_EMPTY;
    case SCHED_NOT_SHARED:
        return NOT_SHARED;
    case SCHED_GANG_TOO_LARGE:
        return GANG_TOO_LARGE;
    case SCHED_OUT_OF_SERVICE:
        return OUT_OF_SERVICE;
    case SCHED_RESOURCE:
        if (w->most >= w->wanted)
            return RESOURCE_TOGETHER;
        return w->free >= w->wanted ? RESOURCE_SCATTERED : RESOURCE;
    case SCHED_GANG:
        return w->most < 0 ? GANG_UNCOUNTED : GANG;
    case SCHED_TURN:
        return w->count ? TURN : TURN_NEXT;
    default:
        return w->count ? EVICTING : CLAIMED;
    }
}

bool sched_reason_is_final(enum sched_reason reason)
{
    return reason < SCHED_REASON_COUNT && reasons[reason].final;
}

const char *sched_reason_name(enum sched_reason reason)
{
    return reason < SCHED_REASON_COUNT ? reasons[reason].name : "unknown";
}

/* --- figures --- */

static void write_thousandths(struct buf *out, int64_t n)
{
    buf_printf(out, "%lld", (long long)(n / 1000));
    int part = (int)(n % 1000), width = 3;
    if (part <= 0)
        return;
    for (; part % 10 == 0; part /= 10)
        width--;
    buf_printf(out, ".%0*d", width, part);
}

static void write_bytes(struct buf *out, int64_t n)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    int64_t size = 1;
    while (unit + 1 < countof(units) && n >= size * 1024) {
        size *= 1024;
        unit++;
    }
    int64_t tenths = n / size * 10 + n % size * 10 / size;
    buf_printf(out, "%lld", (long long)(tenths / 10));
    if (tenths % 10)
        buf_printf(out, ".%lld", (long long)(tenths % 10));
    buf_printf(out, " %s", units[unit]);
}

static void write_figure(struct buf *out, const struct sched_wait *w, int64_t n)
{
    if (w->resource == SCHED_MEMORY)
        write_bytes(out, n);
    else
        write_thousandths(out, n);
}

static void write_amount(const struct sched_snapshot *s, struct buf *out, const struct sched_wait *w,
                         int64_t n, enum sched_language lang)
{
    write_figure(out, w, n);
    if (w->resource == SCHED_CPU)
        buf_z(out, lang == SCHED_EN && n != 1000 ? " CPUs" : lang == SCHED_EN ? " CPU" : " 核 CPU");
    else if (w->resource == SCHED_DEVICE)
        buf_printf(out, " %s", s->kinds[w->kind].name);
    else
        buf_z(out, lang == SCHED_EN ? " of memory" : " 内存");
}

static void write_pool(const struct sched_snapshot *s, struct buf *out, int32_t pool,
                       enum sched_language lang)
{
    if (pool != SCHED_NONE)
        buf_printf(out, lang == SCHED_EN ? " in pool %s" : "资源池 %s ", s->pools[pool].name);
}

static void write_count(struct buf *out, const struct sched_wait *w, char key)
{
    if (key == 'j')
        buf_printf(out,
                   w->reason == SCHED_TURN
                       ? (w->count == 1 ? "%d job is" : "%d jobs are")
                       : (w->count == 1 ? "%d job of lower priority has" : "%d jobs of lower priority have"),
                   (int)w->count);
    else
        buf_printf(out, "%lld", key == 'g' ? (long long)w->most : key == 'r' ? w->ranks : w->count);
}

static void write_value(const struct sched_snapshot *s, struct buf *out, const struct sched_wait *w, char key,
                        enum sched_language lang)
{
    static const char *const archs[] = {"", "x86", "ARM"};
    char time[CLOCK_TEXT_MAX];
    switch (key) {
    case 'W':
    case 'L':
    case 'M':
        write_amount(s, out, w, key == 'W' ? w->wanted : key == 'L' ? w->limit : w->most, lang);
        break;
    case 'f':
    case 'u':
        write_figure(out, w, key == 'f' ? w->free : w->used);
        break;
    case 'i':
        buf_z(out, w->free == 1000 || w->resource == SCHED_MEMORY ? "is" : "are");
        break;
    case 'k':
        buf_z(out, s->kinds[w->kind].name);
        break;
    case 'p':
        write_pool(s, out, w->pool, lang);
        break;
    case 'a':
        buf_z(out, archs[w->arch]);
        break;
    case 't':
        clock_format(w->until, time);
        buf_printf(out, "%.10s %.8s UTC", time, time + 11);
        break;
    default:
        write_count(out, w, key);
    }
}

void sched_reason_write(const struct sched_snapshot *s, const struct sched_wait *w, enum sched_language lang,
                        struct buf *out)
{
    for (const char *p = sentences[pick(w)][lang]; *p; p++) {
        if (*p != '{') {
            buf_char(out, *p);
            continue;
        }
        write_value(s, out, w, p[1], lang);
        p += 2;
    }
}
