#include "core/account/job_token.h"

#include "base/hash.h"
#include "base/messages.h"
#include "base/seal.h"

#define PREFIX   "ingot_job_"
#define KEY_FILE "key"
#define TEXT     43 /* characters of 32 bytes in base64url */

/* What a credential holds behind its first byte. */
enum { JOB_AT = 1, ATTEMPT_AT = 9, CODE_AT = 13, CODE_SIZE = CALLER_CREDENTIAL - CODE_AT };

static void put(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

/* The code of the job and attempt that the credential names. Ids come again after a restore, times do not. */
static bool make_code(struct core *core, const uint8_t credential[CALLER_CREDENTIAL], int64_t created_at,
                      uint8_t ret[CODE_SIZE], struct err *err)
{
    uint8_t key[SEAL_KEY], code[SHA256_SIZE], text[8 + CODE_AT];
    put(text, (uint64_t)created_at, 8);
    memcpy(text + 8, credential, CODE_AT);
    if (!seal_key(core->data_fd, KEY_FILE, key, err))
        return false;
    hmac_sha256((struct str){(char *)key, sizeof key}, (struct str){(char *)text, sizeof text}, code);
    memcpy(ret, code, CODE_SIZE);
    return true;
}

bool accounts_job_token(struct core *core, const struct object *job, int32_t attempt,
                        char ret[ACCOUNTS_SECRET_MAX], struct err *err)
{
    uint8_t credential[CALLER_CREDENTIAL] = {'j'};
    put(credential + JOB_AT, (uint64_t)job->id, 8);
    put(credential + ATTEMPT_AT, (uint64_t)attempt, 4);
    if (!make_code(core, credential, job->created_at, credential + CODE_AT, err))
        return false;
    memcpy(ret, PREFIX, sizeof PREFIX - 1);
    base64url_encode(credential + 1, CALLER_CREDENTIAL - 1, ret + sizeof PREFIX - 1);
    return true;
}

bool job_token_parse(struct str secret, uint8_t ret[CALLER_CREDENTIAL])
{
    size_t head = sizeof PREFIX - 1, n;
    if (!str_starts(secret, PREFIX) || secret.n != head + TEXT)
        return false;
    ret[0] = 'j';
    return base64_decode((struct str){secret.p + head, TEXT}, ret + 1, CALLER_CREDENTIAL - 1, &n) &&
           n == CALLER_CREDENTIAL - 1;
}

static bool is_over(struct err *err)
{
    return err_message(err, ERR_UNAUTHORIZED, NULL, MESSAGE_JOB_TOKEN_OVER);
}

bool job_token_read(struct core *core, struct arena *a, const uint8_t credential[CALLER_CREDENTIAL],
                    struct job_token *ret, struct err *err)
{
    uint8_t code[CODE_SIZE];
    struct db_row row;
    bool found;
    int64_t job = (int64_t)get(credential + JOB_AT, 8), attempt = (int64_t)get(credential + ATTEMPT_AT, 4);
    if (!db_query_one(core->db, a,
                      "SELECT j.created_by, j.project, j.created_at FROM jobs j JOIN projects p ON p.id = "
                      "j.project WHERE j.id = ? AND j.attempt = ? AND j.state IN ('starting', 'running', "
                      "'stopping') AND COALESCE(p.job_access, 1) <> 0",
                      db_args(db_int(job), db_int(attempt)), &row, &found, err))
        return false;
    if (!found)
        return is_over(err);
    if (!make_code(core, credential, row.v[2].i, code, err))
        return false;
    if (!equal_constant_time(code, credential + CODE_AT, CODE_SIZE))
        return is_over(err);
    *ret = (struct job_token){job, row.v[0].type == DB_INT ? row.v[0].i : 0, row.v[1].i};
    return true;
}
