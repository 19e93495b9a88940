/* Sentences about algorithms that declare themselves and about one-click training: a part of the catalogue of
 * base/messages.h. */
#ifndef INGOT_BASE_MESSAGES_LEARN_H
#define INGOT_BASE_MESSAGES_LEARN_H

/* --- algorithms: the manifest ingot-algorithm.json and values of its parameters --- */
#define MESSAGE_ALGORITHM_LARGE                                                                              \
    "algorithm-large", "ingot-algorithm.json has %lld bytes; at most %lld are read",                         \
        "ingot-algorithm.json 有 %lld 字节，最多读取 %lld 字节"
#define MESSAGE_ALGORITHM_JSON                                                                               \
    "algorithm-json", "ingot-algorithm.json is no JSON", "ingot-algorithm.json 不是 JSON"
#define MESSAGE_ALGORITHM_FORM                                                                               \
    "algorithm-form", "ingot: must be 1, the form that this platform reads",                                 \
        "ingot：应为 1，即本平台可读的格式"
#define MESSAGE_ALGORITHM_NO_FUNCTION                                                                        \
    "algorithm-no-function", "functions: names none of train, test, batch, serve, sdk",                      \
        "functions：未声明 train、test、batch、serve、sdk 中的任何一个"
#define MESSAGE_ALGORITHM_NAME                                                                               \
    "algorithm-name", "%s: must be small letters, digits and _, a letter first",                             \
        "%s：只能是小写字母、数字和 _，且以字母开头"
#define MESSAGE_ALGORITHM_RESERVED                                                                           \
    "algorithm-reserved", "%s: the platform sets %s, which must be of the type %s",                          \
        "%s：%s 由平台设置，类型应为 %s"
#define MESSAGE_ALGORITHM_IMAGE                                                                              \
    "algorithm-image", "%s: there is a runtime, too; one of the two is enough",                              \
        "%s：已指定 runtime，二者只能取其一"
#define MESSAGE_ALGORITHM_RANGE "algorithm-range", "%s: is less than min", "%s：小于 min"
#define MESSAGE_ALGORITHM_LOG                                                                                \
    "algorithm-log", "%s: a parameter with log needs a min above 0", "%s：带 log 的参数需要大于 0 的 min"
#define MESSAGE_ALGORITHM_CHOICE                                                                             \
    "algorithm-choice", "%s: must be a number or a text of 1 to 100 characters",                             \
        "%s：必须是数字或 1 至 100 个字符的文本"
#define MESSAGE_ALGORITHM_NO_PARAMETER                                                                       \
    "algorithm-no-parameter", "%s: the algorithm has no such parameter; it has: %s",                         \
        "%s：算法没有此参数；可用的有：%s"
#define MESSAGE_ALGORITHM_VALUES                                                                             \
    "algorithm-values", "parameters: have %lld bytes; at most %lld are allowed",                             \
        "parameters：共 %lld 字节，最多 %lld 字节"
#define MESSAGE_ALGORITHM_MERGES                                                                             \
    "algorithm-merges", "%s: at most %d labels can be merged into others", "%s：最多可合并 %d 个标签"
#define MESSAGE_ALGORITHM_CIRCLE                                                                             \
    "algorithm-circle", "%s: the label %.*s is merged in a circle", "%s：标签 %.*s 的合并形成循环"
#define MESSAGE_ALGORITHM_LEFT_OUT                                                                           \
    "algorithm-left-out", "%s: the label %.*s is left out: it can neither be merged nor merged into",        \
        "%s：标签 %.*s 已被排除，不能合并或作为合并目标"

#define MESSAGE_FUNCTION_NONE                                                                                \
    "function-none", "function: the algorithm's ingot-algorithm.json declares no function %.*s",             \
        "function：算法的 ingot-algorithm.json 未声明功能 %.*s"
/* A row of functions (core/folder/algorithm_file.c) has the sentence: id, then both languages as words. */
#define MESSAGE_FUNCTION_BATCH                                                                               \
    "function-batch", "batch inference by algorithms does not run on this platform yet: serve the model",    \
        "平台尚不支持按算法运行批量推理：请将模型部署为服务"
#define MESSAGE_FUNCTION_SERVE                                                                               \
    "function-serve", "algorithms are not served as such: deploy the model that one makes",                  \
        "算法不能直接作为服务运行：请部署其生成的模型"
#define MESSAGE_FUNCTION_SDK                                                                                 \
    "function-sdk", "packages for devices are not built of algorithms yet: download the model's files",      \
        "尚不支持由算法生成设备 SDK：请下载模型文件"

/* --- trainings --- */
#define MESSAGE_TRAINING_COMMAND                                                                             \
    "training-command",                                                                                      \
        "command: is required: the training has no algorithm with an ingot-algorithm.json that says how",    \
        "command：必填：训练没有带 ingot-algorithm.json 的算法来说明如何运行"
#define MESSAGE_TRAINING_TYPE                                                                                \
    "training-type", "datasets: %.*s has annotations of the type %.*s, which the algorithm does not take",   \
        "datasets：%.*s 的标注类型为 %.*s，算法不支持"
