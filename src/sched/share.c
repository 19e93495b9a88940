#include "sched/share.h"

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_user(const void *va, const void *vb)
{
    const struct share_entry *a = va, *b = vb;
    int d = compare(a->project, b->project);
    if (!d)
        d = compare(a->user, b->user);
    if (!d)
        d = compare(b->level, a->level);
    if (!d)
        d = compare(a->submitted_at, b->submitted_at);
    return d ? d : compare(a->id, b->id);
}

static int by_order(const void *va, const void *vb)
{
    const struct share_entry *a = va, *b = vb;
    int d = compare(b->level, a->level);
    if (!d)
        d = compare(a->project, b->project);
    if (!d)
        d = compare(a->turn, b->turn);
    if (!d)
        d = compare(a->submitted_at, b->submitted_at);
    return d ? d : compare(a->id, b->id);
}

/* The user's n-th job of the project, running ones counted first: users of one project take turns. */
static void give_turns(struct share *q, const struct sched_snapshot *s, struct arena *a)
{
    struct share_entry *running = arena_array(a, struct share_entry, (size_t)s->n_running + 1);
    for (int32_t i = 0; i < s->n_running; i++)
        running[i] = (struct share_entry){.project = s->running[i].project, .user = s->running[i].user};
    qsort(running, (size_t)s->n_running, sizeof *running, by_user);
    qsort(q->entries, (size_t)q->n_entries, sizeof *q->entries, by_user);
    int32_t at = 0, turn = 0;
    for (int32_t i = 0; i < q->n_entries; i++) {
        struct share_entry *e = &q->entries[i];
        struct share_entry who = {.project = e->project, .user = e->user};
        if (i == 0 || e[-1].project != e->project || e[-1].user != e->user) {
            turn = 0;
            while (at < s->n_running && by_user(&running[at], &who) < 0)
                at++;
            for (; at < s->n_running && by_user(&running[at], &who) == 0; at++)
                turn++;
        }
        e->turn = turn++;
    }
}

static void measure(struct share *q, const struct sched_snapshot *s)
{
    for (int32_t i = 0; i < s->n_nodes; i++) {
        const struct sched_node *n = &s->nodes[i];
        if (n->state == SCHED_NODE_LOST)
            continue;
        q->scale[RESOURCE_CPU] += (double)n->cpu;
        q->scale[RESOURCE_MEMORY] += (double)n->memory;
        for (int32_t k = 0; k < n->n_cards; k++)
            q->scale[RESOURCE_DEVICE + n->cards[k].kind] += SCHED_WHOLE;
    }
    for (int32_t r = 0; r < q->quotas->width; r++)
        q->scale[r] = q->scale[r] > 0 ? 1 / q->scale[r] : 0;
}

void share_init(struct share *q, const struct quotas *quotas, int64_t aging, struct arena *a)
{
    const struct sched_snapshot *s = quotas->s;
    *q = (struct share){.quotas = quotas, .n_entries = s->n_waiting};
    q->entries = arena_array(a, struct share_entry, (size_t)s->n_waiting + 1);
    for (int32_t i = 0; i < s->n_waiting; i++) {
        const struct sched_waiting *w = &s->waiting[i];
        int64_t waited = s->now - w->submitted_at;
        int64_t level = w->priority + (aging > 0 && waited > 0 ? waited / aging : 0);
        q->entries[i] = (struct share_entry){.level = level,
                                             .submitted_at = w->submitted_at,
                                             .user = w->user,
                                             .id = w->id,
                                             .project = w->project,
                                             .job = i};
    }
    give_turns(q, s, a);
    qsort(q->entries, (size_t)q->n_entries, sizeof *q->entries, by_order);
    q->scale = arena_array(a, double, (size_t)quotas->width);
    measure(q, s);
    q->heap = arena_array(a, struct share_run, (size_t)s->n_projects + 1);
}

double share_of(const struct share *q, int32_t project)
{
    const int64_t *used = q->quotas->used + (size_t)project * (size_t)q->quotas->width;
    double most = 0;
    for (int32_t r = 0; r < q->quotas->width; r++) {
        double part = (double)used[r] * q->scale[r];
        most = part > most ? part : most;
    }
    int32_t weight = q->quotas->s->projects[project].weight;
    return weight > 1 ? most / weight : most;
}

static bool before(const struct share_run *a, const struct share_run *b)
{
    return a->share < b->share || (a->share <= b->share && a->project < b->project);
}

static void sift(struct share *q, int32_t i)
{
    for (;;) {
        int32_t least = i;
        for (int32_t k = 2 * i + 1; k <= 2 * i + 2; k++)
            if (k < q->n_heap && before(&q->heap[k], &q->heap[least]))
                least = k;
        if (least == i)
            return;
        struct share_run t = q->heap[i];
        q->heap[i] = q->heap[least];
        q->heap[least] = t;
        i = least;
    }
}

static void load_level(struct share *q)
{
    int64_t level = q->entries[q->next].level;
    q->n_heap = 0;
    while (q->next < q->n_entries && q->entries[q->next].level == level) {
        int32_t at = q->next, project = q->entries[at].project;
        while (q->next < q->n_entries && q->entries[q->next].level == level &&
               q->entries[q->next].project == project)
            q->next++;
        q->heap[q->n_heap++] =
            (struct share_run){.share = share_of(q, project), .project = project, .at = at, .end = q->next};
    }
    for (int32_t i = q->n_heap / 2 - 1; i >= 0; i--)
        sift(q, i);
}

int32_t share_next(struct share *q)
{
    if (q->taken) {
        struct share_run *top = &q->heap[0];
        if (top->at == top->end)
            *top = q->heap[--q->n_heap];
        else
            top->share = share_of(q, top->project);
        sift(q, 0);
        q->taken = false;
    }
    if (!q->n_heap) {
        if (q->next == q->n_entries)
            return SCHED_NONE;
        load_level(q);
    }
    q->taken = true;
    return q->entries[q->heap[0].at++].job;
}
