/* Every controller that the platform has, in the order of their start. */
#include "core/controllers.h"

const struct controller *const controllers[] = {
    &controller_write_series, /* before whoever feeds it, so that it ends after them */
    &controller_move_blobs,
    &controller_accounts,
    &controller_unpack_layers,
    &controller_count_pulls,
    &controller_tasks,
    &controller_collect_versions,
    &controller_label_leases,
    &controller_collect_label_tasks,
    &controller_collect_layers,
    &controller_pack_operations,
    &controller_collect_trainings,
    &controller_collect_on_demand,
    &controller_collect_workspaces,
    &controller_collect_jobs,
    &controller_compact_series,
    &controller_collect_series,
    &controller_collect_checkouts,
    &controller_collect_uploads,
    &controller_collect_manifests,
    &controller_collect_images,
    &controller_collect_blobs,
    &controller_jobs,
    &controller_curves,
    &controller_move_curves,
    &controller_move_metrics,
    &controller_link_lineage,
    &controller_folder_sizes,
    &controller_training_sizes,
    &controller_environments,
    &controller_traffic,
    &controller_key_uses,
    &controller_services,
};
const size_t controller_count = countof(controllers);
