#include "core/environment/use.h"

#include "base/pool.h"
#include "core/environment/environment.h"
#include "core/environment/tools.h"
#include "core/job/curves.h"

#define SMALL       128                 /* bytes: a keep-alive of ssh has up to 100, with any cipher */
#define TOGETHER_NS UINT64_C(500000000) /* two pieces within it are no keep-alives */
#define CPU_SECONDS 10
#define CPU_BUSY    100000 /* millionths of a core. Tools with open pages take up to 30,000 */

bool use_is_talk(struct use_talk *t, bool inward, size_t n, uint64_t now)
{
    bool alone = t->at[inward] && now - t->at[inward] >= TOGETHER_NS;
    bool beat = n <= SMALL && alone && (inward || t->asked);
    t->at[inward] = now;
    t->asked = inward;
    return !beat;
}

bool use_computes(struct core *core, struct exec_id first, int64_t nodes)
{
    for (int32_t rank = 0; rank < nodes; rank++)
        if (curves_cpu(core, (struct exec_id){first.job, first.attempt, rank}, CPU_SECONDS) >= CPU_BUSY)
            return true;
    return false;
}

struct question {
    struct core *core;
    struct exec_id container;
};

static void ask_tools(void *arg)
{
    struct question *q = arg;
    for (const struct tool *t = tools; t->name; t++)
        if (strcmp(t->owner_kind, kind_environment.name) == 0 && tool_busy(q->core, q->container, t))
            tools_touch(q->core->tools, q->container.job);
    free(q);
}

void use_ask_tools(struct core *core, struct exec_id container)
{
    struct question *q = base_alloc(sizeof *q);
    *q = (struct question){core, container};
    if (!pool_submit(core->pool, ask_tools, q))
        free(q);
}
