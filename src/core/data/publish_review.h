/* Publishing after a review: somebody asks reviewers, the version does not change meanwhile (state
 * `reviewing`), and one of them accepts, which publishes it, or sends it back as a draft with a reason. Who
 * asked does not decide. Reviewers see the version while they are asked, whatever their role. */
#ifndef INGOT_CORE_DATA_PUBLISH_REVIEW_H
#define INGOT_CORE_DATA_PUBLISH_REVIEW_H

#include "core/engine.h"

extern const struct field publish_ask_fields[], publish_decide_fields[];
typedef bool publish_review_run(struct op *op, struct object *o, const struct db_value *input,
                                struct json_out *out, int *status, struct err *err);
publish_review_run publish_ask_run, publish_decide_run, publish_withdraw_run;

/* The tables; made with those of labelling tasks. */
#define PUBLISH_REVIEW_SQL                                                                                   \
    "CREATE TABLE version_reviews (id {id}, version BIGINT NOT NULL, project BIGINT NOT NULL,"               \
    " asked_by BIGINT NOT NULL, asked_at BIGINT NOT NULL, decided_by BIGINT, decided_at BIGINT,"             \
    " accepted BIGINT, reason {text});\n"                                                                    \
    "CREATE INDEX version_reviews_version ON version_reviews (version);\n"                                   \
    "CREATE INDEX version_reviews_open ON version_reviews (project) WHERE decided_at IS NULL;\n"             \
    "CREATE TABLE version_reviewers (version BIGINT NOT NULL, member BIGINT NOT NULL,"                       \
    " PRIMARY KEY (version, member));\n"

/* Hooks of the kind: the last review as the field `review`; who sees the version because they were asked. */
bool publish_review_show(struct op *op, const struct object *o, struct json_out *out, struct err *err);
bool publish_review_reads(struct core *core, const struct caller *c, struct db_conn *conn,
                          const struct object *o, struct arena *a);
bool publish_review_drop(struct op *op, int64_t version, struct err *err);
/* {"items":[...]}: versions of the project that wait for the caller's decision. */
bool publish_reviews_write(struct op *op, int64_t project, struct json_out *out, struct err *err);

#endif
