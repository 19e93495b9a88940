#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void expect_hex(const uint8_t *raw, const char *want)
{
    char hex[SHA256_HEX + 1];
    hex_encode(raw, SHA256_SIZE, hex);
    assert_string_equal(hex, want);
}

static void digests(void **state)
{
    (void)state;
    uint8_t raw[SHA256_SIZE];
    sha256_of(STR_NULL, raw);
    expect_hex(raw, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    struct sha256 *h = sha256_new();
    sha256_add(h, "a", 1);
    sha256_add(h, "bc", 2);
    sha256_finish(h, raw);
    expect_hex(raw, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_free(sha256_new());
    sha256_free(NULL);
    /* RFC 4231, case 2 */
    hmac_sha256(STR("Jefe"), STR("what do ya want for nothing?"), raw);
    expect_hex(raw, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void hex(void **state)
{
    (void)state;
    uint8_t raw[2] = {7, 7};
    assert_false(hex_decode(STR("0g00"), raw, 2));
    assert_false(hex_decode(STR("000"), raw, 2));
    assert_int_equal(raw[0], 7);
    assert_true(hex_decode(STR("aBfF"), raw, 2));
    assert_memory_equal(raw, "\xab\xff", 2);
}

static void base64(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *text;
    } cases[] = {{"", ""},        {"f", "Zg"},        {"fo", "Zm8"},
                 {"foo", "Zm9v"}, {"foob", "Zm9vYg"}, {"\xfb\xff", "-_8"}};
    char text[16], raw[16];
    size_t n;
    for (size_t i = 0; i < countof(cases); i++) {
        struct str in = str_of(cases[i].raw);
        assert_int_equal(base64url_encode(in.p, in.n, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
        assert_true(base64_decode(str_of(text), raw, sizeof raw, &n));
        assert_true(str_eq((struct str){raw, n}, in));
    }
    assert_true(base64_decode(STR("Zm8="), raw, 2, &n) && n == 2);
    assert_true(base64_decode(STR("+/8="), raw, 2, &n) && !memcmp(raw, "\xfb\xff", 2));
    static const char *const bad[] = {
        "Z", "Zg=", "Zm8==", "Zh", "Zm9v=", "Zm9!", "Z m8", "====", "Zm9vYg==="};
    for (size_t i = 0; i < countof(bad); i++)
        assert_false(base64_decode(str_of(bad[i]), raw, sizeof raw, &n));
    assert_false(base64_decode(STR("Zm9v"), raw, 2, &n));
}

static void randomness(void **state)
{
    (void)state;
    char a[44], b[44];
    random_text(32, a);
    random_text(32, b);
    assert_int_equal(strlen(a), 43);
    assert_string_not_equal(a, b);
    assert_true(equal_constant_time("ab", "ab", 2));
    assert_false(equal_constant_time("ab", "ac", 2));
    assert_true(hash64(STR("key")) == hash64(STR("key")));
    assert_true(hash64(STR("key")) != hash64(STR("kez")));
    assert_true(hash64(STR("12345678")) != hash64(STR("12345678\0")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(digests), cmocka_unit_test(hex),
                                       cmocka_unit_test(base64), cmocka_unit_test(randomness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
