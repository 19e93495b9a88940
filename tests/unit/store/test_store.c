/* Blobs, uses, the collector and uploads on a real database. */
#include "base/fs.h"
#include "store/manifest.h"
#include "store/upload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

struct fixture {
    char dir[64];
    struct db *db;
    struct store *store;
    struct arena arena;
};

static int open_all(void **state)
{
    struct fixture *f = base_zalloc(sizeof *f);
    struct err err = {0};
    strcpy(f->dir, "/tmp/ingot-store-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    arena_init(&f->arena);
    char *url = arena_printf(&f->arena, "sqlite:%s/ingot.db", f->dir);
    f->db = db_open(&(struct db_options){.url = url}, &err);
    assert_non_null(f->db);
    f->store = store_open(&(struct store_options){.db = f->db, .data = f->dir, .grace_seconds = 0}, &err);
    assert_non_null(f->store);
    *state = f;
    return 0;
}

static int close_all(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    store_close(f->store);
    db_close(f->db);
    arena_release(&f->arena);
    assert_true(fs_remove_tree(AT_FDCWD, f->dir, &err));
    free(f);
    return 0;
}

struct use {
    struct digest d;
    int64_t project, count;
};

static bool do_use(struct db_conn *c, void *ctx, struct err *err)
{
    struct use *u = ctx;
    return store_use(c, u->project, &u->d, u->count, err);
}

static void use(struct fixture *f, const struct digest *d, int64_t project, int64_t count)
{
    struct err err = {0};
    assert_true(db_write(f->db, do_use, &(struct use){*d, project, count}, &err));
}

static int64_t bytes_of(struct fixture *f, int64_t project)
{
    struct err err = {0};
    int64_t n = -1;
    assert_true(store_project_bytes(f->store, project, &n, &err));
    return n;
}

static bool exists(struct fixture *f, const struct digest *d)
{
    struct err err = {0};
    int fd = blob_open(f->store, d, NULL, &err);
    base_close_fd(&fd);
    return fd >= 0;
}

static void test_same_bytes_are_kept_once(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest a, b;
    struct str back;
    char hex[SHA256_HEX + 1];
    assert_true(blob_put(f->store, STR("hello"), &a, &err));
    assert_true(blob_put(f->store, STR("hello"), &b, &err));
    assert_memory_equal(&a, &b, sizeof a);
    digest_hex(&a, hex);
    assert_string_equal(hex, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_true(blob_read(f->store, &f->arena, &a, 100, &back, &err));
    assert_true(str_is(back, "hello"));
    assert_false(blob_read(f->store, &f->arena, &a, 4, &back, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
}

static void test_uses_are_counted_per_project(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest d;
    assert_true(blob_put(f->store, STR("0123456789"), &d, &err));
    use(f, &d, 1, 2);
    use(f, &d, 2, 1);
    assert_int_equal(bytes_of(f, 1), 10);
    use(f, &d, 1, -1);
    assert_int_equal(bytes_of(f, 1), 10);
    use(f, &d, 1, -1);
    assert_int_equal(bytes_of(f, 1), 0);
    assert_int_equal(bytes_of(f, 2), 10);
    assert_false(db_write(f->db, do_use, &(struct use){d, 1, -1}, &err));
    assert_false(store_admit(f->store, 2, 6, 15, &err));
    assert_int_equal(err.code, ERR_QUOTA);
    assert_true(store_admit(f->store, 2, 5, 15, &err));
}

static void test_collector_takes_only_what_is_unused(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest used, unused_blob, gone = {{1}};
    struct store_collected c;
    assert_true(blob_put(f->store, STR("used"), &used, &err));
    assert_true(blob_put(f->store, STR("unused"), &unused_blob, &err));
    use(f, &used, 1, 1);
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 1);
    assert_int_equal(c.bytes, 6);
    assert_true(exists(f, &used));
    assert_false(exists(f, &unused_blob));
    assert_false(db_write(f->db, do_use, &(struct use){gone, 1, 1}, &err));
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_true(blob_put(f->store, STR("unused"), &unused_blob, &err));
    assert_true(exists(f, &unused_blob));
}

static void test_upload_goes_on_where_it_was_cut(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct upload u, v;
    assert_true(upload_create(f->store, 7, 1, 10, STR("filename YQ=="), &f->arena, &u, &err));
    struct upload_appender *p = upload_append_begin(f->store, &u, 0, &err);
    assert_non_null(p);
    assert_null(upload_append_begin(f->store, &u, 0, &err));
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_true(upload_append(p, STR("01234"), &err));
    assert_true(upload_append_end(p, &u, &err));
    assert_false(u.finished);
    assert_false(upload_get(f->store, str_of(u.id), 8, &f->arena, &v, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_true(upload_get(f->store, str_of(u.id), 7, &f->arena, &v, &err));
    assert_int_equal(v.offset, 5);
    assert_null(upload_append_begin(f->store, &v, 4, &err));
    p = upload_append_begin(f->store, &v, 5, &err);
    assert_false(upload_append(p, STR("567890"), &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_true(upload_append(p, STR("56789"), &err));
    assert_true(upload_append_end(p, &v, &err));
    assert_true(v.finished);
    struct str back;
    assert_true(blob_read(f->store, &f->arena, &v.blob, 100, &back, &err));
    assert_true(str_is(back, "0123456789"));
    assert_true(upload_get(f->store, str_of(u.id), 7, &f->arena, &u, &err));
    assert_true(u.finished);
    assert_true(upload_delete(f->store, &u, &err));
    assert_true(exists(f, &v.blob));
}

static void test_links_share_the_bytes(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest d;
    assert_true(blob_put(f->store, STR("print(1)"), &d, &err));
    auto_fd int dir = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    assert_true(blob_link(f->store, &d, dir, "out/a/b.py", false, &err));
    assert_int_equal(fstatat(dir, "out/a/b.py", &st, 0), 0);
    assert_int_equal(st.st_nlink, 2);
    assert_true(blob_link(f->store, &d, dir, "out/run.sh", true, &err));
    assert_int_equal(fstatat(dir, "out/run.sh", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0555);
    assert_int_equal(st.st_size, 8);
}

struct counting {
    struct digest self;
    int by;
};

static bool do_count(struct db_conn *c, void *ctx, struct err *err)
{
    struct counting *n = ctx;
    return manifest_count(c, 1, &n->self, n->by, err);
}

/* 1,200 files of which many share a blob: several chunks. */
static void test_manifests_hold_their_files(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct manifest_entry *e = arena_array(&f->arena, struct manifest_entry, 1200);
    struct digest d[3], self;
    for (int i = 0; i < 3; i++)
        assert_true(blob_put(f->store, str_of(arena_printf(&f->arena, "blob %d", i)), &d[i], &err));
    for (int i = 0; i < 1200; i++)
        e[i] = (struct manifest_entry){str_of(arena_printf(&f->arena, "f/%d", i)), d[i % 3], 6, false};
    struct manifest m;
    struct store_collected c;
    assert_true(manifest_build(&f->arena, e, 1200, &m, &err));
    assert_true(manifest_save(f->store, &m, &self, &err));
    assert_false(db_write(f->db, do_count, &(struct counting){self, 1}, &err));
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_true(manifest_hold(f->store, 1, &m, &self, &err));
    assert_true(manifest_hold(f->store, 1, &m, &self, &err));
    assert_true(db_write(f->db, do_count, &(struct counting){self, 1}, &err));
    assert_true(manifest_release(f->store, &err));
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 0);
    assert_true(bytes_of(f, 1) > 18);
    assert_true(db_write(f->db, do_count, &(struct counting){self, -1}, &err));
    assert_true(manifest_release(f->store, &err));
    assert_int_equal(bytes_of(f, 1), 0);
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes_are_kept_once, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_uses_are_counted_per_project, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_collector_takes_only_what_is_unused, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_upload_goes_on_where_it_was_cut, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_manifests_hold_their_files, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_links_share_the_bytes, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
