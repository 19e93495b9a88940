/* Reasons of jobs in Chinese. */
#include "core/job/sentence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *en, *zh;
} known[] = {
    {"ended with exit code 7", "退出码 7"},
    {"its disk was full (the limit is 10 MB): ended with exit code 7", "磁盘已满（上限为 10 MB）：退出码 7"},
    {"the machine's disk was full: ended with exit code 7", "机器的磁盘已满：退出码 7"},
    {"cannot run '/bin/sh': No such file or directory", "无法运行“/bin/sh”：没有该文件或目录"},
    {"it had as many processes as it may: ended with exit code 7", "进程数已达上限：退出码 7"},
    {"ended with exit code 7; it is tried again", "退出码 7；将重试"},
    {"stopped by ann; it is tried again", "由 ann 停止；将重试"},
    {"stopped by killed", "由 killed 停止"},
    {"the image is for arm64, and this machine is amd64", "镜像适用于 arm64，而本机为 amd64"},
    {"there is no image \"a*b\", or you may not see it", "没有镜像“a*b”，或无权查看"},
    {"what it saves is too much: there are more than 5 files", "保存的内容过多：文件超过 5 个"},
    {"the layer links \"a\" to \"b\" to \"c\"", "镜像层将“a”链接到“b\" to \"c”"},
    {"nobody wrote this one", "nobody wrote this one"},
    {"", ""},
};

static void sentences_are_found(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < countof(known); i++)
        assert_string_equal(sentence_zh(&a, known[i].en), known[i].zh);
    assert_null(sentence_zh(&a, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sentences_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
