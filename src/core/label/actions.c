/* The actions of labelling tasks: their fields, permissions and answers. */
#include "core/data/publish_review.h"
#include "core/label/label_own.h"

#define ASSIGNMENT                                                                                           \
    {                                                                                                        \
        .name = "assignment", .type = FIELD_INT, .flags = FIELD_REQUIRED | FIELD_CREATE, .min = 1,           \
        .max = INT64_MAX, .title = {"Assignment", "分配"},                                                   \
    }
#define ASSIGNMENTS                                                                                          \
    {                                                                                                        \
        .name = "assignments", .type = FIELD_JSON, .flags = FIELD_REQUIRED | FIELD_CREATE, .max = 16384,     \
        .schema = "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", .title = {"Assignments", "分配"}, \
    }
/* Of what a person did, without pauses of more than a minute. */
#define ACTIVE_SECONDS                                                                                       \
    {                                                                                                        \
        .name = "active_seconds", .type = FIELD_INT, .flags = FIELD_CREATE, .min = 0, .max = 86400,          \
        .fallback = "0", .unit = "seconds", .title = {"Active time", "有效时长"},                            \
    }
#define USER(field, en, zh)                                                                                  \
    {                                                                                                        \
        .name = (field), .type = FIELD_REF, .flags = FIELD_REQUIRED | FIELD_CREATE, .ref = "user",           \
        .title = {en, zh},                                                                                   \
    }

static const struct choice stages[] = {
    {"label", {"Labelling", "标注"}}, {"review", {"Review", "审核"}}, {NULL, {NULL, NULL}}};
static const struct choice verdicts[] = {
    {"accept", {"Accept", "通过"}}, {"reject", {"Reject", "驳回"}}, {NULL, {NULL, NULL}}};
static const struct choice kept_states[] = {
    {"leased", {"Leased", "已领取"}},
    {"submitted", {"Submitted", "已提交"}},
    {"skipped", {"Skipped", "已跳过"}},
    {"accepted", {"Accepted", "已通过"}},
    {"rejected", {"Rejected", "已驳回"}},
    {"returned", {"Returned", "已退回"}},
    {NULL, {NULL, NULL}},
};

static const struct field next_fields[] = {
    {.name = "stage",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE,
     .choices = stages,
     .fallback = "\"label\"",
     .title = {"Stage", "阶段"}},
    {.name = "sample",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1,
     .max = INT64_MAX,
     .title = {"Sample", "样本"},
     .help = {"This one, if nobody has it.", "指定样本（若无人领取）。"}},
    {0},
};

static const struct field heartbeat_fields[] = {ASSIGNMENTS, ACTIVE_SECONDS, {0}};
static const struct field release_fields[] = {ASSIGNMENTS, {0}};
static const struct field reopen_fields[] = {ASSIGNMENT, {0}};

static const struct field submit_fields[] = {
    ASSIGNMENT,
    {.name = "nothing",
     .type = FIELD_BOOL,
     .flags = FIELD_CREATE,
     .fallback = "false",
     .title = {"Nothing here", "无目标"},
     .help = {"There is nothing to label on the sample.", "样本中没有需要标注的内容。"}},
    ACTIVE_SECONDS,
    {0},
};

static const struct field skip_fields[] = {
    ASSIGNMENT,
    {.name = "reason",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 1,
     .max = 1000,
     .title = {"Reason", "原因"}},
    ACTIVE_SECONDS,
    {0},
};

static const struct field decide_fields[] = {
    ASSIGNMENT,
    {.name = "verdict",
     .type = FIELD_CHOICE,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .choices = verdicts,
     .title = {"Verdict", "结论"}},
    {.name = "reason", .type = FIELD_TEXT, .flags = FIELD_CREATE, .max = 1000, .title = {"Reason", "原因"}},
    {.name = "shapes",
     .type = FIELD_JSON,
     .flags = FIELD_CREATE,
     .max = 1 << 20,
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":"
               "\"string\"},\"reason\":{\"type\":\"string\"}}}}",
     .title = {"Shapes", "标注对象"},
     .help = {"Ids of shapes that are wrong, each with a reason.", "有误的标注对象 id 及原因。"}},
    ACTIVE_SECONDS,
    {0},
};

static const struct field close_fields[] = {
    {.name = "accept_rest",
     .type = FIELD_BOOL,
     .flags = FIELD_CREATE,
     .fallback = "false",
     .title = {"Accept the rest", "其余全部通过"},
     .help = {"What was labelled and not reviewed is accepted.", "已标注而未审核的样本视为通过。"}},
    {0},
};

static const struct field hand_fields[] = {USER("from", "From", "原成员"), USER("to", "To", "新成员"), {0}};

