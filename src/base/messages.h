/* The catalogue of sentences for people: a name of its own and both languages side by side. A sentence is
 * given to err_message or err_because (base/err.h) or task_note (core/task/task.h) with its arguments; the
 * compiler checks these against both languages, and scripts/check/messages.py that each has both, with the
 * same arguments, and is used. Where the languages want another order, `%2$s` names the argument.
 *
 * Errors that only programmers meet (a malformed request, a broken disk) are English alone: err_set. */
#ifndef INGOT_BASE_MESSAGES_H
#define INGOT_BASE_MESSAGES_H

/* --- values of fields; the first argument is the field's name --- */
#define MESSAGE_REQUIRED        "required", "%s: is required", "%s：必填"
#define MESSAGE_UNKNOWN_FIELD   "unknown-field", "%s: there is no such field", "%s：没有此字段"
#define MESSAGE_UNKNOWN_MEMBER  "unknown-member", "%s: has nothing called %s", "%s：没有名为 %s 的项"
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

/* --- services: what is given --- */
#define MESSAGE_ENV_OBJECT                                                                                   \
    "env-object", "%s: must be an object of at most %d names and texts", "%s：应为最多 %d 个名称和文本的对象"
#define MESSAGE_ENV_NAME "env-name", "%s: \"%.*s\" is no name of a variable", "%s：“%.*s”不是变量名"
#define MESSAGE_ENV_VALUE                                                                                    \
    "env-value", "%s: the value of %.*s must be one line of at most %d characters",                          \
        "%s：%.*s 的值应为一行、最多 %d 个字符的文本"
#define MESSAGE_SERVICE_ORIGIN                                                                               \
    "service-origin", "%s: \"%.*s\" is no origin as https://app.example, nor *",                             \
        "%s：“%.*s”不是 https://app.example 形式的来源，也不是 *"
#define MESSAGE_SERVICE_HOST "service-host", "%s: \"%.*s\" is no host name", "%s：“%.*s”不是主机名"
#define MESSAGE_SERVICE_HOST_TAKEN                                                                           \
    "service-host-taken", "host: another service has the host name %.*s", "host：主机名 %.*s 已被其他服务使用"
#define MESSAGE_RULES_OBJECT "rules-object", "%s: must be an object", "%s：应为对象"
#define MESSAGE_HEALTH_PATH                                                                                  \
    "health-path", "%s: must begin with / and have no spaces", "%s：应以 / 开头且不含空格"
#define MESSAGE_VERSION_NEEDS                                                                                \
    "version-needs", "model_version: a version needs a model version or a command",                          \
        "model_version：版本需要模型版本或命令"
#define MESSAGE_VERSION_BOTH                                                                                 \
    "version-both", "a model version is served by ingot-infer: it has neither image nor command",            \
        "模型版本由 ingot-infer 提供服务，不能同时指定镜像或命令"
#define MESSAGE_MODEL_EMPTY "model-empty", "%s: the model version has no files", "%s：模型版本没有文件"
#define MESSAGE_VERSION_IN_PRODUCTION                                                                        \
    "version-in-production",                                                                                 \
        "%.*s answers the service's requests: stop it, or give another version its role first",              \
        "%.*s 正在应答服务的请求：请先停止，或由其他版本接替"
#define MESSAGE_KEYS_MANY                                                                                    \
    "keys-many", "the service has %d keys, the most it may have: delete some", "服务已有 %d 个密钥，达到上限"
#define MESSAGE_KEY_PAST "key-past", "%s: must be in the future", "%s：应为将来的时间"
#define MESSAGE_SWITCH_NONE                                                                                  \
    "switch-none", "a switch needs a production version and a canary", "切换需要生产版本和灰度版本"
#define MESSAGE_SERVICE_NO_MODEL                                                                             \
    "service-no-model", "no version of the service is a model", "服务没有模型版本"
#define MESSAGE_SWITCH_UNREADY                                                                               \
    "switch-unready", "no replica of the canary %.*s answers yet", "灰度版本 %.*s 尚无应答的副本"
#define MESSAGE_SERVICE_STOPPED_ALREADY "service-stopped-already", "it is stopped already", "已经停止"
#define MESSAGE_SERVICE_NOT_STOPPED     "service-not-stopped", "it is not stopped", "未处于停止状态"
#define MESSAGE_DEPLOY_SPEC                                                                                  \
    "deploy-spec", "spec: is required: there is no spec without accelerators of %lld MB",                    \
        "spec：必填：没有不含加速卡且内存不少于 %lld MB 的规格"

/* --- trying model versions --- */
#define MESSAGE_TRIAL_PROJECT                                                                                \
    "trial-project", "project: the version belongs to another project and is not public",                    \
        "project：该版本属于其他项目且未公开"
#define MESSAGE_TRIAL_NO_FILES                                                                               \
    "trial-no-files", "the version has no files yet: upload a model first", "该版本还没有文件：请先上传模型"
#define MESSAGE_TRIAL_NOT_RUNNING                                                                            \
    "trial-not-running", "the version is not being tried, or still starts: POST .../try starts it",          \
        "该版本未在试用或仍在启动：用 POST .../try 启动"
#define MESSAGE_TRIAL_SILENT "trial-silent", "the model has not answered in time", "模型未在时限内应答"
#define MESSAGE_TRIAL_FAILED "trial-failed", "the model does not answer: %s", "模型没有应答：%s"
#define MESSAGE_TRIAL_BODY   "trial-body", "the body is larger than %lld bytes", "请求体超过 %lld 字节"

