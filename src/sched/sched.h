/* The scheduler: which waiting jobs start now and where, which running ones make room, and what every other
 * waiting job waits for. Pure functions over plain structs: no database, no threads, no clock. The same
 * snapshot gives the same plan, always.
 *
 *   struct sched_plan plan;
 *   if (!sched_pass(&snapshot, arena, &plan, err)) ...
 *   for each plan.starts: start the job
 *   for each plan.evictions: stop the job and queue it again; until it has gone it runs with `stopping` set
 *   for each plan.promises: remember it until the job starts, and give it back with the job
 *   for each plan.waits: show sched_reason_write(...)
 *
 * Things name each other by their index in the snapshot's arrays (-1: none). Times are microseconds of UTC as
 * clock_now() gives them; 0 is "unknown" or "none". Nothing of the snapshot is changed or kept; the plan
 * lives in the arena and stays valid without the snapshot.
 *
 * The rules, in the order in which they decide:
 *  1. A job that backs off (not_before) or can never run takes no part.
 *  2. Order: those that were promised room; then by level (priority, plus one for each `aging` of waiting);
 *     then the project with the least dominant share by weight; then turns between the users of a project;
 *     then time of submission; then id.
 *  3. A quota is never exceeded. The first job of a project that waits for quota keeps its place: later jobs
 *     of that project start only if they don't delay it.
 *  4. A gang gets all its ranks or none. Ranks may share a node unless `spread` is set.
 *  5. A job that does not fit now, but will when the jobs that are being stopped have gone, claims that room.
 *  6. Otherwise it may evict: only `preemptible` jobs of lower priority (the set one, not the aged), only
 * when that makes room for all of it, none that is not needed, gangs whole. No job is evicted to make quota.
 *  7. Otherwise the first such job among those that compete for the same nodes is the head: it gets a
 *     reservation at the earliest time that the expected ends allow. A later job is backfilled only if it
 * will have ended by then or leaves the reserved room free. If it is not known when the room comes, it is
 * kept.
 */
#ifndef INGOT_SCHED_SCHED_H
#define INGOT_SCHED_SCHED_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    SCHED_WHOLE = 1000,     /* thousandths of one card */
    SCHED_WANTS = 2,        /* kinds of device in one demand */
    SCHED_KINDS_MAX = 64,   /* kinds of device in a snapshot */
    SCHED_CARDS_MAX = 256,  /* cards of one node */
    SCHED_RANKS_MAX = 4096, /* ranks of one gang */
    SCHED_NONE = -1,
};

#define SCHED_UNLIMITED INT64_C(-1)

enum sched_arch { SCHED_ARCH_ANY, SCHED_ARCH_X86, SCHED_ARCH_ARM };

/* --- what there is --- */

struct sched_kind {
    const char *name; /* "gpu-a100" */
    bool shared;      /* fractions of a card may be asked for */
};

struct sched_pool {
    int64_t id;
    const char *name;
    /* Reserved to these projects; n_projects == 0: open to all. */
    const int32_t *projects;
    int32_t n_projects;
};

struct sched_card {
    int32_t kind;
    bool broken; /* hosts nothing new */
};

enum sched_node_state { SCHED_NODE_READY, SCHED_NODE_DRAINING, SCHED_NODE_LOST };

struct sched_node {
    int64_t id;
    const char *name;
    int32_t pool;
    enum sched_arch arch; /* not ANY */
    enum sched_node_state state;
    int64_t cpu;                    /* millicores that jobs may use */
    int64_t memory;                 /* bytes that jobs may use */
    const struct sched_card *cards; /* their places in this array are the numbers in sched_share */
    int32_t n_cards;
};

struct sched_quota {
    int64_t cpu, memory;    /* SCHED_UNLIMITED, or the limit; 0 admits none */
    const int64_t *devices; /* by kind, in thousandths of a card; NULL: all unlimited */
};

struct sched_project {
    int64_t id;
    struct sched_quota quota;
    int32_t weight; /* of its fair share; 0 counts as 1 */
};