static const struct field raise_fields[] = {
    USER("user", "User", "用户"),
    {.name = "ratio",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 0,
     .max = 100,
     .unit = "percent",
     .title = {"Reviewed", "审核比例"},
     .help = {"Absent: as for everybody.", "留空则与其他人相同。"}},
    {0},
};

static const struct field progress_fields[] = {
    {.name = "from", .type = FIELD_TIME, .flags = FIELD_CREATE, .title = {"From", "开始"}},
    {.name = "to", .type = FIELD_TIME, .flags = FIELD_CREATE, .title = {"To", "结束"}},
    {0},
};

static const struct field samples_fields[] = {
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE,
     .choices = kept_states,
     .title = {"State", "状态"}},
    {.name = "user",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1,
     .max = INT64_MAX,
     .title = {"User", "用户"}},
    {.name = "after",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 0,
     .max = INT64_MAX,
     .title = {"After", "之后"}},
    {.name = "limit",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1,
     .max = 1000,
     .title = {"Limit", "数量"}},
    {0},
};

static const struct field reviews_fields[] = {
    {.name = "project",
     .type = FIELD_INT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 1,
     .max = INT64_MAX,
     .title = {"Project", "项目"}},
    {0},
};

static bool run_reviews(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)o;
    (void)status;
    return publish_reviews_write(op, input[0].i, out, err);
}

/* Of an action that people do all day: what they did stands in the assignments. */
#define DAILY(action, wanted, body, answers, en, zh, does)                                                   \
    {                                                                                                        \
        .name = (action), .permission = (wanted), .fields = (body), .answer = (answers), .unaudited = true,  \
        .title = {en, zh}, .run = (does),                                                                    \
    }
#define LABEL  "annotation.update"
#define REVIEW "review.update"
#define OPEN   "label_task.open"

const struct action label_actions[] = {
    {.name = "open", .permission = OPEN, .title = {"Open", "开始"}, .run = run_open},
    {.name = "pause", .permission = OPEN, .title = {"Pause", "暂停"}, .run = run_pause},
    {.name = "resume", .permission = OPEN, .title = {"Resume", "继续"}, .run = run_resume},
    {.name = "close",
     .permission = OPEN,
     .fields = close_fields,
     .title = {"Close", "完成"},
     .danger = true,
     .run = run_close},
    {.name = "cancel", .permission = OPEN, .title = {"Cancel", "取消"}, .danger = true, .run = run_cancel},
    {.name = "hand",
     .permission = OPEN,
     .fields = hand_fields,
     .answer = "LabelHanded",
     .title = {"Hand over", "移交"},
     .run = run_hand},
    {.name = "raise",
     .permission = OPEN,
     .fields = raise_fields,
     .title = {"Review more of", "提高审核比例"},
     .run = run_raise},
    DAILY("next", LABEL, next_fields, "AssignmentList", "Next samples", "领取样本", run_next),
    DAILY("heartbeat", LABEL, heartbeat_fields, "LabelLease", "Keep samples", "保持领取", run_heartbeat),
    DAILY("submit", LABEL, submit_fields, "Assignment", "Submit", "提交", run_submit),
    DAILY("skip", LABEL, skip_fields, "Assignment", "Skip", "跳过", run_skip),
    {.name = "release",
     .permission = LABEL,
     .fields = release_fields,
     .status = 204,
     .unaudited = true,
     .title = {"Give back", "退回"},
     .run = run_release},
    DAILY("reopen", LABEL, reopen_fields, "Assignment", "Take back", "撤回提交", run_reopen),
    DAILY("decide", REVIEW, decide_fields, "Assignment", "Decide", "审核", run_decide),
    {.name = "progress",
     .permission = "team.read",
     .read_only = true,
     .fields = progress_fields,
     .answer = "LabelProgress",
     .title = {"Progress", "进度"},
     .run = run_progress},
    {.name = "work",
     .permission = "label_task.read",
     .read_only = true,
     .answer = "LabelWork",
     .title = {"My work", "我的工作"},
     .run = run_work},
    {.name = "samples",
     .permission = "team.read",
     .read_only = true,
     .fields = samples_fields,
     .answer = "AssignmentRows",
     .title = {"Assignments", "分配情况"},
     .run = run_samples},
    {.name = "bench",
     .permission = "label_task.read",
     .read_only = true,
     .answer = "LabelBench",
     .title = {"For the workbench", "工作台信息"},
     .run = run_bench},
    {.name = "publish-reviews",
     .permission = "label_task.read",
     .on_kind = true,
     .read_only = true,
     .fields = reviews_fields,
     .answer = "PublishReviews",
     .title = {"Versions to review", "待审核版本"},
     .run = run_reviews},
    {0},
};
