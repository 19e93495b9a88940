/* Rows of the kinds' tables: the only place that knows their columns. */
#ifndef INGOT_CORE_ROW_H
#define INGOT_CORE_ROW_H

#include "core/engine.h"
#include "core/kinds.h"
#include "core/sql.h"

/* The column that limits a kind to where it belongs: "project", the parent's name, "created_by" (OWN), or
 * NULL. */
const char *row_scope_column(const struct kind *k);
/* `SELECT <columns of row_read>`; the second goes on with ` FROM <table> WHERE `. */
void row_columns(struct sql *s, const struct kind *k);
void row_select(struct sql *s, const struct kind *k);
struct object row_read(struct arena *a, const struct kind *k, const struct db_row *row);

/* By id; extra is a further condition (or NULL) with its value. *found false when there is none. */
struct row_key {
    int64_t id;
    const char *extra;
    struct db_value extra_arg;
};
/* On conn when it is set, otherwise on a snapshot of its own. */
bool row_load(struct db *db, struct db_conn *conn, struct arena *a, const struct kind *k,
              const struct row_key *key, struct object *ret, bool *found, struct err *err);
/* Fills id, revision, created_at and updated_at. created_by is the object's. */
bool row_insert(struct db_conn *c, struct object *o, struct err *err);
/* Writes all values; raises revision and updated_at. ERR_STALE when the row has another revision by now. */
bool row_update(struct db_conn *c, struct object *o, struct err *err);
/* engine_set_status. Of *ret only kind, id and place are set; *found false when there is none. */
bool row_status(struct db_conn *c, struct arena *a, const struct kind *k, int64_t id,
                struct engine_statuses fields, struct object *ret, bool *found, struct err *err);
bool row_delete(struct db_conn *c, const struct object *o, struct err *err);

#endif
