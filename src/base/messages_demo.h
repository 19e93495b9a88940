/* Sentences about the demo project: a part of the catalogue of base/messages.h. */
#ifndef INGOT_BASE_MESSAGES_DEMO_H
#define INGOT_BASE_MESSAGES_DEMO_H

#define MESSAGE_NAME_DEMO_LOAD   "name-demo-load", "Load the demo project", "加载示例项目"
#define MESSAGE_NAME_DEMO_TRAIN  "name-demo-train", "Demo project: train a model", "示例项目：训练模型"
#define MESSAGE_NAME_DEMO_REMOVE "name-demo-remove", "Remove the demo project", "移除示例项目"
#define MESSAGE_DEMO_NAME                                                                                    \
    "demo-name", "name: \"%s\" and the same with a number are all taken: rename one of them",                \
        "name：“%s”及其带编号的名称均已被占用，请先重命名其中一个"
#define MESSAGE_DEMO_ABSENT                                                                                  \
    "demo-absent", "the demo project is not there: load it first", "示例项目尚不存在：请先加载"
#define MESSAGE_DEMO_BUSY                                                                                    \
    "demo-busy", "a background task is at work on the demo project: wait for it, or cancel it",              \
        "后台任务正在处理示例项目：请等待其完成或将其取消"
#define MESSAGE_DEMO_GONE                                                                                    \
    "demo-gone", "the demo's project was deleted: remove the demo, then load it anew",                       \
        "示例的项目已被删除：请先移除示例，再重新加载"
#define MESSAGE_DEMO_PART                                                                                    \
    "demo-part", "the data of the demo project is not there yet: load it first",                             \
        "示例项目的数据尚未就绪：请先加载"
#define MESSAGE_DEMO_CONFIRM                                                                                 \
    "demo-confirm", "name: must be the name of the demo's project, \"%.*s\"",                                \
        "name：必须是示例项目的名称“%.*s”"
#define MESSAGE_DEMO_NO_PROGRAM                                                                              \
    "demo-no-program", "scripts/demo is not beside this program: install it with `make install`",            \
        "程序旁没有 scripts/demo：请用 `make install` 安装"
#define MESSAGE_DEMO_STEP "demo-step", "step \"%.*s\": %.*s", "步骤“%.*s”：%.*s"
#define MESSAGE_DEMO_NO_ADDRESS                                                                              \
    "demo-no-address", "the platform's own address is not known yet: try again",                             \
        "平台自身的地址尚不可用：请重试"

#endif
