/* What services answered, over time: sums and bands by the second and by the minute. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "core/controllers.h"
#include "core/schema.h"
#include "core/series/series.h"
#include "core/serve/traffic_curve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND  INT64_C(1000000)
#define MINUTE  (60 * SECOND)
#define SERVICE 5
#define VERSION 7

struct fixture {
    struct core core;
    struct arena arena;
    struct traffic_curve *curve;
    struct traffic_total total;
    char dir[64];
};

static int begin(void **state)
{
    struct fixture *f = base_zalloc(sizeof *f);
    struct err err = {0};
    snprintf(f->dir, sizeof f->dir, "/tmp/ingot-unit-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    arena_init(&f->arena);
    f->core.db =
        db_open(&(struct db_options){.url = arena_printf(&f->arena, "sqlite:%s/test.db", f->dir)}, &err);
    assert_non_null(f->core.db);
    f->core.series_limits = (struct core_series){2, 30, 30};
    assert_true(schema_update(f->core.db, &f->arena, &err));
    /* Only what the answer asks of versions. */
    assert_true(db_script(f->core.db,
                          "DROP TABLE service_versions;"
                          "CREATE TABLE service_versions (id BIGINT PRIMARY KEY, service BIGINT);"
                          "INSERT INTO service_versions VALUES (7, 5);",
                          &err));
    assert_true(controller_write_series.start(&f->core, NULL, &err));
    f->curve = traffic_curve_open(&f->core, VERSION);
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    traffic_curve_close(f->curve);
    controller_write_series.free(&f->core);
    db_close(f->core.db);
    arena_release(&f->arena);
    assert_true(fs_remove_tree(AT_FDCWD, f->dir, &err));
    free(f);
    return 0;
}

/* So many requests came up to now. */
static void roll(struct fixture *f, int64_t now, uint64_t ok, uint64_t failed)
{
    f->total.class[SERVE_OK] += ok;
    f->total.class[SERVE_ERROR] += failed;
    f->total.side.requests += ok + failed;
    f->total.side.times[JUDGE_BUCKETS / 2] += ok;
    traffic_curve_roll(f->curve, &f->total, now);
}

/* The only version's points, of that width, by a path of the answer. */
static yyjson_val *draw(struct fixture *f, int64_t from, int64_t to, int64_t points, int64_t step_s)
{
    auto_buf struct buf out = {0};
    struct err err = {0};
    assert_true(serve_traffic_write(&f->core, SERVICE, from, to, points, &f->arena, &out, &err));
    yyjson_val *root = json_parse(&f->arena, arena_str(&f->arena, buf_view(&out)), &err);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "step_s")), step_s);
    yyjson_val *version = yyjson_arr_get_first(yyjson_obj_get(root, "versions"));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(version, "version")), VERSION);
    return yyjson_obj_get(version, "points");
}

static double value(yyjson_val *points, size_t i, const char *path)
{
    yyjson_val *v = yyjson_ptr_get(yyjson_arr_get(points, i), path);
    assert_true(yyjson_is_num(v));
    return yyjson_get_num(v);
}

/* A minute that has not begun. */
static int64_t next_minute(void)
{
    return (clock_now() / MINUTE + 2) * MINUTE;
}

static void traffic(struct fixture *f, int64_t minute)
{
    roll(f, minute + 10 * SECOND + 200000, 3, 0);
    roll(f, minute + 10 * SECOND + 900000, 1, 1); /* in the same second: with the next */
    for (int64_t s = 11; s < 30; s++)
        roll(f, minute + s * SECOND, 0, 0);
    roll(f, minute + 33 * SECOND, 2, 0); /* after ticks that were late */
    for (int64_t s = 34; s < 300; s++)
        roll(f, minute + s * SECOND, 0, 0);
    roll(f, minute + 359 * SECOND, 60, 0); /* the last of its minute */
    roll(f, minute + 1000 * SECOND, 0, 0);
}

static void test_by_the_second(void **state)
{
    struct fixture *f = *state;
    int64_t minute = next_minute();
    traffic(f, minute);
    yyjson_val *p = draw(f, minute, minute + MINUTE - 1, 60, 1);
    assert_int_equal(yyjson_arr_size(p), 3); /* those with requests */
    static const double requests[] = {3, 2, 2}, failed[] = {0, 1, 0};
    for (size_t i = 0; i < 3; i++) {
        assert_true(value(p, i, "/requests") == requests[i]);
        assert_true(value(p, i, "/classes/error") == failed[i]);
        assert_true(value(p, i, "/per_second") == requests[i]);
        assert_true(value(p, i, "/low/per_second") == requests[i]);
        assert_true(value(p, i, "/high/per_second") == requests[i]);
        assert_true(value(p, i, "/p95_ms") > 0 && value(p, i, "/p95_ms") == value(p, i, "/high/p95_ms"));
    }
    p = draw(f, minute, minute + MINUTE - 1, 4, 15);
    assert_int_equal(yyjson_arr_size(p), 2);
    assert_true(value(p, 0, "/requests") == 5 && value(p, 1, "/requests") == 2);
    assert_true(value(p, 0, "/low/per_second") == 0 && value(p, 0, "/high/per_second") == 3);
}

/* The same sums when only minutes are left of it. */
static void test_by_the_minute(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    int64_t minute = next_minute(), from = minute - 180 * MINUTE;
    traffic(f, minute);
    assert_true(series_flush(&f->core, &err));
    yyjson_val *p = draw(f, from, minute + 10 * MINUTE, 1000, 60);
    assert_int_equal(yyjson_arr_size(p), 2);
    assert_true(value(p, 0, "/requests") == 7 && value(p, 0, "/classes/error") == 1);
    assert_true(value(p, 1, "/requests") == 60 && value(p, 1, "/per_second") == 1);
    assert_true(value(p, 1, "/low/per_second") == 0 && value(p, 1, "/high/per_second") == 60);
    p = draw(f, from, minute + 10 * MINUTE, 1, 191 * 60);
    double all = 0;
    for (size_t i = 0; i < yyjson_arr_size(p); i++)
        all += value(p, i, "/requests");
    assert_true(all == 67);
}

/* A clock that was put back does not end the counting. */
static void test_a_clock_put_back(void **state)
{
    struct fixture *f = *state;
    int64_t minute = next_minute();
    roll(f, minute + 100 * MINUTE, 5, 0);
    roll(f, minute + SECOND, 1, 0);
    yyjson_val *p = draw(f, minute, minute + MINUTE - 1, 60, 1);
    assert_int_equal(yyjson_arr_size(p), 1);
    assert_true(value(p, 0, "/requests") == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_by_the_second, begin, end),
        cmocka_unit_test_setup_teardown(test_by_the_minute, begin, end),
        cmocka_unit_test_setup_teardown(test_a_clock_put_back, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
