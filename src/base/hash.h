/* Hashes, random bytes and their texts (OpenSSL behind). */
#ifndef INGOT_BASE_HASH_H
#define INGOT_BASE_HASH_H

#include "base/str.h"

#define SHA256_SIZE 32
#define SHA256_HEX  64

struct sha256; /* streaming state */
struct sha256 *sha256_new(void);
void sha256_add(struct sha256 *h, const void *p, size_t n);
void sha256_finish(struct sha256 *h, uint8_t ret[SHA256_SIZE]); /* frees h */
void sha256_free(struct sha256 *h);
void sha256_of(struct str data, uint8_t ret[SHA256_SIZE]);
void hmac_sha256(struct str key, struct str data, uint8_t ret[SHA256_SIZE]);

void hex_encode(const void *p, size_t n, char *ret);  /* 2n+1 bytes, lower case */
bool hex_decode(struct str hex, void *ret, size_t n); /* exactly n bytes */
/* base64url without padding; returns the length written; ret needs 4*(n+2)/3+1. */
size_t base64url_encode(const void *p, size_t n, char *ret);
bool base64_decode(struct str text, void *ret, size_t cap,
                   size_t *ret_n); /* either alphabet, padding optional */

void random_bytes(void *p, size_t n); /* cryptographic; ends the program when the kernel refuses */
/* A token of n random bytes as base64url; ret needs 4*(n+2)/3+1. */
void random_text(size_t n, char *ret);
bool equal_constant_time(const void *a, const void *b, size_t n);
uint64_t hash64(struct str s); /* fast, keyed per process, for tables */

#endif
