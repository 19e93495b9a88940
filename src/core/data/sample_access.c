#include "core/data/work_giver.h"

#include "core/access.h"
#include "core/data/sample.h"
#include "core/row.h"

/* What each right takes to have it for all samples of a version, beside reading the version. */
static const char *const takes[] = {
    [SAMPLE_SEE] = NULL,
    [SAMPLE_ANNOTATE] = "dataset_version.update",
    [SAMPLE_JUDGE] = "dataset_version.update",
};

static bool was_given(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                      enum sample_right r, struct arena *a, bool *ret, struct err *err)
{
    *ret = false;
    for (size_t i = 0; sample && !*ret && work_givers[i]; i++)
        if (!work_givers[i]->gave(core, c, version, sample, r, a, ret, err))
            return false;
    return true;
}

bool sample_may(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                enum sample_right r, struct arena *a, struct err *err)
{
    struct err why = {0};
    bool mine;
    if (access_read(core, c, NULL, version, a, &why) &&
        (!takes[r] || caller_need(c, takes[r], version->project, &why)))
        return true;
    if (!was_given(core, c, version, sample, r, a, &mine, err))
        return false;
    if (!mine)
        *err = why;
    return mine;
}

bool sample_version(struct core *core, const struct caller *c, int64_t dataset, int64_t version,
                    int64_t sample, enum sample_right r, struct arena *a, struct object *ret, struct err *err)
{
    struct object o;
    bool found;
    if (!access_signed_in(c, err) || !row_load(core->db, NULL, a, &kind_dataset_version,
                                               &(struct row_key){.id = version}, &o, &found, err))
        return false;
    if (!found || o.parent != dataset)
        return access_missing(&kind_dataset_version, version, err);
    if (!sample_may(core, c, &o, sample, r, a, err))
        return false;
    *ret = o;
    return true;
}
