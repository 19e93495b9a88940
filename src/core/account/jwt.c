#include "core/account/jwt.h"

#include "base/hash.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#define TOKEN_MAX 65536
#define KEYS_MAX  100
#define LEEWAY    60
#define P256      32 /* bytes of a coordinate */

static bool refuse(struct err *err, const char *why)
{
    return err_set(err, ERR_UNAUTHORIZED, NULL, "the provider's id_token is refused: %s", why);
}

static bool decode(struct arena *a, struct str text, struct str *ret)
{
    if (!text.p || text.n == 0)
        return false;
    char *out = arena_alloc(a, text.n + 4);
    size_t n;
    if (!base64_decode(text, out, text.n + 4, &n))
        return false;
    *ret = (struct str){out, n};
    return true;
}

/* --- keys --- */
static EVP_PKEY *from_params(const char *type, OSSL_PARAM_BLD *build)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (params && ctx && EVP_PKEY_fromdata_init(ctx) == 1)
        if (EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
            key = NULL;
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *rsa_key(struct arena *a, yyjson_val *jwk)
{
    struct str n, e;
    if (!decode(a, json_str(yyjson_obj_get(jwk, "n")), &n) ||
        !decode(a, json_str(yyjson_obj_get(jwk, "e")), &e))
        return NULL;
    if (n.n < 256 || n.n > 1024 || e.n > 8)
        return NULL;
    BIGNUM *bn = BN_bin2bn((const uint8_t *)n.p, (int)n.n, NULL);
    BIGNUM *be = BN_bin2bn((const uint8_t *)e.p, (int)e.n, NULL);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (bn && be && build && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, bn) &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, be))
        key = from_params("RSA", build);
    OSSL_PARAM_BLD_free(build);
    BN_free(bn);
    BN_free(be);
    return key;
}

static EVP_PKEY *ec_key(struct arena *a, yyjson_val *jwk)
{
    struct str x, y;
    if (!str_is(json_str(yyjson_obj_get(jwk, "crv")), "P-256") ||
        !decode(a, json_str(yyjson_obj_get(jwk, "x")), &x) ||
        !decode(a, json_str(yyjson_obj_get(jwk, "y")), &y) || x.n != P256 || y.n != P256)
        return NULL;
    uint8_t point[1 + 2 * P256] = {4};
    memcpy(point + 1, x.p, P256);
    memcpy(point + 1 + P256, y.p, P256);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (build && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) &&
        OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point))
        key = from_params("EC", build);
    OSSL_PARAM_BLD_free(build);
    return key;
}

/* --- signatures --- */
/* r and s side by side, as in a JWT, to the DER that OpenSSL wants. */
static bool ec_signature(struct arena *a, struct str raw, struct str *ret)
{
    if (raw.n != 2 * P256)
        return false;
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn((const uint8_t *)raw.p, P256, NULL);
    BIGNUM *s = BN_bin2bn((const uint8_t *)raw.p + P256, P256, NULL);
    if (!sig || !r || !s || !ECDSA_SIG_set0(sig, r, s)) {
        BN_free(r);
        BN_free(s);
        ECDSA_SIG_free(sig);
        return false;
    }
    uint8_t *der = NULL;
    int n = i2d_ECDSA_SIG(sig, &der);
    ECDSA_SIG_free(sig);
    if (n <= 0)
        return false;
    *ret = (struct str){arena_copy(a, der, (size_t)n), (size_t)n};
    OPENSSL_free(der);
    return true;
}

static bool verify_with(EVP_PKEY *key, struct str data, struct str signature)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
              EVP_DigestVerify(ctx, (const uint8_t *)signature.p, signature.n, (const uint8_t *)data.p,
                               data.n) == 1;
    EVP_MD_CTX_free(ctx);
    return ok;
}

struct jwt {
    struct str head, payload, signature, signed_part;
    bool ec;
    struct str kid; /* STR_NULL when it names none */
};