/* --- services: what happens; also names of events --- */
#define MESSAGE_EVENT_SHARE      "share-changed", "the canary's share is %.1f %% now", "灰度流量改为 %.1f %%"
#define MESSAGE_EVENT_PRODUCTION "role-production", "%.*s is production now", "%.*s 成为生产版本"
#define MESSAGE_EVENT_CANARY     "role-canary", "%.*s is the canary now", "%.*s 成为灰度版本"
#define MESSAGE_EVENT_RETIRED    "role-retired", "%.*s is retired now", "%.*s 已下线"
#define MESSAGE_EVENT_SWITCH     "switched", "%.*s and %.*s were switched by %s", "%.*s 与 %.*s 由 %s 切换"
#define MESSAGE_EVENT_GENERATION                                                                             \
    "changed", "%.*s was changed: its replicas are replaced by generation %lld",                             \
        "%.*s 已修改，副本将替换为第 %lld 代"
#define MESSAGE_EVENT_SCALED                                                                                 \
    "scaled", "%.*s: replicas wanted from %lld to %lld", "%.*s：期望副本数由 %lld 改为 %lld"
#define MESSAGE_EVENT_VERSION_DELETED "version-deleted", "%.*s was deleted", "%.*s 已删除"
#define MESSAGE_EVENT_STOPPED         "stopped", "stopped by %s", "由 %s 停止"
#define MESSAGE_EVENT_STARTED         "started", "started by %s", "由 %s 启动"
#define MESSAGE_EVENT_REPLICA_STARTS                                                                         \
    "replica-starts", "a replica of %.*s starts (job %lld)", "%.*s 的一个副本启动（作业 %lld）"
#define MESSAGE_EVENT_REPLICA_READY                                                                          \
    "replica-ready", "a replica of %.*s answers (job %lld)", "%.*s 的一个副本就绪（作业 %lld）"
#define MESSAGE_EVENT_REPLICA_SICK                                                                           \
    "replica-sick", "a replica of %.*s gets no requests any more (job %lld): %s",                            \
        "%.*s 的一个副本不再接收请求（作业 %lld）：%s"
#define MESSAGE_EVENT_REPLICA_DRAINS                                                                         \
    "replica-drains", "a replica of %.*s is taken out (job %lld)", "%.*s 的一个副本下线（作业 %lld）"
#define MESSAGE_EVENT_REPLICA_FAILED                                                                         \
    "replica-failed", "a replica of %.*s failed (job %lld): %s. The next one starts in %lld s",              \
        "%.*s 的一个副本失败（作业 %lld）：%s。%lld 秒后重新启动"
#define MESSAGE_EVENT_CANARY_STOPPED                                                                         \
    "canary-stopped", "the canary %.*s was stopped: %s", "灰度版本 %.*s 已停止：%s"
#define MESSAGE_EVENT_CANARY_BACK                                                                            \
    "canary-rolled-back", "the canary %.*s was rolled back: %s", "灰度版本 %.*s 已回滚：%s"

/* --- services: why they are as they are --- */
#define MESSAGE_WHY_NO_PRODUCTION "why-no-production", "it has no production version", "没有生产版本"
#define MESSAGE_WHY_STOPPED       "why-stopped", "it was stopped", "已停止"
#define MESSAGE_WHY_FAILING                                                                                  \
    "why-failing", "its replicas failed %lld times in a row: %s", "副本连续失败 %lld 次：%s"
#define MESSAGE_WHY_ROLLING                                                                                  \
    "why-rolling", "roll-out: %lld of %lld replicas are replaced", "滚动更新：已替换 %lld 个副本，共 %lld 个"
#define MESSAGE_WHY_MISSING    "why-missing", "%lld of %lld replicas answer", "%lld 个副本就绪，共需 %lld 个"
#define MESSAGE_WHY_STARTING   "why-starting", "no replica answers yet", "尚无应答的副本"
#define MESSAGE_WHY_OF_VERSION "why-of-version", "%.*s (%s): %s", "版本 %.*s（%s）：%s"
#define MESSAGE_WHY_NO_ANSWER                                                                                \
    "why-no-answer", "it did not answer its health check for %lld s: %s", "%lld 秒未通过健康检查：%s"

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
#define MESSAGE_DATABASE_FAR       "database-far", "the database cannot be reached", "无法连接数据库"
#define MESSAGE_DATABASE_NO_READ   "database-no-read", "the database refuses to read", "数据库拒绝读取"
#define MESSAGE_DATABASE_REFUSES   "database-refuses", "the database refuses the query", "数据库拒绝该查询"
#define MESSAGE_DATABASE_BROKE_OFF "database-broke-off", "the database broke off", "数据库连接中断"
#define MESSAGE_DATABASE_TABLE                                                                               \
    "database-table", "database: give a table or a query", "database：请给出表或查询之一"
#define MESSAGE_DATABASE_CONTENT                                                                             \
    "database-content", "database: content and file are two ways to say the same",                           \
        "database：content 和 file 只能给出一个"
#define MESSAGE_DATABASE_LABEL                                                                               \
    "database-label", "database: label and annotation are two ways to say the same",                         \
        "database：label 和 annotation 只能给出一个"

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
#define MESSAGE_LEFT_OUT "left-out", "left out", "未导入"
#define MESSAGE_NO_NAME  "no-name", "it has no name", "没有名称"
#define MESSAGE_NAME_CHARSET                                                                                 \
    "name-charset", "its name is neither UTF-8 nor GBK", "名称既不是 UTF-8 也不是 GBK"
#define MESSAGE_NAME_UNSAFE                                                                                  \
    "name-unsafe", "its name would leave the folder or is not allowed", "名称会离开文件夹或不被允许"
#define MESSAGE_LINK_OR_DEVICE                                                                               \
    "link-or-device", "it is a link or a device, not a file", "是链接或设备，不是文件"
#define MESSAGE_ENCRYPTED         "encrypted", "it is encrypted", "已加密"
#define MESSAGE_TOO_DEEP          "too-deep", "it is too deep", "层级过深"
#define MESSAGE_CANNOT_READ       "cannot-read", "it cannot be read", "无法读取"
#define MESSAGE_COLUMN_NULL       "column-null", "its %s is NULL", "%s 为 NULL"
#define MESSAGE_OTHER_DATA        "other-data", "it is %s, the dataset holds %s", "类型为 %s，而数据集为 %s"
#define MESSAGE_REMOVED_MEANWHILE "removed-meanwhile", "it was removed while the import ran", "导入期间被删除"
#define MESSAGE_IMPORT_QUOTA                                                                                 \
    "import-quota", "the project may store %lld bytes, uses %lld, and the import needs more than the rest",  \
        "项目最多可存储 %lld 字节，已用 %lld 字节，剩余空间不足以导入"
