#include "core/kinds.h"

#define READ (FIELD_FILTER | FIELD_LIST)

static const struct field fields[] = {
    {.name = "verb", .type = FIELD_TEXT, .flags = READ, .title = {"What", "操作"}},
    {.name = "at", .type = FIELD_TIME, .flags = READ, .title = {"When", "时间"}},
    {.name = "user", .type = FIELD_REF, .ref = "user", .flags = READ, .title = {"Who", "用户"}},
    {.name = "job", .type = FIELD_INT, .flags = READ, .title = {"Through job", "经由作业"}},
    {.name = "address", .type = FIELD_TEXT, .flags = READ, .title = {"Address", "地址"}},
    {.name = "kind", .type = FIELD_TEXT, .flags = READ, .title = {"Kind", "类型"}},
    {.name = "object", .type = FIELD_INT, .flags = READ, .title = {"Object", "对象"}},
    {.name = "name", .type = FIELD_TEXT, .flags = READ | FIELD_SEARCH, .title = {"Name", "名称"}},
    {.name = "project", .type = FIELD_REF, .ref = "project", .flags = READ, .title = {"Project", "项目"}},
    {.name = "detail", .type = FIELD_JSON, .title = {"Detail", "详情"}},
    {0},
};

const struct kind kind_audit = {
    .name = "audit",
    .plural = "audit",
    .table = "audit",
    .title = {"Audit entry", "审计记录"},
    .titles = {"Audit log", "审计日志"},
    .help = {"Who changed what, when and from where", "谁在何时何地更改了什么"},
    .menu = "admin",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_LIST | VERB_READ,
    .audit_reads_only = true,
    .fields = fields,
    .extra_sql = "CREATE INDEX \"audit_user\" ON \"audit\" (\"user\", \"id\");\n"
                 "CREATE INDEX \"audit_project\" ON \"audit\" (\"project\", \"id\");\n"
                 "CREATE INDEX \"audit_object\" ON \"audit\" (\"kind\", \"object\", \"id\");",
};