#define MESSAGE_TRAINING_NO_DATASET                                                                          \
    "training-no-dataset", "datasets: the algorithm needs a dataset version",                                \
        "datasets：算法需要一个数据集版本"
#define MESSAGE_TRAINING_NO_BASE                                                                             \
    "training-no-base", "base_model: the algorithm needs a model to begin with",                             \
        "base_model：算法需要一个初始模型"
#define MESSAGE_RUNTIME_NONE                                                                                 \
    "runtime-none", "image: give the training one, or have the algorithm's runtime %.*s made ready",         \
        "image：请为训练指定镜像，或先准备好算法所需的运行环境 %.*s"

/* --- one-click training: what is said before it starts --- */
#define MESSAGE_ONE_CLICK_FILES                                                                              \
    "one-click-files",                                                                                       \
        "the files of one-click training are not beside this program: install it with make install",         \
        "程序旁没有一键训练的文件：请使用 make install 安装"
#define MESSAGE_PLAN_TYPE                                                                                    \
    "plan-type", "there is no one-click training for annotations of the type %s; there is for %s",           \
        "标注类型 %s 暂不支持一键训练；支持的类型有：%s"
#define MESSAGE_PLAN_EMPTY       "plan-empty", "the version has no samples", "该版本没有样本"
#define MESSAGE_PLAN_UNANNOTATED "plan-unannotated", "no sample is annotated yet", "还没有样本被标注"
#define MESSAGE_PLAN_NOT_USED                                                                                \
    "plan-not-used", "%lld samples without an annotation are not used", "%lld 个未标注的样本不参与训练"
#define MESSAGE_PLAN_REJECTED                                                                                \
    "plan-rejected", "%lld rejected samples are not used", "%lld 个审核未通过的样本不参与训练"
#define MESSAGE_PLAN_NO_TEST                                                                                 \
    "plan-no-test", "no samples are kept for testing: how good the model is will not be known",              \
        "没有留作测试的样本：无法得知模型效果"
#define MESSAGE_PLAN_ONE_CLASS                                                                               \
    "plan-one-class", "all samples are of one class: there is nothing to tell apart",                        \
        "所有样本都属于同一类别，没有可区分的内容"
#define MESSAGE_PLAN_AREA_LABELS                                                                             \
    "plan-area-labels",                                                                                      \
        "there are %lld classes, and areas can be learnt of at most %d: leave out or merge some",            \
        "共有 %lld 个类别，而分割最多支持 %d 个：请排除或合并一些类别"
#define MESSAGE_PLAN_NO_CLASS "plan-no-class", "no class is left to learn", "没有可学习的类别"
#define MESSAGE_PLAN_HARDLY                                                                                  \
    "plan-hardly", "%.*s has %lld samples: too few to learn from; leave it out or merge it",                 \
        "%.*s 只有 %lld 个样本，无法学习；请排除或合并"
#define MESSAGE_PLAN_FEW                                                                                     \
    "plan-few", "%.*s has %lld samples: with fewer than 10 it will often be taken for another",              \
        "%.*s 只有 %lld 个样本，少于 10 个时常会被误认"
#define MESSAGE_PLAN_SOME                                                                                    \
    "plan-some", "%.*s has %lld samples: 30 and more are better", "%.*s 有 %lld 个样本，30 个以上效果更好"
#define MESSAGE_PLAN_FURTHER                                                                                 \
    "plan-further", "%lld further classes have fewer than 30 samples, %lld of them fewer than 10",           \
        "另有 %lld 个类别少于 30 个样本，其中 %lld 个少于 10 个"
#define MESSAGE_PLAN_UNBALANCED                                                                              \
    "plan-unbalanced",                                                                                       \
        "the largest class has %lld samples, the smallest %lld: the small ones will be found less",          \
        "最大的类别有 %lld 个样本，最小的只有 %lld 个：样本少的类别较难识别"
#define MESSAGE_PLAN_NO_LABEL "plan-no-label", "no sample has the label %.*s", "没有样本带有标签 %.*s"
#define MESSAGE_PLAN_UNUSED                                                                                  \
    "plan-unused", "%lld labels of the label set do not occur: %s", "标签集中有 %lld 个标签没有出现：%s"
#define MESSAGE_PLAN_NO_BASE                                                                                 \
    "plan-no-base",                                                                                          \
        "the pretrained network is not installed, so training begins from nothing: an administrator runs "   \
        "`ingot fetch %s`",                                                                                  \
        "未安装预训练网络，将从零开始训练：请管理员运行 `ingot fetch %s`"
#define MESSAGE_PLAN_RUNTIME "plan-runtime", "training needs the runtime %.*s", "训练需要运行环境 %.*s"
#define MESSAGE_PLAN_SPEC                                                                                    \
    "plan-spec", "no spec has %d GB of memory without accelerators: an administrator makes one",             \
        "没有内存不少于 %d GB 且不含加速卡的规格：请管理员创建"

#endif
