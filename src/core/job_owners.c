/* What runs as jobs: one row each; and of these, what runs on demand. */
#include "core/build/build.h"
#include "core/environment/environment.h"
#include "core/evaluate/evaluate.h"
#include "core/runtime/runtime.h"
#include "core/serve/serve.h"
#include "core/serve/trial.h"
#include "core/training/tensorboard.h"
#include "core/training/training.h"

const struct job_owner *const job_owners[] = {
    &training_owner,    &tensorboard_owner, &environment_owner,
    &image_build_owner, &runtime_owner,     &service_version_owner,
    &trial_owner,       &evaluation_owner,  NULL,
};

const struct on_demand *const on_demand_sorts[] = {&tensorboard_on_demand, &trial_on_demand, NULL};

const struct job_owner *job_owner_of(const struct object *job)
{
    struct str kind = object_text(job, "owner_kind");
    for (size_t i = 0; kind.n && job_owners[i]; i++)
        if (str_is(kind, job_owners[i]->kind))
            return job_owners[i];
    return NULL;
}
