#include "core/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *text, *q;
    bool found;
} cases[] = {
    {"epoch-3", "poc", true},
    {"epoch-3", "ep", true},
    {"step", "ep", false},
    {"epoch-3", "3", true},
    {"img0031", "31", false},
    {"img0031", "031", true},
    {"img0031", "00", true},
    {"Street-Lights", "LIGHT", true},
    {"ÄPFEL und Äste", "äpf", true},
    {"ЖУРНАЛ", "журнал", true},
    {"黄色车辆", "车辆", true},
    {"黄色车辆", "车", true},
    {"黄色车辆", "色车辆", true},
    {"黄色车辆", "辆车", false},
    {"标签a", "签a", true},
    {"roads of 2024", "2024 roads", true},
    {"roads of 2024", "2025 roads", false},
    {"a/b.png", "/b.", true},
    {"a rather long name with many different words", "a rather long name with many different words", true},
    {"", "a", false},
    {"ab", "abc", false},
};

struct look {
    int64_t wanted;
    bool there;
};

static void see(void *ctx, int64_t gram)
{
    struct look *l = ctx;
    l->there = l->there || gram == l->wanted;
}

/* What is found is never hidden by the index: the text has all grams of the search. */
static void finds_words_and_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(cases); i++) {
        auto_arena struct arena a;
        arena_init(&a);
        struct str text = str_of(cases[i].text);
        struct search_words w = search_words_of(&a, str_of(cases[i].q));
        struct search_text t = search_text_of(&a, text);
        int64_t grams[SEARCH_GRAMS_MAX];
        size_t n = search_word_grams(&w, grams);
        if (search_matches(&a, &w, &text, 1) != cases[i].found)
            fail_msg("\"%s\" in \"%s\"", cases[i].q, cases[i].text);
        assert_in_range(n, 1, SEARCH_GRAMS_MAX);
        for (size_t k = 0; cases[i].found && k < n; k++) {
            struct look look = {.wanted = grams[k]};
            search_text_grams(&t, see, &look);
            if (!look.there)
                fail_msg("gram %zu of \"%s\" is not in \"%s\"", k, cases[i].q, cases[i].text);
        }
    }
}

static void words_may_be_in_several_texts(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    const struct str texts[] = {STR("roads"), STR_NULL, STR("taken in winter")};
    struct search_words both = search_words_of(&a, STR("winter  roads ")),
                        none = search_words_of(&a, STR("roads summer"));
    assert_int_equal(both.n, 2);
    assert_true(search_matches(&a, &both, texts, countof(texts)));
    assert_false(search_matches(&a, &none, texts, countof(texts)));
    assert_int_equal(search_words_of(&a, STR(" \t\xe3\x80\x80")).n, 0);
    assert_true(search_words_of(&a, STR("a b c d e f g h i j k l m n o p q")).too_many);
}

static void rows_are_lists_or_bits(void **state)
{
    (void)state;
    for (size_t step = 1; step < 5000; step = step * 3) {
        auto_arena struct arena a;
        uint64_t bits[SEARCH_WORDS64] = {0}, again[SEARCH_WORDS64] = {0};
        arena_init(&a);
        for (size_t i = step / 2; i < SEARCH_BLOCK; i += step)
            bits[i / 64] |= 1ULL << i % 64;
        struct str row = search_row_write(&a, bits);
        assert_in_range(row.n, 1, SEARCH_BLOCK / 8);
        search_row_read(row, again);
        assert_memory_equal(bits, again, sizeof bits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_words_and_parts),
        cmocka_unit_test(words_may_be_in_several_texts),
        cmocka_unit_test(rows_are_lists_or_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
