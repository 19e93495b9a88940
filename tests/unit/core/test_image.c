/* Names and documents of images, unpacking of layers, and what repositories keep and give back. */
#include "base/clock.h"
#include "base/fs.h"
#include "core/image/layer.h"
#include "core/image/repository.h"
#include "exec/tar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cmocka.h>

#define HEX "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* --- references --- */

static void test_references(void **state)
{
    (void)state;
    struct err err = {0};
    struct digest d;
    struct reference_image r;
    static const char *const good[] = {"a", "tool", "a/b", "a.b", "a_b", "a__b", "a---b", "0/1/2"};
    static const char *const bad[] = {"",      "A",  "a/", "/a",  "a//b", "..",    "a..b",  "a._b",
                                      "a___b", "-a", "a-", "a b", "a:b",  "a/-/b", "a/../b"};
    for (size_t i = 0; i < countof(good); i++)
        assert_true(reference_name(str_of(good[i]), &err));
    for (size_t i = 0; i < countof(bad); i++)
        assert_false(reference_name(str_of(bad[i]), &err));
    assert_true(reference_tag(STR("_V1.0-rc"), &err));
    assert_false(reference_tag(STR(".x"), &err));
    assert_true(reference_digest(STR("sha256:" HEX), &d, &err));
    assert_false(reference_digest(STR("sha256:" HEX "a"), &d, &err));
    assert_false(reference_digest(STR("sha512:" HEX), &d, &err));
    assert_false(reference_digest(STR("sha256"), &d, &err));
    assert_true(reference_image(STR("p/x"), &r, &err));
    assert_true(str_is(r.name, "p/x") && str_is(r.at.tag, "latest"));
    assert_true(reference_image(STR("p/x:v2"), &r, &err));
    assert_true(str_is(r.name, "p/x") && str_is(r.at.tag, "v2"));
    assert_true(reference_image(STR("x@sha256:" HEX), &r, &err));
    assert_null(r.at.tag.p);
    assert_false(reference_image(STR(":v"), &r, &err));
}

/* --- layers --- */

static bool to_buf(void *ctx, struct str piece, struct err *err)
{
    (void)err;
    buf_str(ctx, piece);
    return true;
}

struct folder {
    char path[64];
    int fd;
};

static struct folder temporary(void)
{
    struct folder f = {.path = "/tmp/ingot-layer-XXXXXX"};
    assert_non_null(mkdtemp(f.path));
    f.fd = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return f;
}

static void drop(struct folder *f)
{
    struct err err = {0};
    close(f->fd);
    assert_true(fs_remove_tree(AT_FDCWD, f->path, &err));
}

static bool unpack(const struct buf *tar, int dir, const struct layer_limits *limits, struct err *err)
{
    char name[] = "/tmp/ingot-tar-XXXXXX";
    auto_fd int fd = mkstemp(name);
    unlink(name);
    assert_true(fs_write_all(fd, tar->p, tar->n, err));
    lseek(fd, 0, SEEK_SET);
    return layer_unpack(fd, dir, limits, err);
}

static const struct layer_limits large = {.bytes = 1 << 20, .entries = 100};

static void file(struct tar *t, const char *path, const char *text)
{
    struct err err = {0};
    struct tar_entry e = {
        .path = path, .type = '0', .mode = 0640, .uid = 7, .gid = 8, .size = (int64_t)strlen(text)};
    assert_true(tar_header(t, &e, &err) && tar_data(t, text, strlen(text), &err) && tar_pad(t, e.size, &err));
}

static void other(struct tar *t, const char *path, char type, const char *link)
{
    struct err err = {0};
    struct tar_entry e = {.path = path, .type = type, .mode = 0755, .link = link};
    assert_true(tar_header(t, &e, &err));
}

static void need_root(void)
{
    if (geteuid() != 0)
        fail_msg("owners of files and devices need root; `scripts/test.sh unit` uses sudo");
}

