/* What the platform does by itself, again and again: starting jobs, ending what is not used, giving back what
 * was deleted. A controller looks at what is, compares it with what should be, and does what is missing,
 * whatever woke it: to wake it once too often is harmless, and what a killed server did not do is done after
 * its next start.
 *
 * Each is a row of the array in core/controllers.c, whose order is that of the start; the end has the
 * reverse. The rows of one thread run one after the other; one that fails is told (log, administrators) and
 * tried again, and holds up no other. */
#ifndef INGOT_CORE_CONTROLLER_H
#define INGOT_CORE_CONTROLLER_H

#include "base/buf.h"
#include "core/core.h"

/* A committed change of an object that gives a controller something to do. */
struct controller_cause {
    const char *kind, *verb; /* "image", "delete" */
};
#define CONTROLLER_CAUSES 3

struct controller {
    const char *name;          /* "collect-blobs" */
    struct words title;        /* what it does, for people */
    const char *thread;        /* where it runs; at most 15 bytes */
    bool gives_way;            /* its thread, to every other of the machine */
    unsigned first_s, every_s; /* seconds: after the start, between a run's end and the next */
    unsigned retry_s;          /* after a failure; 0: every_s */
    struct controller_cause woken_by[CONTROLLER_CAUSES]; /* and by controller_wake */
    bool after_requests;                                 /* stops when no request and no task runs any more */
    /* All but tick are optional. */
    bool (*needed)(const struct core *core); /* false: this platform does without it */
    bool (*start)(struct core *core, const struct core_options *o, struct err *err); /* before any thread */
    bool (*tick)(struct core *core, struct err *err); /* one run; a long one asks controller_ending */
    void (*end)(struct core *core);                   /* a long run is to end; does not wait */
    void (*stop)(struct core *core); /* after its last run: ends what start and tick have begun */
    void (*free)(struct core *core); /* after the last request */
};
extern const struct controller *const controllers[];
extern const size_t controller_count;

/* When everything that rows use is there. On failure what was started is ended by the two below. */
bool controllers_start(struct core *core, const struct core_options *o, struct err *err);
/* Ends the rows with this `after_requests`, the last first, and waits for them. */
void controllers_stop(struct core *core, bool after_requests);
void controllers_free(struct core *core);

/* It runs soon; when it runs already it does so once more. From any thread, also before the start and after
 * the end. */
void controller_wake(struct core *core, const struct controller *row);
/* The same by its name, for a person. ERR_NOT_FOUND: there is none of this name, or this platform does
 * without it. */
bool controller_wake_named(struct core *core, struct str name, struct err *err);
/* An object was changed: wakes the rows that name this as a cause. */
void controllers_changed(struct core *core, const char *kind, const char *verb);
/* The server stops: a tick returns, with or without success. */
bool controller_ending(const struct core *core);
/* For a tick: lets so many nanoseconds pass whatever wakes it, but not the end. */
void controller_rest(struct core *core, const struct controller *row, uint64_t ns);

/* What is known of a row. Times are microseconds, 0: never. */
struct controller_state {
    bool running;
    int64_t runs, failures;
    int64_t last_at, next_at; /* begin of the last run (or of this one); 0: it runs, or only when woken */
    int64_t took_us, sum_us;  /* the last whole run; all of them */
    int64_t failed_at;        /* end of the last run that failed */
    struct err err;           /* of it */
    bool ok;                  /* the last whole run did not fail */
};
/* False: this platform does without it. */
bool controller_state(const struct core *core, const struct controller *row, struct controller_state *ret);
/* All rows as {"items": [...]}. */
void controllers_write(const struct core *core, struct buf *out);

/* --- what deleted objects leave behind --- */

/* A table of what is still to be removed, one row each. */
struct purge {
    const char *table, *key; /* key: its whole number */
    const char *more;        /* ", column, column" for remove, or "" */
    /* v: key and more. True: it is gone, and its row goes too. */
    bool (*remove)(struct core *core, const struct db_value *v, struct arena *a, struct err *err);
};
/* Goes through all of them; one that cannot be removed stays for the next run. The first error is told. */
bool purge_rows(struct core *core, const struct purge *p, struct err *err);

#endif
