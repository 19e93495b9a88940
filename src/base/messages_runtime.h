/* Sentences about runtimes: a part of the catalogue of base/messages.h. */
#ifndef INGOT_BASE_MESSAGES_RUNTIME_H
#define INGOT_BASE_MESSAGES_RUNTIME_H

#define MESSAGE_RUNTIME_DEBIAN_NAME                                                                          \
    "runtime-debian-name",                                                                                   \
        "%s: \"%.*s\" is no name of a Debian package: at least two of a-z 0-9 + - . and a letter or digit "  \
        "first",                                                                                             \
        "%s：“%.*s”不是 Debian 软件包名：至少两个 a-z 0-9 + - . 字符，以字母或数字开头"
#define MESSAGE_RUNTIME_PYTHON_NAME                                                                          \
    "runtime-python-name",                                                                                   \
        "%s: \"%.*s\" is no Python package: letters, digits and . _ - inside, with or without ==VERSION",    \
        "%s：“%.*s”不是 Python 软件包：字母、数字，中间可用 . _ -，可加 ==版本"
#define MESSAGE_RUNTIME_EMPTY                                                                                \
    "runtime-empty", "packages: a runtime has at least one Debian or Python package",                        \
        "packages：运行环境至少包含一个 Debian 或 Python 软件包"
#define MESSAGE_RUNTIME_BUILT_IN                                                                             \
    "runtime-built-in", "the runtime %.*s is built in and cannot be changed or deleted",                     \
        "运行环境 %.*s 为内置，不能修改或删除"
#define MESSAGE_RUNTIME_BUSY    "runtime-busy", "the runtime %.*s is being built", "运行环境 %.*s 正在构建"
#define MESSAGE_RUNTIME_UNKNOWN "runtime-unknown", "there is no runtime \"%.*s\"", "没有运行环境“%.*s”"
#define MESSAGE_RUNTIME_BUILDING                                                                             \
    "runtime-building", "the runtime %.*s is being built: wait until it is ready",                           \
        "运行环境 %.*s 正在构建：请等待其就绪"
#define MESSAGE_RUNTIME_MISSING                                                                              \
    "runtime-missing",                                                                                       \
        "the runtime %.*s is not built: an administrator builds it on the page Runtimes or with `ingot "     \
        "runtime build %.*s`",                                                                               \
        "运行环境 %.*s 尚未构建：管理员可在“运行环境”页面构建，或执行 `ingot runtime build %.*s`"
#define MESSAGE_TOOL_NO_SCRIPT                                                                               \
    "tool-no-script", "tools.sh is not beside this program: install it with `make install`",                 \
        "程序旁没有 tools.sh：请用 `make install` 安装"
#define MESSAGE_TOOL_FETCH                                                                                                             \
    "tool-fetch",                                                                                                                      \
        "it could not be installed: %.*s. Without a network: `ingot fetch NAME --archive FILE` on a "                                  \
        "machine "                                                                                                                     \
        "that has one, `ingot fetch --from FILE` here",                                                                                \
        "无法安装：%.*s。没有网络时：在有网络的机器上执行 `ingot fetch 名称 --archive 文件`，在此执行 " \
        "`ingot fetch --from 文件`"
#define MESSAGE_TOOL_ROOM                                                                                    \
    "tool-room", "the disk of the tools needs %.1f GB, and has %.1f GB",                                     \
        "工具所在磁盘需要 %.1f GB，现有 %.1f GB"
#define MESSAGE_NAME_TOOL_FETCH  "name-tool-fetch", "Install %.*s", "安装 %.*s"
#define MESSAGE_NAME_TOOL_IMPORT "name-tool-import", "Import tools from a file", "从文件导入工具"
#define MESSAGE_RUNTIME_NO_SCRIPTS                                                                           \
    "runtime-no-scripts",                                                                                    \
        "the scripts of runtimes are not beside this program: install it with `make install`",               \
        "程序旁没有运行环境的脚本：请用 `make install` 安装"
#define MESSAGE_RUNTIME_NO_DEBIAN                                                                            \
    "runtime-no-debian", "Debian has no package \"%.*s\"", "Debian 没有软件包“%.*s”"
#define MESSAGE_RUNTIME_NO_PYTHON                                                                            \
    "runtime-no-python", "the Python index has no \"%.*s\" for Debian's Python",                             \
        "Python 索引中没有适用于 Debian Python 的“%.*s”"
#define MESSAGE_RUNTIME_NO_PROGRAM                                                                           \
    "runtime-no-program",                                                                                    \
        "this machine has no %.*s: build the runtime on a Debian machine and import it (`ingot runtime "     \
        "export`, `import`)",                                                                                \
        "本机没有 %.*s：请在 Debian 机器上构建后导入（`ingot runtime export`、`import`）"
#define MESSAGE_RUNTIME_NO_NETWORK                                                                           \
    "runtime-no-network",                                                                                    \
        "%.*s: without a network a runtime is imported (`ingot runtime export`, `import`)",                  \
        "%.*s：无网络时请导入运行环境（`ingot runtime export`、`import`）"
#define MESSAGE_RUNTIME_FULL "runtime-full", "there is no room left on the disk", "磁盘空间不足"
#define MESSAGE_RUNTIME_ROOM                                                                                 \
    "runtime-room", "the runtime needs %.1f GB of room on the disk, and %.1f GB are free",                   \
        "构建需要 %.1f GB 磁盘空间，现有 %.1f GB"
#define MESSAGE_RUNTIME_FETCH                                                                                \
    "runtime-fetch", "the packages could not be fetched: %.*s", "软件包下载失败：%.*s"
#define MESSAGE_RUNTIME_SCRIPT                                                                               \
    "runtime-script", "the script that fetches packages ended with %d; the log says more",                   \
        "下载软件包的脚本以 %d 结束；详见日志"
#define MESSAGE_RUNTIME_CONFIGURE                                                                            \
    "runtime-configure", "the packages could not be installed: %s", "软件包安装失败：%s"
#define MESSAGE_RUNTIME_JOB                                                                                  \
    "runtime-job", "the container that installs packages ended: %.*s", "安装软件包的容器已结束：%.*s"
#define MESSAGE_RUNTIME_SPEC                                                                                 \
    "runtime-spec", "there is no compute spec to build it with", "没有可用于构建的计算规格"
#define MESSAGE_RUNTIME_GONE                                                                                 \
    "runtime-gone", "the version %s of its image was deleted meanwhile", "其镜像版本 %s 已被删除"
#define MESSAGE_RUNTIME_NO_ARCHIVE                                                                           \
    "runtime-no-archive", "this is no file of `ingot runtime export`", "这不是 `ingot runtime export` 的文件"

/* --- names of their tasks --- */
#define MESSAGE_NAME_RUNTIME_BUILD "name-runtime-build", "Build the runtime %.*s", "构建运行环境 %.*s"
#define MESSAGE_NAME_RUNTIME_ESTIMATE                                                                        \
    "name-runtime-estimate", "Estimate the runtime %.*s", "估算运行环境 %.*s"
#define MESSAGE_NAME_RUNTIME_EXPORT "name-runtime-export", "Export the runtime %.*s", "导出运行环境 %.*s"
#define MESSAGE_NAME_RUNTIME_IMPORT "name-runtime-import", "Import a runtime", "导入运行环境"

#endif
