#include "core/job/ssh_key.h"

#include "base/buf.h"

#include <openssl/evp.h>

static void put_u32(struct buf *b, uint32_t v)
{
    const char bytes[] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};
    buf_add(b, bytes, sizeof bytes);
}

static void put_string(struct buf *b, const void *p, size_t n)
{
    put_u32(b, (uint32_t)n);
    buf_add(b, p, n);
}

static void put_public(struct buf *b, const uint8_t key[SSH_KEY_SEED])
{
    put_string(b, "ssh-ed25519", 11);
    put_string(b, key, SSH_KEY_SEED);
}

static struct str base64(struct arena *a, struct str s)
{
    unsigned char *text = arena_alloc(a, 4 * (s.n + 2) / 3 + 1);
    int n = EVP_EncodeBlock(text, (const unsigned char *)s.p, (int)s.n);
    return (struct str){(char *)text, (size_t)n};
}

/* PROTOCOL.key of OpenSSH: an unencrypted key with an empty comment. */
static struct str private_file(struct arena *a, const uint8_t seed[SSH_KEY_SEED],
                               const uint8_t key[SSH_KEY_SEED])
{
    auto_buf struct buf pub = {0}, secret = {0}, all = {0};
    put_public(&pub, key);
    put_u32(&secret, 0x1f2e3d4c);
    put_u32(&secret, 0x1f2e3d4c);
    put_public(&secret, key);
    put_u32(&secret, 2 * SSH_KEY_SEED);
    buf_add(&secret, seed, SSH_KEY_SEED);
    buf_add(&secret, key, SSH_KEY_SEED);
    put_string(&secret, "", 0);
    for (char pad = 1; secret.n % 8; pad++)
        buf_char(&secret, pad);
    buf_add(&all, "openssh-key-v1", 15);
    put_string(&all, "none", 4);
    put_string(&all, "none", 4);
    put_string(&all, "", 0);
    put_u32(&all, 1);
    put_string(&all, pub.p, pub.n);
    put_string(&all, secret.p, secret.n);
    struct str text = base64(a, buf_view(&all));
    auto_buf struct buf out = {0};
    buf_z(&out, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    for (size_t i = 0; i < text.n; i += 70) {
        buf_add(&out, text.p + i, text.n - i < 70 ? text.n - i : 70);
        buf_char(&out, '\n');
    }
    buf_z(&out, "-----END OPENSSH PRIVATE KEY-----\n");
    return arena_str(a, buf_view(&out));
}

static struct str public_file(struct arena *a, const uint8_t key[SSH_KEY_SEED])
{
    auto_buf struct buf pub = {0};
    put_public(&pub, key);
    struct str text = base64(a, buf_view(&pub));
    return str_of(arena_printf(a, "ssh-ed25519 " STR_FMT "\n", STR_ARG(text)));
}

bool ssh_key_files(struct arena *a, const uint8_t seed[SSH_KEY_SEED], struct str *ret_private,
                   struct str *ret_public, struct err *err)
{
    uint8_t key[SSH_KEY_SEED];
    size_t n = sizeof key;
    EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, SSH_KEY_SEED);
    bool ok = pair && EVP_PKEY_get_raw_public_key(pair, key, &n) == 1;
    EVP_PKEY_free(pair);
    if (!ok)
        return err_set(err, ERR_INTERNAL, NULL, "cannot make a key for ssh");
    *ret_private = private_file(a, seed, key);
    *ret_public = public_file(a, key);
    return true;
}
