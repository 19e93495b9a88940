/* The rows of core/controllers.c, each defined where its work is done. */
#ifndef INGOT_CORE_CONTROLLERS_H
#define INGOT_CORE_CONTROLLERS_H

#include "core/controller.h"

extern const struct controller controller_accounts, controller_unpack_layers, controller_count_pulls,
    controller_tasks, controller_move_blobs, controller_collect_versions, controller_collect_layers,
    controller_pack_operations, controller_collect_trainings, controller_collect_on_demand,
    controller_collect_workspaces, controller_collect_jobs, controller_collect_checkouts,
    controller_collect_uploads, controller_collect_manifests, controller_collect_images,
    controller_collect_blobs, controller_folder_sizes, controller_jobs, controller_curves,
    controller_move_curves, controller_move_metrics, controller_link_lineage, controller_training_sizes,
    controller_environments, controller_write_series, controller_compact_series, controller_collect_series,
    controller_traffic, controller_services, controller_key_uses, controller_label_leases,
    controller_collect_label_tasks, controller_read_metrics, controller_summarise_runs,
    controller_collect_evaluations, controller_golden, controller_index_names, controller_new_passwords;

#endif
