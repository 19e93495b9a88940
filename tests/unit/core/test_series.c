/* Points over time in the database: batches, feeds, minutes, and what goes with time and owners. */
#include "base/clock.h"
#include "base/fs.h"
#include "core/controllers.h"
#include "core/schema.h"
#include "core/series/series.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

struct fixture {
    struct core core;
    struct arena arena;
    char dir[64], url[128];
};

static void open_core(struct fixture *f)
{
    struct err err = {0};
    f->core.db = db_open(&(struct db_options){.url = f->url}, &err);
    assert_non_null(f->core.db);
    assert_true(schema_update(f->core.db, &f->arena, &err));
    f->core.series_limits = (struct core_series){2, 30, 30};
    assert_true(controller_write_series.start(&f->core, NULL, &err));
}

static void close_core(struct fixture *f)
{
    controller_write_series.free(&f->core);
    db_close(f->core.db);
}

static int begin(void **state)
{
    struct fixture *f = base_zalloc(sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/ingot-unit-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->url, sizeof f->url, "sqlite:%s/test.db", f->dir);
    arena_init(&f->arena);
    open_core(f);
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    close_core(f);
    arena_release(&f->arena);
    assert_true(fs_remove_tree(AT_FDCWD, f->dir, &err));
    free(f);
    return 0;
}

static int64_t number(struct fixture *f, const char *sql)
{
    struct db_row row;
    struct err err = {0};
    bool found;
    assert_true(db_query_one(f->core.db, &f->arena, sql, DB_NO_ARGS, &row, &found, &err));
    assert_true(found);
    return row.v[0].i;
}

/* Everything is due. */
static void compact(struct fixture *f)
{
    struct err err = {0};
    assert_true(db_script(f->core.db, "UPDATE series SET due = 1;", &err));
    if (!controller_compact_series.tick(&f->core, &err))
        fail_msg("%s", err.message);
}

static void append(struct fixture *f, const char *name, int64_t owner, int64_t from, size_t n)
{
    struct series_point *p = arena_array(&f->arena, struct series_point, n);
    struct err err = {0};
    for (size_t i = 0; i < n; i++)
        p[i] = (struct series_point){(from + (int64_t)i) * SECOND, (double)(from + (int64_t)i),
                                     (double)((from + (int64_t)i) % 17)};
    struct series_batch b = {
        .kind = "training_instance", .owner = owner, .name = str_of(name), .point = p, .n = n};
    assert_true(series_append(&f->core, &b, 1, &err));
}

static void test_batches_are_read_and_joined(void **state)
{
    struct fixture *f = *state;
    struct series_query q = {.kind = "training_instance", .owner = 7};
    struct series_points *s;
    struct series_info *info;
    struct err err = {0};
    size_t n;
    for (int64_t i = 0; i < 100; i++)
        append(f, "loss", 7, i * 100, 100);
    append(f, "acc", 7, 0, 1);
    append(f, "loss", 8, 0, 5);
    for (int again = 0; again < 3; again++) {
        assert_true(series_read(&f->core, &q, 0, &f->arena, &s, &n, &err));
        assert_int_equal(n, 2);
        assert_true(str_is(s[0].name, "acc") && s[0].n == 1);
        assert_true(str_is(s[1].name, "loss") && s[1].n == 10000 && s[1].total == 10000);
        for (size_t i = 0; i < s[1].n; i++)
            assert_true(s[1].point[i].at == (int64_t)i * SECOND && s[1].point[i].step == (double)i &&
                        s[1].point[i].value == (double)(i % 17));
        compact(f);
    }
    assert_int_equal(number(f, "SELECT COUNT(*) FROM series_chunks"), 3 + 2);
    assert_int_equal(number(f, "SELECT SUM(bytes) FROM series"),
                     number(f, "SELECT SUM(LENGTH(data)) FROM series_chunks"));
    assert_int_equal(number(f, "SELECT SUM(points) FROM series"), 10006);
    assert_int_equal(number(f, "SELECT SUM(due) FROM series"), 0);
    /* Thinned, and a range. */
    assert_true(series_read(&f->core, &q, 50, &f->arena, &s, &n, &err));
    assert_true(s[1].n <= 50 && s[1].n > 25 && s[1].point[s[1].n - 1].step == 9999);
    q.name = STR("loss");
    q.from = 500 * SECOND;
    q.to = 509 * SECOND;
    assert_true(series_read(&f->core, &q, 0, &f->arena, &s, &n, &err));
    assert_true(n == 1 && s[0].n == 10 && s[0].point[0].step == 500);
    assert_true(series_list(&f->core, &q, &f->arena, &info, &n, &err));
    assert_true(n == 1 && info[0].points == 10000);
}

