/* Blobs, uses, the collector and uploads on a real database. With INGOT_TEST_S3 (endpoint),
 * AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and INGOT_TEST_BUCKET the blobs are in that bucket:
 * tests/api/test_store.py runs it so. */
#include "base/fs.h"
#include "store/bucket.h"
#include "store/manifest.h"
#include "store/s3.h"
#include "store/store_own.h"
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

static void open_store(struct fixture *f)
{
    struct err err = {0};
    struct s3_options s3 = {.endpoint = getenv("INGOT_TEST_S3"),
                            .bucket = getenv("INGOT_TEST_BUCKET"),
                            .key = getenv("AWS_ACCESS_KEY_ID"),
                            .secret = getenv("AWS_SECRET_ACCESS_KEY")};
    struct store_options o = {.db = f->db,
                              .data = f->dir,
                              .s3 = s3.endpoint ? &s3 : NULL,
                              .s3_prefix = f->dir + 5,
                              .cache_bytes = 1000};
    f->store = store_open(&o, &err);
    if (!f->store)
        fail_msg("%s", err.message);
}

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
    open_store(f);
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
    store_hold(f->store, 60); /* as a backup does */
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 0);
    assert_true(exists(f, &unused_blob));
    store_hold(f->store, 0);
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
    assert_true(upload_create(f->store, 7, 1, 10, 10, STR("filename YQ=="), &f->arena, &u, &err));
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

static int plant(int dirfd, const char *path)
{
    auto_fd int fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
    return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : -1;
}

/* What a crash between the row and the file leaves. */
static void test_files_without_a_row_are_swept(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest used;
    struct store_collected c;
    const char *orphan = "2d/2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    assert_true(blob_put(f->store, STR("used"), &used, &err));
    use(f, &used, 1, 1);
    assert_true(mkdirat(f->store->blobs_fd, "2d", 0750) == 0);
    assert_int_equal(plant(f->store->blobs_fd, orphan), 0);
    assert_int_equal(plant(f->store->blobs_fd, "2d/no digest"), 0);
    assert_int_equal(plant(f->store->tmp_fd, "0123"), 0);
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 1);
    assert_int_not_equal(faccessat(f->store->blobs_fd, orphan, F_OK, 0), 0);
    assert_int_equal(faccessat(f->store->blobs_fd, "2d/no digest", F_OK, 0), 0);
    assert_true(exists(f, &used));
    store_close(f->store);
    open_store(f);
    assert_int_not_equal(faccessat(f->store->tmp_fd, "0123", F_OK, 0), 0);
    assert_true(exists(f, &used));
}

static struct digest put_many(struct fixture *f, int n)
{
    struct err err = {0};
    struct digest d = {{0}};
    for (int i = 0; i < n; i++) {
        assert_true(blob_put(f->store, str_of(arena_printf(&f->arena, "%0200d", i)), &d, &err));
        use(f, &d, 1, 1);
    }
    return d;
}

struct counted {
    int64_t n;
    struct store *store;
};

static bool count_blob(void *ctx, const struct digest *d, struct err *err)
{
    struct counted *k = ctx;
    auto_fd int fd = blob_open(k->store, d, NULL, err);
    k->n += fd >= 0;
    return fd >= 0;
}

/* A cache of 1000 bytes for 4000 of blobs: all are read again from the bucket, also after it is emptied. */
static void test_the_cache_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest last = put_many(f, 20);
    struct counted k = {0, f->store};
    assert_true(blob_each(f->store, count_blob, &k, &err));
    assert_int_equal(k.n, 20);
    if (!store_is_remote(f->store))
        return;
    store_close(f->store);
    auto_fd int dir = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_fd int cache = openat(dir, "cache", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bucket_cache *c = bucket_cache_open(cache, 1000, &err);
    assert_non_null(c);
    assert_in_range(bucket_cache_bytes(c), 1, 1000);
    bucket_cache_close(c);
    assert_true(fs_remove_tree(cache, "blobs", &err));
    open_store(f);
    k = (struct counted){0, f->store};
    assert_true(blob_each(f->store, count_blob, &k, &err));
    assert_int_equal(k.n, 20);
    use(f, &last, 1, -1);
    struct store_collected collected;
    assert_true(store_collect(f->store, &collected, &err));
    assert_int_equal(collected.blobs, 1);
    assert_false(exists(f, &last));
}