#define MESSAGE_IMPORT_QUOTA_FILE                                                                            \
    "import-quota-file", "the project may store %lld bytes, and one file has more",                          \
        "项目最多可存储 %lld 字节，而单个文件已超出"
#define MESSAGE_IMPORT_FILES "import-files", "more than %d files", "文件超过 %d 个"
#define MESSAGE_ARCHIVE_UNREADABLE                                                                           \
    "archive-unreadable", "the archive \"%.*s\" cannot be read", "压缩包“%.*s”无法读取"
#define MESSAGE_ARCHIVE_BOMB                                                                                 \
    "archive-bomb", "the archive of %lld bytes unpacks to more than %lld: it is refused",                    \
        "%lld 字节的压缩包解压后超过 %lld 字节，已拒绝"
#define MESSAGE_ARCHIVE_SIZE                                                                                 \
    "archive-size", "%lld bytes came out, and it says %lld", "解压得到 %lld 字节，而其声明为 %lld 字节"
#define MESSAGE_ARCHIVE_DAMAGED "archive-damaged", "the archive is damaged here", "压缩包在此处损坏"
#define MESSAGE_ARCHIVE_DOUBT                                                                                \
    "archive-doubt", "taken, but the archive may be damaged here", "已导入，但压缩包在此处可能损坏"
#define MESSAGE_ARCHIVE_ENDS "archive-ends", "the archive ends early or is damaged", "压缩包不完整或已损坏"
#define MESSAGE_ARCHIVE_TWICE                                                                                \
    "archive-twice", "the archive has two files of this name; the last one counts",                          \
        "压缩包中有两个同名文件，以后者为准"
#define MESSAGE_RAR_VOLUMES                                                                                  \
    "rar-volumes", "it is one of several volumes: pack everything into one file",                            \
        "这是分卷压缩包之一，请打包为单个文件"
#define MESSAGE_RAR_SOLID                                                                                    \
    "rar-solid", "it is a solid archive of RAR 4: pack it anew, as zip, 7z or RAR 5",                        \
        "这是 RAR 4 固实压缩包，请改用 zip、7z 或 RAR 5 重新打包"
#define MESSAGE_RAR_COPIES                                                                                   \
    "rar-copies", "it notes equal files instead of holding them: pack it anew, without that",                \
        "其中相同的文件仅以引用保存，请关闭该选项后重新打包"
#define MESSAGE_S3_NO_OBJECT                                                                                 \
    "s3-no-object", "s3: there is no object whose key starts with \"%.*s\"", "S3：没有以“%.*s”开头的对象"
#define MESSAGE_PACKETS_BROKEN                                                                               \
    "packets-broken", "%lld packets of the video cannot be decoded; their frames are missing",               \
        "视频中有 %lld 个数据包无法解码，缺少相应的帧"
#define MESSAGE_VIDEO_CUT                                                                                    \
    "video-cut", "the video ends early; the frames up to there were taken", "视频不完整，已取其之前的帧"
#define MESSAGE_FRAMES_SOME                                                                                  \
    "frames-some", "%zu frames were taken, the rest was left out", "已取 %zu 帧，其余未导入"
#define MESSAGE_ANNOTATION_WAITS                                                                             \
    "annotation-waits", "\"%.*s\" was not uploaded; its annotation is kept until it comes",                  \
        "“%.*s”尚未上传，其标注将保留到图片到来"
#define MESSAGE_SPLIT_WAITS                                                                                  \
    "split-waits", "\"%.*s\" was not uploaded; its part of the split is kept until it comes",                \
        "“%.*s”尚未上传，其所属划分将保留到图片到来"
#define MESSAGE_SHAPES_TURNED                                                                                \
    "shapes-turned", "\"%.*s\" is annotated as it is stored; the shapes were turned with the picture",       \
        "“%.*s”按存储方向标注，图形已随图片转正"
#define MESSAGE_OTHER_SIZE                                                                                   \
    "other-size",                                                                                            \
        "\"%.*s\" has %lld x %lld pixels and is said to have %lld x %lld; its annotation is taken as it is", \
        "“%.*s”为 %lld x %lld 像素，而标注称其为 %lld x %lld 像素；标注按原样导入"
#define MESSAGE_ANNOTATION_LEFT_OUT "annotation-left-out", "the annotation was left out", "标注未导入"
#define MESSAGE_ANNOTATION_NO_OBJECT                                                                         \
    "annotation-no-object", "the annotation was left out: it is no JSON object", "标注不是 JSON 对象，未导入"
#define MESSAGE_LABEL_NOT_UTF8                                                                               \
    "label-not-utf8", "the label was left out: it is not UTF-8", "标签不是 UTF-8，未导入"
#define MESSAGE_SHAPES_CUT                                                                                   \
    "shapes-cut", "%u shapes were cut at the picture's edge, %u lay outside and were dropped",               \
        "%u 个图形按图片边缘裁剪，%u 个在图片之外已丢弃"
#define MESSAGE_NOT_TAKEN_BACK                                                                               \
    "not-taken-back", "what was put could not be taken back", "已写入的内容无法撤回"
#define MESSAGE_SAMPLES_STAY                                                                                 \
    "samples-stay", "%lld samples were changed by somebody since and stay as they are now",                  \
        "%lld 个样本此后已被修改，保持现状"

/* --- operations on annotations --- */
#define MESSAGE_SAMPLE_GONE                                                                                  \
    "sample-gone", "there is no sample %lld in this version, or no such layer",                              \
        "该版本中没有样本 %lld，或没有此图层"
