/* Every type of long work that the platform knows. */
#include "core/build/build.h"
#include "core/build/save.h"
#include "core/data/compare.h"
#include "core/data/export.h"
#include "core/data/import.h"
#include "core/data/preprocess.h"
#include "core/data/publish.h"
#include "core/data/records.h"
#include "core/data/relabel.h"
#include "core/data/version.h"
#include "core/demo/demo.h"
#include "core/environment/keep.h"
#include "core/environment/tool.h"
#include "core/evaluate/evaluate.h"
#include "core/image/assemble.h"
#include "core/label/label.h"
#include "core/runtime/runtime.h"
#include "core/training/training.h"

const struct task_type *const task_types[] = {
    &task_copy_version,   &task_import,          &task_export,        &task_preprocess,
    &task_measure,        &task_publish,         &task_changes,       &task_records,
    &task_training_end,   &task_training_resume, &task_image_save,    &task_image_import,
    &task_image_pull,     &task_image_derive,    &task_image_build,   &task_environment_keep,
    &task_label_fill,     &task_label_close,     &task_runtime_build, &task_runtime_estimate,
    &task_runtime_export, &task_runtime_import,  &task_relabel,       &task_evaluate,
    &task_tool_fetch,     &task_tool_import,     &task_demo_load,     &task_demo_remove};
const size_t task_type_count = countof(task_types);
