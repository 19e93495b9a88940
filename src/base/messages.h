/* The catalogue of sentences for people: a name of its own and both languages side by side. A sentence is
 * given to err_message (base/err.h) or task_note (core/task/task.h) with its arguments; the compiler checks
 * these against both languages, and scripts/check/messages.py that each has both, with the same arguments,
 * and is used. Where the languages want another order, `%2$s` names the argument.
 *
 * Errors that only programmers meet (a malformed request, a broken disk) are English alone: err_set. */
#ifndef INGOT_BASE_MESSAGES_H
#define INGOT_BASE_MESSAGES_H

/* --- values of fields; the first argument is the field's name --- */
#define MESSAGE_REQUIRED        "required", "%s: is required", "%s：必填"
#define MESSAGE_UNKNOWN_FIELD   "unknown-field", "%s: there is no such field", "%s：没有此字段"
#define MESSAGE_NOT_AT_CREATION "not-at-creation", "%s: cannot be given at creation", "%s：创建时不能指定"
#define MESSAGE_NOT_AFTER_CREATION                                                                           \
    "not-after-creation", "%s: cannot be changed after creation", "%s：创建后不能修改"
#define MESSAGE_SET_BY_PLATFORM                                                                              \
    "set-by-platform", "%s: is set by the platform and cannot be given", "%s：由平台设置，不能指定"
#define MESSAGE_EMPTY                                                                                        \
    "empty", "%s: is empty; it must have %lld to %lld characters", "%s：不能为空，应为 %lld 至 %lld 个字符"
#define MESSAGE_LENGTH                                                                                       \
    "length", "%s: %s has %lld characters; it must have %lld to %lld",                                       \
        "%s：%s 有 %lld 个字符，应为 %lld 至 %lld 个"
#define MESSAGE_CONTROL_CHARACTER                                                                            \
    "control-character", "%s: contains the control character U+%04X, which is not allowed",                  \
        "%s：包含不允许的控制字符 U+%04X"
#define MESSAGE_TOO_SMALL "too-small", "%s: %s is less than %lld", "%s：%s 小于 %lld"
#define MESSAGE_TOO_LARGE "too-large", "%s: %s is more than %lld", "%s：%s 大于 %lld"
#define MESSAGE_NO_CHOICE "no-choice", "%s: %s is not one of %s", "%s：%s 不是以下之一：%s"
#define MESSAGE_COUNT                                                                                        \
    "count", "%s: has %lld elements; it must have %lld to %lld", "%s：有 %lld 项，应为 %lld 至 %lld 项"
#define MESSAGE_TWICE "twice", "%s: %lld is there twice", "%s：%lld 重复"

/* --- people --- */
#define MESSAGE_COOKIE_TWICE                                                                                 \
    "cookie-twice",                                                                                          \
        "the session's cookie is there twice: a page on another port or path of this host set one. Load "    \
        "the page again",                                                                                    \
        "会话 Cookie 出现了两次：本主机其他端口或路径上的页面设置了另一个。请重新加载页面"
#define MESSAGE_USER_MAY_MORE                                                                                \
    "user-may-more", "the user %s may do more than you may (%s)", "用户 %s 的权限多于您（%s）"

/* --- jobs that reach the platform --- */
#define MESSAGE_JOB_TOKEN_OVER                                                                               \
    "job-token-over", "the job's token is unknown, or its job has ended or may not reach the platform",      \
        "作业令牌无效：作业已结束，或项目不允许作业访问平台"
#define MESSAGE_JOB_USER_GONE                                                                                \
    "job-user-gone", "who started the job may do nothing in its project any more",                           \
        "作业的启动者在该项目中已没有权限"
#define MESSAGE_JOB_TOKEN_ONLY                                                                               \
    "job-token-only", "inside of a job's container only the job's own token is taken",                       \
        "在作业容器内只能使用该作业自己的令牌"
#define MESSAGE_JOB_TOKEN_ELSEWHERE                                                                          \
    "job-token-elsewhere", "a job's token is taken inside of the job's container only",                      \
        "作业令牌只能在该作业的容器内使用"
