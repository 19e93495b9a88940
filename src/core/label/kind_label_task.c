/* Labelling tasks: the kind, and who sees which. */
#include "core/account/grants.h"
#include "core/fields.h"
#include "core/label/instructions.h"
#include "core/label/label_own.h"

static const struct choice states[] = {
    {"draft", {"Draft", "草稿"}}, {"open", {"Open", "进行中"}},           {"paused", {"Paused", "已暂停"}},
    {"done", {"Done", "已完成"}}, {"cancelled", {"Cancelled", "已取消"}}, {NULL, {NULL, NULL}},
};

#define COUNTER(field, en, zh)                                                                               \
    {                                                                                                        \
        .name = (field), .type = FIELD_INT, .flags = FIELD_STATUS | FIELD_LIST, .fallback = "0",             \
        .title = {en, zh},                                                                                   \
    }

static const struct field fields[] = {
    FIELD_NAME(FIELD_CREATE | FIELD_UNIQUE),
    FIELD_DESCRIPTION,
    {.name = "version",
     .type = FIELD_REF,
     .flags = FIELD_CREATE | FIELD_REQUIRED | FIELD_FILTER | FIELD_LIST,
     .ref = "dataset_version",
     .title = {"Dataset version", "数据集版本"}},
    {.name = "labelling_team",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_REQUIRED | FIELD_FILTER | FIELD_LIST,
     .ref = "team",
     .section = SECTION_WHO,
     .title = {"Labelling team", "标注团队"}},
    {.name = "review_team",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER,
     .ref = "team",
     .section = SECTION_WHO,
     .title = {"Review team", "审核团队"},
     .help = {"Without one nothing is reviewed.", "不选则不审核。"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_FILTER | FIELD_LIST,
     .choices = states,
     .fallback = "\"draft\"",
     .title = {"State", "状态"}},
    {.name = "deadline",
     .type = FIELD_TIME,
     .flags = FIELD_EDIT | FIELD_SORT | FIELD_FILTER | FIELD_LIST,
     .section = SECTION_WHO,
     .title = {"Deadline", "截止时间"}},
    {.name = "review_ratio",
     .type = FIELD_INT,
     .flags = FIELD_EDIT,
     .min = 0,
     .max = 100,
     .fallback = "20",
     .unit = "percent",
     .section = SECTION_HOW,
     .title = {"Reviewed", "审核比例"},
     .help = {"Percent of each person's samples that are drawn for review.",
              "每位标注员的样本中被抽取审核的百分比。"}},
    {.name = "raised",
     .type = FIELD_JSON,
     .max = 65536,
     .fallback = "{}",
     .schema = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
     .title = {"Reviewed more", "加审人员"},
     .help = {"Ids of users, each with a higher percentage; set by raise.",
              "用户 id 与其更高的审核百分比；由 raise 设置。"}},
    {.name = "seats",
     .type = FIELD_INT,
     .flags = FIELD_CREATE | FIELD_UPDATE,
     .min = 1,
     .max = 9,
     .fallback = "1",
     .section = SECTION_WHO,
     .title = {"Seats per sample", "每个样本的标注人数"},
     .help = {"With more than one, each works alone on a layer of their own, and all are reviewed.",
              "大于一时，每人在各自的图层上独立标注，全部进入审核。"}},
    {.name = "selection",
     .type = FIELD_JSON,
     .flags = FIELD_EDIT,
     .max = 65536,
     .fallback = "{}",
     .check = selection_check,
     .schema = SELECTION_SCHEMA,
     .title = {"Samples", "样本范围"},
     .help = {"states, labels, splits, q (beginning of the name), share (0 to 1) and order (position, name, "
              "random); empty: all samples",
              "states、labels、splits、q（名称前缀）、share（0 到 1）与 "
              "order（position、name、random）；留空为全部样本"}},
    {.name = "instructions",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT | FIELD_LONG,
     .max = 200000,
     .section = SECTION_HOW,
     .title = {"Instructions", "标注说明"},
     .help = {"Markdown; a picture is ![text](upload:ID) of an upload.",
              "Markdown 格式；图片写作 ![文字](upload:上传编号)。"}},
    /* ["digest",...]: instructions.h */
    {.name = "pictures", .type = FIELD_JSON, .flags = FIELD_INTERNAL, .title = {"Pictures", "图片"}},
    {.name = "batch_size",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .min = 1,
     .max = 500,
     .fallback = "20",
     .section = SECTION_HOW,
     .title = {"Samples at a time", "每次领取数"}},
    {.name = "lease",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .min = 1,
     .max = 86400,
     .fallback = "1800",
     .unit = "seconds",
     .section = SECTION_HOW,
     .title = {"Lease", "领取时限"},
     .help = {"How long a sample is kept for a person who does nothing.",
              "领取后无操作时，样本保留的时间。"}},
    {.name = "require_attributes",
     .type = FIELD_BOOL,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .fallback = "true",
     .section = SECTION_HOW,
     .title = {"Attributes are required", "必须填写属性"},
     .help = {"Samples are submitted only with all attributes that their labels require.",
              "标签要求的属性全部填写后才能提交。"}},
    COUNTER("samples", "Samples", "样本数"),
    COUNTER("labelled", "Labelled", "已标注"),
    COUNTER("reviewing", "In review", "审核中"),
    COUNTER("accepted", "Accepted", "已通过"),
    COUNTER("rejected", "Rejected", "已驳回"),
    COUNTER("skipped", "Skipped", "已跳过"),
    {0},
};

/* --- rules --- */

static bool team_fits(struct op *op, const struct object *o, const char *field, const char *role,
                      struct err *err)
{
    struct object team;
    bool found;
    if (object_value(o, field)->type == DB_NULL)
        return true;
    if (!engine_load_row(op, &kind_team, object_int(o, field), &team, &found, err))
        return false;
    return (found && str_is(object_text(&team, "role"), role)) ||
           err_message(err, ERR_INVALID, field, MESSAGE_TEAM_ROLE, field, role);
}

static bool teams_fit(struct op *op, const struct object *o, struct err *err)
{
    if (object_int(o, "seats") > 1 && object_value(o, "review_team")->type == DB_NULL)
        return err_message(err, ERR_INVALID, "review_team", MESSAGE_LABEL_SEATS_REVIEW);
    return team_fits(op, o, "labelling_team", "labelling", err) &&
           team_fits(op, o, "review_team", "review", err);
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    struct object version;
    struct sample_set set;
    if (!teams_fit(op, o, err) || !label_set_of(op, o, &version, &set, err))
        return false;
    if (version.project != o->project)
        return err_message(err, ERR_INVALID, "version", MESSAGE_LABEL_VERSION_ELSEWHERE);
    return (object_int(o, "seats") > 1 || sample_set_open(&set, err)) && instructions_use(op, NULL, o, err);
}

/* Seats are counted into every sample of an open task, and its samples were listed by the selection. */
static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    struct str state = object_text(old, "state");
    if (object_int(old, "seats") != object_int(new_, "seats") && !str_is(state, "draft"))
        return err_message(err, ERR_CONFLICT, "seats", MESSAGE_LABEL_ONLY_DRAFT, "seats");
    if (!str_eq(object_text(old, "selection"), object_text(new_, "selection")) && !str_is(state, "draft") &&
        !str_is(state, "paused"))
        return err_message(err, ERR_CONFLICT, "selection", MESSAGE_LABEL_ONLY_PAUSED, "selection");
    return teams_fit(op, new_, err) && instructions_use(op, old, new_, err);
}