static void test_bad_batches(void **state)
{
    struct fixture *f = *state;
    static const struct series_point p = {1, NAN, 1};
    static const char name[SERIES_NAME_MAX + 2] = {[0 ... SERIES_NAME_MAX] = 'x'};
    struct series_batch bad[] = {
        {.kind = "job", .owner = 1, .name = STR(""), .point = &p, .n = 1},
        {.kind = "job", .owner = 1, .name = {name, SERIES_NAME_MAX + 1}, .point = &p, .n = 1},
        {.kind = "job", .owner = 1, .name = {"a\0b", 3}, .point = &p, .n = 1},
        {.kind = "job", .owner = 1, .name = STR("\xff"), .point = &p, .n = 1},
        {.kind = "job", .owner = 1, .name = STR("x"), .point = &p, .n = 0},
        {.kind = "job", .owner = 1, .name = STR("x"), .point = &p, .n = SERIES_CHUNK_POINTS + 1},
    };
    for (size_t i = 0; i < countof(bad); i++) {
        struct err err = {0};
        assert_false(series_append(&f->core, &bad[i], 1, &err));
        assert_int_equal(err.code, ERR_INVALID);
    }
    assert_int_equal(number(f, "SELECT COUNT(*) FROM series"), 0);
}

static const char *const names[] = {"cpu", "disk"};

static struct series_buckets *draw(struct fixture *f, int64_t width, size_t *n)
{
    struct series_query q = {.kind = "job", .owner = 3, .part = STR("1-0"), .name = STR("cpu")};
    struct series_buckets *s;
    struct err err = {0};
    assert_true(series_draw(&f->core, &q, width, &f->arena, &s, n, &err));
    return s;
}

static size_t points(struct fixture *f)
{
    struct series_query q = {.kind = "job", .owner = 3, .part = STR("1-0"), .name = STR("cpu")};
    struct series_points *s;
    struct err err = {0};
    size_t n;
    assert_true(series_read(&f->core, &q, 0, &f->arena, &s, &n, &err));
    for (size_t i = 1; n && i < s[0].n; i++)
        assert_true(s[0].point[i].at > s[0].point[i - 1].at);
    return n ? s[0].n : 0;
}

/* Four hours of a point a second: the whole is there by the minute, two hours by the second. */
static void test_a_feed_becomes_minutes(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    size_t n;
    int64_t now = clock_now(), from = now - now % MINUTE - 4 * HOUR;
    struct series_feed *feed = series_feed_open(&f->core, "job", 3, "1-0", names, 2);
    assert_ptr_equal(series_feed_open(&f->core, "job", 3, "1-0", names, 2), feed);
    series_feed_close(feed);
    for (int64_t i = 0; i < 4 * 3600; i++) {
        series_feed_add(feed, from + i * SECOND, (const double[]){(double)(i % 60), i < 10 ? 1 : NAN});
        if (i % 30 == 29)
            assert_true(series_flush(&f->core, &err));
        if (i % 3600 == 1800)
            compact(f);
    }
    compact(f);
    struct series_buckets *s = draw(f, MINUTE, &n);
    assert_true(n == 1 && s[0].n == 240);
    for (size_t i = 0; i < s[0].n; i++) {
        assert_int_equal(s[0].bucket[i].at, from + (int64_t)i * MINUTE);
        assert_true(s[0].bucket[i].low == 0 && s[0].bucket[i].high == 59 &&
                    series_mean(&s[0].bucket[i]) == 29.5);
    }
    s = draw(f, HOUR, &n);
    assert_true(s[0].n >= 4 && s[0].n <= 5 && series_mean(&s[0].bucket[1]) == 29.5);
    assert_true(points(f) >= 7200 - 60 && points(f) < 3 * 3600);
    assert_int_equal(number(f, "SELECT SUM(bytes) FROM series"),
                     number(f, "SELECT SUM(LENGTH(data)) FROM series_chunks"));
    assert_int_equal(number(f, "SELECT SUM(points) FROM series"),
                     number(f, "SELECT SUM(points) FROM series_chunks"));
    assert_true(number(f, "SELECT COUNT(*) FROM series_chunks WHERE level = 0") < 40);
    series_feed_close(feed);
}