#define MESSAGE_JOB_NO_SIGN_IN                                                                               \
    "job-no-sign-in", "nobody signs in from inside of a job's container", "不能在作业容器内登录"
#define MESSAGE_JOB_API_ONLY                                                                                 \
    "job-api-only", "inside of a job's container there is only the API, below /api/",                        \
        "在作业容器内只能访问 /api/ 下的接口"

/* --- object stores --- */
#define MESSAGE_OBJECT_SIZE                                                                                  \
    "object-size", "the object store says \"%.*s\" bytes of \"%.*s\", which no object has",                  \
        "对象存储称有“%.*s”字节：%.*s，没有这样的对象"
#define MESSAGE_OBJECT_CHANGED                                                                               \
    "object-changed", "the object store sends other than the %lld bytes of \"%.*s\" that it told of before", \
        "对象存储发送的内容与此前所称的 %lld 字节不符：%.*s"
#define MESSAGE_OBJECTS_ENDLESS                                                                              \
    "objects-endless", "s3: the list of objects does not end", "s3：对象列表没有尽头"

/* --- imports from databases --- */
#define MESSAGE_QUERY_NO_SELECT                                                                              \
    "query-no-select", "database.query: must be a SELECT (or WITH ... SELECT); it begins with \"%.*s\"",     \
        "database.query：必须是 SELECT（或 WITH ... SELECT），实际以“%.*s”开头"
#define MESSAGE_QUERY_TWO                                                                                    \
    "query-two", "database.query: has more than one statement", "database.query：只能有一条语句"
#define MESSAGE_QUERY_WORD                                                                                   \
    "query-word", "database.query: \"%.*s\" is not taken: a query only reads",                               \
        "database.query：不接受“%.*s”：查询只能读取数据"
#define MESSAGE_QUERY_CALL                                                                                   \
    "query-call", "database.query: %.*s() is not taken: it is no built-in function that only reads",         \
        "database.query：不接受 %.*s()：它不是只读的内置函数"
#define MESSAGE_QUERY_COMMENT                                                                                \
    "query-comment", "database.query: a comment that the server would run (/*%c) is not taken",              \
        "database.query：不接受会被服务器执行的注释（/*%c）"
#define MESSAGE_QUERY_CHARACTER                                                                              \
    "query-character", "database.query: the character U+%04X is taken inside quotes only",                   \
        "database.query：字符 U+%04X 只能出现在引号内"
#define MESSAGE_QUERY_NO_END                                                                                 \
    "query-no-end", "database.query: a quoted text or a comment has no end",                                 \
        "database.query：引号或注释没有结束"
#define MESSAGE_DATABASE_ODD                                                                                 \
    "database-odd", "the database does not answer as one does: %s", "数据库的应答不符合协议：%s"
#define MESSAGE_DATABASE_SILENT                                                                              \
    "database-silent", "the database said nothing for %d seconds", "数据库 %d 秒没有应答"
#define MESSAGE_DATABASE_PLUGIN                                                                              \
    "database-plugin",                                                                                       \
        "the database asks for the password itself, which it gets over TLS only: give tls, required",        \
        "数据库要求直接发送密码，仅在 TLS 下允许：请将 tls 设为 required"

/* --- imports --- */
#define MESSAGE_FORMAT_DOUBT                                                                                 \
    "format-doubt", "format: these files could be %s; say which is meant",                                   \
        "format：这些文件可能是 %s，请指明格式"
#define MESSAGE_CLASS_DOUBT                                                                                  \
    "class-doubt",                                                                                           \
        "format: the class of \"%.*s\" could be \"%.*s\" or \"%.*s\"; say image-folder for the first, "      \
        "or files to take no classes",                                                                       \
        "format：“%.*s” 的类别可能是 “%.*s” 或 “%.*s”；取前者请指定 image-folder，不取类别请指定 files"
