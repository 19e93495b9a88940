/* err, log and clock. */
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/messages.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void table_is_whole(void **state)
{
    (void)state;
    for (int i = ERR_INVALID; i < ERR_COUNT; i++) {
        const struct err_info *info = err_info((enum err_code)i);
        assert_non_null(info->name);
        assert_non_null(info->title);
        assert_in_range(info->status, 400, 599);
        assert_in_range(info->exit_code, 1, 125);
        for (int k = i + 1; k < ERR_COUNT; k++)
            assert_string_not_equal(info->name, err_info((enum err_code)k)->name);
    }
    assert_int_equal(err_from_status(404), ERR_NOT_FOUND);
    assert_int_equal(err_from_status(418), ERR_INTERNAL);
    assert_string_equal(err_info((enum err_code)999)->name, "internal");
}

static void texts_are_printable(void **state)
{
    (void)state;
    struct err err;
    assert_false(err_set(NULL, ERR_INVALID, "x", "y"));
    assert_false(err_set(&err, ERR_INVALID, "a\nb", "x\r\n%s\x1b[31m", "\xff\xc2\x85 \xe4\xbd\xa0"));
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.field, "a b");
    assert_string_equal(err.message, "x  ?? \xe4\xbd\xa0?[31m");
}

static void sentences_are_told_in_both_languages(void **state)
{
    (void)state;
    struct err err;
    assert_false(err_message(&err, ERR_INVALID, "age", MESSAGE_TOO_SMALL, "age", "3", 6LL));
    assert_string_equal(err.id, "too-small");
    assert_string_equal(err.message, "age: 3 is less than 6");
    assert_string_equal(err.zh, "age：3 小于 6");
    assert_false(err_set(&err, ERR_INVALID, "age", "no"));
    assert_null(err.id);
    assert_string_equal(err.zh, "");
}

static void a_sentence_has_its_reason_behind_it(void **state)
{
    (void)state;
    struct err err;
    err_message(&err, ERR_INVALID, "age", MESSAGE_TOO_SMALL, "age", "3", 6LL);
    assert_false(err_because(&err, ERR_CONFLICT, NULL, &err, MESSAGE_NAME_PREPROCESS));
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_string_equal(err.id, "name-preprocess");
    assert_string_equal(err.message, "Preprocess: age: 3 is less than 6");
    assert_string_equal(err.zh, "预处理：age：3 小于 6");
    struct err english, whole;
    char text[400];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    err_set(&english, ERR_INVALID, NULL, "%s", text);
    err_because(&whole, ERR_INVALID, NULL, &english, MESSAGE_NAME_EXPORT, text);
    assert_true(utf8_valid(str_of(whole.zh)));
    assert_int_equal(strlen(whole.message), sizeof whole.message - 1);
    assert_string_equal(err_zh(&english), text);
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    for (int lead = 0; lead < 4; lead++) {
        char text[2000];
        memset(text, 'a', (size_t)lead);
        for (size_t i = (size_t)lead; i + 4 < sizeof text; i += 4)
            memcpy(text + i, "\xf0\x9f\x98\x80", 5);
        struct err err;
        err_set(&err, ERR_INVALID, text, "%s", text);
        assert_true(utf8_valid(str_of(err.message)));
        assert_null(strchr(err.message, '?'));
        assert_true(utf8_valid(str_of(err.field)));
        assert_true(strlen(err.message) > sizeof err.message - 5);
        err_errno(&err, EACCES, "%s", text);
        assert_true(str_ends(str_of(err.message), ": Permission denied"));
        assert_null(strchr(err.message, '?'));
        assert_true(utf8_valid(str_of(err.message)));
    }
}

static void errno_texts(void **state)
{
    (void)state;
    struct err err;
    assert_false(err_errno(&err, ENOSPC, "writing %d", 7));
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    assert_string_equal(err.message, "writing 7: No space left on device");
    err_errno(&err, EIO, "x");
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_false(err_errno(NULL, EIO, "x"));
}

