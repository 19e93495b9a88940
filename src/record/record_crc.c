/* CRC-32C: three interleaved streams of the SSE4.2 instruction where the processor has it, else eight tables.
 */
#include "record_internal.h"

#include <pthread.h>

#define POLY  0x82F63B78u
#define BLOCK 1024u /* bytes of each of the three streams */

static uint32_t table[8][256];
static uint32_t shift_tab[4][256]; /* advances a crc over BLOCK zero bytes, a byte of the crc at a time */
static uint32_t (*update)(uint32_t, const uint8_t *, size_t);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t update_soft(uint32_t c, const uint8_t *p, size_t n)
{
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t lo = record_le32(p) ^ c, hi = record_le32(p + 4);
        c = table[7][lo & 255] ^ table[6][lo >> 8 & 255] ^ table[5][lo >> 16 & 255] ^ table[4][lo >> 24] ^
            table[3][hi & 255] ^ table[2][hi >> 8 & 255] ^ table[1][hi >> 16 & 255] ^ table[0][hi >> 24];
    }
    while (n--)
        c = table[0][(c ^ *p++) & 255] ^ c >> 8;
    return c;
}

#ifdef __x86_64__
#include <nmmintrin.h>

static uint32_t shift(uint32_t c)
{
    return shift_tab[0][c & 255] ^ shift_tab[1][c >> 8 & 255] ^ shift_tab[2][c >> 16 & 255] ^
           shift_tab[3][c >> 24];
}

__attribute__((target("sse4.2"))) static uint32_t update_sse42(uint32_t c, const uint8_t *p, size_t n)
{
    for (; n >= 3 * BLOCK; n -= 3 * BLOCK, p += 3 * BLOCK) {
        uint64_t a = c, b = 0, d = 0;
        for (size_t i = 0; i < BLOCK; i += 8) {
            a = _mm_crc32_u64(a, record_le64(p + i));
            b = _mm_crc32_u64(b, record_le64(p + BLOCK + i));
            d = _mm_crc32_u64(d, record_le64(p + 2 * BLOCK + i));
        }
        c = shift(shift((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)d;
    }
    uint64_t a = c;
    for (; n >= 8; n -= 8, p += 8)
        a = _mm_crc32_u64(a, record_le64(p));
    c = (uint32_t)a;
    while (n--)
        c = _mm_crc32_u8(c, *p++);
    return c;
}
#endif

static void make_tables(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ POLY : c >> 1;
        table[0][i] = c;
    }
    for (unsigned i = 0; i < 256; i++)
        for (int t = 1; t < 8; t++)
            table[t][i] = table[0][table[t - 1][i] & 255] ^ table[t - 1][i] >> 8;
    static const uint8_t zeros[BLOCK];
    for (unsigned b = 0; b < 4; b++)
        for (unsigned i = 0; i < 256; i++)
            shift_tab[b][i] = update_soft(i << 8 * b, zeros, BLOCK);
    update = update_soft;
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        update = update_sse42;
#endif
}

uint32_t record_crc32c(uint32_t crc, const void *data, size_t size)
{
    pthread_once(&once, make_tables);
    return ~update(~crc, data, size);
}

/* The tests compare both ways. */
uint32_t record_crc32c_soft(uint32_t crc, const void *data, size_t size);
uint32_t record_crc32c_soft(uint32_t crc, const void *data, size_t size)
{
    pthread_once(&once, make_tables);
    return ~update_soft(~crc, data, size);
}