#define MESSAGE_NUMBER_RANGE                                                                                 \
    "number-range", "%s is %.10g; it must be from %.10g to %.10g", "%s 为 %.10g，应在 %.10g 至 %.10g 之间"
#define MESSAGE_NUMBER_ZERO "number-zero", "%s is 0; it must be greater", "%s 为 0，必须大于 0"
#define MESSAGE_TEXT_LONG   "text-long", "%s is longer than %zu characters", "%s 超过 %zu 个字符"
#define MESSAGE_SHAPE_OUTSIDE                                                                                \
    "shape-outside", "%s: the shape lies wholly outside the picture, which has %u x %u pixels",              \
        "%s：图形完全在图片之外（图片为 %u x %u 像素）"
#define MESSAGE_SHAPE_NO_AREA "shape-no-area", "%s: the shape has no area", "%s：图形没有面积"
#define MESSAGE_SHAPE_MASK_SIZE                                                                              \
    "shape-mask-size", "%s: the mask has %u x %u pixels; the picture has %u x %u",                           \
        "%s：掩膜为 %u x %u 像素，而图片为 %u x %u 像素"
#define MESSAGE_SHAPES_TOO_MANY                                                                              \
    "shapes-too-many", "there are %d already, which is the most for one sample",                             \
        "已有 %d 个，已达单个样本的上限"
#define MESSAGE_POINTS_TOO_MANY                                                                              \
    "points-too-many", "the sample's shapes would have more than %d points", "样本的图形总点数将超过 %d"
#define MESSAGE_ANNOTATION_TOO_LARGE                                                                         \
    "annotation-too-large", "the sample's annotation would be larger than %u MiB", "样本的标注将超过 %u MiB"
#define MESSAGE_ATTRIBUTES_TOO_LARGE                                                                         \
    "attributes-too-large", "the sample's attributes would be larger than %d KiB", "样本的属性将超过 %d KiB"

/* --- dataset versions --- */
#define MESSAGE_VERSION_PUBLISHED                                                                            \
    "version-published", "the version is published and never changes", "版本已发布，不能再修改"
#define MESSAGE_VERSION_DELETED "version-gone", "the version was deleted meanwhile", "版本已被删除"
#define MESSAGE_OPERATION_CONFLICT                                                                           \
    "operation-conflict", "somebody else changed this meanwhile", "其他人已在此期间修改了这里"
#define MESSAGE_OPERATIONS_COUNT                                                                             \
    "operations-count", "operations: a list of 1 to %d operations", "operations：须为 1 到 %d 个操作的列表"
#define MESSAGE_OPERATION_SAMPLE                                                                             \
    "operation-sample", "sample: the id of a sample is required", "sample：必须给出样本编号"
#define MESSAGE_ROOM_FULL "room-full", "%d people have this sample open already", "已有 %d 人打开了该样本"
#define MESSAGE_ROOM_CLIENT                                                                                  \
    "room-client", "client: 8 to 24 letters and digits", "client：须为 8 到 24 个字母或数字"
#define MESSAGE_LAYER_PUBLISHED                                                                              \
    "layer-published", "the version is published: its own annotations never change",                         \
        "版本已发布，其标注不能再修改"
#define MESSAGE_LAYER_LARGE                                                                                  \
    "layer-large", "the layer has more than %d samples: name those to accept",                               \
        "该标注层超过 %d 个样本：请指定要采纳的样本"
#define MESSAGE_VERSION_STAYS                                                                                \
    "version-stays", "the unfinished version could not be deleted", "未完成的版本无法删除"
#define MESSAGE_SHAPES_DROPPED                                                                               \
    "shapes-dropped", "%u shapes lie outside the new picture and were dropped",                              \
        "%u 个图形在新图片之外，已丢弃"
#define MESSAGE_LEFT_AS_IS   "left-as-is", "left as it is", "保持不变"
#define MESSAGE_NOT_MEASURED "not-measured", "cannot be measured", "无法计算"
#define MESSAGE_VERSION_PUBLISHING                                                                           \
    "version-publishing", "the version is being published: wait for that or cancel the task",                \
        "版本正在发布：请等待完成或取消任务"
#define MESSAGE_VERSION_REVIEWING                                                                            \
    "version-reviewing", "the version is in review: wait for the decision or withdraw the request",          \
        "版本正在审核：请等待结论或撤回申请"
#define MESSAGE_VERSION_STATE                                                                                \
    "version-state", "the version is in the state %.*s, which does not allow this",                          \
        "版本处于 %.*s 状态，不能执行此操作"
#define MESSAGE_REVIEWERS_NONE                                                                               \
    "reviewers-none", "reviewers: name a review team or somebody other than yourself",                       \
        "reviewers：请指定审核团队或本人以外的人员"
#define MESSAGE_REVIEWER_NOT                                                                                 \
    "reviewer-not", "you were not asked to review the version, or asked yourself",                           \
        "您未被邀请审核该版本，或您是申请人"
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

/* --- storage --- */
#define MESSAGE_STORAGE_USED                                                                                 \
    "storage-used", "the project may store %lld bytes and uses %lld already",                                \
        "项目最多可存储 %lld 字节，已使用 %lld 字节"
#define MESSAGE_STORAGE_MORE                                                                                 \
    "storage-more", "the project may store %lld bytes, uses %lld, and %lld more would be over it",           \
        "项目可存储 %lld 字节，已用 %lld，再加 %lld 将超出配额"
#define MESSAGE_DISK_ROOM                                                                                    \
    "disk-room", "the platform's disk has no room for %lld bytes", "平台磁盘没有 %lld 字节的空间"