/* --- jobs --- */

struct sched_want {
    int32_t kind;
    int32_t thousandths; /* 1..999: a share of one card; else whole cards (a multiple of 1000); 0: none */
};

/* What each rank takes on its node. */
struct sched_demand {
    int64_t cpu, memory;
    struct sched_want wants[SCHED_WANTS]; /* of different kinds */
};

struct sched_share {
    int32_t card;
    int32_t thousandths;
};

struct sched_rank {
    int32_t node;
    const struct sched_share *shares; /* NULL: takes no cards */
    int32_t n_shares;
};

struct sched_running {
    int64_t id;
    int32_t project;
    int64_t user;
    int32_t priority;
    struct sched_demand request;
    const struct sched_rank *ranks;
    int32_t n_ranks;
    int64_t started_at;
    int64_t expected_end; /* or the time at which its hours are over; 0: not known */
    bool preemptible;
    bool stopping; /* evicted or stopped already; its room is not free yet, but soon */
};

struct sched_waiting {
    int64_t id;
    int32_t project;
    int64_t user;
    int32_t priority; /* higher goes first */
    int32_t n_ranks;  /* size of the gang, at least 1 */
    bool spread;      /* every rank on a node of its own */
    struct sched_demand request;
    enum sched_arch arch;
    int32_t pool; /* SCHED_NONE: any that the project may use */
    int64_t submitted_at;
    int64_t not_before; /* 0: at once */
    int64_t duration;   /* expected, or the longest allowed; microseconds; 0: unknown */
    /* Room that an earlier plan made for it by evicting others (plan.promises; n_ranks of them), until it
     * starts; NULL: none. It is kept for this job as long as its nodes are in service, so that no job is
     * evicted in vain. */
    const struct sched_rank *promised;
    int64_t promised_at; /* the `now` of that plan: the job that was promised first goes first */
};

struct sched_options {
    int64_t aging;        /* waiting that is worth one step of priority; 0: an hour; < 0: no aging */
    int64_t grace;        /* time that an evicted job gets to stop; 0: 30 seconds */
    int32_t max_evicting; /* waiting jobs for which one pass evicts; 0: 16; < 0: no pre-emption */
    int32_t estimates;    /* waiting jobs, from the front, whose start is estimated by playing the queue
                             forward; 0: only that of jobs with a reservation */
    bool no_backfill;     /* nothing passes the head (to compare; not for use) */
};

/* nodes, projects and pools are sorted by id, ascending, so that sched_find_* can find them. */
struct sched_snapshot {
    int64_t now;
    struct sched_options options;
    const struct sched_kind *kinds;
    int32_t n_kinds;
    const struct sched_pool *pools;
    int32_t n_pools;
    const struct sched_node *nodes;
    int32_t n_nodes;
    const struct sched_project *projects;
    int32_t n_projects;
    const struct sched_running *running;
    int32_t n_running;
    const struct sched_waiting *waiting;
    int32_t n_waiting;
};

/* Index of the thing with this id or name, SCHED_NONE if there is none. */
int32_t sched_find_node(const struct sched_snapshot *s, int64_t id);
int32_t sched_find_project(const struct sched_snapshot *s, int64_t id);
int32_t sched_find_pool(const struct sched_snapshot *s, int64_t id);
int32_t sched_find_kind(const struct sched_snapshot *s, const char *name);

/* --- the plan --- */

struct sched_start {
    int32_t job; /* index in waiting */
    const struct sched_rank *ranks;
    int32_t n_ranks;
};

struct sched_eviction {
    int32_t victim; /* index in running */
    int32_t job;    /* index in waiting: the job that needs the room */
};

/* The job that waits for the evicted, and the room that will be its own: keep it and give it back as
 * sched_waiting.promised. To forget it (a restart) costs a few evictions in vain, no more. */
struct sched_promise {
    int32_t job; /* index in waiting */
    const struct sched_rank *ranks;
    int32_t n_ranks;
};

