/* The request parser without a socket: the same bytes in one piece, byte by byte and with pauses. */
#include "base/buf.h"
#include "net/http1_parse.h"

#include <setjmp.h>
#include <stdarg.h>
/* after the three above */
#include <cmocka.h>

static const struct http_limits limits = {.max_header = 2048, .max_headers = 8, .max_target = 64};

struct feeder {
    struct buf out; /* a line per event */
    bool pause;
};

static bool on_body(void *ctx, struct str piece)
{
    struct feeder *f = ctx;
    buf_str(&f->out, piece);
    return !f->pause;
}

/* Describes all that the bytes hold: "GET /path?query host n-headers{body}". */
static void run(struct feeder *f, struct str data, size_t step, bool pause)
{
    f->pause = pause;
    buf_clear(&f->out);
    struct arena a;
    arena_init(&a);
    struct request r = {.arena = &a};
    struct http1_parser p;
    http1_parser_init(&p, &limits, on_body, f);
    http1_parser_begin(&p, &r);
    buf_char(&f->out, '{');
    while (data.n) {
        size_t used;
        enum http1_event e = http1_parser_feed(&p, data.p, step < data.n ? step : data.n, &used);
        data = (struct str){data.p + used, data.n - used};
        if (e == HTTP1_REFUSED) {
            buf_printf(&f->out, "%d", p.status);
            break;
        }
        if (e != HTTP1_DONE)
            continue;
        buf_printf(&f->out, "}" STR_FMT " " STR_FMT "?" STR_FMT " " STR_FMT " %zu%s%s {", STR_ARG(r.method),
                   STR_ARG(r.path), STR_ARG(r.query), STR_ARG(r.host), r.header_count,
                   p.keep_alive ? "" : " close", p.upgrade ? " upgrade" : "");
        r = (struct request){.arena = &a};
        http1_parser_begin(&p, &r);
    }
    buf_char(&f->out, '}');
    arena_release(&a);
}

static void check(const char *bytes, const char *want)
{
    struct feeder f = {0};
    for (size_t step = 1; step < 2000; step = step < 8 ? step + 1 : step * 3) {
        for (int pause = 0; pause < 2; pause++) {
            run(&f, str_of(bytes), step, pause);
            if (strcmp(f.out.p, want) != 0)
                fail_msg("step %zu pause %d: %s\ngave %s\nnot  %s", step, pause, bytes, f.out.p, want);
        }
    }
    buf_release(&f.out);
}

#define GET  "GET /a?b=c HTTP/1.1\r\nHost: h\r\n"
#define POST "POST / HTTP/1.1\r\nHost: h\r\n"

static void test_requests(void **state)
{
    (void)state;
    check(GET "\r\n", "{}GET /a?b=c h 1 {}");
    check(GET "\r\n" GET "X: y\r\n\r\n", "{}GET /a?b=c h 1 {}GET /a?b=c h 2 {}");
    check("\r\n\r\n" GET "\r\n", "{}GET /a?b=c h 1 {}");
    check("GET / HTTP/1.0\r\n\r\n", "{}GET /?  0 close {}");
    check("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "{}GET /?  1 {}");
    check(GET "Connection: close\r\n\r\n", "{}GET /a?b=c h 2 close {}");
    check(GET "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n", "{}GET /a?b=c h 3 upgrade {}");
    check("GET http://other?q HTTP/1.1\r\nHost: h\r\n\r\n", "{400}");
    check("GET http://other HTTP/1.1\r\nHost: h\r\n\r\n", "{}GET /? h 1 {}");
    check("GET https://other/x?y HTTP/1.1\r\nHost: h\r\n\r\n", "{}GET /x?y h 1 {}");
    check("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "{}OPTIONS *? h 1 {}");
}

static void test_bodies(void **state)
{
    (void)state;
    check(POST "Content-Length: 5\r\n\r\nhello" GET "\r\n", "{hello}POST /? h 2 {}GET /a?b=c h 1 {}");
    check(POST "Content-Length: 0\r\n\r\n" GET "\r\n", "{}POST /? h 2 {}GET /a?b=c h 1 {}");
    check(POST "Transfer-Encoding: Chunked\r\n\r\n2\r\nab\r\nA;x=\"y\"\r\n0123456789\r\n0\r\nT: u\r\n\r\n" GET
               "\r\n",
          "{ab0123456789}POST /? h 2 {}GET /a?b=c h 1 {}");
    check(POST "Content-Length: 3\r\n\r\n", "{}");
}

static void test_limits(void **state)
{
    (void)state;
    struct feeder f = {0};
    auto_buf struct buf b = {0};
    for (int n = 6; n <= 9; n++) {
        buf_clear(&b);
        buf_z(&b, GET);
        for (int i = 0; i < n; i++)
            buf_z(&b, "X: y\r\n");
        buf_z(&b, "\r\n");
        run(&f, buf_view(&b), 4096, false);
        assert_int_equal(strstr(f.out.p, "431") != NULL, n + 1 > 8);
    }
    buf_clear(&b);
    buf_z(&b, GET "X: ");
    for (int i = 0; i < 3000; i++)
        buf_char(&b, 'y');
    run(&f, buf_view(&b), 1, false);
    assert_string_equal(f.out.p, "{431}");
    buf_clear(&b);
    buf_z(&b, "GET /");
    for (int i = 0; i < 64; i++)
        buf_char(&b, 'y');
    run(&f, buf_view(&b), 1, false);
    assert_string_equal(f.out.p, "{414}");
    buf_release(&f.out);
}

static void test_rules(void **state)
{
    (void)state;
    struct str path, query;
    assert_null(http_split_target(STR("/a?b?c"), &path, &query));
    assert_true(str_is(path, "/a") && str_is(query, "b?c"));
    assert_non_null(http_split_target(STR(""), &path, &query));
    assert_non_null(http_split_target(STR("a"), &path, &query));
    assert_true(http_host_valid(STR("[::1]:80")));
    assert_false(http_host_valid(STR("a b")));
    assert_false(http_host_valid(STR("")));
    assert_true(str_is(http_known_method(STR("PATCH")), "PATCH"));
    assert_null(http_known_method(STR("patch")).p);
    assert_true(http_value_valid(STR("a\tb\xc3\xa4")));
    assert_false(http_value_valid(STR("a\x7f")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
