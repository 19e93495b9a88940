/* The kept part of the log: what is found again, in which order, and what is dropped. */
#include "base/fs.h"
#include "base/logbook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];
static int errors; /* the real standard error */
static struct arena a;

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/ingot-logbook-XXXXXX");
    arena_init(&a);
    auto_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    errors = dup(2);
    return !mkdtemp(dir) || dup2(null, 2) != 2 || !logbook_open(dir, NULL);
}

static int teardown(void **state)
{
    (void)state;
    logbook_close();
    dup2(errors, 2);
    close(errors);
    arena_release(&a);
    return !fs_remove_tree(AT_FDCWD, dir, NULL);
}

static struct logbook_page page(struct logbook_query q)
{
    struct logbook_page p;
    struct err err = {0};
    assert_true(logbook_read(&a, &q, &p, &err));
    return p;
}

static struct logbook_page newest(size_t limit)
{
    return page((struct logbook_query){.after = -1, .before = -1, .limit = limit});
}

static struct logbook_page after(int64_t place, size_t limit)
{
    return page((struct logbook_query){.after = place, .before = -1, .limit = limit});
}

static struct logbook_page before(int64_t place, size_t limit)
{
    return page((struct logbook_query){.after = -1, .before = place, .limit = limit});
}

static struct logbook_page with(const char *text)
{
    return page((struct logbook_query){.after = -1, .before = -1, .limit = 100, .q = str_of(text)});
}

static void is(const struct logbook_line *l, const char *text)
{
    assert_true(str_is(l->text, text));
}

static void lines_are_found_again(void **state)
{
    (void)state;
    log_info("first of all");
    log_warn("the second\nwith a newline");
    log_error("Third");
    struct logbook_page p = newest(100);
    assert_int_equal(p.n, 3);
    is(&p.line[0], "first of all");
    is(&p.line[1], "the second with a newline");
    assert_true(str_is(p.line[1].level, "warn") && p.line[0].at.n == 27 && p.line[0].thread.n > 0);
    assert_true(p.line[0].place == 0 && p.line[1].place < p.line[2].place && p.line[2].place < p.next);

    p = page((struct logbook_query){.after = -1, .before = -1, .level = LOG_WARN, .limit = 1});
    assert_int_equal(p.n, 1);
    is(&p.line[0], "Third");
    int64_t third = p.line[0].place;
    p = before(third, 100);
    assert_int_equal(p.n, 2);
    p = with("THIRD");
    assert_int_equal(p.n, 1);
    p = after(third, 100);
    assert_int_equal(p.n, 1);
    p = after(p.next, 100);
    assert_int_equal(p.n, 0);
    log_info("fourth");
    p = after(p.next, 100);
    assert_int_equal(p.n, 1);
    is(&p.line[0], "fourth");
}

static void places_survive_a_restart(void **state)
{
    (void)state;
    log_info("before");
    int64_t next = newest(100).next;
    logbook_close();
    struct logbook_query q = {.after = -1, .limit = 1};
    struct err err = {0};
    struct logbook_page p;
    assert_false(logbook_read(&a, &q, &p, &err));
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    assert_true(logbook_open(dir, NULL));
    log_info("after");
    p = after(next, 100);
    assert_int_equal(p.n, 1);
    is(&p.line[0], "after");
    assert_int_equal(p.line[0].place, next);
}

/* Twenty megabytes: the first four are gone, the others are read through from file to file. */
static void the_oldest_are_dropped(void **state)
{
    (void)state;
    char filler[1001];
    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = 0;
    const int n = 20000;
    for (int i = 0; i < n; i++)
        log_info("%d %s", i, filler);
    struct logbook_page p = newest(100);
    assert_true(p.first > 2 << 20 && p.n == 100);
    assert_int_equal(strtol(p.line[99].text.p, NULL, 10), n - 1);
    assert_int_equal(strtol(p.line[0].text.p, NULL, 10), n - 100);
    p = before(p.line[0].place, 1000);
    assert_int_equal(strtol(p.line[0].text.p, NULL, 10), n - 1100);
    long expected = -1;
    int64_t place = 0;
    do {
        p = after(place, 1000);
        place = p.next;
        for (size_t i = 0; i < p.n; i++) {
            long number = strtol(p.line[i].text.p, NULL, 10);
            assert_true(expected < 0 || number == expected);
            expected = number + 1;
        }
    } while (p.n);
    assert_int_equal(expected, n);
    assert_true(with("nowhere in it").n == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_found_again, setup, teardown),
        cmocka_unit_test_setup_teardown(places_survive_a_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(the_oldest_are_dropped, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