static void test_a_folder_is_not_opened_without_its_bucket(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    if (!store_is_remote(f->store))
        return;
    store_close(f->store);
    f->store = store_open(&(struct store_options){.db = f->db, .data = f->dir}, &err);
    assert_null(f->store);
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_non_null(strstr(err.message, "start it with --store"));
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
    manifest_settle(f->store, 1, &self);
    assert_true(manifest_release(f->store, &err));
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 0);
    assert_true(bytes_of(f, 1) > 18);
    assert_true(db_write(f->db, do_count, &(struct counting){self, -1}, &err));
    manifest_drop(f->store, 1, &self); /* the second holder may still count it */
    assert_true(manifest_release(f->store, &err));
    assert_true(bytes_of(f, 1) > 18);
    manifest_settle(f->store, 1, &self);
    assert_int_equal(bytes_of(f, 1), 0);
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 4);
}

struct replacing {
    struct store *store;
    struct manifest_swap swap;
    bool done;
};

static bool do_replace(struct db_conn *c, void *ctx, struct err *err)
{
    struct replacing *r = ctx;
    return manifest_replace(c, r->store, 1, &r->swap, &r->done, err);
}

static struct manifest made_manifest(struct fixture *f, size_t n, size_t from, struct digest *ret)
{
    struct err err = {0};
    struct manifest m;
    struct manifest_entry *e = arena_array(&f->arena, struct manifest_entry, n);
    for (size_t i = 0; i < n; i++) {
        struct str bytes = str_of(arena_printf(&f->arena, "content %zu", (from + i) % 400));
        e[i] = (struct manifest_entry){.path = str_of(arena_printf(&f->arena, "f/%zu", from + i)),
                                       .size = (int64_t)bytes.n};
        assert_true(blob_put(f->store, bytes, &e[i].blob, &err));
    }
    assert_true(manifest_build(&f->arena, e, n, &m, &err) && manifest_save(f->store, &m, ret, &err));
    return m;
}

/* Whatever was replaced by differences is used as if it had been held and counted whole. */
static void test_manifests_replace_each_other(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest a, b, far;
    struct store_collected c;
    struct manifest before = made_manifest(f, 500, 0, &a), after = made_manifest(f, 505, 10, &b);
    struct manifest other = made_manifest(f, 500, 200, &far);
    assert_true(manifest_hold(f->store, 1, &after, &b, &err));
    int64_t whole = bytes_of(f, 1);
    manifest_settle(f->store, 1, &b);
    assert_int_equal(bytes_of(f, 1), 0);

    struct replacing r = {f->store, {&before, &after, &a, &b}, true};
    assert_true(db_write(f->db, do_replace, &r, &err)); /* nobody has the first */
    assert_false(r.done);
    assert_true(manifest_hold(f->store, 1, &before, &a, &err));
    assert_true(db_write(f->db, do_count, &(struct counting){a, 1}, &err));
    assert_true(db_write(f->db, do_replace, &r, &err)); /* somebody may be about to count it */
    assert_false(r.done);
    manifest_settle(f->store, 1, &a);
    struct replacing much = {f->store, {&before, &other, &a, &far}, true};
    assert_true(db_write(f->db, do_replace, &much, &err));
    assert_false(much.done);
    assert_true(db_write(f->db, do_replace, &r, &err));
    assert_true(r.done);
    assert_int_equal(bytes_of(f, 1), whole);

    assert_true(manifest_release(f->store, &err)); /* it is counted: nothing goes */
    assert_int_equal(bytes_of(f, 1), whole);
    assert_true(db_write(f->db, do_count, &(struct counting){b, 1}, &err)); /* a second version has it */
    struct replacing back = {f->store, {&after, &before, &b, &a}, true};
    assert_true(db_write(f->db, do_replace, &back, &err));
    assert_false(back.done);
    assert_true(db_write(f->db, do_count, &(struct counting){b, -2}, &err));
    manifest_drop(f->store, 1, &b);
    assert_int_equal(bytes_of(f, 1), 0);
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 403);
}

