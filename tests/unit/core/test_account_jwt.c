/* Signatures and claims of id_tokens, with keys made here. */
#include "base/hash.h"
#include "core/account/jwt.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct keys {
    EVP_PKEY *rsa, *ec, *other;
    struct arena arena;
    const char *set; /* JWK set of rsa and ec */
};

static const char *b64(struct arena *a, const void *p, size_t n)
{
    char *out = arena_alloc(a, 4 * (n + 2) / 3 + 1);
    base64url_encode(p, n, out);
    return out;
}

static const char *number(struct arena *a, EVP_PKEY *key, const char *name, int width)
{
    BIGNUM *bn = NULL;
    uint8_t bytes[512];
    assert_int_equal(EVP_PKEY_get_bn_param(key, name, &bn), 1);
    int n = width ? width : BN_num_bytes(bn);
    assert_int_equal(BN_bn2binpad(bn, bytes, n), n);
    BN_free(bn);
    return b64(a, bytes, (size_t)n);
}

static int setup(void **state)
{
    struct keys *k = calloc(1, sizeof *k);
    arena_init(&k->arena);
    k->rsa = EVP_RSA_gen(2048);
    k->other = EVP_RSA_gen(2048);
    k->ec = EVP_EC_gen("P-256");
    struct arena *a = &k->arena;
    k->set = arena_printf(
        a,
        "{\"keys\":[{\"kty\":\"RSA\",\"use\":\"enc\",\"kid\":\"e\",\"n\":\"AQAB\",\"e\":\"AQAB\"},"
        "{\"kty\":\"RSA\",\"kid\":\"r\",\"use\":\"sig\",\"n\":\"%s\",\"e\":\"%s\"},"
        "{\"kty\":\"EC\",\"kid\":\"p\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}]}",
        number(a, k->rsa, OSSL_PKEY_PARAM_RSA_N, 0), number(a, k->rsa, OSSL_PKEY_PARAM_RSA_E, 0),
        number(a, k->ec, OSSL_PKEY_PARAM_EC_PUB_X, 32), number(a, k->ec, OSSL_PKEY_PARAM_EC_PUB_Y, 32));
    *state = k;
    return 0;
}

static int teardown(void **state)
{
    struct keys *k = *state;
    EVP_PKEY_free(k->rsa);
    EVP_PKEY_free(k->ec);
    EVP_PKEY_free(k->other);
    arena_release(&k->arena);
    free(k);
    return 0;
}

static const char *sign(struct arena *a, EVP_PKEY *key, const char *header, const char *claims)
{
    const char *data =
        arena_printf(a, "%s.%s", b64(a, header, strlen(header)), b64(a, claims, strlen(claims)));
    uint8_t sig[512], raw[64];
    size_t n = sizeof sig;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key), 1);
    assert_int_equal(EVP_DigestSign(ctx, sig, &n, (const uint8_t *)data, strlen(data)), 1);
    EVP_MD_CTX_free(ctx);
    if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC)
        return arena_printf(a, "%s.%s", data, b64(a, sig, n));
    const uint8_t *at = sig;
    ECDSA_SIG *parts = d2i_ECDSA_SIG(NULL, &at, (long)n);
    BN_bn2binpad(ECDSA_SIG_get0_r(parts), raw, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(parts), raw + 32, 32);
    ECDSA_SIG_free(parts);
    return arena_printf(a, "%s.%s", data, b64(a, raw, sizeof raw));
}

static enum err_code verify(struct keys *k, const char *token)
{
    struct err err = {0};
    yyjson_val *set = json_parse(&k->arena, str_of(k->set), &err), *claims = NULL;
    assert_non_null(set);
    if (!jwt_verify(&k->arena, str_of(token), set, &claims, &err))
        return err.code;
    assert_true(str_is(json_str(yyjson_obj_get(claims, "sub")), "ann"));
    return ERR_NONE;
}

#define CLAIMS "{\"sub\":\"ann\"}"

static void test_good(void **state)
{
    struct keys *k = *state;
    struct arena *a = &k->arena;
    assert_int_equal(verify(k, sign(a, k->rsa, "{\"alg\":\"RS256\",\"kid\":\"r\"}", CLAIMS)), ERR_NONE);
    assert_int_equal(verify(k, sign(a, k->rsa, "{\"alg\":\"RS256\"}", CLAIMS)), ERR_NONE);
    assert_int_equal(verify(k, sign(a, k->ec, "{\"alg\":\"ES256\",\"kid\":\"p\"}", CLAIMS)), ERR_NONE);
}

