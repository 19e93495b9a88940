#include "metric/evaluate.h"
#include "metric/titles.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Every figure of every type has a title in both languages, each once. */
static void test_all_have_titles(void **state)
{
    (void)state;
    for (int type = 0; type < ANNOTATION_TYPE_COUNT; type++) {
        struct err err = {0};
        struct evaluate *e = evaluate_new((enum annotation_type)type, &err);
        const char *name;
        for (size_t i = 0; e && (name = evaluate_figure(e, i)); i++) {
            const struct figure_title *f = figure_title(str_of(name));
            if (!f)
                fail_msg("%s has no title", name);
            assert_true(*f->en && *f->zh);
        }
        evaluate_free(e);
    }
    for (const struct figure_title *f = figure_titles; f->name; f++)
        assert_ptr_equal(figure_title(str_of(f->name)), f);
    assert_null(figure_title(STR("loss")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_have_titles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
