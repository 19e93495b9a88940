#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
int base_x(void);
static void t(void **s) { (void)s; assert_int_equal(base_x(), 1); }
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(t)}; return cmocka_run_group_tests(tests, NULL, NULL); }
