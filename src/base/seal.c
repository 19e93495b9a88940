#include "base/seal.h"

#include "base/fs.h"
#include "base/hash.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>

#define NONCE 12
#define TAG   16

static bool read_key(int dirfd, const char *file, uint8_t ret[SEAL_KEY], bool *ret_there, struct err *err)
{
    auto_fd int fd = openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    *ret_there = fd >= 0;
    if (fd < 0)
        return errno == ENOENT || err_errno(err, errno, "cannot open the key of the data folder");
    return read(fd, ret, SEAL_KEY) == SEAL_KEY ||
           err_set(err, ERR_INTERNAL, NULL, "the key of the data folder is damaged");
}

/* Beside, then linked into place: two that make one at the same time agree on the first. */
static bool make_key(int dirfd, const char *file, struct err *err)
{
    uint8_t key[SEAL_KEY];
    char name[48], tail[16];
    random_bytes(key, sizeof key);
    random_text(8, tail);
    snprintf(name, sizeof name, "%.20s-%s", file, tail);
    auto_fd int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "cannot make the key of the data folder");
    bool ok = fs_write_all(fd, key, sizeof key, err) &&
              (fsync(fd) == 0 || err_errno(err, errno, "cannot make the key of the data folder"));
    if (ok && linkat(dirfd, name, dirfd, file, 0) != 0 && errno != EEXIST)
        ok = err_errno(err, errno, "cannot make the key of the data folder");
    unlinkat(dirfd, name, 0);
    explicit_bzero(key, sizeof key);
    return ok && (fsync(dirfd) == 0 || err_errno(err, errno, "cannot make the key of the data folder"));
}

bool seal_key(int dirfd, const char *file, uint8_t ret[SEAL_KEY], struct err *err)
{
    bool there;
    if (!read_key(dirfd, file, ret, &there, err))
        return false;
    if (there)
        return true;
    return make_key(dirfd, file, err) && read_key(dirfd, file, ret, &there, err) &&
           (there || err_set(err, ERR_INTERNAL, NULL, "the key of the data folder is gone"));
}

char *seal_text(struct arena *a, const uint8_t key[SEAL_KEY], struct str secret)
{
    uint8_t *raw = arena_alloc(a, NONCE + secret.n + TAG);
    int n = 0, last = 0;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    random_bytes(raw, NONCE);
    bool ok = c && EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, raw) == 1 &&
              EVP_EncryptUpdate(c, raw + NONCE, &n, (const uint8_t *)secret.p, (int)secret.n) == 1 &&
              EVP_EncryptFinal_ex(c, raw + NONCE + n, &last) == 1 &&
              EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, TAG, raw + NONCE + secret.n) == 1;
    EVP_CIPHER_CTX_free(c);
    if (!ok)
        abort(); /* a library without AES cannot keep a secret */
    size_t size = NONCE + secret.n + TAG;
    char *text = arena_alloc(a, 4 * (size + 2) / 3 + 1);
    base64url_encode(raw, size, text);
    return text;
}

bool seal_open(struct arena *a, const uint8_t key[SEAL_KEY], struct str sealed, struct str *ret)
{
    uint8_t *raw = arena_alloc(a, sealed.n + 1);
    size_t size;
    if (!base64_decode(sealed, raw, sealed.n + 1, &size) || size < NONCE + TAG)
        return false;
    size_t length = size - NONCE - TAG;
    char *out = arena_alloc(a, length + 1);
    int n = 0, last = 0;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bool ok = c && EVP_DecryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, raw) == 1 &&
              EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, TAG, raw + NONCE + length) == 1 &&
              EVP_DecryptUpdate(c, (uint8_t *)out, &n, raw + NONCE, (int)length) == 1 &&
              EVP_DecryptFinal_ex(c, (uint8_t *)out + n, &last) == 1;
    EVP_CIPHER_CTX_free(c);
    if (!ok)
        return false;
    out[length] = 0;
    *ret = (struct str){out, length};
    return true;
}
