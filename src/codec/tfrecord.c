#include "codec/tfrecord.h"

#include <pthread.h>

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0x82f63b78U : c >> 1;
        table[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Eight bytes at a time. */
uint32_t tfrecord_crc32c(const void *data, size_t n)
{
    pthread_once(&once, make_table);
    const uint8_t *p = data;
    uint32_t c = ~0U;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t a = load32(p) ^ c, b = load32(p + 4);
        c = table[7][a & 0xff] ^ table[6][a >> 8 & 0xff] ^ table[5][a >> 16 & 0xff] ^ table[4][a >> 24] ^
            table[3][b & 0xff] ^ table[2][b >> 8 & 0xff] ^ table[1][b >> 16 & 0xff] ^ table[0][b >> 24];
    }
    for (; n; n--, p++)
        c = c >> 8 ^ table[0][(c ^ *p) & 0xff];
    return ~c;
}

static uint32_t masked(const void *p, size_t n)
{
    uint32_t c = tfrecord_crc32c(p, n);
    return (c >> 15 | c << 17) + 0xa282ead8U;
}

static void put_varint(struct buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        buf_char(b, (char)(v | 0x80));
    buf_char(b, (char)v);
}

static size_t varint_size(uint64_t v)
{
    size_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

/* A field of bytes: tag, length, bytes. */
static void put_field(struct buf *b, int field, struct str bytes)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, bytes.n);
    buf_str(b, bytes);
}

/* Only the head of a field whose n bytes follow. */
static void put_head(struct buf *b, int field, size_t n)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, n);
}

static size_t field_size(size_t n)
{
    return 1 + varint_size(n) + n;
}

/* Features.feature entry { key, Feature { kind: list } }. */
static void put_entry(struct tfrecord_example *e, const char *key, int kind, struct str list)
{
    size_t feature = field_size(list.n);
    put_head(&e->features, 1, field_size(strlen(key)) + field_size(feature));
    put_field(&e->features, 1, str_of(key));
    put_head(&e->features, 2, feature);
    put_field(&e->features, kind, list);
}

void tfrecord_bytes(struct tfrecord_example *e, const char *key, struct str value)
{
    tfrecord_texts(e, key, &value, 1);
}

void tfrecord_texts(struct tfrecord_example *e, const char *key, const struct str *values, size_t n)
{
    auto_buf struct buf list = {0};
    for (size_t i = 0; i < n; i++)
        put_field(&list, 1, values[i]);
    put_entry(e, key, 1, buf_view(&list));
}

void tfrecord_ints(struct tfrecord_example *e, const char *key, const int64_t *values, size_t n)
{
    auto_buf struct buf packed = {0}, list = {0};
    for (size_t i = 0; i < n; i++)
        put_varint(&packed, (uint64_t)values[i]);
    put_field(&list, 1, buf_view(&packed));
    put_entry(e, key, 3, buf_view(&list));
}

static void put_little(struct buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_char(b, (char)(v >> (8 * i)));
}

void tfrecord_put(struct buf *out, struct tfrecord_example *e)
{
    auto_buf struct buf head = {0}, length = {0};
    put_head(&head, 1, e->features.n);
    size_t n = head.n + e->features.n;
    put_little(&length, n, 8);
    buf_reserve(out, n + 16);
    buf_str(out, buf_view(&length));
    put_little(out, masked(length.p, length.n), 4);
    size_t from = out->n;
    buf_str(out, buf_view(&head));
    buf_str(out, buf_view(&e->features));
    put_little(out, masked(out->p + from, n), 4);
    buf_release(&e->features);
}
