/* Parameters that stand in a command. */
#include "core/training/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* "name=value" of each, numbers in brackets. */
static const struct {
    const char *command, *says;
} commands[] = {
    {"python3 train.py --lr 0.1 --epochs=20", "lr=[0.1] epochs=[20]"},
    {"python3 train.py --amp --name 'my run' --out \"a b\"", "amp=true name=my run out=a b"},
    {"train --amp --verbose", "amp=true verbose=true"},
    {"train --shift -0.5 --last", "shift=[-0.5] last=true"},
    {"a --one 1; b --two 2 && c --three", "one=[1] two=[2] three=true"},
    {"train --data $DATA --n=$(nproc)", "data=$DATA n=$(nproc)"},
    {"train --lr 1 --lr 2", "lr=[2]"},
    {"train --net.depth 18 --weight-decay 1e-4", "net.depth=[18] weight-decay=[1e-4]"},
    {"train --lr=", "lr="},
    {"train --x nan --y 1e999 --z 0x", "x=nan y=1e999 z=0x"},
    {"train -l 3 -- --3 --=4 --", ""},
    {"train --a \\\n  7 --quote 'never closed", "a=\n quote=never closed"},
    {"", ""},
    {"--", ""},
    {"echo a=1", ""},
};

static void test_commands(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(commands); i++) {
        auto_arena struct arena a;
        char text[1000] = "";
        size_t n = 0;
        arena_init(&a);
        struct parameters *all = arena_new(&a, struct parameters);
        *all = (struct parameters){.n = 0};
        summary_command(&a, str_of(commands[i].command), all);
        for (size_t k = 0; k < all->n; k++) {
            const struct parameter *p = &all->list[k];
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  p->is_number ? "%s" STR_FMT "=[" STR_FMT "]" : "%s" STR_FMT "=" STR_FMT,
                                  k ? " " : "", STR_ARG(p->name), STR_ARG(p->text));
        }
        assert_string_equal(text, commands[i].says);
    }
}

static void test_too_many_are_counted(void **state)
{
    (void)state;
    auto_arena struct arena a;
    auto_buf struct buf command = {0};
    arena_init(&a);
    for (int i = 0; i < SUMMARY_PARAMETERS + 5; i++)
        buf_printf(&command, "--p%d %d ", i, i);
    struct parameters *all = arena_new(&a, struct parameters);
    *all = (struct parameters){.n = 0};
    summary_command(&a, buf_view(&command), all);
    assert_int_equal(all->n, SUMMARY_PARAMETERS);
    assert_int_equal(all->left, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_too_many_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
