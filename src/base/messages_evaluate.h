/* Sentences about evaluations; as base/messages.h. */
#ifndef INGOT_BASE_MESSAGES_EVALUATE_H
#define INGOT_BASE_MESSAGES_EVALUATE_H

/* --- evaluations --- */
#define MESSAGE_EVALUATION_SUBJECT                                                                           \
    "evaluation-subject", "model_version: give one of model_version, service_version and layer",             \
        "model_version：请在 model_version、service_version、layer 中指定一个"
#define MESSAGE_EVALUATION_SPLITS                                                                            \
    "evaluation-splits",                                                                                     \
        "splits: some of train, val and test, together with part \"splits\", and else none",                 \
        "splits：part 为 splits 时应为 train、val、test 中的若干项，否则应为空"
#define MESSAGE_EVALUATION_NO_TEST                                                                           \
    "evaluation-no-test", "part: a layer has no test part", "part：标注层没有测试部分"
#define MESSAGE_EVALUATION_LAYER                                                                             \
    "evaluation-layer", "layer: must be of the same dataset version", "layer：应属于同一数据集版本"
#define MESSAGE_EVALUATION_UNLABELLED                                                                        \
    "evaluation-unlabelled", "dataset_version: none of its samples was labelled by a person or an import",   \
        "dataset_version：没有由人工或导入标注的样本"
#define MESSAGE_EVALUATION_TYPE                                                                              \
    "evaluation-type", "dataset_version: the model does %s, and the dataset is labelled for %s",             \
        "dataset_version：模型的任务是 %s，而数据集的标注类型是 %s"
#define MESSAGE_EVALUATION_MANIFEST                                                                          \
    "evaluation-manifest", "model_version: it has no ingot-model.json, which says how it is asked",          \
        "model_version：没有说明调用方式的 ingot-model.json"
#define MESSAGE_EVALUATION_NO_SPLIT                                                                          \
    "evaluation-no-split", "part: the model version has no split.json that names test files",                \
        "part：模型版本没有列出测试文件的 split.json"
#define MESSAGE_EVALUATION_NO_MODEL                                                                          \
    "evaluation-no-model", "service_version: it serves no model", "service_version：没有部署模型"
#define MESSAGE_EVALUATION_MODEL_GONE                                                                        \
    "evaluation-model-gone", "the model version was deleted", "模型版本已删除"
#define MESSAGE_EVALUATION_GONE "evaluation-gone", "the evaluation was deleted", "评估已删除"
#define MESSAGE_EVALUATION_EMPTY                                                                             \
    "evaluation-empty", "the part has no labelled samples", "所选范围内没有已标注的样本"
#define MESSAGE_EVALUATION_RUNS                                                                              \
    "evaluation-runs", "the evaluation is not over yet: stop it first", "评估尚未结束：请先停止"
#define MESSAGE_EVALUATION_OVER "evaluation-over", "the evaluation is over already", "评估已结束"
#define MESSAGE_EVALUATION_NO_REPORT                                                                         \
    "evaluation-no-report", "the evaluation has no report: it is %.*s", "评估没有报告：当前状态为 %.*s"
#define MESSAGE_EVALUATION_ALL_FAILED                                                                        \
    "evaluation-all-failed", "the model could be asked about none of the %lld files; the first: %.*s",       \
        "模型无法处理全部 %lld 个文件；第一个：%.*s"
#define MESSAGE_EVALUATION_FOUND_GONE                                                                        \
    "evaluation-found-gone", "what the model found is not here any more: start the evaluation again",        \
        "模型的输出已不存在：请重新启动评估"
#define MESSAGE_EVALUATION_OTHER_SAMPLES                                                                     \
    "evaluation-other-samples",                                                                              \
        "with: the two were not evaluated on the same samples, so they cannot be compared",                  \
        "with：两次评估的样本不同，无法比较"
#define MESSAGE_EVALUATION_NO_LABEL                                                                          \
    "evaluation-no-label", "%s: there is no such label in the evaluation", "%s：评估中没有该标签"

/* --- evaluations in plain words --- */
#define MESSAGE_WORDS_RIGHT                                                                                  \
    "words-right", "It is right on %.0f of 100 samples, and surely on %.0f to %.0f.",                        \
        "100 个样本中答对 %.0f 个，可靠范围为 %.0f 至 %.0f 个。"
#define MESSAGE_WORDS_FINDS                                                                                  \
    "words-finds", "It finds %.0f of 10 things; of 10 that it finds, %.0f are right (from score %.2f on).",  \
        "10 个目标中能找到 %.0f 个；找到的 10 个中有 %.0f 个正确（分数不低于 %.2f）。"
#define MESSAGE_WORDS_TEXT "words-text", "Of 100 characters, %.1f are wrong.", "100 个字符中有 %.1f 个错误。"
#define MESSAGE_WORDS_BEST                                                                                   \
    "words-best", "It is best at “%.*s”: it finds %.0f of 10.", "最擅长“%.*s”：10 个中找到 %.0f 个。"
#define MESSAGE_WORDS_WORST                                                                                  \
    "words-worst", "It is worst at “%.*s”: it finds %.0f of 10.", "最不擅长“%.*s”：10 个中找到 %.0f 个。"
#define MESSAGE_WORDS_TAKES                                                                                  \
    "words-takes", "Most often it takes “%.*s” for “%.*s” (%lld×).", "最常把“%.*s”当成“%.*s”（%lld 次）。"
#define MESSAGE_WORDS_MISSES                                                                                 \
    "words-misses", "What it overlooks most is “%.*s” (%lld×).", "最常漏掉“%.*s”（%lld 次）。"
#define MESSAGE_WORDS_INVENTS                                                                                \
    "words-invents", "What it sees most where there is nothing is “%.*s” (%lld×).",                          \
        "最常在没有目标处误报“%.*s”（%lld 次）。"
#define MESSAGE_WORDS_SLICE                                                                                  \
    "words-slice", "It does worse where %.*s is “%.*s”: %.*s is %.2f there, and %.2f in all.",               \
        "当 %.*s 为“%.*s”时较差：%.*s 为 %.2f，总体为 %.2f。"
#define MESSAGE_WORDS_FEW                                                                                    \
    "words-few", "These are only %lld samples: another few may give other figures.",                         \
        "只有 %lld 个样本：换一批样本结果可能不同。"
#define MESSAGE_WORDS_FAILED                                                                                 \
    "words-failed", "%lld files could not be read by the model and count as nothing found.",                 \
        "有 %lld 个文件模型无法读取，按未找到计。"
#define MESSAGE_WORDS_UNKNOWN                                                                                \
    "words-unknown", "The model does not know the label “%.*s”: it can never find it.",                      \
        "模型不认识标签“%.*s”，不可能找到它。"
#define MESSAGE_WORDS_BETTER                                                                                 \
    "words-better", "%.*s is better by %.3f, and that is no chance.", "%.*s 提高了 %.3f，并非偶然。"
#define MESSAGE_WORDS_POORER                                                                                 \
    "words-poorer", "%.*s is worse by %.3f, and that is no chance.", "%.*s 降低了 %.3f，并非偶然。"
#define MESSAGE_WORDS_SAME                                                                                   \
    "words-same", "%.*s differs by %.3f: these samples cannot show a difference.",                           \
        "%.*s 相差 %.3f：这些样本不足以说明有差异。"
#define MESSAGE_NAME_EVALUATE "name-evaluate", "Evaluate %.*s", "评估 %.*s"

#endif
