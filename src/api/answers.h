/* Answers that are given again: a GET of objects by the same caller has the same answer while nothing was
 * committed to the tables that it was made from, and nothing changed about who may do what (the caller's
 * epoch: rights are read from memory). It is given on the loop thread, without a change of threads and
 * without the database; that is most of what such a request costs. Bounded in number and in bytes.
 *
 * Only for kinds without a `show` of their own (what that computes may change by itself), and with SQLite
 * only: PostgreSQL may have other writers than this process. */
#ifndef INGOT_API_ANSWERS_H
#define INGOT_API_ANSWERS_H

#include "api/router.h"

/* Whether answers to this request may be kept: asked before either function below. */
bool answers_suit(const struct core *core, const struct request *r, const struct target *t);
/* Answers the request when a kept answer is still true. On a loop thread; caller is what auth_peek found. */
bool answers_give(struct core *core, struct request *r, const struct caller *caller);
/* Keeps a 200 with this body; etag may be STR_NULL. */
void answers_keep(const struct api_call *call, struct str etag, struct str body);

#endif