/* What waits is read with what is written, each once; the end writes it. */
static void test_memory_and_rows_are_one(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct series_query q = {.kind = "job", .owner = 3};
    struct series_sizes sizes;
    int64_t now = clock_now() - 100 * SECOND, newest;
    struct series_feed *feed = series_feed_open(&f->core, "job", 3, "1-0", names, 2);
    for (int64_t i = 0; i < 100; i++) {
        series_feed_add(feed, now + i * SECOND, (const double[]){(double)i, 2});
        if (i == 50)
            assert_true(series_flush(&f->core, &err));
        assert_int_equal(points(f), i + 1);
    }
    assert_true(series_newest(&f->core, &q, &f->arena, &newest, &err));
    assert_int_equal(newest, now + 99 * SECOND);
    series_sizes(&f->core, &sizes);
    assert_int_equal(sizes.waiting, 49 * 2);
    series_feed_close(feed);
    close_core(f);
    open_core(f);
    assert_int_equal(points(f), 100);
    series_sizes(&f->core, &sizes);
    assert_int_equal(sizes.waiting, 0);
}

static void test_old_minutes_go(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    size_t n;
    int64_t from = clock_now() - 40 * 24 * HOUR;
    struct series_feed *feed = series_feed_open(&f->core, "job", 3, "1-0", names, 2);
    series_feed_add(feed, from, (const double[]){1, 1});
    series_feed_close(feed);
    assert_true(series_flush(&f->core, &err));
    compact(f); /* seconds become minutes, the seconds go */
    compact(f); /* the minutes go */
    compact(f);
    draw(f, MINUTE, &n);
    assert_int_equal(n, 0);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM series"), 0);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM series_chunks"), 0);
}

static bool put_minutes(struct db_conn *c, void *ctx, struct err *err)
{
    return series_put_minutes(c, ctx, err);
}

static void test_minutes_of_before(void **state)
{
    struct fixture *f = *state;
    struct series_point p[60];
    struct err err = {0};
    size_t n;
    int64_t now = clock_now(), from = now - now % MINUTE - 2 * HOUR;
    for (int i = 0; i < 60; i++)
        p[i] = (struct series_point){from + i * MINUTE, NAN, i};
    struct series_batch b = {.kind = "job",
                             .owner = 3,
                             .part = STR("1-0"),
                             .name = STR("cpu"),
                             .keep = SERIES_LIVE,
                             .point = p,
                             .n = 60};
    for (int again = 0; again < 2; again++)
        assert_true(db_write(f->core.db, put_minutes, &b, &err));
    compact(f);
    struct series_buckets *s = draw(f, MINUTE, &n);
    assert_true(n == 1 && s[0].n == 60 && s[0].bucket[59].high == 59);
    assert_int_equal(number(f, "SELECT SUM(points) FROM series_chunks"), 60);
}

static void test_owners_take_their_series_along(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    assert_true(db_script(f->core.db,
                          "INSERT INTO training_instances (id, revision, created_at, updated_at, project,"
                          " training) VALUES (7, 1, 1, 1, 1, 1);",
                          &err));
    for (int64_t i = 0; i < 300; i++)
        append(f, "loss", 8, i, 1);
    for (int i = 0; i < 250; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        append(f, name, 9, 0, 1);
    }
    append(f, "loss", 7, 0, 10);
    assert_true(controller_collect_series.tick(&f->core, &err));
    assert_int_equal(number(f, "SELECT COUNT(*) FROM series"), 1);
    assert_int_equal(number(f, "SELECT SUM(points) FROM series_chunks"), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_batches_are_read_and_joined, begin, end),
        cmocka_unit_test_setup_teardown(test_bad_batches, begin, end),
        cmocka_unit_test_setup_teardown(test_a_feed_becomes_minutes, begin, end),
        cmocka_unit_test_setup_teardown(test_memory_and_rows_are_one, begin, end),
        cmocka_unit_test_setup_teardown(test_old_minutes_go, begin, end),
        cmocka_unit_test_setup_teardown(test_minutes_of_before, begin, end),
        cmocka_unit_test_setup_teardown(test_owners_take_their_series_along, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