/* Runs fn with standard error in a pipe; returns what it wrote. */
static size_t captured(void (*fn)(void), char *ret, size_t cap)
{
    int ends[2], saved = dup(2);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], 2);
    fn();
    dup2(saved, 2);
    close(saved);
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(ends[0], ret + n, cap - 1 - n)) > 0;)
        n += (size_t)got;
    close(ends[0]);
    ret[n] = 0;
    return n;
}

static void say(void)
{
    char text[6000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    log_debug("hidden");
    log_warn("two\nlines\x1b %d", 7);
    log_error("%s", text);
}

static void log_writes_lines(void **state)
{
    (void)state;
    char text[16000];
    captured(say, text, sizeof text);
    struct str rest, line = str_cut(str_of(text), '\n', &rest);
    assert_true(str_ends(line, " two lines  7"));
    assert_true(str_find(line, STR("Z warn ")) > 0);
    line = str_cut(rest, '\n', &rest);
    assert_true(str_ends(line, "xxx"));
    assert_int_equal(line.n, 4094);
    assert_int_equal(rest.n, 0);
    enum log_level level = LOG_INFO;
    assert_true(log_level_from("error", &level) && level == LOG_ERROR);
    assert_false(log_level_from("loud", &level));
}

static void formats_times(void **state)
{
    (void)state;
    char text[CLOCK_TEXT_MAX];
    assert_string_equal(clock_format(0, text), "1970-01-01T00:00:00.000000Z");
    assert_string_equal(clock_format(INT64_C(1794822690123456), text), "2026-11-16T09:51:30.123456Z");
    assert_string_equal(clock_format(-1, text), "1969-12-31T23:59:59.999999Z");
    assert_string_equal(clock_http(INT64_C(1794822690123456), text), "Mon, 16 Nov 2026 09:51:30 GMT");
    assert_string_equal(clock_http(INT64_C(951782400000000), text), "Tue, 29 Feb 2000 00:00:00 GMT");
    clock_format(INT64_MAX, text);
    clock_format(INT64_MIN, text);
}

static void parses_times(void **state)
{
    (void)state;
    int64_t us = 7;
    assert_true(clock_parse(STR("2026-11-16T09:51:30.123456Z"), &us) && us == INT64_C(1794822690123456));
    assert_true(clock_parse(STR("2026-11-16T11:51:30.1234567+02:00"), &us) &&
                us == INT64_C(1794822690123456));
    assert_true(clock_parse(STR("1969-12-31t23:59:59z"), &us) && us == -1000000);
    assert_true(clock_parse(STR("2000-02-29T00:00:00Z"), &us));
    us = 7;
    static const char *const bad[] = {"",
                                      "2026-11-16",
                                      "2026-11-16T09:51:30",
                                      "2026-02-29T00:00:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-11-16T24:00:00Z",
                                      "2026-11-16T09:51:30.Z",
                                      "2026-11-16T09:51:30Zx",
                                      "2026-11-16T09:51:30+0200",
                                      "x026-11-16T09:51:30Z",
                                      "2026-11-16T09:51:30+24:00",
                                      "2026-00-10T00:00:00Z",
                                      "2026-11-00T00:00:00Z"};
    for (size_t i = 0; i < countof(bad); i++)
        assert_false(clock_parse(str_of(bad[i]), &us));
    assert_int_equal(us, 7);
    for (int64_t t = INT64_C(-62135596800000000); t < INT64_C(253402300799000000);
         t += INT64_C(7776123456789012)) {
        char text[CLOCK_TEXT_MAX];
        assert_true(clock_parse(str_of(clock_format(t, text)), &us));
        assert_int_equal(us, t);
    }
    uint64_t before = clock_mono();
    assert_true(clock_mono() >= before);
    assert_true(clock_now() > INT64_C(1700000000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_whole),
        cmocka_unit_test(texts_are_printable),
        cmocka_unit_test(sentences_are_told_in_both_languages),
        cmocka_unit_test(a_sentence_has_its_reason_behind_it),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(errno_texts),
        cmocka_unit_test(log_writes_lines),
        cmocka_unit_test(formats_times),
        cmocka_unit_test(parses_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
