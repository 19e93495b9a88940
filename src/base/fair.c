#include "base/fair.h"

/* A project, or one of its users. Whose `turn` is the lowest is next; a turn taken is one later. One that
 * comes (again) begins at the turn that is being served, so none saves up turns and none gains by coming
 * anew: it is remembered while its turn is still to come. */
struct party {
    struct party *next;
    int64_t id;
    uint64_t turn;
    size_t waiting;
    struct party *users;             /* of a project */
    uint64_t now;                    /* turn of its users that is being served */
    struct fair_item *first, **last; /* of a user */
};

struct fair {
    size_t max_user, max_all, waiting;
    struct party *projects;
    uint64_t now;
};

struct fair *fair_new(size_t max_user, size_t max_all)
{
    struct fair *f = base_zalloc(sizeof *f);
    *f = (struct fair){.max_user = max_user, .max_all = max_all};
    return f;
}

static void free_all(struct party *list)
{
    while (list) {
        struct party *p = list;
        list = p->next;
        free_all(p->users);
        free(p);
    }
}

void fair_free(struct fair *f)
{
    if (f)
        free_all(f->projects);
    free(f);
}

static struct party *find(struct party *list, int64_t id)
{
    while (list && list->id != id)
        list = list->next;
    return list;
}

/* The party, made if it is new (the last: of equal turns the older one's is first), at a turn that is not
 * over. */
static struct party *enter(struct party **list, int64_t id, uint64_t now)
{
    while (*list && (*list)->id != id)
        list = &(*list)->next;
    struct party *p = *list;
    if (!p) {
        p = *list = base_zalloc(sizeof *p);
        p->id = id;
        p->last = &p->first;
    }
    if (!p->waiting && p->turn < now)
        p->turn = now;
    return p;
}

static struct party *lowest(struct party *list)
{
    struct party *best = NULL;
    for (; list; list = list->next)
        if (list->waiting && (!best || list->turn < best->turn))
            best = list;
    return best;
}

/* Forgets those for whom nothing waits and whose turn is not to come. */
static void forget(struct party **at, uint64_t now)
{
    while (*at) {
        struct party *p = *at;
        if (p->waiting || p->turn > now) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free_all(p->users);
        free(p);
    }
}

bool fair_add(struct fair *f, struct fair_item *i)
{
    const struct party *project = find(f->projects, i->project);
    const struct party *user = project ? find(project->users, i->user) : NULL;
    if (f->waiting >= f->max_all || (user && user->waiting >= f->max_user))
        return false;
    struct party *p = enter(&f->projects, i->project, f->now);
    struct party *u = enter(&p->users, i->user, p->now);
    i->next = NULL;
    *u->last = i;
    u->last = &i->next;
    u->waiting++;
    p->waiting++;
    f->waiting++;
    return true;
}

static void leave(struct fair *f, struct party *p, struct party *u, struct fair_item **at)
{
    struct fair_item *i = *at;
    *at = i->next;
    if (!i->next)
        u->last = at;
    u->waiting--;
    p->waiting--;
    f->waiting--;
}

struct fair_item *fair_take(struct fair *f)
{
    struct party *p = lowest(f->projects);
    if (!p)
        return NULL;
    struct party *u = lowest(p->users);
    struct fair_item *i = u->first;
    f->now = p->turn++;
    p->now = u->turn++;
    leave(f, p, u, &u->first);
    forget(&p->users, p->now);
    forget(&f->projects, f->now);
    return i;
}

void fair_remove(struct fair *f, struct fair_item *i)
{
    struct party *p = find(f->projects, i->project);
    struct party *u = p ? find(p->users, i->user) : NULL;
    struct fair_item **at = u ? &u->first : NULL;
    while (at && *at && *at != i)
        at = &(*at)->next;
    if (at && *at)
        leave(f, p, u, at);
}