enum sched_reason {
    SCHED_STARTS,         /* it is in plan.starts */
    SCHED_BACKOFF,        /* until */
    SCHED_QUOTA,          /* resource, wanted, limit, used */
    SCHED_OVER_QUOTA,     /* resource, wanted, limit: never */
    SCHED_NO_NODE,        /* resource, wanted, most on one node: never */
    SCHED_NO_ARCH,        /* arch: never */
    SCHED_POOL_CLOSED,    /* pool is reserved to others: never */
    SCHED_POOL_EMPTY,     /* pool has no nodes: never */
    SCHED_NOT_SHARED,     /* resource's cards cannot be shared: never */
    SCHED_GANG_TOO_LARGE, /* ranks; most = ranks that fit into the empty cluster: never */
    SCHED_OUT_OF_SERVICE, /* count nodes could hold it, but they are drained or lost */
    SCHED_RESOURCE,       /* resource, wanted on one node, free in all, most on one node; pool */
    SCHED_GANG,           /* ranks; most = ranks that have room now */
    SCHED_TURN,           /* count jobs are before it */
    SCHED_EVICTING,       /* count jobs are being stopped to make room */
    SCHED_REASON_COUNT,
};

enum sched_resource { SCHED_CPU, SCHED_MEMORY, SCHED_DEVICE };

/* Why a job waits. Only the members that the list above names are meaningful. */
struct sched_wait {
    enum sched_reason reason;
    enum sched_resource resource;
    int32_t kind; /* of the device */
    int32_t pool; /* SCHED_NONE: no particular one */
    enum sched_arch arch;
    int32_t ranks, count;
    int64_t wanted, free, most, limit, used; /* millicores, bytes or thousandths; most: ranks for gangs */
    int64_t until;
    int64_t estimate; /* likely start; 0: unknown */
};

struct sched_plan {
    const struct sched_start *starts; /* in the order in which they were decided */
    int32_t n_starts;
    const struct sched_eviction *evictions;
    int32_t n_evictions;
    const struct sched_promise *promises; /* one for each job that evictions are for */
    int32_t n_promises;
    const struct sched_wait *waits; /* one for each waiting job, at its index */
    int32_t n_waits;
};

/* Fails (ERR_INVALID, naming array, index and rule) when the snapshot contradicts itself: an index out of
 * range, a negative amount, ids out of order. Running jobs that together hold more than a node has are
 * accepted: nodes shrink. */
bool sched_check(const struct sched_snapshot *s, struct err *err);

/* Checks and plans. */
bool sched_pass(const struct sched_snapshot *s, struct arena *a, struct sched_plan *ret, struct err *err);

/* --- sentences --- */

enum sched_language { SCHED_EN, SCHED_ZH };

/* True if the reason will not go away by waiting. */
bool sched_reason_is_final(enum sched_reason reason);
/* "resource", "gang_too_large": for APIs. */
const char *sched_reason_name(enum sched_reason reason);
/* Appends the sentence, without a full stop: "waits for 2 gpu-a100; 1 is free in pool default". Names are
 * those of the snapshot that the plan was made from. */
void sched_reason_write(const struct sched_snapshot *s, const struct sched_wait *w, enum sched_language lang,
                        struct buf *out);

/* --- before a job is submitted --- */

struct sched_forecast {
    bool admitted;         /* the quota has room for it now, on top of what runs */
    bool possible;         /* it can start at some time */
    int64_t start;         /* likely; s->now: at once; 0: cannot be computed */
    struct sched_wait why; /* SCHED_STARTS when it would start at once */
};

/* What would happen to `job` if it were submitted now, behind those that wait. */
bool sched_forecast(const struct sched_snapshot *s, const struct sched_waiting *job, struct arena *a,
                    struct sched_forecast *ret, struct err *err);
/* Appends "starts at once", "starts in about 20 minutes: waits for ...", "...: it can never start". */
void sched_forecast_write(const struct sched_snapshot *s, const struct sched_forecast *f,
                          enum sched_language lang, struct buf *out);

#endif