static void test_layer(void **state)
{
    (void)state;
    need_root();
    auto_buf struct buf b = {0};
    struct tar t = {to_buf, &b};
    struct err err = {0};
    struct stat st;
    char value[4];
    char path[300];
    memset(path, 'n', sizeof path);
    path[120] = '/';
    path[250] = 0;
    file(&t, "deep/down/file", "text");
    file(&t, path, "long name");
    file(&t, "\xe6\xa8\xa1\xe5\x9e\x8b.txt", "Chinese");
    other(&t, "link", '2', "/deep");
    file(&t, "link/through", "inside");
    other(&t, "hard", '1', "deep/down/file");
    file(&t, "deep/.wh.gone", "");
    file(&t, "deep/.wh..wh..opq", "");
    assert_true(tar_end(&t, &err));
    struct folder f = temporary();
    if (!unpack(&b, f.fd, &large, &err))
        fail_msg("%s", err.message);
    assert_int_equal(fstatat(f.fd, "deep/down/file", &st, 0), 0);
    assert_true(st.st_uid == 7 && st.st_gid == 8 && (st.st_mode & 07777) == 0640 && st.st_nlink == 2);
    assert_int_equal(fstatat(f.fd, path, &st, 0), 0);
    assert_int_equal(fstatat(f.fd, "\xe6\xa8\xa1\xe5\x9e\x8b.txt", &st, 0), 0);
    assert_int_equal(fstatat(f.fd, "deep/through", &st, 0), 0);
    assert_int_equal(fstatat(f.fd, "deep/gone", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISCHR(st.st_mode) && st.st_rdev == 0);
    auto_fd int deep = openat(f.fd, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(fgetxattr(deep, "trusted.overlay.opaque", value, sizeof value), 1);
    drop(&f);
}

static void refused(void (*fill)(struct tar *t), const struct layer_limits *limits)
{
    auto_buf struct buf b = {0};
    struct tar t = {to_buf, &b};
    struct err err = {0};
    fill(&t);
    assert_true(tar_end(&t, &err));
    struct folder f = temporary();
    assert_false(unpack(&b, f.fd, limits, &err));
    assert_true(err.code == ERR_INVALID || err.code == ERR_INTERNAL);
    assert_true(err.message[0]);
    drop(&f);
}

static void up(struct tar *t)
{
    file(t, "a/../../x", "x");
}

static void link_out(struct tar *t)
{
    other(t, "x", '1', "../../etc/passwd");
}

static void link_to_nothing(struct tar *t)
{
    other(t, "x", '1', "etc/passwd");
}

static void hide_parent(struct tar *t)
{
    file(t, "a/.wh...", "");
}

static void many(struct tar *t)
{
    char name[16];
    for (int i = 0; i < 101; i++) {
        snprintf(name, sizeof name, "f%d", i);
        file(t, name, "");
    }
}

static void bytes(struct tar *t)
{
    file(t, "f", "0123456789");
}

static void test_bad_layers(void **state)
{
    (void)state;
    need_root();
    const struct layer_limits small = {.bytes = 9, .entries = 100};
    refused(up, &large);
    refused(link_out, &large);
    refused(link_to_nothing, &large);
    refused(hide_parent, &large);
    refused(many, &large);
    refused(bytes, &small);
}

/* --- repositories --- */

struct place {
    char dir[64];
    struct core *core;
    struct arena arena;
    struct repository repository;
};

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    struct err err = {0};
    const char *password;
    arena_init(&p->arena);
    strcpy(p->dir, "/tmp/ingot-test-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    setenv("INGOT_ADMIN_PASSWORD", "the first password", 1);
    struct core_options o = {.data = p->dir};
    p->core = core_open(&o, &p->arena, &password, &err);
    if (!p->core)
        fail_msg("%s", err.message);
    struct object project;
    yyjson_val *body = json_parse(&p->arena, STR("{\"name\":\"vision\"}"), &err);
    if (!engine_create(p->core, &caller_system, kind_by_name(STR("project")), 0, body, &p->arena, &project,
                       &err))
        fail_msg("%s", err.message);
    p->repository = (struct repository){.project = project.id, .name = STR("tool")};
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    core_close(p->core);
    assert_true(fs_remove_tree(AT_FDCWD, p->dir, &err));
    arena_release(&p->arena);
    free(p);
    return 0;
}

static void must(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s", err->message);
}

static struct oci_descriptor add(struct place *p, const char *text, const char *type)
{
    struct err err = {0};
    struct oci_descriptor d = {.size = (int64_t)strlen(text), .media_type = str_of(type)};
    must(blob_put(p->core->store, str_of(text), &d.digest, &err), &err);
    must(repository_add_blob(p->core, &p->repository, &d.digest, d.size, &err), &err);
    return d;
}

static struct repository_pushed push(struct place *p, const char *layer, const char *tag)
{
    struct err err = {0};
    struct repository_pushed done;
    auto_buf struct buf text = {0};
    struct oci_descriptor one = add(p, layer, OCI_LAYER_GZIP);
    oci_write(&(struct oci_write){.config = add(p, "{\"architecture\":\"amd64\"}", OCI_CONFIG),
                                  .layers = &one,
                                  .n = 1},
              &text);
    const struct repository_push x = {.at.tag = str_of(tag), .text = buf_view(&text)};
    must(repository_push(p->core, &caller_system, &p->repository, &x, &p->arena, &done, &err), &err);
    p->repository.image = done.image;
    return done;
}

static bool age(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    return conn_exec(c, "UPDATE image_blobs SET touched_at = 1", DB_NO_ARGS, NULL, err) &&
           conn_exec(c, "UPDATE image_manifests SET touched_at = 1", DB_NO_ARGS, NULL, err) &&
           conn_exec(c, "UPDATE blobs SET touched_at = 1", DB_NO_ARGS, NULL, err);
}

static int64_t count(struct place *p, const char *sql)
{
    struct err err = {0};
    struct db_row row;
    bool found;
    must(db_query_one(p->core->db, &p->arena, sql, DB_NO_ARGS, &row, &found, &err), &err);
    return row.v[0].i;
}

static void sweep(struct place *p)
{
    struct err err = {0};
    struct store_collected collected;
    must(db_write(p->core->db, age, NULL, &err), &err);
    must(repository_sweep(p->core, &err), &err);
    must(db_write(p->core->db, age, NULL, &err), &err);
    must(repository_sweep(p->core, &err), &err);
    must(db_write(p->core->db, age, NULL, &err), &err);
    must(store_collect(p->core->store, &collected, &err), &err);
}

static void test_what_is_kept(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    int64_t size, used;
    struct repository_pushed first = push(p, "the first layer", "v1");
    add(p, "a layer that no manifest names", OCI_LAYER_GZIP);
    assert_int_equal(count(p, "SELECT count(*) FROM image_blobs"), 3);
    sweep(p);
    assert_int_equal(count(p, "SELECT count(*) FROM image_blobs"), 2);
    assert_int_equal(count(p, "SELECT count(*) FROM blobs"), 3); /* layer, configuration, manifest */

    /* Pushed over: the old manifest goes with its layer, the configuration is the new one's too. */
    struct repository_pushed second = push(p, "the second layer", "v1");
    assert_int_equal(first.version, second.version);
    assert_int_equal(count(p, "SELECT count(*) FROM image_manifests"), 2);
    sweep(p);
    assert_int_equal(count(p, "SELECT count(*) FROM image_manifests"), 1);
    assert_int_equal(count(p, "SELECT count(*) FROM image_blobs"), 2);
    assert_int_equal(count(p, "SELECT count(*) FROM blobs"), 3);

    /* Pushed again before the sweep: nothing goes. */
    const struct reference at = {.digest = second.digest};
    must(repository_delete(p->core, &caller_system, &p->repository, &at, &p->arena, &err), &err);
    push(p, "the second layer", "v2");
    sweep(p);
    assert_int_equal(count(p, "SELECT count(*) FROM blobs"), 3);

    const struct reference tag = {.tag = STR("v2")};
    must(repository_delete(p->core, &caller_system, &p->repository, &tag, &p->arena, &err), &err);
    must(repository_blob(p->core, &p->repository, &second.digest, &p->arena, &size, &err), &err);
    assert_int_equal(size, -1);
    sweep(p);
    assert_int_equal(count(p, "SELECT count(*) FROM blobs"), 0);
    must(store_project_bytes(p->core->store, p->repository.project, &used, &err), &err);
    assert_int_equal(used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_layer),
        cmocka_unit_test(test_bad_layers),
        cmocka_unit_test_setup_teardown(test_what_is_kept, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