#define MESSAGE_FOREIGN_FILE                                                                                                                      \
    "foreign-file",                                                                                                                               \
        "format: the folders could be classes, but no format reads \"%.*s\" beside them; say image-folder "                                       \
        "to take the folders as classes, or files to take no classes",                                                                            \
        "format：文件夹可能是类别，但没有格式能读取旁边的“%.*s”；以文件夹为类别请指定 image-folder，否则 " \
        "files"
#define MESSAGE_IMPORT_NOTHING                                                                               \
    "import-nothing",                                                                                        \
        "nothing was taken: as %s none of the %lld files (\"%.*s\") gave a sample of the type %s; see the "  \
        "report",                                                                                            \
        "没有导入任何内容：按 %s 读取，%lld 个文件（“%.*s”）都没有给出 %s 类型的样本，原因见报告"
#define MESSAGE_LABELS_KEPT                                                                                  \
    "labels-kept", "a person labelled it, so it stays as it is; `replace` replaces it",                      \
        "该样本由人工标注，保持不变；如需替换请使用 `replace`"
#define MESSAGE_LABELS_REPLACED                                                                              \
    "labels-replaced", "a person had labelled it; its history keeps what was replaced",                      \
        "人工标注已被替换，原标注保留在样本历史中"

/* --- dataset versions --- */
#define MESSAGE_VERSION_PUBLISHING                                                                           \
    "version-publishing", "the version is being published: wait for that or cancel the task",                \
        "版本正在发布：请等待完成或取消任务"
#define MESSAGE_TRAINING_NONE                                                                                \
    "training-none",                                                                                         \
        "no sample can be used for training: none of the version is in one of the states asked for",         \
        "没有可用于训练的样本：该版本没有处于所选状态的样本"
#define MESSAGE_PAGES_LEFT_OUT                                                                               \
    "pages-left-out", "it has %lld pages; the first is taken, the others are left out",                      \
        "有 %lld 页；仅取第一页，其余未导入"
#define MESSAGE_PAGES_DROPPED                                                                                \
    "pages-dropped", "of its %lld pages only the first is in the new picture",                               \
        "共 %lld 页，新图像仅包含第一页"
#define MESSAGE_NO_SIDES                                                                                     \
    "no-sides", "no two points of a label are named left and right: mirroring swaps none",                   \
        "没有按左右命名的成对关键点：镜像不交换任何点"

/* --- background tasks: what each is called, and their ends --- */
#define MESSAGE_NAME_IMPORT          "name-import", "Import %.*s", "导入 %.*s"
#define MESSAGE_NAME_IMPORT_FILES    "name-import-files", "Import %zu files", "导入 %zu 个文件"
#define MESSAGE_NAME_IMPORT_S3       "name-import-s3", "Import s3://%s", "导入 s3://%s"
#define MESSAGE_NAME_IMPORT_DATABASE "name-import-database", "Import database %.100s", "导入数据库 %.100s"
#define MESSAGE_NAME_EXPORT          "name-export", "Export as %s", "导出为 %s"
#define MESSAGE_NAME_TRAINING_DATA   "name-training-data", "Generate training data", "生成训练数据"
#define MESSAGE_NAME_PREPROCESS      "name-preprocess", "Preprocess", "预处理"
#define MESSAGE_NAME_MEASURE         "name-measure", "Measure sharpness and likeness", "计算清晰度与相似度"
#define MESSAGE_NAME_RECORDS         "name-records", "Write record files", "生成记录文件"
#define MESSAGE_NAME_COPY            "name-copy", "Copy samples to %.*s", "复制样本到 %.*s"
#define MESSAGE_NAME_PUBLISH         "name-publish", "Publish %.*s", "发布 %.*s"
#define MESSAGE_NAME_CHANGES         "name-changes", "Changes since %.*s", "自 %.*s 以来的变化"
#define MESSAGE_NAME_CHECKPOINT      "name-checkpoint", "Copy the checkpoint for %.*s", "为 %.*s 复制检查点"
#define MESSAGE_NAME_TRAINING_END    "name-training-end", "Save what %.*s/%.*s left", "保存 %.*s/%.*s 的产出"
#define MESSAGE_NAME_KEEP            "name-keep", "Keep %.*s", "保存 %.*s 为版本"
#define MESSAGE_NAME_IMAGE_SAVE      "name-image-save", "Save %.*s:%.*s", "保存 %.*s:%.*s"
#define MESSAGE_NAME_IMAGE_BUILD     "name-image-build", "Build %.*s:%.*s", "构建 %.*s:%.*s"
#define MESSAGE_NAME_IMAGE_DERIVE    "name-image-derive", "Derive %.*s:%.*s", "派生 %.*s:%.*s"
#define MESSAGE_NAME_IMAGE_IMPORT    "name-image-import", "Import %.*s:%.*s", "导入 %.*s:%.*s"
#define MESSAGE_NAME_IMAGE_PULL      "name-image-pull", "Pull %.*s", "拉取 %.*s"
#define MESSAGE_TASK_CANCELLED       "task-cancelled", "cancelled", "已取消"
#define MESSAGE_TASK_STOPPING                                                                                \
    "task-stopping", "the server stops; the task goes on after its next start",                              \
        "服务正在停止，任务会在下次启动后继续"
