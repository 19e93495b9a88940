/* What labelling tasks gave to people: the rights to samples that come of it, and reviewers of versions. */
#include "core/label/label_own.h"

/* They see what they have or had there, change what they hold, also to mend it in a review, and judge what
 * they hold for review. Whose seat has a layer changes that, by lease.h. */
static const struct {
    const char *permission, *held;
} rights[] = {
    [SAMPLE_SEE] = {"annotation.update", ""},
    [SAMPLE_ANNOTATE] = {"annotation.update", " AND leased = 1 AND layer = 0"},
    [SAMPLE_JUDGE] = {"review.update", " AND leased = 1 AND stage = 1"},
};

static bool gave(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                 enum sample_right r, struct arena *a, bool *ret, struct err *err)
{
    struct db_row row;
    *ret = false;
    if (!caller_may(c, rights[r].permission, version->project))
        return true;
    return db_query_one(core->db, a,
                        arena_printf(a,
                                     "SELECT 1 FROM label_assignments WHERE sample = ? AND worker = ?"
                                     " AND version = ? AND live = 1%s LIMIT 1",
                                     rights[r].held),
                        db_args(db_int(sample), db_int(c->user), db_int(version->id)), &row, ret, err);
}

static bool reviewers(struct op *op, int64_t project, int64_t team, struct db_rows *ret, struct err *err)
{
    return conn_query(op->conn, op->arena,
                      "SELECT m.member FROM team_members m JOIN teams t ON t.id = m.team"
                      " WHERE t.id = ? AND t.project = ? AND t.role = 'review'",
                      db_args(db_int(team), db_int(project)), ret, err);
}

const struct work_giver label_work_giver = {gave, reviewers};