static void test_refused(void **state)
{
    struct keys *k = *state;
    struct arena *a = &k->arena;
    assert_int_equal(verify(k, sign(a, k->other, "{\"alg\":\"RS256\",\"kid\":\"r\"}", CLAIMS)),
                     ERR_UNAUTHORIZED);
    assert_int_equal(verify(k, sign(a, k->rsa, "{\"alg\":\"RS256\",\"kid\":\"new\"}", CLAIMS)),
                     ERR_NOT_FOUND);
    static const char *const headers[] = {"{\"alg\":\"none\"}",
                                          "{\"alg\":\"HS256\"}",
                                          "{}",
                                          "[]",
                                          "x",
                                          "{\"alg\":\"ES256\"}",
                                          "{\"alg\":\"RS256\",\"crit\":[\"b64\"]}"};
    for (size_t i = 0; i < countof(headers); i++)
        assert_int_equal(verify(k, sign(a, k->rsa, headers[i], CLAIMS)), ERR_UNAUTHORIZED);
    static const char *const texts[] = {
        "", ".", "..", "...", "a.b", "a.b.c", "e30.e30.", "!.!.!", "e30.e30.e30.e30"};
    for (size_t i = 0; i < countof(texts); i++)
        assert_int_equal(verify(k, texts[i]), ERR_UNAUTHORIZED);
    /* Any changed character of the content breaks it. */
    char *token = arena_strdup(a, sign(a, k->rsa, "{\"alg\":\"RS256\"}", CLAIMS));
    char *at = strchr(token, '.') + 3;
    *at = *at == 'A' ? 'B' : 'A';
    assert_int_equal(verify(k, token), ERR_UNAUTHORIZED);
    assert_int_equal(verify(k, sign(a, k->rsa, "{\"alg\":\"RS256\"}", "[]")), ERR_UNAUTHORIZED);
}

static bool claims_ok(struct arena *a, const char *json)
{
    struct err err = {0};
    yyjson_val *claims = json_parse(a, str_of(json), &err);
    assert_non_null(claims);
    struct jwt_rules rules = {"https://id.example", "ingot", "n1", 1000};
    return jwt_check_claims(claims, &rules, &err);
}

#define C(iss, aud, exp, iat, nonce)                                                                         \
    "{\"iss\":" iss ",\"aud\":" aud ",\"exp\":" exp ",\"iat\":" iat ",\"nonce\":" nonce "}"
#define ISS "\"https://id.example\""

static void test_claims(void **state)
{
    struct arena *a = &((struct keys *)*state)->arena;
    assert_true(claims_ok(a, C(ISS, "\"ingot\"", "1100", "1000", "\"n1\"")));
    assert_true(claims_ok(a, C(ISS, "[\"ingot\"]", "950", "1050", "\"n1\"")));
    static const char *const wrong[] = {
        C("\"https://id.example/\"", "\"ingot\"", "1100", "1000", "\"n1\""),
        C(ISS, "\"other\"", "1100", "1000", "\"n1\""),
        C(ISS, "[\"ingot\",\"other\"]", "1100", "1000", "\"n1\""),
        C(ISS, "[]", "1100", "1000", "\"n1\""),
        C(ISS, "\"ingot\"", "900", "1000", "\"n1\""),
        C(ISS, "\"ingot\"", "\"1100\"", "1000", "\"n1\""),
        C(ISS, "\"ingot\"", "1100", "1200", "\"n1\""),
        C(ISS, "\"ingot\"", "1100", "1000", "\"n2\""),
        C(ISS, "\"ingot\"", "1100", "1000", "null"),
        "{\"iss\":" ISS ",\"aud\":\"ingot\",\"azp\":\"other\",\"exp\":1100,\"iat\":1000,\"nonce\":\"n1\"}",
        "{\"iss\":" ISS ",\"aud\":\"ingot\",\"nbf\":1200,\"exp\":1300,\"iat\":1000,\"nonce\":\"n1\"}",
        "{}",
    };
    for (size_t i = 0; i < countof(wrong); i++)
        assert_false(claims_ok(a, wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_claims),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
