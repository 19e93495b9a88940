#include "store/s3_sign.h"

#include "base/buf.h"

#include <time.h>

static struct str bytes_of(const uint8_t hash[SHA256_SIZE])
{
    return (struct str){(const char *)hash, SHA256_SIZE};
}

/* The key of the day, the region and the service: each step signs the next name. */
static void day_key(const struct s3_signing *s, struct str day, uint8_t ret[SHA256_SIZE])
{
    auto_buf struct buf first = {0};
    const struct str steps[] = {str_of(s->region), STR("s3"), STR("aws4_request")};
    buf_printf(&first, "AWS4%s", s->secret);
    hmac_sha256(buf_view(&first), day, ret);
    for (size_t i = 0; i < countof(steps); i++) {
        uint8_t next[SHA256_SIZE];
        hmac_sha256(bytes_of(ret), steps[i], next);
        memcpy(ret, next, sizeof next);
    }
    explicit_bzero(first.p, first.n);
}

static const char *header_names(const struct s3_signing *s)
{
    return s->token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
                    : "host;x-amz-content-sha256;x-amz-date";
}

static void canonical_hash(const struct s3_signing *s, const char *date, char ret[SHA256_HEX + 1])
{
    auto_buf struct buf b = {0};
    uint8_t hash[SHA256_SIZE];
    buf_printf(&b, "%s\n" STR_FMT "\n" STR_FMT "\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n",
               s->method, STR_ARG(s->path), STR_ARG(s->query), s->host, s->payload, date);
    if (s->token)
        buf_printf(&b, "x-amz-security-token:%s\n", s->token);
    buf_printf(&b, "\n%s\n%s", header_names(s), s->payload);
    sha256_of(buf_view(&b), hash);
    hex_encode(hash, sizeof hash, ret);
}

char *s3_sign(struct arena *a, const struct s3_signing *s, char ret_date[S3_DATE_MAX])
{
    time_t seconds = (time_t)(s->at / 1000000);
    struct tm tm;
    char hex[SHA256_HEX + 1];
    uint8_t key[SHA256_SIZE], signature[SHA256_SIZE];
    gmtime_r(&seconds, &tm);
    strftime(ret_date, S3_DATE_MAX, "%Y%m%dT%H%M%SZ", &tm);
    struct str day = {ret_date, 8};
    canonical_hash(s, ret_date, hex);
    const char *scope = arena_printf(a, STR_FMT "/%s/s3/aws4_request", STR_ARG(day), s->region);
    const char *text = arena_printf(a, "AWS4-HMAC-SHA256\n%s\n%s\n%s", ret_date, scope, hex);
    day_key(s, day, key);
    hmac_sha256(bytes_of(key), str_of(text), signature);
    hex_encode(signature, sizeof signature, hex);
    return arena_printf(a, "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s", s->key, scope,
                        header_names(s), hex);
}
