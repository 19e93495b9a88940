/* Files that jobs leave in the data folder: checkouts that nobody uses any more. */
#include "base/fs.h"
#include "core/job/checkout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct core core;
    char dir[64], url[128];
};

static int begin(void **state)
{
    struct fixture *f = base_zalloc(sizeof *f);
    struct err err = {0};
    snprintf(f->dir, sizeof f->dir, "/tmp/ingot-unit-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->url, sizeof f->url, "sqlite:%s/test.db", f->dir);
    f->core.data = f->dir;
    f->core.db = db_open(&(struct db_options){.url = f->url}, &err);
    assert_non_null(f->core.db);
    assert_true(db_script(f->core.db, "CREATE TABLE jobs (id BIGINT, state TEXT, checkouts TEXT);", &err));
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    db_close(f->core.db);
    assert_true(fs_remove_tree(AT_FDCWD, f->dir, &err));
    free(f);
    return 0;
}

static void make(struct fixture *f, const char *name)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    assert_true(fs_mkdirs(arena_printf(&a, "%s/checkouts/%s/in", f->dir, name), 0755, &err));
}

static bool is_there(struct fixture *f, const char *name)
{
    auto_arena struct arena a;
    arena_init(&a);
    return access(arena_printf(&a, "%s/checkouts/%s", f->dir, name), F_OK) == 0;
}

static void test_checkouts_are_swept(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    assert_true(db_script(f->core.db,
                          "INSERT INTO jobs VALUES (1, 'running', 'used other '), (2, 'completed', 'old ');",
                          &err));
    make(f, "used");
    make(f, "use"); /* a part of another's name */
    make(f, "old");
    make(f, ".half-x-7");
    assert_true(checkout_sweep(&f->core, &lock, 3600, &err));
    assert_true(is_there(f, "used") && is_there(f, "old") && is_there(f, "use"));
    assert_true(checkout_sweep(&f->core, &lock, -10, &err));
    assert_true(is_there(f, "used") && is_there(f, ".half-x-7"));
    assert_false(is_there(f, "old") || is_there(f, "use") || is_there(f, ".gone-old"));
    assert_true(checkout_sweep_halves(&f->core, &err));
    assert_false(is_there(f, ".half-x-7"));
    pthread_mutex_destroy(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_checkouts_are_swept, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
