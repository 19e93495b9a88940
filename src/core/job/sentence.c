#include "core/job/sentence.h"

#include "base/buf.h"
#include "core/kind.h"

#define STARS_MAX 3

/* In the Chinese sentence `*` are the same texts, in the same order; one at the beginning or after a colon is
 * a sentence itself. The first that fits is taken. */
static const struct words sentences[] = {
    {"*; it is tried again", "*；将重试"},
    {"stopped", "已停止"},
    {"killed", "已终止"},
    {"stopped by *", "由 * 停止"},
    {"its disk was full (the limit is * MB): *", "磁盘已满（上限为 * MB）：*"},
    {"the machine's disk was full: *", "机器的磁盘已满：*"},
    {"it had as many processes as it may: *", "进程数已达上限：*"},
    {"ended with exit code *", "退出码 *"},
    {"ended by signal *", "被信号 * 终止"},
    {"out of memory: the limit is * MB", "内存不足：上限为 * MB"},
    {"it needed more memory than its spec gives", "内存超出规格上限，已被终止"},
    {"a process inside was ended by the memory limit", "其中的一个进程因内存上限被终止"},
    {"its container was lost", "容器已丢失"},
    {"its supervisor has gone: the machine was restarted, or somebody killed it",
     "守护进程已不在：机器曾重启，或被人终止"},
    {"its supervisor has gone before the container could start", "守护进程在容器启动前已不在"},
    {"cannot run '*': *", "无法运行“*”：*"},
    {"cannot enter '*': *", "无法进入“*”：*"},
    {"there is no user '*': *", "没有用户“*”：*"},
    {"No such file or directory", "没有该文件或目录"},
    {"Permission denied", "权限不足"},
    {"Exec format error", "可执行文件格式错误"},
    {"No space left on device", "设备上没有空间"},
    {"cannot make the container's disk of * bytes: *", "无法创建 * 字节的容器磁盘：*"},
    {"cannot attach the container's disk to a loop device: *", "无法将容器磁盘连接到 loop 设备：*"},
    {"* projects have containers on this machine; there is no network left",
     "本机已有 * 个项目的容器，没有剩余网络"},
    {"nobody used it for the hours it may be unused", "空闲时间已到上限"},
    {"nobody has looked at it for an hour", "已一小时无人查看"},
    {"nobody has tried it for a while", "一段时间内无人试用"},
    {"its model version was deleted", "所属模型版本已删除"},
    {"what it was made from was changed", "其来源内容已更改"},
    {"its training run was deleted", "所属训练实例已删除"},
    {"its image was deleted", "所属镜像已删除"},
    {"the saving of its changes was cancelled", "保存已取消"},
    {"what it saves is too much: *", "保存的内容过多：*"},
    {"/workspace holds * bytes: *", "/workspace 已有 * 字节：*"},
    {"the project may store * bytes and uses * already", "项目最多可存储 * 字节，已使用 * 字节"},
    {"the platform's disk is full", "平台的磁盘已满"},
    {"the project may store * bytes, and these are *", "项目最多可存储 * 字节，而这些有 * 字节"},
    {"there are more than * files", "文件超过 * 个"},
    {"the job's spec was deleted", "作业的规格已删除"},
    {"there is no image \"*\", or you may not see it", "没有镜像“*”，或无权查看"},
    {"the image has no version \"*\"", "镜像没有版本“*”"},
    {"the image is for *, and this machine is *", "镜像适用于 *，而本机为 *"},
    {"the image is made for other specs: *", "镜像适用于其他规格：*"},
    {"the image is for \"*\", not for linux", "镜像适用于“*”，而非 linux"},
    {"the image has * layers; at most * can be run", "镜像有 * 层，最多可运行 * 层"},
    {"the image is being unpacked: * of * layers are left", "正在解包镜像：剩余 * 层，共 * 层"},
    {"an index of indexes cannot be run", "索引的索引无法运行"},
    {"this is no image that can be run, but an artefact", "这是制品，不是可运行的镜像"},
    {"the disk is too full to unpack the image", "磁盘空间不足，无法解包镜像"},
    {"the layer is no tar: *", "镜像层不是 tar：*"},
    {"the layer is broken: *", "镜像层已损坏：*"},
    {"the layer has a file with the path \"*\"", "镜像层含有路径为“*”的文件"},
    {"the layer links \"*\" to \"*\"", "镜像层将“*”链接到“*”"},
    {"the layer has more than * files", "镜像层的文件超过 * 个"},
    {"the layer unpacks to more than * bytes", "镜像层解包后超过 * 字节"},
    {"there is no folder '*'", "没有文件夹“*”"},
    {"there is no device '*'", "没有设备“*”"},
    {"a job of several nodes needs a network*", "多节点作业需要网络*"},
    {"the project has * containers on this machine; there is no address left",
     "项目在本机已有 * 个容器，没有剩余地址"},
    {"crun is not installed", "未安装 crun"},
    {"containers need root; this is user *", "容器需要 root 权限，当前用户为 *"},
    {"this machine has no cgroups at /sys/fs/cgroup", "本机的 /sys/fs/cgroup 没有 cgroup"},
    {"this machine cannot run containers: *", "本机无法运行容器：*"},
    {"the server is ending", "服务正在停止"},
    {"the program * is not installed with the server", "服务器未安装程序 *"},
    {"the environment values of the version cannot be read any more, as the data folder has another key: "
     "give them again",
     "数据目录的密钥已更换，无法读取版本的环境变量值：请重新填写"},
    {"a newer generation of the version takes its place", "将由版本的新一代替换"},
    {"the service version was deleted", "服务版本已删除"},
    {"it is not needed any more", "不再需要"},
    {"it did not answer its health check: *", "未通过健康检查：*"},
};

/* The texts that stand for the stars of the pattern; the last star takes all that is left before its end. */
static bool fits(struct str pattern, struct str text, struct str *stars, size_t n)
{
    struct str rest, head = str_cut(pattern, '*', &rest);
    if (text.n < head.n || memcmp(text.p, head.p, head.n) != 0)
        return false;
    text = (struct str){text.p + head.n, text.n - head.n};
    if (!rest.p)
        return text.n == 0;
    if (n == STARS_MAX)
        return false;
    for (size_t i = 0; i <= text.n; i++) {
        stars[n] = (struct str){text.p, i};
        if (fits(rest, (struct str){text.p + i, text.n - i}, stars, n + 1))
            return true;
    }
    return false;
}

static const char *fill(struct arena *a, const char *zh, const struct str *stars)
{
    auto_buf struct buf out = {0};
    size_t n = 0;
    for (const char *z = zh; *z; z++) {
        if (*z != '*' || n == STARS_MAX) {
            buf_char(&out, *z);
            continue;
        }
        const char *text = arena_strz(a, stars[n++]);
        bool whole = z == zh || (z - zh >= 3 && memcmp(z - 3, "：", 3) == 0);
        buf_z(&out, whole ? sentence_zh(a, text) : text);
    }
    return arena_strz(a, buf_view(&out));
}

const char *sentence_zh(struct arena *a, const char *en)
{
    for (size_t i = 0; en && i < countof(sentences); i++) {
        struct str stars[STARS_MAX] = {{0}};
        if (fits(str_of(sentences[i].en), str_of(en), stars, 0))
            return fill(a, sentences[i].zh, stars);
    }
    return en;
}