#define MESSAGE_TASK_TOO_LONG                                                                                \
    "task-too-long", "it took longer than the %.6g hours that a task of its type may take, and was ended",   \
        "运行超过该类任务的 %.6g 小时上限，已被结束"
#define MESSAGE_TASK_RUNNING                                                                                 \
    "task-running", "the task is not over yet: cancel it first", "任务尚未结束，请先取消"
#define MESSAGE_TASK_OVER "task-over", "the task is over already", "任务已经结束"
#define MESSAGE_REPORT_CUT                                                                                   \
    "report-cut", "the report ends here; the task's field problems counts the rest too",                     \
        "报告到此为止，其余问题仅计入任务的问题数"

/* --- models --- */
#define MESSAGE_ONNX_DAMAGED                                                                                 \
    "onnx-damaged", "this is no ONNX file that can be used: %s", "不是可用的 ONNX 文件：%s"
#define MESSAGE_ONNX_EXTERNAL                                                                                \
    "onnx-external",                                                                                         \
        "the ONNX file refers to data outside of itself; save it with all its weights in the one file",      \
        "该 ONNX 文件引用了文件之外的数据；请将全部权重保存在同一个文件中"
#define MESSAGE_MODEL_NO_PART "model-no-part", "%s: there is no part of that name", "%s：没有该名称的部件"
#define MESSAGE_MODEL_TEXT    "model-text", "%s: must be a text", "%s：必须是文本"
#define MESSAGE_MODEL_BOOL    "model-bool", "%s: must be true or false", "%s：必须为 true 或 false"
#define MESSAGE_MODEL_OBJECT  "model-object", "%s: must be an object", "%s：必须是对象"
#define MESSAGE_MODEL_PATH                                                                                   \
    "model-path", "%s: must be the path of a file in the version, such as data/vocab.txt",                   \
        "%s：必须是该版本中文件的路径，例如 data/vocab.txt"
#define MESSAGE_MODEL_LENGTH                                                                                 \
    "model-length", "%s: must have %lld to %lld characters", "%s：应为 %lld 至 %lld 个字符"
#define MESSAGE_MODEL_RANGE "model-range", "%s: must be a number from %g to %g", "%s：必须是 %g 至 %g 的数字"
#define MESSAGE_MODEL_WHOLE                                                                                  \
    "model-whole", "%s: must be a whole number from %g to %g", "%s：必须是 %g 至 %g 的整数"
#define MESSAGE_MODEL_LIST "model-list", "%s: must be a list of %d numbers", "%s：必须是 %d 个数字的列表"
#define MESSAGE_MODEL_ELEMENTS                                                                               \
    "model-elements", "%s: must be a list of %d to %d elements", "%s：必须是 %d 至 %d 项的列表"
