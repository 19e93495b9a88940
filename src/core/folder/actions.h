/* What can be done with the files of a version: the rows that both kinds of versions have (folder_actions.c).
 * The tables of actions are assembled by those who know all of them: folder_actions.c for algorithms,
 * core/model_actions.c for models. */
#ifndef INGOT_CORE_FOLDER_ACTIONS_H
#define INGOT_CORE_FOLDER_ACTIONS_H

#include "core/folder/folder.h"

typedef bool folder_run_fn(struct op *op, struct object *o, const struct db_value *input,
                           struct json_out *out, int *status, struct err *err);
folder_run_fn folder_run_files, folder_run_compare, folder_run_change, folder_run_publish;
extern const struct field folder_files_fields[], folder_change_fields[];

/* The field `with` of comparisons. */
#define FOLDER_WITH_FIELD(version)                                                                           \
    {                                                                                                        \
        .name = "with", .type = FIELD_REF, .flags = FIELD_REQUIRED | FIELD_CREATE, .ref = version,           \
        .title = {                                                                                           \
            "Compare with",                                                                                  \
            "比较对象"                                                                                   \
        }                                                                                                    \
    }

/* Four rows of a table of actions, separated by commas. */
#define FOLDER_ACTIONS(kind, with)                                                                           \
    {.name = "files",                                                                                        \
     .permission = kind ".read",                                                                             \
     .read_only = true,                                                                                      \
     .fields = folder_files_fields,                                                                          \
     .answer = "FolderListing",                                                                              \
     .title = {"Files", "文件"},                                                                             \
     .run = folder_run_files},                                                                               \
        {.name = "compare",                                                                                  \
         .permission = kind ".read",                                                                         \
         .read_only = true,                                                                                  \
         .fields = with,                                                                                     \
         .answer = "FolderChanges",                                                                          \
         .title = {"Compare", "比较"},                                                                       \
         .run = folder_run_compare},                                                                         \
        {.name = "change",                                                                                   \
         .permission = kind ".update",                                                                       \
         .fields = folder_change_fields,                                                                     \
         .title = {"Change files", "修改文件"},                                                              \
         .run = folder_run_change},                                                                          \
    {                                                                                                        \
        .name = "publish", .permission = kind ".update", .title = {"Publish", "发布"}, .danger = true,       \
        .run = folder_run_publish                                                                            \
    }

#endif
