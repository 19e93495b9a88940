/* Fields that many kinds have, for their tables. */
#ifndef INGOT_CORE_FIELDS_H
#define INGOT_CORE_FIELDS_H

#include "core/kind.h"

/* more: FIELD_EDIT or FIELD_CREATE, and FIELD_UNIQUE where it is. */
#define FIELD_NAME(more)                                                                                     \
    {                                                                                                        \
        .name = "name", .type = FIELD_TEXT,                                                                  \
        .flags = FIELD_REQUIRED | FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_LIST | (more), .min = 1,  \
        .max = 50, .rule = "name", .title = {"Name", "名称"},                                                \
    }

#define FIELD_DESCRIPTION                                                                                    \
    {                                                                                                        \
        .name = "description", .type = FIELD_TEXT,                                                           \
        .flags = FIELD_EDIT | FIELD_SEARCH | FIELD_LONG | FIELD_LIST, .max = 500,                            \
        .title = {"Description", "描述"},                                                                    \
    }

/* For actions. */
#define FIELD_COPY_NAME                                                                                      \
    {                                                                                                        \
        .name = "name", .type = FIELD_TEXT, .flags = FIELD_REQUIRED | FIELD_CREATE, .min = 1, .max = 50,     \
        .rule = "name", .title = {"Name of the copy", "副本名称"},                                           \
    }

/* For kinds with public_too. */
#define FIELD_PUBLIC                                                                                         \
    {                                                                                                        \
        .name = "public", .type = FIELD_BOOL, .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST,             \
        .fallback = "false", .title = {"Public", "公开"},                                                    \
        .help = {"Every project may read it.", "所有项目可读。"},                                            \
    }

/* Of actions that answer points over time. */
#define FIELDS_OF_CURVES                                                                                     \
    {                                                                                                        \
        .name = "span",                                                                                      \
        .type = FIELD_INT,                                                                                   \
        .flags = FIELD_CREATE,                                                                               \
        .min = 1,                                                                                            \
        .max = 30 * 86400,                                                                                   \
        .fallback = "600",                                                                                   \
        .unit = "seconds",                                                                                   \
        .title = {"Span", "时间范围"},                                                                       \
        .help = {"Up to 600: by seconds; else by minutes", "不超过 600 时按秒，否则按分钟"},                 \
    },                                                                                                       \
    {                                                                                                        \
        .name = "points", .type = FIELD_INT, .flags = FIELD_CREATE, .max = 100000, .fallback = "0",          \
        .title = {"Points", "点数"},                                                                         \
        .help = {"At most so many, each the mean of its time; 0: all",                                       \
                 "最多返回的点数，每点为其时间段的平均值；0 表示全部"},                                      \
    }

#endif