#define MESSAGE_MODEL_SAME "model-same", "%s: is there twice", "%s：重复"
#define MESSAGE_MODEL_LABEL                                                                                  \
    "model-label", "%s: must be a text of 1 to 200 characters", "%s：必须是 1 至 200 个字符的文本"
#define MESSAGE_MODEL_PART_NAME                                                                              \
    "model-part-name", "%s: must be small letters, digits, - and _", "%s：只能是小写字母、数字、- 和 _"
#define MESSAGE_MODEL_EDGE "model-edge", "%s: must be the numbers of two points", "%s：必须是两个关键点的编号"
#define MESSAGE_MODEL_OUTPUTS                                                                                \
    "model-outputs", "outputs: %s is read from %s, each once", "outputs：%s 由 %s 读出，每种一个"
#define MESSAGE_MODEL_PART_INPUT                                                                             \
    "model-part-input", "inputs: the part %s has outputs and no input", "inputs：部件 %s 有输出而没有输入"
#define MESSAGE_MODEL_ONE_PART                                                                               \
    "model-one-part", "outputs: %s is read from the outputs of one part",                                    \
        "outputs：%s 只能由一个部件的输出读出"
#define MESSAGE_MODEL_LINES                                                                                  \
    "model-lines", "%s: must be a text in UTF-8 with at most 4,000,000 lines",                               \
        "%s：必须是 UTF-8 文本，最多 4,000,000 行"
#define MESSAGE_MODEL_ANCHORS                                                                                \
    "model-anchors", "%s: must be four float32 numbers for each anchor", "%s：每个锚框必须是四个 float32 数字"
#define MESSAGE_MODEL_NOT_IN_GRAPH                                                                           \
    "model-not-in-graph", "%s: the ONNX file has no %s", "%s：ONNX 文件中没有 %s"
#define MESSAGE_MODEL_OTHER_TYPE                                                                             \
    "model-other-type", "%s: the ONNX file's input is of the type %s", "%s：ONNX 文件的输入类型为 %s"
#define MESSAGE_MODEL_OTHER_SHAPE                                                                            \
    "model-other-shape", "%s: the ONNX file's input has another size, layout or number of channels",         \
        "%s：与 ONNX 文件输入的尺寸、布局或通道数不同"

/* --- predict --- */
#define MESSAGE_PICTURE_DAMAGED                                                                              \
    "picture-damaged", "this %s picture cannot be read: %s", "无法读取该 %s 图像：%s"
#define MESSAGE_PICTURE_LARGE                                                                                \
    "picture-large", "the picture has %lldx%lld pixels; at most %lld are taken",                             \
        "图像为 %lldx%lld 像素，最多接受 %lld 像素"
#define MESSAGE_PICTURE_FORMAT                                                                               \
    "picture-format", "this is no JPEG, PNG or WebP picture", "不是 JPEG、PNG 或 WebP 图像"
#define MESSAGE_TEXT_UTF8     "text-utf8", "the text is not UTF-8", "文本不是 UTF-8 编码"
#define MESSAGE_SOUND_DAMAGED "sound-damaged", "this sound cannot be read: %s", "无法读取该声音：%s"
#define MESSAGE_SOUND_FORMAT  "sound-format", "this is no WAV or FLAC sound", "不是 WAV 或 FLAC 声音"
#define MESSAGE_SOUND_LARGE   "sound-large", "the sound is longer than %lld samples", "声音超过 %lld 个采样点"
#define MESSAGE_PREDICT_NOT_YET                                                                              \
    "predict-not-yet", "there is no predict for %s yet; the v2 protocol serves this model",                  \
        "%s 尚不支持 predict；可以用 v2 协议调用该模型"
#define MESSAGE_PREDICT_SHAPE                                                                                \
    "predict-shape", "the model's output %s has another shape or type than its reading in the manifest",     \
        "模型输出 %s 的形状或类型与清单中的读法不符"
#define MESSAGE_PREDICT_NAN                                                                                  \
    "predict-nan", "the model's output %s has values that are no numbers (NaN)",                             \
        "模型输出 %s 中有非数值 (NaN)"

#endif
