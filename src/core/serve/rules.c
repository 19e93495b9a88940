#include "core/serve/rules.h"

#include "base/json.h"

static const struct choice actions[] = {
    {"stop", {"Send it no more requests", "不再向其发送请求"}},
    {"rollback", {"Retire it", "将其下线"}},
    {NULL, {NULL, NULL}},
};

const struct field rules_members[] = {
    {.name = "error_rate",
     .type = FIELD_REAL,
     .max = 1,
     .title = {"More failures by at most", "失败率最多高出"},
     .help = {"As a part of all its requests, above production's: 0.02 for two in a hundred.",
              "占其全部请求的比例，与生产版本相比：0.02 表示百分之二。"}},
    {.name = "p95_ratio",
     .type = FIELD_REAL,
     .min = 1,
     .max = 1000,
     .title = {"Slower by at most", "最多慢到"},
     .help = {"Its 95th percentile of time divided by production's: 1.5 for half as long again.",
              "其 95 分位时间与生产版本之比：1.5 表示慢一半。"}},
    {.name = "min_requests",
     .type = FIELD_INT,
     .min = 1,
     .max = 1000000,
     .title = {"Not before so many requests", "至少观察请求数"}},
    {.name = "golden_drop",
     .type = FIELD_REAL,
     .max = 1,
     .title = {"Worse on the golden version by at most", "黄金数据集上最多下降"},
     .help = {"Of the main figure: 0.02 for two points.", "按主要指标计：0.02 表示两个百分点。"}},
    {.name = "agreement",
     .type = FIELD_REAL,
     .max = 1,
     .title = {"Agrees with production on at least", "与生产版本的一致率至少"},
     .help = {"A part of the golden samples: 0.95 for 95 of a hundred.",
              "占黄金样本的比例：0.95 表示百分之九十五。"}},
    {.name = "action",
     .type = FIELD_CHOICE,
     .choices = actions,
     .title = {"When it breaks one", "违反时"},
     .help = {"By default it gets no more requests.", "默认不再向其发送请求。"}},
    {0},
};

static yyjson_val *parse(struct arena *a, struct str text, bool *ret_rollback)
{
    struct err ignored = {0};
    yyjson_val *doc = text.n ? json_parse(a, text, &ignored) : NULL;
    *ret_rollback = str_is(json_str(yyjson_obj_get(doc, "action")), "rollback");
    return doc;
}

bool rules_read(struct arena *a, struct str text, struct judge_rules *ret, bool *ret_rollback)
{
    yyjson_val *doc = parse(a, text, ret_rollback);
    yyjson_val *rate = yyjson_obj_get(doc, "error_rate"), *ratio = yyjson_obj_get(doc, "p95_ratio");
    *ret = (struct judge_rules){.error_rate = rate ? yyjson_get_num(rate) : -1,
                                .p95_ratio = ratio ? yyjson_get_num(ratio) : 0,
                                .min_requests = yyjson_get_sint(yyjson_obj_get(doc, "min_requests"))};
    return rate || ratio;
}

bool rules_read_golden(struct arena *a, struct str text, struct golden_rules *ret, bool *ret_rollback)
{
    yyjson_val *doc = parse(a, text, ret_rollback);
    yyjson_val *drop = yyjson_obj_get(doc, "golden_drop"), *agreement = yyjson_obj_get(doc, "agreement");
    *ret = (struct golden_rules){.drop = drop ? yyjson_get_num(drop) : -1,
                                 .agreement = agreement ? yyjson_get_num(agreement) : -1};
    return drop || agreement;
}
