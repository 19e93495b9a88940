#include "core/data/sample_access.h"

#include "core/access.h"
#include "core/data/sample.h"
#include "core/row.h"

/* What each right takes beside seeing: one of these permissions in the version's project. */
static const char *const takes[][2] = {
    [SAMPLE_SEE] = {NULL},
    [SAMPLE_ANNOTATE] = {"annotation.update", "dataset_version.update"},
    [SAMPLE_JUDGE] = {"review.update", "dataset_version.update"},
};

bool sample_may(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                enum sample_right r, struct arena *a, struct err *err)
{
    (void)sample; /* the rights of today are the same for all samples of a version */
    if (!access_read(core, c, NULL, version, a, err))
        return false;
    return !takes[r][0] || caller_may(c, takes[r][0], version->project) ||
           caller_need(c, takes[r][1], version->project, err);
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