/* --- files that containers leave --- */
#define MESSAGE_FILES_MANY       "files-many", "there are more than %d files", "文件超过 %d 个"
#define MESSAGE_FOLDERS_DEEP     "folders-deep", "more than %d folders deep", "文件夹层级超过 %d"
#define MESSAGE_FOLDER_FORBIDDEN "folder-forbidden", "a folder that may not be read", "无权读取的文件夹"
#define MESSAGE_FILE_LINK        "file-link", "a link", "链接"
#define MESSAGE_NO_PLAIN_FILE    "no-plain-file", "no plain file", "不是普通文件"
#define MESSAGE_FILE_DELETED     "file-deleted", "it was deleted before it was read", "在读取前已被删除"
#define MESSAGE_FILE_FORBIDDEN   "file-forbidden", "it may not be read", "无权读取"
#define MESSAGE_FILE_CHANGED                                                                                 \
    "file-changed", "it was changed while it was read, and is kept as it was read",                          \
        "读取时发生了变化，按读到的内容保存"

/* --- keeping a folder of an environment --- */
#define MESSAGE_KEEP_NOT_OWN                                                                                 \
    "keep-not-own", "only who made the environment, or an administrator, may read its /workspace",           \
        "只有环境的创建者或管理员可以读取其 /workspace"
#define MESSAGE_KEEP_PATH                                                                                    \
    "keep-path", "folder: a folder is named by its path below /workspace", "请填写 /workspace 下的路径"
#define MESSAGE_KEEP_MOUNTED                                                                                 \
    "keep-mounted",                                                                                          \
        "folder: \"%s\" is mounted when the environment starts and is not there now: start it, or name "     \
        "another folder",                                                                                    \
        "文件夹“%s”在环境启动后才会挂载，目前不存在：请先启动环境，或改用其他文件夹"
#define MESSAGE_KEEP_EMPTY                                                                                   \
    "keep-empty", "folder: \"%s\" is empty: there is nothing to keep", "文件夹“%s”为空，没有可保存的内容"
#define MESSAGE_KEEP_NO_FILES                                                                                \
    "keep-no-files", "folder: there are no plain files in \"%s\": there is nothing to keep",                 \
        "“%s”中没有普通文件，没有可保存的内容"
#define MESSAGE_KEEP_NO_FOLDER                                                                               \
    "keep-no-folder", "folder: there is no folder \"%s\" in /workspace, or a link leads to it",              \
        "/workspace 中没有文件夹“%s”，或其路径含有链接"
#define MESSAGE_KEEP_ENDED                                                                                   \
    "keep-ended", "the environment ended while its files were read; they can be kept again now",             \
        "读取文件时环境已结束；现在可以重新保存"
#define MESSAGE_ENVIRONMENT_DELETED                                                                          \
    "environment-deleted", "the environment was deleted meanwhile", "环境已被删除"
#define MESSAGE_MOUNTED_LATER "mounted-later", "mounted only while the environment runs", "仅在环境运行时挂载"

/* --- pulling images --- */
#define MESSAGE_REGISTRY_REFUSES                                                                             \
    "registry-refuses", "the registry does not take this name and password for %s/%s",                       \
        "镜像仓库拒绝了用户名或密码：%s/%s"
#define MESSAGE_REGISTRY_LOGIN                                                                               \
    "registry-login", "the registry wants a name and a password for %s/%s",                                  \
        "该镜像仓库需要用户名和密码：%s/%s"
#define MESSAGE_IMAGE_OTHER_ARCH                                                                             \
    "image-other-arch", "the image has nothing for %s", "镜像没有适用于 %s 的内容"
#define MESSAGE_PULL_PASSWORD                                                                                \
    "pull-password", "the server was restarted and has forgotten the password: pull again",                  \
        "服务已重启，密码未保存：请重新拉取"

/* --- pictures, sound and video --- */
#define MESSAGE_DECODER_FAILED                                                                               \
    "decoder-failed", "the file cannot be decoded: it made the decoder fail", "文件无法解码，解码器出错"
#define MESSAGE_DECODER_SLOW                                                                                 \
    "decoder-slow", "the file cannot be decoded within %u s", "文件无法在 %u 秒内解码"

/* --- background tasks: what each is called, and their ends --- */
#define MESSAGE_NAME_IMPORT          "name-import", "Import %.*s", "导入 %.*s"
#define MESSAGE_NAME_IMPORT_FILES    "name-import-files", "Import %zu files", "导入 %zu 个文件"
#define MESSAGE_NAME_IMPORT_S3       "name-import-s3", "Import s3://%s", "导入 s3://%s"
#define MESSAGE_NAME_IMPORT_DATABASE "name-import-database", "Import database %.100s", "导入数据库 %.100s"
#define MESSAGE_NAME_EXPORT          "name-export", "Export as %s", "导出为 %s"
#define MESSAGE_NAME_TRAINING_DATA   "name-training-data", "Generate training data", "生成训练数据"
#define MESSAGE_NAME_PREPROCESS      "name-preprocess", "Preprocess", "预处理"
#define MESSAGE_NAME_MEASURE         "name-measure", "Measure sharpness and similarity", "计算清晰度与相似度"
#define MESSAGE_NAME_RECORDS         "name-records", "Write record files", "生成记录文件"
#define MESSAGE_NAME_COPY            "name-copy", "Copy samples to %.*s", "复制样本到 %.*s"
#define MESSAGE_NAME_PUBLISH         "name-publish", "Publish %.*s", "发布 %.*s"
#define MESSAGE_NAME_CHANGES         "name-changes", "Changes since %.*s", "自 %.*s 以来的变化"
#define MESSAGE_NAME_CHECKPOINT      "name-checkpoint", "Copy the checkpoint for %.*s", "为 %.*s 复制检查点"
#define MESSAGE_NAME_TRAINING_END    "name-training-end", "Save model of %.*s/%.*s", "保存 %.*s/%.*s 的模型"
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

#define MESSAGE_MODEL_MANIFEST_LARGE                                                                         \
    "model-manifest-large", "ingot-model.json has %lld bytes; at most %lld are read",                        \
        "ingot-model.json 有 %lld 字节，最多读取 %lld 字节"

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
#define MESSAGE_SOUND_FORMAT                                                                                 \
    "sound-format", "this is no WAV, FLAC, MP3 or Ogg sound", "不是 WAV、FLAC、MP3 或 Ogg 声音"
