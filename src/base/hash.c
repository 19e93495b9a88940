/* The one-shot functions of OpenSSL 3 look their algorithm up at each call, which takes ten times as long as
 * hashing a short text: sha256_of is asked for every request with a token. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>

struct sha256 {
    EVP_MD_CTX *ctx;
};

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "ingot: %s failed\n", what);
    abort();
}

struct sha256 *sha256_new(void)
{
    struct sha256 *h = base_alloc(sizeof *h);
    h->ctx = EVP_MD_CTX_new();
    must(h->ctx && EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) == 1, "SHA-256");
    return h;
}

void sha256_add(struct sha256 *h, const void *p, size_t n)
{
    must(EVP_DigestUpdate(h->ctx, p, n) == 1, "SHA-256");
}

void sha256_finish(struct sha256 *h, uint8_t ret[SHA256_SIZE])
{
    must(EVP_DigestFinal_ex(h->ctx, ret, NULL) == 1, "SHA-256");
    sha256_free(h);
}

void sha256_free(struct sha256 *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->ctx);
    free(h);
}

void sha256_of(struct str data, uint8_t ret[SHA256_SIZE])
{
    SHA256_CTX ctx;
    must(SHA256_Init(&ctx) == 1 && SHA256_Update(&ctx, data.p ? data.p : "", data.n) == 1 &&
             SHA256_Final(ret, &ctx) == 1,
         "SHA-256");
}

void hmac_sha256(struct str key, struct str data, uint8_t ret[SHA256_SIZE])
{
    must(HMAC(EVP_sha256(), key.p ? key.p : "", (int)key.n, (const unsigned char *)(data.p ? data.p : ""),
              data.n, ret, NULL) != NULL,
         "HMAC");
}

void hex_encode(const void *p, size_t n, char *ret)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        ret[2 * i] = hex[((const uint8_t *)p)[i] >> 4];
        ret[2 * i + 1] = hex[((const uint8_t *)p)[i] & 15];
    }
    ret[2 * n] = 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hex_decode(struct str hex, void *ret, size_t n)
{
    if (hex.n != 2 * n)
        return false;
    for (size_t i = 0; i < hex.n; i++)
        if (hex_digit(hex.p[i]) < 0)
            return false;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)ret)[i] =
            (uint8_t)((unsigned)hex_digit(hex.p[2 * i]) << 4 | (unsigned)hex_digit(hex.p[2 * i + 1]));
    return true;
}

size_t base64url_encode(const void *p, size_t n, char *ret)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const uint8_t *in = p;
    size_t out = 0;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v =
            (uint32_t)in[i] << 16 | (i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0) | (i + 2 < n ? in[i + 2] : 0);
        size_t chars = n - i >= 3 ? 4 : n - i + 1;
        for (size_t k = 0; k < chars; k++)
            ret[out++] = set[v >> (18 - 6 * k) & 63];
    }
    ret[out] = 0;
    return out;
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

bool base64_decode(struct str text, void *ret, size_t cap, size_t *ret_n)
{
    size_t padding = 0;
    while (padding < 2 && text.n && text.p[text.n - 1] == '=') {
        text.n--;
        padding++;
    }
    size_t tail = text.n % 4, n = text.n / 4 * 3 + (tail ? tail - 1 : 0);
    if (tail == 1 || n > cap || (padding && (tail + padding) != 4))
        return false;
    uint32_t bits = 0;
    size_t out = 0;
    for (size_t i = 0; i < text.n; i++) {
        int d = base64_digit(text.p[i]);
        if (d < 0)
            return false;
        bits = bits << 6 | (uint32_t)d;
        size_t held = i % 4; /* from the second character on each completes a byte */
        if (held)
            ((uint8_t *)ret)[out++] = (uint8_t)(bits >> (6 - 2 * held));
    }
    /* Bits beyond the last byte must be zero, so that each value has one text. */
    if ((tail == 2 && bits & 15) || (tail == 3 && bits & 3))
        return false;
    *ret_n = n;
    return true;
}

void random_bytes(void *p, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = getrandom((char *)p + done, n - done, 0);
        must(got > 0 || errno == EINTR, "getrandom");
        done += got > 0 ? (size_t)got : 0;
    }
}

void random_text(size_t n, char *ret)
{
    uint8_t raw[256];
    must(n <= sizeof raw, "random_text");
    random_bytes(raw, n);
    base64url_encode(raw, n, ret);
    OPENSSL_cleanse(raw, n);
}

bool equal_constant_time(const void *a, const void *b, size_t n)
{
    return CRYPTO_memcmp(a, b, n) == 0;
}

static uint64_t sip_key[2];
static pthread_once_t sip_once = PTHREAD_ONCE_INIT;

static void sip_key_make(void)
{
    random_bytes(sip_key, sizeof sip_key);
}

static uint64_t rotl(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

/* SipHash-1-3: a client cannot choose keys that collide. */
uint64_t hash64(struct str s)
{
    pthread_once(&sip_once, sip_key_make);
    uint64_t v[4] = {sip_key[0] ^ 0x736f6d6570736575, sip_key[1] ^ 0x646f72616e646f6d,
                     sip_key[0] ^ 0x6c7967656e657261, sip_key[1] ^ 0x7465646279746573};
    uint64_t word;
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        memcpy(&word, s.p + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)s.n << 56;
    for (size_t k = 0; i + k < s.n; k++)
        word |= (uint64_t)(unsigned char)s.p[i + k] << (8 * k);
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    for (int k = 0; k < 3; k++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