static bool read_token(struct arena *a, struct str token, struct jwt *ret, struct err *err)
{
    struct str rest, payload, signature;
    if (token.n > TOKEN_MAX)
        return refuse(err, "it is too long");
    struct str head = str_cut(token, '.', &rest);
    payload = str_cut(rest, '.', &signature);
    if (!signature.p || memchr(signature.p, '.', signature.n))
        return refuse(err, "it has not three parts");
    *ret = (struct jwt){.signed_part = {token.p, (size_t)(payload.p + payload.n - token.p)}};
    if (!decode(a, head, &ret->head) || !decode(a, payload, &ret->payload) ||
        !decode(a, signature, &ret->signature))
        return refuse(err, "it is no base64url");
    yyjson_val *header = json_parse(a, ret->head, err);
    if (!header)
        return refuse(err, "its header is no JSON");
    struct str alg = json_str(yyjson_obj_get(header, "alg"));
    ret->ec = str_is(alg, "ES256");
    ret->kid = json_str(yyjson_obj_get(header, "kid"));
    if (!ret->ec && !str_is(alg, "RS256"))
        return refuse(err, "its algorithm is neither RS256 nor ES256");
    if (yyjson_obj_get(header, "crit"))
        return refuse(err, "it has critical extensions");
    return !ret->ec || ec_signature(a, ret->signature, &ret->signature) ||
           refuse(err, "its signature is malformed");
}

static bool fits(const struct jwt *t, yyjson_val *jwk)
{
    struct str use = json_str(yyjson_obj_get(jwk, "use")), kid = json_str(yyjson_obj_get(jwk, "kid"));
    if (!str_is(json_str(yyjson_obj_get(jwk, "kty")), t->ec ? "EC" : "RSA"))
        return false;
    return (!use.p || str_is(use, "sig")) && (!t->kid.p || str_eq(t->kid, kid));
}

bool jwt_verify(struct arena *a, struct str token, yyjson_val *keys, yyjson_val **ret_claims, struct err *err)
{
    struct jwt t;
    if (!read_token(a, token, &t, err))
        return false;
    yyjson_val *list = yyjson_obj_get(keys, "keys"), *jwk;
    bool tried = false, right = false;
    size_t i, n;
    yyjson_arr_foreach(list, i, n, jwk)
    {
        if (i >= KEYS_MAX || right)
            break;
        EVP_PKEY *key = fits(&t, jwk) ? (t.ec ? ec_key(a, jwk) : rsa_key(a, jwk)) : NULL;
        if (!key)
            continue;
        tried = true;
        right = verify_with(key, t.signed_part, t.signature);
        EVP_PKEY_free(key);
    }
    if (!tried)
        return err_set(err, ERR_NOT_FOUND, NULL, "the provider has no key that fits its id_token");
    if (!right)
        return refuse(err, "its signature is wrong");
    yyjson_val *claims = json_parse(a, t.payload, err);
    if (!yyjson_is_obj(claims))
        return refuse(err, "its claims are no JSON object");
    *ret_claims = claims;
    return true;
}

/* --- claims --- */
static bool audience_ok(yyjson_val *claims, const char *client)
{
    yyjson_val *aud = yyjson_obj_get(claims, "aud"), *azp = yyjson_obj_get(claims, "azp"), *item;
    bool found = str_is(json_str(aud), client);
    size_t i, n;
    yyjson_arr_foreach(aud, i, n, item) found = found || str_is(json_str(item), client);
    bool many = yyjson_is_arr(aud) && yyjson_arr_size(aud) > 1;
    return found && (azp ? str_is(json_str(azp), client) : !many);
}

bool jwt_check_claims(yyjson_val *claims, const struct jwt_rules *r, struct err *err)
{
    yyjson_val *exp = yyjson_obj_get(claims, "exp"), *nbf = yyjson_obj_get(claims, "nbf"),
               *iat = yyjson_obj_get(claims, "iat");
    double now = (double)r->now;
    if (!str_is(json_str(yyjson_obj_get(claims, "iss")), r->issuer))
        return refuse(err, "another issuer made it");
    if (!audience_ok(claims, r->audience))
        return refuse(err, "it is meant for another client");
    if (!yyjson_is_num(exp) || yyjson_get_num(exp) + LEEWAY <= now)
        return refuse(err, "it has expired");
    if (nbf && (!yyjson_is_num(nbf) || yyjson_get_num(nbf) - LEEWAY > now))
        return refuse(err, "it is not valid yet");
    if (!yyjson_is_num(iat) || yyjson_get_num(iat) - LEEWAY > now)
        return refuse(err, "it was made in the future");
    if (r->nonce && !str_is(json_str(yyjson_obj_get(claims, "nonce")), r->nonce))
        return refuse(err, "its nonce is not ours");
    return true;
}