#define MESSAGE_SOUND_LIBRARY                                                                                \
    "sound-library", "MP3 and Ogg sounds need libsndfile, which is not installed here",                      \
        "MP3 和 Ogg 声音需要 libsndfile，此处未安装"
#define MESSAGE_SOUND_LARGE "sound-large", "the sound is longer than %lld samples", "声音超过 %lld 个采样点"
#define MESSAGE_PREDICT_NOT_YET                                                                              \
    "predict-not-yet", "there is no predict for %s yet; the v2 protocol serves this model",                  \
        "%s 尚不支持 predict；可以用 v2 协议调用该模型"
#define MESSAGE_PREDICT_SHAPE                                                                                \
    "predict-shape", "the model's output %s has another shape or type than its reading in the manifest",     \
        "模型输出 %s 的形状或类型与清单中的读法不符"
#define MESSAGE_PREDICT_NAN                                                                                  \
    "predict-nan", "the model's output %s has values that are no numbers (NaN)",                             \
        "模型输出 %s 中有非数值 (NaN)"

/* --- services --- */
#define MESSAGE_CANARY_ERRORS                                                                                             \
    "canary-errors",                                                                                                      \
        "%llu of the canary's %llu requests failed (%.1f %%), against %.1f %% of production's %llu: more "                \
        "than %.3g points worse, beyond chance",                                                                          \
        "灰度版本有 %llu 个请求失败，共 %llu 个（%.1f %%）；生产版本失败率为 %.1f %%（共 %llu " \
        "个）：差距超过 %.3g "                                                                                     \
        "个百分点，且并非偶然"
#define MESSAGE_CANARY_ERRORS_ALONE                                                                          \
    "canary-errors-alone",                                                                                   \
        "%llu of the canary's %llu requests failed (%.1f %%): more than the %.3g %% that are allowed, "      \
        "beyond chance",                                                                                     \
        "灰度版本有 %llu 个请求失败，共 %llu 个（%.1f %%）：超过允许的 %.3g %%，且并非偶然"
#define MESSAGE_CANARY_SLOW                                                                                  \
    "canary-slow",                                                                                           \
        "the canary's p95 is %.1f ms, production's %.1f ms: %.1f times as long where %.3g are allowed, "     \
        "beyond chance (%llu requests)",                                                                     \
        "灰度版本的 p95 为 %.1f 毫秒，生产版本为 %.1f 毫秒：是其 %.1f 倍，允许 %.3g " \
        "倍，且并非偶然（%llu 个请求）"
#define MESSAGE_CANARY_GOLDEN                                                                                              \
    "canary-golden",                                                                                                       \
        "on the golden version the canary's %.*s is %.3f, production's %.3f: worse by %.3f to %.3f where "                 \
        "%.3g are allowed, beyond chance",                                                                                 \
        "在黄金数据集版本上，灰度版本的 %.*s 为 %.3f，生产版本为 %.3f：差 %.3f 至 %.3f，允许 " \
        "%.3g，且并非偶然"
#define MESSAGE_CANARY_AGREEMENT                                                                                                              \
    "canary-agreement",                                                                                                                       \
        "canary and production say the same of %llu of the golden version's %llu samples (%.1f %%), fewer "                                   \
        "than the %.3g %% that are wanted, beyond chance",                                                                                    \
        "灰度版本与生产版本对黄金数据集版本中 %llu 个样本的结果一致，共 %llu 个（%.1f %%），低于要求的 " \
        "%.3g "                                                                                                                               \
        "%%，且并非偶然"
#define MESSAGE_GOLDEN_OPEN                                                                                  \
    "golden-open", "golden: the dataset version is not published, so it may still change",                   \
        "golden：该数据集版本尚未发布，内容仍可能变化"

/* --- the gateway --- */
#define MESSAGE_GATEWAY_REQUEST                                                                              \
    "gateway-request",                                                                                       \
        "there is no such request in the log: its id is wrong, it is too old, or its service was deleted",   \
        "日志中没有该请求：编号有误、已过期，或其服务已被删除"
#define MESSAGE_GATEWAY_KEY                                                                                  \
    "gateway-key",                                                                                           \
        "there is no service at this address, or what was shown is no key for it: send an API key of the "   \
        "service, or a platform token that may invoke it, as Authorization: Bearer or X-API-Key",            \
        "此地址没有服务，或提供的凭证无效：请在 Authorization: Bearer 或 X-API-Key "     \
        "中提供该服务的 API 密钥，或有权调用它的平台令牌"
#define MESSAGE_GATEWAY_EXPIRED "gateway-expired", "this API key has expired", "此 API 密钥已过期"
#define MESSAGE_GATEWAY_LIMIT                                                                                \
    "gateway-limit",                                                                                         \
        "this API key is over its limit: %g requests a second, %lld at once after a rest, %lld at the same " \
        "time (0: no limit)",                                                                                \
        "此 API 密钥超出限制：每秒 %g 个请求，突发 %lld 个，并发 %lld 个（0 表示不限）"
#define MESSAGE_GATEWAY_BUSY                                                                                 \
    "gateway-busy", "the service %s has too many requests in hand", "服务 %s 正在处理的请求过多"
#define MESSAGE_GATEWAY_ORIGIN                                                                               \
    "gateway-origin", "pages of this origin may not use the service: its origins do not name it",            \
        "此来源的页面不能使用该服务：服务的允许来源中没有它"
#define MESSAGE_GATEWAY_WANT                                                                                 \
    "gateway-want", "X-Ingot-Version: must be production or canary",                                         \
        "X-Ingot-Version：应为 production 或 canary"
#define MESSAGE_GATEWAY_NO_SIDE                                                                              \
    "gateway-no-side", "the service %s has no %s version that answers now", "服务 %s 目前没有可用的 %s 版本"
#define MESSAGE_GATEWAY_REPOSITORY                                                                           \
    "gateway-repository", "models are not loaded or unloaded here: add a version to the service instead",    \
        "不能在此加载或卸载模型：请为服务添加版本"
