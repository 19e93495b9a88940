/* What the files of home/ share. */
#ifndef INGOT_CORE_HOME_HOME_OWN_H
#define INGOT_CORE_HOME_HOME_OWN_H

#include "base/clock.h"
#include "core/home/home.h"
#include "core/names.h"
#include "core/sql.h"

#define HOME_SHOWN   6                                           /* rows of a list */
#define HOME_COUNTED 10000                                       /* what is counted at most, and one more */
#define HOME_RECENT  (INT64_C(7) * 24 * 3600 * INT64_C(1000000)) /* failures that are still told */

struct home_thing;

struct home {
    struct core *core;
    const struct caller *caller;
    struct arena *arena;
    int64_t project; /* 0: all that the caller sees */
    int64_t now;
    struct json_out *out;
};

/* A part writes one value. */
typedef bool home_write(struct home *h, struct err *err);
home_write home_running, home_waiting, home_failed;  /* now.c, failed.c */
home_write home_models_best, home_models_newest;     /* models.c */
home_write home_services, home_labelling, home_mine; /* work.c */
home_write home_changes;                             /* changes.c */
home_write home_counts, home_steps;                  /* steps.c */
home_write home_load, home_projects, home_growth;    /* platform.c */

/* Of what failed as a job and keeps no cause of its own: the end of its log, and why the job ended
 * (failed.c). */
bool home_tell_job(struct home *h, struct home_thing *t, struct err *err);

/* --- whose (home.c) --- */
/* Whether the caller holds it in the project, or in any. */
bool home_may(const struct home *h, const char *permission);
/* "project" = ?, or the condition for the projects where the caller holds it. */
void home_scope(const struct home *h, const char *permission, struct sql *s);
void home_scope_of(const struct home *h, const char *permission, const char *column, struct sql *s);
bool home_query(struct home *h, const struct sql *s, struct db_rows *ret, struct err *err);

/* --- things (thing.c) --- */
/* Something that is told of: a run, a job, a task. Times in microseconds, 0: none. */
struct home_thing {
    const struct kind *kind;
    int64_t id, project, by, at, estimate;
    int64_t done, total;        /* how far; -1: not known */
    int64_t job;                /* that it ran as; 0 */
    struct str state, en, zh;   /* en, zh: why it is so */
    struct str title, title_zh; /* of tasks */
    struct str line;            /* the last line of its errors */
    struct str metrics;         /* JSON of a run's metrics so far */
};
/* A list of them; what was deleted meanwhile is left out. */
bool home_things_write(struct home *h, const struct home_thing *t, size_t n, struct err *err);
void home_time(struct json_out *out, const char *key, int64_t at); /* 0: null */
/* {"en", "zh"}, or null without a text. */
void home_words(struct json_out *out, const char *key, struct str en, struct str zh);
struct str home_text(const struct db_value *v); /* STR_NULL when it is none */

/* Jobs that stand for other work than their own: condition on owner_kind that leaves out what runs on demand,
 * and replicas, which are told with their services. */
const char *home_jobs_listed(struct arena *a);
/* The object that a job runs for, as far as the caller may read it; else the job. */
void home_job_object(const struct home *h, int64_t job, int64_t project, struct str owner_kind, int64_t owner,
                     struct home_thing *ret);

#endif
