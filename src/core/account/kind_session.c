#include "base/json.h"
#include "core/account/accounts.h"

static bool show(struct op *op, const struct object *o, struct json_out *out, unused_ok struct err *err)
{
    json_kbool(out, "current", o->id == op->caller->session);
    return true;
}

static void changed(struct core *core, const struct object *o, unused_ok const char *verb)
{
    accounts_forget_session(core, o->id);
}

static const struct field fields[] = {
    {.name = "address", .type = FIELD_TEXT, .flags = FIELD_LIST | FIELD_FILTER, .title = {"Address", "地址"}},
    {.name = "agent", .type = FIELD_TEXT, .flags = FIELD_LIST, .title = {"Browser", "浏览器"}},
    {.name = "last_used_at",
     .type = FIELD_TIME,
     .flags = FIELD_LIST | FIELD_SORT | FIELD_STATUS,
     .title = {"Last used", "最近使用"}},
    {.name = "expires_at", .type = FIELD_TIME, .flags = FIELD_LIST, .title = {"Expires", "过期时间"}},
    {.name = "current",
     .type = FIELD_BOOL,
     .flags = FIELD_VIRTUAL | FIELD_LIST,
     .title = {"This one", "当前会话"}},
    {.name = "hash", .type = FIELD_TEXT, .flags = FIELD_INTERNAL, .title = {"Hash", "散列"}},
    {0},
};

const struct kind kind_session = {
    .name = "session",
    .plural = "sessions",
    .table = "sessions",
    .title = {"Session", "会话"},
    .titles = {"Sessions", "会话"},
    .help = {"Where you are signed in", "您的登录会话"},
    .scope = SCOPE_OWN,
    .verbs = VERB_LIST | VERB_READ | VERB_DELETE,
    .fields = fields,
    .show = show,
    .changed = changed,
    .extra_sql = "CREATE UNIQUE INDEX sessions_hash ON sessions(hash);\n"
                 "CREATE INDEX sessions_expires ON sessions(expires_at);\n",
};
