/* Frames that pass by, in whatever pieces they come. */
#include "net/ws_frame.h"

#include <setjmp.h>
#include <stdarg.h>
/* after the ones above */
#include <cmocka.h>

#define SMALL 13

static void add_frame(struct buf *b, enum ws_opcode opcode, size_t n, bool masked)
{
    uint8_t head[10];
    size_t size = ws_head(opcode, n, head);
    if (masked)
        head[1] |= 0x80;
    buf_add(b, (const char *)head, size);
    if (masked)
        buf_add(b, "\xff\xff\xff\xff", 4);
    for (size_t i = 0; i < n; i++)
        buf_char(b, (char)0x81); /* as if a frame began at each byte */
}

/* How many pieces of `step` bytes had the begin of a message in them. */
static int count(const struct buf *b, size_t step)
{
    struct ws_watch w = {0};
    int found = 0;
    for (size_t i = 0; i < b->n; i += step)
        found += ws_watch_feed(&w, (struct str){b->p + i, b->n - i < step ? b->n - i : step}, SMALL);
    assert_int_equal(w.left + w.head_n, 0);
    return found;
}

static void what_begins(void **state)
{
    (void)state;
    static const struct {
        enum ws_opcode opcode;
        size_t n;
        bool is;
    } rows[] = {{WS_TEXT, 14, true},     {WS_BINARY, 126, true}, {WS_CONTINUATION, 70000, true},
                {WS_TEXT, SMALL, false}, {WS_TEXT, 0, false},    {WS_PING, 100, false},
                {WS_PONG, 125, false},   {WS_CLOSE, 20, false}};
    for (size_t i = 0; i < countof(rows); i++)
        for (int masked = 0; masked < 2; masked++) {
            auto_buf struct buf b = {0};
            add_frame(&b, rows[i].opcode, rows[i].n, masked);
            for (size_t step = 1; step < 20; step++)
                assert_int_equal(count(&b, step), rows[i].is);
        }
}

static void one_after_the_other(void **state)
{
    (void)state;
    auto_buf struct buf b = {0};
    for (size_t i = 0; i < 100; i++) {
        add_frame(&b, WS_PING, i % 100, true);
        add_frame(&b, WS_BINARY, SMALL, true);
        add_frame(&b, WS_BINARY, SMALL + 1 + i * 7, true);
    }
    assert_int_equal(count(&b, 1), 100);
    assert_int_equal(count(&b, b.n), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_begins), cmocka_unit_test(one_after_the_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
