/* Fields of what runs in containers, for the tables of kinds and actions: each is described once. `more` is
 * FIELD_CREATE or FIELD_EDIT, and FIELD_FILTER and FIELD_LIST where it is wanted. */
#ifndef INGOT_CORE_JOB_FIELDS_H
#define INGOT_CORE_JOB_FIELDS_H

#include "core/fields.h"
#include "core/job/job.h"

#define JOB_FIELD_STATE(states, first)                                                                       \
    {                                                                                                        \
        .name = "state", .type = FIELD_CHOICE, .flags = FIELD_FILTER | FIELD_LIST, .choices = (states),      \
        .fallback = (first), .title = {"State", "状态"},                                                     \
    }

/* FIELD_STATUS of a job; FIELD_VIRTUAL of what the job runs for. */
#define JOB_FIELD_REASON(more)                                                                               \
    {.name = "reason",                                                                                       \
     .type = FIELD_TEXT,                                                                                     \
     .flags = FIELD_LIST | (more),                                                                           \
     .max = 500,                                                                                             \
     .title = {"Reason", "原因"}},                                                                           \
    {                                                                                                        \
        .name = "reason_zh", .type = FIELD_TEXT, .flags = (more), .max = 500,                                \
        .title = {"Reason in Chinese", "原因（中文）"},                                                      \
    }

#define JOB_FIELD_IMAGE(more)                                                                                \
    {                                                                                                        \
        .name = "image", .type = FIELD_TEXT, .flags = FIELD_FILTER | (more), .max = 200,                     \
        .fallback = "\"host\"", .section = SECTION_WHERE, .title = {"Image", "镜像"},                        \
        .help = {"\"host\" is this machine's own programs.", "“host” 为本机自带的程序。"},                   \
    }

#define JOB_FIELD_SPEC(more)                                                                                 \
    {                                                                                                        \
        .name = "spec", .type = FIELD_REF, .flags = FIELD_REQUIRED | (more), .ref = "spec",                  \
        .section = SECTION_WHERE, .title = {"Spec", "规格"},                                                 \
    }

/* en, zh: where it runs. */
#define JOB_FIELD_COMMAND(more, en, zh)                                                                      \
    {                                                                                                        \
        .name = "command", .type = FIELD_TEXT, .flags = FIELD_REQUIRED | FIELD_LONG | (more), .min = 1,      \
        .max = 3000, .title = {"Command", "命令"}, .help = {en, zh},                                         \
    }

#define JOB_ENV_SCHEMA                                                                                       \
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"string\",\"null\"],\"maxLength\":500}}"

#define JOB_FIELD_ENV(more)                                                                                  \
    {                                                                                                        \
        .name = "env", .type = FIELD_JSON, .flags = (more), .max = 1 << 17, .fallback = "{}",                \
        .check = job_env_check, .schema = JOB_ENV_SCHEMA, .title = {"Environment variables", "环境变量"},    \
    }

#define JOB_FIELD_NODES(more)                                                                                \
    {                                                                                                        \
        .name = "nodes", .type = FIELD_INT, .flags = FIELD_LIST | (more), .min = 1, .max = 64,               \
        .fallback = "1", .section = SECTION_WHERE, .title = {"Nodes", "节点数"},                             \
    }

#define JOB_FIELD_PRIORITY(more)                                                                             \
    {                                                                                                        \
        .name = "priority", .type = FIELD_INT, .flags = FIELD_ADVANCED | (more), .min = -100, .max = 100,    \
        .fallback = "0", .section = SECTION_WHERE, .title = {"Priority", "优先级"},                          \
    }

#define JOB_FIELD_RETRIES(more)                                                                              \
    {                                                                                                        \
        .name = "retries", .type = FIELD_INT, .flags = FIELD_ADVANCED | (more), .min = 0, .max = 10,         \
        .fallback = "0", .section = SECTION_WHERE, .title = {"Retries after a failure", "失败重试次数"},     \
    }

#define JOB_FIELD_HOURS(more, most, usual)                                                                   \
    {                                                                                                        \
        .name = "hours", .type = FIELD_REAL, .flags = FIELD_ADVANCED | (more), .min = 0, .max = (most),      \
        .fallback = (usual), .unit = "hours", .section = SECTION_WHERE,                                      \
        .title = {"Ends after", "最长运行时间"}, .help = {"0: no limit.", "0 表示不限。"},                   \
    }

#define JOB_FIELD_STARTED                                                                                    \
    {                                                                                                        \
        .name = "started_at", .type = FIELD_TIME, .flags = FIELD_LIST, .title = {"Started", "开始时间"},     \
    }

#define JOB_FIELD_ENDED                                                                                      \
    {                                                                                                        \
        .name = "ended_at", .type = FIELD_TIME, .flags = FIELD_LIST, .title = {"Ended", "结束时间"},         \
    }

#endif