#define MESSAGE_GATEWAY_MODEL_PATH                                                                           \
    "gateway-model-path", "a model service answers predict and what is below v2/",                           \
        "模型服务只提供 predict 和 v2/ 下的接口"
#define MESSAGE_GATEWAY_HEADER                                                                               \
    "gateway-header", "the request's header is larger than the service's limit of %lld bytes",               \
        "请求头超过服务的上限 %lld 字节"
#define MESSAGE_GATEWAY_BODY                                                                                 \
    "gateway-body", "the request's body is larger than the service's limit of %lld bytes",                   \
        "请求体超过服务的上限 %lld 字节"
#define MESSAGE_GATEWAY_SILENT                                                                               \
    "gateway-silent", "a replica of the service %s did not answer within the service's time limit",          \
        "服务 %s 的副本没有在服务的时限内应答"
#define MESSAGE_GATEWAY_FAILED                                                                               \
    "gateway-failed", "a replica of the service %s failed: %s", "服务 %s 的副本出错：%s"

/* --- labelling --- */
#define MESSAGE_NAME_LABEL_FILL  "name-label-fill", "List the samples of %.*s", "列出 %.*s 的样本"
#define MESSAGE_NAME_LABEL_CLOSE "name-label-close", "Accept the rest of %.*s", "通过 %.*s 的其余样本"
#define MESSAGE_TEAM_MEMBER                                                                                  \
    "team-member", "members: the user %lld lacks the permission %s in this project",                         \
        "members：用户 %lld 在本项目中没有权限 %s"
#define MESSAGE_TEAM_ROLE "team-role", "%s: must be a team for %s", "%s：团队职责应为 %s"
#define MESSAGE_LABEL_SEATS_REVIEW                                                                           \
    "label-seats-review", "review_team: is required when several people label each sample",                  \
        "review_team：多人标注同一样本时必须指定审核团队"
#define MESSAGE_LABEL_VERSION_ELSEWHERE                                                                      \
    "label-version-elsewhere", "version: must be one of this project", "version：必须属于本项目"
#define MESSAGE_LABEL_ONLY_DRAFT                                                                             \
    "label-only-draft", "%s: cannot be changed once the task was opened", "%s：任务开始后不能修改"
#define MESSAGE_LABEL_ONLY_PAUSED                                                                            \
    "label-only-paused", "%s: pause the task to change it", "%s：请先暂停任务再修改"
#define MESSAGE_SELECTION_LIST                                                                               \
    "selection-list", "selection.%s: must be a list of at most %d texts",                                    \
        "selection.%s：应为最多 %d 个文本的列表"
#define MESSAGE_SELECTION_VALUE                                                                              \
    "selection-value", "selection.%s: \"%.*s\" is not known", "selection.%s：未知的“%.*s”"
#define MESSAGE_SELECTION_SHARE                                                                              \
    "selection-share", "selection.share: must be more than 0 and at most 1",                                 \
        "selection.share：应大于 0 且不超过 1"
#define MESSAGE_SELECTION_ORDER                                                                              \
    "selection-order", "selection.order: must be position, name or random",                                  \
        "selection.order：应为 position、name 或 random"
#define MESSAGE_SELECTION_NAME                                                                               \
    "selection-name", "selection.q: must be words of a name, at most %d",                                    \
        "selection.q：应为名称中的词，最多 %d 个"
#define MESSAGE_LABEL_TASK_STATE                                                                             \
    "label-task-state", "the task is in the state %.*s, which does not allow this",                          \
        "任务处于 %.*s 状态，不能执行此操作"
#define MESSAGE_LABEL_NO_SAMPLE                                                                              \
    "label-no-sample", "the sample %lld does not belong to the task", "样本 %lld 不属于该任务"
#define MESSAGE_LABEL_NOT_IN_TEAM                                                                            \
    "label-not-in-team", "you are not in the team of the task", "您不在该任务的团队中"
#define MESSAGE_LABEL_NO_MEMBER                                                                              \
    "label-no-member", "the user %lld is no other member of the labelling team",                             \
        "用户 %lld 不是标注团队的其他成员"
#define MESSAGE_LABEL_NOT_GIVEN "label-not-given", "the sample was not given to you", "该样本未分配给您"
#define MESSAGE_LABEL_NOT_YOURS                                                                              \
    "label-not-yours", "the assignment %lld is somebody else's", "分配 %lld 属于他人"
#define MESSAGE_LABEL_LEASE_LOST                                                                             \
    "label-lease-lost",                                                                                      \
        "you do not have the sample any more (assignment %lld): the time was over or it "                    \
        "was handed on",                                                                                     \
        "样本已不在您手中（分配 %lld）：领取已超时或已移交"
#define MESSAGE_LABEL_REVIEWED                                                                               \
    "label-reviewed", "the sample is in review or was reviewed already", "样本正在审核或已审核"
#define MESSAGE_LABEL_ELSEWHERE                                                                              \
    "label-elsewhere", "somebody has the sample in another task just now", "该样本正由他人在其他任务中处理"
#define MESSAGE_LABEL_SOMETHING                                                                              \
    "label-something", "the sample has labels: remove them or submit it without \"nothing here\"",           \
        "样本已有标注：请先删除，或不以“无目标”提交"
#define MESSAGE_LABEL_NOTHING                                                                                \
    "label-nothing", "nothing is labelled on the sample: submit it with \"nothing here\" if that is so",     \
        "样本上没有标注：确无目标时请以“无目标”提交"
#define MESSAGE_LABEL_ATTRIBUTE                                                                              \
    "label-attribute", "the attribute %.*s of the label %.*s is required", "属性 %.*s 必填（标签 %.*s）"
#define MESSAGE_LABEL_AMBIGUOUS                                                                              \
    "label-ambiguous", "%s: several labels are called %.*s; say which, as PARENT/NAME",                      \
        "%s：有多个标签名为 %.*s，请写成“上级/名称”"