static void test_a_batch_is_there_after_its_flush(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest d[3];
    int64_t size;
    static const char *const bytes[] = {"one", "two", "one"};
    struct blob_batch *b = blob_batch_new(f->store);
    for (size_t i = 0; i < countof(bytes); i++) {
        assert_true(blob_batch_piece(b, STR("dropped"), &err));
        blob_batch_drop(b);
        assert_true(blob_batch_piece(b, (struct str){bytes[i], 1}, &err));
        assert_true(blob_batch_piece(b, str_of(bytes[i] + 1), &err));
        assert_true(blob_batch_end(b, &d[i], &size, &err));
        assert_int_equal(size, 3);
    }
    assert_memory_equal(&d[0], &d[2], sizeof d[0]);
    assert_true(blob_batch_flush(b, &err));
    for (size_t i = 0; i < countof(bytes); i++) {
        struct str text;
        assert_true(blob_read(f->store, &f->arena, &d[i], 10, &text, &err));
        assert_true(str_is(text, bytes[i]));
        assert_true(blob_touch(f->store, &d[i], &size, &err));
        assert_int_equal(size, 3);
    }
    blob_batch_free(b);
}

/* Larger than what is kept in memory. */
static void test_a_batch_takes_large_ones_too(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    enum { PIECE = 100000, PIECES = 10 };
    static char piece[PIECE];
    struct digest d[2];
    int64_t size;
    struct str found;
    struct blob_batch *b = blob_batch_new(f->store);
    for (size_t k = 0; k < countof(d); k++) {
        memset(piece, 'a' + (int)k, sizeof piece);
        for (int i = 0; i < PIECES; i++)
            assert_true(blob_batch_piece(b, (struct str){piece, PIECE}, &err));
        assert_true(blob_batch_end(b, &d[k], &size, &err));
        assert_int_equal(size, PIECE * PIECES);
    }
    assert_true(blob_batch_flush(b, &err));
    assert_true(blob_read(f->store, &f->arena, &d[1], PIECE * PIECES, &found, &err));
    assert_int_equal(found.n, PIECE * PIECES);
    assert_true(found.p[0] == 'b' && found.p[found.n - 1] == 'b');
    assert_true(blob_batch_piece(b, STR("begun"), &err));
    blob_batch_free(b);
}

/* Used while it is on its way to the disk: the collector leaves it alone from then on. */
static void test_a_known_one_may_be_used_before_it_is_there(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest early, later;
    struct store_collected c;
    struct str text;
    struct blob_batch *b = blob_batch_new(f->store);
    assert_true(blob_batch_data(b, STR("early"), &early, &err));
    assert_true(blob_batch_known(b, &err));
    use(f, &early, 1, 1);
    assert_int_equal(bytes_of(f, 1), 5);
    assert_true(store_collect(f->store, &c, &err));
    assert_int_equal(c.blobs, 0);
    assert_true(blob_batch_data(b, STR("later"), &later, &err));
    assert_true(blob_batch_flush(b, &err));
    assert_true(blob_read(f->store, &f->arena, &early, 10, &text, &err));
    assert_true(str_is(text, "early"));
    assert_true(blob_read(f->store, &f->arena, &later, 10, &text, &err));
    assert_true(str_is(text, "later"));
    blob_batch_free(b);
}

