/* Published ports: bytes both ways, ends of either side, visitors that are sent away, closing while in use.
 */
#include "net/forward.h"

#include "base/thread.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/socket.h>
/* after the ones above */
#include <cmocka.h>

#define MUCH (3 << 20)

static struct forwards *forwards;
static atomic_int asked, passed;
static int inner = -1; /* the other end of the newest connection */
static atomic_bool refuse;

static int give(void *ctx)
{
    (void)ctx;
    int pair[2];
    atomic_fetch_add(&asked, 1);
    if (atomic_load(&refuse) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    inner = pair[1];
    atomic_thread_fence(memory_order_release);
    return pair[0];
}

static void count(void *ctx, void *memory, bool inward, size_t n)
{
    (void)ctx, (void)memory, (void)inward, (void)n;
    atomic_fetch_add(&passed, 1);
}

static const struct forward_target target = {give, count, NULL};

static int visit(const struct forward *w)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(forward_port(w)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Until the thread has joined the visitor: what it sends arrives at `inner`. */
static void say(int fd, const char *text)
{
    int before = atomic_load(&passed);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
    while (atomic_load(&passed) == before)
        usleep(1000);
}

static int setup(void **state)
{
    (void)state;
    forwards = forwards_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    forwards_free(forwards);
    return 0;
}

static void test_both_ways(void **state)
{
    (void)state;
    struct err err = {0};
    char text[16] = "";
    struct forward *w = forward_open(forwards, "127.0.0.1", 0, &target, &err);
    assert_non_null(w);
    assert_true(forward_port(w) > 0);
    int fd = visit(w);
    say(fd, "there");
    assert_int_equal(read(inner, text, sizeof text), 5);
    assert_memory_equal(text, "there", 5);
    assert_int_equal(write(inner, "back", 4), 4);
    assert_int_equal(recv(fd, text, 4, MSG_WAITALL), 4);
    assert_memory_equal(text, "back", 4);
    /* The end of one side lets the other go on. */
    shutdown(fd, SHUT_WR);
    assert_int_equal(read(inner, text, sizeof text), 0);
    assert_int_equal(write(inner, "last", 4), 4);
    close(inner);
    assert_int_equal(recv(fd, text, 4, MSG_WAITALL), 4);
    assert_int_equal(recv(fd, text, 4, 0), 0);
    close(fd);
    forward_close(forwards, w);
}

static void *writer(void *arg)
{
    char *data = arg;
    size_t at = 0;
    while (at < MUCH) {
        ssize_t n = write(inner, data + at, MUCH - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    close(inner);
    return NULL;
}

static void test_much(void **state)
{
    (void)state;
    struct err err = {0};
    struct forward *w = forward_open(forwards, "127.0.0.1", 0, &target, &err);
    char *sent = base_alloc(MUCH), *got = base_alloc(MUCH);
    for (size_t i = 0; i < MUCH; i++)
        sent[i] = (char)(i * 31 + i / 4096);
    int fd = visit(w);
    say(fd, "x");
    pthread_t thread = thread_start("writer", writer, sent);
    assert_int_equal(recv(fd, got, MUCH, MSG_WAITALL), MUCH);
    pthread_join(thread, NULL);
    assert_memory_equal(sent, got, MUCH);
    close(fd);
    forward_close(forwards, w);
    free(sent);
    free(got);
}

static void test_sent_away(void **state)
{
    (void)state;
    struct err err = {0};
    char byte;
    struct forward *w = forward_open(forwards, "127.0.0.1", 0, &target, &err);
    atomic_store(&refuse, true);
    int fd = visit(w);
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
    atomic_store(&refuse, false);
    /* A port that is taken, an address that is none. */
    assert_null(forward_open(forwards, "127.0.0.1", forward_port(w), &target, &err));
    assert_int_equal(err.code, ERR_EXISTS);
    assert_null(forward_open(forwards, "nowhere", 0, &target, &err));
    assert_int_equal(err.code, ERR_INVALID);
    /* Closing ends what is open. */
    fd = visit(w);
    say(fd, "x");
    forward_close(forwards, w);
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
    close(inner);
    forward_close(forwards, NULL);
}

static void test_left_open(void **state)
{
    (void)state;
    struct err err = {0};
    struct forward *w = forward_open(forwards, "::1", 0, &target, &err);
    if (!w) /* a machine without IPv6 */
        w = forward_open(forwards, "127.0.0.1", 0, &target, &err);
    assert_non_null(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_much),
        cmocka_unit_test(test_sent_away),
        cmocka_unit_test(test_left_open),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
