/* Sentences about trainings and their runs: a part of the catalogue of base/messages.h. */
#ifndef INGOT_BASE_MESSAGES_TRAINING_H
#define INGOT_BASE_MESSAGES_TRAINING_H

/* --- why a run failed, and what to do (core/training/cause.c). `*` is what the log names, a part in braces
 * is left out when it names nothing --- */
#define MESSAGE_CAUSE_MEMORY                                                                                 \
    "cause-out-of-memory",                                                                                   \
        "It needed more memory than its spec gives. Choose a spec with more memory, or a smaller batch.",    \
        "所需内存超出规格上限。请选择内存更大的规格，或减小批量。"
#define MESSAGE_CAUSE_DEVICE_MEMORY                                                                          \
    "cause-device-memory",                                                                                   \
        "The accelerator's memory was not enough. Use a smaller batch or smaller pictures.",                 \
        "加速卡显存不足。请减小批量或图片尺寸。"
#define MESSAGE_CAUSE_MODULE                                                                                 \
    "cause-module-missing",                                                                                  \
        "The image lacks the module *. Choose an image that has it, or install it in an environment and "    \
        "save that as an image.",                                                                            \
        "镜像中没有模块 *。请选择包含它的镜像，或在开发环境中安装后保存为镜像。"
#define MESSAGE_CAUSE_RUNTIME                                                                                \
    "cause-runtime", " The runtime * has it: the page Runtimes names its image.",                            \
        "运行环境 * 包含它：镜像名见“运行环境”页面。"
#define MESSAGE_CAUSE_SHARED_MEMORY                                                                          \
    "cause-shared-memory",                                                                                   \
        "Shared memory was not enough. Use fewer workers of the data loader, or a spec with more memory.",   \
        "共享内存不足。请减少数据加载的工作进程，或选择内存更大的规格。"
#define MESSAGE_CAUSE_SPACE                                                                                  \
    "cause-no-space",                                                                                        \
        "The disk or the project's storage was full. Choose a spec with a larger disk, keep fewer "          \
        "checkpoints, or delete what is not needed any more.",                                               \
        "磁盘或项目的存储空间已满。请选择磁盘更大的规格、减少保存的检查点，或删除不再需要的内容。"
#define MESSAGE_CAUSE_DEVICE                                                                                 \
    "cause-no-device",                                                                                       \
        "The code wants an accelerator that it cannot find. Choose a spec with accelerators and an image "   \
        "made for them, or let the code run on the CPU.",                                                    \
        "代码需要加速卡但未找到。请选择带加速卡的规格及对应镜像，或让代码在 CPU 上运行。"
#define MESSAGE_CAUSE_TIME                                                                                   \
    "cause-time-out",                                                                                        \
        "Its time was over, or something it waited for did not answer in time. Give it more hours, or "      \
        "resume it from its checkpoint.",                                                                    \
        "运行时间已到，或等待的内容未及时响应。请增加运行时限，或从检查点续训。"
#define MESSAGE_CAUSE_NAN                                                                                    \
    "cause-nan",                                                                                             \
        "The loss or the data is not a number (NaN). Use a smaller learning rate, and look for empty or "    \
        "broken samples.",                                                                                   \
        "损失或数据出现 NaN。请减小学习率，并检查空的或损坏的样本。"
#define MESSAGE_CAUSE_COMMAND                                                                                \
    "cause-command-not-found",                                                                               \
        "The image lacks the command{ *}. Correct the command, or choose an image that has it.",             \
        "镜像中没有命令{ *}。请更正命令，或选择包含它的镜像。"
#define MESSAGE_CAUSE_FILE                                                                                   \
    "cause-file-missing",                                                                                    \
        "There is no file or folder{ *}. Data is below /workspace/dataset, code in /workspace/algorithm.",   \
        "没有文件或文件夹{ *}。数据位于 /workspace/dataset，代码位于 /workspace/algorithm。"
#define MESSAGE_CAUSE_PERMISSION                                                                                \
    "cause-permission-denied",                                                                                  \
        "It may not write or run{ *}. Write to /workspace, /workspace/persistent-model or /workspace/logs; "    \
        "data and code are read-only.",                                                                         \
        "无权写入或执行{ *}。请写入 /workspace、/workspace/persistent-model 或 /workspace/logs；" \
        "数据和代码为只读。"
#define MESSAGE_CAUSE_KILLED                                                                                 \
    "cause-killed",                                                                                          \
        "Its process was killed, often because memory ran out. Look at its memory curve, and choose a spec " \
        "with more.",                                                                                        \
        "进程被终止，通常是因为内存不足。请查看内存曲线，并选择内存更大的规格。"
#define MESSAGE_CAUSE_EXCEPTION                                                                              \
    "cause-exception", "The code ended with the error *. The lines below say where.",                        \
        "代码因错误 * 结束，位置见下方日志。"
#define MESSAGE_CAUSE_OTHER                                                                                  \
    "cause-other", "No usual cause is recognised; what it wrote last may tell.",                             \
        "未识别出常见原因，请查看最后的输出。"

/* --- what a completed run did not leave (core/training/outputs.c) --- */
#define MESSAGE_OUTPUT_MODEL                                                                                 \
    "output-model",                                                                                          \
        "It ended without the model that its algorithm declares: there is no file in "                       \
        "/workspace/persistent-model.",                                                                      \
        "运行已结束，但没有留下算法声明的模型：/workspace/persistent-model 中没有文件。"
#define MESSAGE_OUTPUT_METRICS                                                                               \
    "output-metrics",                                                                                        \
        "It ended without the metrics that its algorithm declares: no line of its log is one.",              \
        "运行已结束，但没有留下算法声明的指标：日志中没有一行是指标。"

#endif
