/* The outgoing client against our own server. */
#include "net/client.h"
#include "net/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* after the ones above */
#include <cmocka.h>

static struct http_server *server;
static char base[64];

static void body_done(struct request *r, struct str body, bool complete)
{
    if (complete)
        respond(r, 200, NULL, 0, body);
    else
        respond(r, 400, NULL, 0, STR(""));
}

static void handle(struct request *r, void *ctx)
{
    (void)ctx;
    struct str auth = request_header(r, "authorization");
    const struct header headers[] = {{STR("Content-Type"), STR("text/x")},
                                     {STR("ETag"), STR("\"1\"")},
                                     {STR("Location"), STR("/there")},
                                     {STR("X-Auth"), auth.p ? auth : STR("none")}};
    if (str_is(r->path, "/echo"))
        request_collect(r, 1 << 20, body_done);
    else if (str_is(r->path, "/missing"))
        respond(r, 404, headers, 4, STR("no"));
    else
        respond(r, 200, headers, 4, STR("fine"));
}

static int start(void **state)
{
    (void)state;
    struct http_options o = {.listen = "127.0.0.1:0", .threads = 1, .handler = handle, .access_log_fd = -1};
    struct err err;
    server = http_start(&o, &err);
    if (!server)
        return -1;
    snprintf(base, sizeof base, "http://127.0.0.1:%u", http_port(server));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    http_stop(server, 10000);
    return 0;
}

static bool ask(struct arena *a, struct client_request q, const char *path, struct client_answer *ret,
                struct err *err)
{
    q.url = arena_printf(a, "%s%s", base, path);
    q.timeout_s = 120;
    return client_do(a, &q, ret, err);
}

static void test_get(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer got;
    struct err err;
    assert_true(ask(&a, (struct client_request){.method = "GET", .body_fd = -1}, "/", &got, &err));
    assert_int_equal(got.status, 200);
    assert_true(str_is(got.body, "fine") && str_is(got.content_type, "text/x") && str_is(got.etag, "\"1\""));
    assert_true(str_is(got.location, "/there") && str_is(client_header_value(&got, "X-AUTH"), "none"));
    assert_null(client_header_value(&got, "x-none").p);
    assert_true(ask(&a, (struct client_request){.method = "GET", .body_fd = -1}, "/missing", &got, &err));
    assert_int_equal(got.status, 404);
    struct client_header h = {"Authorization", "Bearer x"};
    assert_true(ask(&a, (struct client_request){.method = "HEAD", .headers = &h, .header_count = 1}, "/",
                    &got, &err));
    assert_true(str_is(client_header_value(&got, "x-auth"), "Bearer x"));
    assert_int_equal(got.body.n, 0);
}

static void test_bodies(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer got;
    struct err err;
    struct client_request q = {.method = "POST", .body = STR("abc"), .body_fd = -1};
    assert_true(ask(&a, q, "/echo", &got, &err));
    assert_true(str_is(got.body, "abc"));
    FILE *f = tmpfile();
    for (int i = 0; i < 100000; i++)
        fputc('a' + i % 26, f);
    fflush(f);
    rewind(f);
    q = (struct client_request){.method = "PUT", .body_fd = fileno(f), .body_size = 100000};
    assert_true(ask(&a, q, "/echo", &got, &err));
    assert_int_equal(got.body.n, 100000);
    q.max_answer = 1000;
    rewind(f);
    lseek(fileno(f), 0, SEEK_SET);
    assert_false(ask(&a, q, "/echo", &got, &err));
    assert_int_equal(err.code, ERR_UPSTREAM);
    fclose(f);
}

static bool count(void *ctx, struct str piece)
{
    *(size_t *)ctx += piece.n;
    return true;
}

static bool enough(void *ctx, struct str piece)
{
    count(ctx, piece);
    return false;
}

static void test_sink(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer got;
    struct err err;
    size_t n = 0;
    struct client_request q = {.method = "GET", .body_fd = -1, .sink = count, .sink_ctx = &n};
    assert_true(ask(&a, q, "/", &got, &err));
    assert_int_equal(n, 4);
    assert_int_equal(got.body.n, 0);
    q.sink = enough;
    assert_true(ask(&a, q, "/", &got, &err));
    assert_int_equal(got.status, 200);
}

static void test_no_answer(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer got;
    struct err err;
    struct client_request q = {.method = "GET", .url = "http://127.0.0.1:1/", .body_fd = -1};
    assert_false(client_do(&a, &q, &got, &err));
    assert_int_equal(err.code, ERR_UPSTREAM);
    q.url = "file:///etc/passwd";
    assert_false(client_do(&a, &q, &got, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_sink),
        cmocka_unit_test(test_no_answer),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