/* There may be a million rows: they go in the background. Nobody holds a sample by them any more. */
static bool after_delete(struct op *op, struct object *o, struct err *err)
{
    return instructions_use(op, o, NULL, err) &&
           conn_exec(op->conn,
                     "UPDATE label_assignments SET leased = 0, holds = 0, live = 0"
                     " WHERE task = ? AND (leased = 1 OR holds = 1 OR live = 1)",
                     db_args(db_int(o->id)), NULL, err) &&
           conn_exec(op->conn, "INSERT INTO label_purges (task) VALUES (?)", db_args(db_int(o->id)), NULL,
                     err);
}

/* --- who sees which --- */

/* Whoever may read teams sees all tasks of the project; others those of teams that they are in. */
static bool sees_only_own(const struct grants *g, int64_t project)
{
    struct permission_set may = grants_in(g, project);
    return permission_has(&may, permission_find("label_task.read")) &&
           !permission_has(&may, permission_find("team.read"));
}

#define OF_MY_TEAMS                                                                                          \
    "EXISTS (SELECT 1 FROM team_members tm WHERE tm.member = ? AND tm.team IN (labelling_team, "             \
    "review_team))"

static const char *visible(struct op *op, struct db_value *arg)
{
    const struct grants *g = grants_of(op->caller);
    auto_buf struct buf only = {0};
    size_t n = 0;
    for (size_t i = 0; g && i < g->count; i++)
        if (sees_only_own(g, g->projects[i].project))
            buf_printf(&only, "%s%lld", n++ ? ", " : "", (long long)g->projects[i].project);
    if (!n)
        return NULL;
    *arg = db_int(op->caller->user);
    if (n == g->count)
        return OF_MY_TEAMS;
    return arena_printf(op->arena, "project NOT IN (%s) OR " OF_MY_TEAMS, only.p);
}

/* Titles of what actions of the task ask for. */
static const struct kind_permission permissions[] = {
    {"annotation.update", {"Label samples that one was given", "标注分配到的样本"}},
    {"review.update", {"Review what others labelled", "审核他人的标注"}},
    {NULL, {NULL, NULL}},
};

const struct kind kind_label_task = {
    .name = "label_task",
    .plural = "label-tasks",
    .table = "label_tasks",
    .title = {"Labelling task", "标注任务"},
    .titles = {"Labelling tasks", "标注任务"},
    .help = {"Samples of a version that a team labels and another reviews", "由团队标注并审核的一组样本"},
    .menu = "data",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .delete_own = true,
    .fields = fields,
    .actions = label_actions,
    .permissions = permissions,
    .prepare = instructions_prepare,
    .before_create = before_create,
    .before_update = before_update,
    .after_delete = after_delete,
    .visible = visible,
    .extra_sql = label_sql,
};
