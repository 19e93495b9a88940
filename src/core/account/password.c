#include "core/account/password.h"

#include "base/hash.h"

#include <argon2.h>
#include <malloc.h>
#include <pthread.h>

enum { PASSES = 2, MEMORY_KIB = 19456, LANES = 1, SALT = 16, HASH = 32, AT_ONCE = 2, MAX_WAITING = 48 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    unsigned running, waiting;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

/* Once it has freed a large block, glibc keeps later ones of that size for reuse; a fixed threshold makes the
 * hashes' memory go back to the system at once. */
static void fix_threshold(void)
{
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
}

static bool enter(struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fix_threshold);
    pthread_mutex_lock(&queue.lock);
    if (queue.waiting >= MAX_WAITING) {
        pthread_mutex_unlock(&queue.lock);
        return err_set(err, ERR_TOO_MANY, NULL,
                       "too many passwords are being checked; try again in a second");
    }
    queue.waiting++;
    while (queue.running >= AT_ONCE)
        pthread_cond_wait(&queue.turn, &queue.lock);
    queue.waiting--;
    queue.running++;
    pthread_mutex_unlock(&queue.lock);
    return true;
}

static void leave(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.running--;
    pthread_cond_signal(&queue.turn);
    pthread_mutex_unlock(&queue.lock);
}

bool password_rule(struct str password, const char *field, struct err *err)
{
    if (!password.p || !utf8_valid(password))
        return err_set(err, ERR_INVALID, field, "%s: must be a text in UTF-8", field);
    size_t n = utf8_count(password);
    if (n < PASSWORD_MIN || n > PASSWORD_MAX)
        return err_set(err, ERR_INVALID, field, "%s: has %zu characters; passwords have %d to %d", field, n,
                       PASSWORD_MIN, PASSWORD_MAX);
    return true;
}

bool password_hash(struct arena *a, struct str password, struct str *ret, struct err *err)
{
    uint8_t salt[SALT];
    random_bytes(salt, sizeof salt);
    size_t cap = argon2_encodedlen(PASSES, MEMORY_KIB, LANES, SALT, HASH, Argon2_id);
    char *text = arena_alloc(a, cap);
    if (!enter(err))
        return false;
    int rc = argon2id_hash_encoded(PASSES, MEMORY_KIB, LANES, password.p, password.n, salt, sizeof salt, HASH,
                                   text, cap);
    leave();
    if (rc != ARGON2_OK)
        return err_set(err, ERR_UNAVAILABLE, NULL, "hashing a password: %s", argon2_error_message(rc));
    *ret = str_of(text);
    return true;
}

bool password_verify(struct str hash, struct str password, bool (*go_on)(void *ctx, struct err *err),
                     void *ctx, bool *ret_right, struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    const char *text = hash.n > 0 ? arena_strz(&a, hash) : NULL;
    if (!enter(err))
        return false;
    if (go_on && !go_on(ctx, err)) {
        leave();
        return false;
    }
    int rc;
    if (text) {
        rc = argon2id_verify(text, password.p, password.n);
    } else {
        uint8_t salt[SALT] = {0}, out[HASH];
        rc = argon2id_hash_raw(PASSES, MEMORY_KIB, LANES, password.p, password.n, salt, sizeof salt, out,
                               sizeof out);
        rc = rc == ARGON2_OK ? ARGON2_VERIFY_MISMATCH : rc;
    }
    leave();
    if (rc == ARGON2_MEMORY_ALLOCATION_ERROR)
        return err_set(err, ERR_UNAVAILABLE, NULL, "checking a password: %s", argon2_error_message(rc));
    *ret_right = rc == ARGON2_OK;
    return true;
}

void password_generate(char ret[PASSWORD_TEXT])
{
    /* 0 O 1 l i o are left out. */
    static const char signs[] = "abcdefghjkmnpqrstuvwxyz23456789";
    uint8_t bytes[20];
    random_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        ret[i] = signs[bytes[i] % (sizeof signs - 1)];
    ret[sizeof bytes] = 0;
}