#define MESSAGE_LABEL_UNKNOWN                                                                                \
    "label-unknown", "%s: the label set has no label %.*s", "%s：标签组中没有标签 %.*s"
#define MESSAGE_LABEL_TAKEN                                                                                  \
    "label-taken", "to: there is a label %.*s already; merge them instead",                                  \
        "to：已有名为 %.*s 的标签，请改用合并"
#define MESSAGE_LABEL_ITSELF                                                                                 \
    "label-itself", "from: %.*s cannot be merged with itself", "from：%.*s 不能与自身合并"
#define MESSAGE_LABEL_CHILDREN                                                                               \
    "label-children", "from: %.*s has labels below it; merge or remove those first",                         \
        "from：%.*s 下还有标签，请先合并或移除它们"
#define MESSAGE_LABEL_SKELETONS                                                                              \
    "label-skeletons", "from: the skeletons of %.*s and %.*s have different numbers of points",              \
        "from：%.*s 与 %.*s 的骨架点数不同"
#define MESSAGE_LABEL_MERGE_COUNT                                                                            \
    "label-merge-count", "from: must be a list of 1 to %d names of labels",                                  \
        "from：应为 1 至 %d 个标签名的列表"
#define MESSAGE_ATTRIBUTE_UNKNOWN                                                                            \
    "attribute-unknown", "%s: the label %.*s has no attribute %.*s", "%s：标签 %.*s 没有属性 %.*s"
#define MESSAGE_ATTRIBUTE_NOWHERE                                                                            \
    "attribute-nowhere", "%s: no label of the set has an attribute %.*s", "%s：标签组中没有标签带有属性 %.*s"
#define MESSAGE_ATTRIBUTE_CHOICE "attribute-choice", "%s: must be one of: %s", "%s：应为以下之一：%s"
#define MESSAGE_ATTRIBUTE_NUMBER "attribute-number", "%s: must be a number", "%s：应为数字"
#define MESSAGE_ATTRIBUTE_FLAG   "attribute-flag", "%s: must be true or false", "%s：应为 true 或 false"
#define MESSAGE_ATTRIBUTE_TEXT                                                                               \
    "attribute-text", "%s: must be a text of at most %d characters", "%s：应为最多 %d 个字符的文本"
#define MESSAGE_ATTRIBUTE_TAKEN                                                                              \
    "attribute-taken",                                                                                       \
        "the label set does not ask for the attribute %.*s, or for other values; it was taken as it is",     \
        "标签组没有属性 %.*s，或其取值不符；已照原样导入"
#define MESSAGE_LABEL_FORMER                                                                                 \
    "label-former", "the label %.*s is called %.*s now: it was taken under that name",                       \
        "标签 %.*s 现名为 %.*s，已按新名称导入"
#define MESSAGE_EXAMPLE_SOURCE                                                                               \
    "example-source", "sample: name a version and a sample of it, or an upload",                             \
        "sample：请指定版本及其样本，或一个上传"
#define MESSAGE_EXAMPLE_PICTURE "example-picture", "it cannot be shown as a picture", "无法显示为图片"
#define MESSAGE_EXAMPLE_LARGE   "example-large", "upload: is larger than %d MiB", "upload：超过 %d MiB"
#define MESSAGE_EXAMPLES_MANY                                                                                \
    "examples-many", "label: %.*s has %d examples already", "label：%.*s 已有 %d 个示例"
#define MESSAGE_INSTRUCTIONS_PICTURE                                                                         \
    "instructions-picture", "instructions: the task has no picture %.*s; upload it",                         \
        "instructions：该任务没有图片 %.*s，请先上传"
#define MESSAGE_INSTRUCTIONS_MANY                                                                            \
    "instructions-many", "instructions: at most %d pictures", "instructions：最多 %d 张图片"
#define MESSAGE_INSTRUCTIONS_LARGE                                                                           \
    "instructions-large", "instructions: a picture is larger than %d MiB", "instructions：图片超过 %d MiB"
#define MESSAGE_LABEL_USAGE_COUNT                                                                            \
    "label-usage-count", "labels: must be a list of 1 to %d names of labels",                                \
        "labels：应为 1 至 %d 个标签名的列表"
#define MESSAGE_LABELS_TOO_LARGE                                                                             \
    "labels-too-large", "to: the labels of the set would be larger than %d KiB",                             \
        "to：标签组的标签将超过 %d KiB"
#define MESSAGE_LABEL_RENAMING                                                                               \
    "label-renaming",                                                                                        \
        "labels: %.*s is being renamed in the samples just now; wait for the task or cancel it",             \
        "labels：%.*s 正在样本中改名，请等待任务完成或取消任务"
#define MESSAGE_RELABEL_CLOSED                                                                               \
    "relabel-closed", "the version is in review or being published: its samples keep the former name",       \
        "版本正在审核或发布，其样本保留原名称"
#define MESSAGE_RELABEL_SAMPLE "relabel-sample", "the sample keeps the former name", "该样本保留原名称"
#define MESSAGE_NAME_RELABEL   "name-relabel", "Rename labels of %.*s", "重命名标签组 %.*s 的标签"
#define MESSAGE_LABEL_SHAPES                                                                                 \
    "label-shapes", "shapes: must be a list of at most %d objects {\"id\", \"reason\"}",                     \
        "shapes：应为最多 %d 个 {\"id\", \"reason\"} 对象的列表"
#define MESSAGE_LABEL_REASON                                                                                 \
    "label-reason", "reason: say why, for the sample or for shapes of it",                                   \
        "reason：请说明样本或标注对象的驳回原因"
#define MESSAGE_LABEL_NO_LAYER                                                                               \
    "label-no-layer", "layer: %lld is no work on this sample", "layer：%lld 不是该样本的标注图层"
#define MESSAGE_LABEL_NOTES "label-notes", "the sample has %d notes already", "该样本已有 %d 条备注"

#endif