/* More than the batch's thread lets wait, and enough for the disk to begin before the end. */
static void test_a_batch_of_many_small_ones(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    enum { MANY = 5000 };
    static struct digest d[MANY];
    char text[16];
    struct blob_batch *b = blob_batch_new(f->store);
    size_t n = f->store->bucket ? 20 : MANY;
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%zu", i / 2); /* each twice; and an empty one */
        assert_true(blob_batch_data(b, i == 7 ? STR_NULL : str_of(text), &d[i], &err));
    }
    assert_true(blob_batch_flush(b, &err));
    for (size_t i = 0; i < n; i++) {
        struct str found;
        snprintf(text, sizeof text, "%zu", i / 2);
        assert_true(blob_read(f->store, &f->arena, &d[i], 10, &found, &err));
        assert_true(str_eq(found, i == 7 ? STR("") : str_of(text)));
    }
    blob_batch_free(b);
}

static void test_a_file_that_cannot_be_written_is_told(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest d;
    if (f->store->bucket)
        return;
    int dir = f->store->tmp_fd;
    f->store->tmp_fd = -1;
    struct blob_batch *b = blob_batch_new(f->store);
    bool ok = blob_batch_data(b, STR("lost"), &d, &err);
    assert_false(ok && blob_batch_flush(b, &err));
    assert_non_null(strstr(err.message, "cannot make a file for a blob"));
    f->store->tmp_fd = dir;
    blob_batch_free(b);
    err = (struct err){0};
    assert_int_equal(blob_open(f->store, &d, NULL, &err), -1);
}

/* Enough for a group that is settled beside the rest: whoever adds, or flushes, learns of it. */
static void test_a_group_that_cannot_be_settled_is_told(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest d;
    char text[16];
    bool ok = true;
    if (f->store->bucket)
        return;
    int dir = f->store->blobs_fd;
    f->store->blobs_fd = -1;
    struct blob_batch *b = blob_batch_new(f->store);
    for (size_t i = 0; ok && i < 5000; i++) {
        snprintf(text, sizeof text, "unsettled %zu", i);
        ok = blob_batch_data(b, str_of(text), &d, &err);
    }
    assert_false(ok && blob_batch_flush(b, &err));
    assert_non_null(strstr(err.message, "cannot make blobs durable"));
    blob_batch_free(b);
    f->store->blobs_fd = dir;
    err = (struct err){0};
    assert_int_equal(blob_open(f->store, &d, NULL, &err), -1);
}

static void test_what_was_being_written_goes_at_the_next_start(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"left", "0/left", "1/left"};
    for (size_t i = 0; i < countof(names); i++) {
        int fd = openat(f->store->tmp_fd, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0440);
        assert_true(fd >= 0);
        close(fd);
    }
    store_close(f->store);
    open_store(f);
    for (size_t i = 0; i < countof(names); i++)
        assert_int_equal(faccessat(f->store->tmp_fd, names[i], F_OK, 0), -1);
}

static void test_a_batch_that_is_given_up_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct digest d;
    if (f->store->bucket)
        return; /* there each blob is stored at once */
    struct blob_batch *b = blob_batch_new(f->store);
    assert_true(blob_batch_data(b, STR("gone"), &d, &err));
    blob_batch_free(b);
    assert_int_equal(blob_open(f->store, &d, NULL, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes_are_kept_once, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_batch_is_there_after_its_flush, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_batch_takes_large_ones_too, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_known_one_may_be_used_before_it_is_there, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_batch_of_many_small_ones, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_group_that_cannot_be_settled_is_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_file_that_cannot_be_written_is_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_what_was_being_written_goes_at_the_next_start, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(test_a_batch_that_is_given_up_leaves_nothing, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_uses_are_counted_per_project, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_collector_takes_only_what_is_unused, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_upload_goes_on_where_it_was_cut, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_manifests_hold_their_files, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_manifests_replace_each_other, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_manifests_replace_each_other, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_links_share_the_bytes, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_files_without_a_row_are_swept, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_the_cache_is_bounded, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_folder_is_not_opened_without_its_bucket, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
