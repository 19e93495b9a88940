#include "codec/example_media.h"

static void put_big(struct buf *b, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_char(b, (char)(v >> shift));
}

static void put_little(struct buf *b, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_char(b, (char)(v >> (8 * i)));
}

static uint32_t crc32_of(const char *p, size_t n)
{
    uint32_t c = ~0U;
    for (size_t i = 0; i < n; i++) {
        c ^= (unsigned char)p[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xedb88320U : c >> 1;
    }
    return ~c;
}

static uint32_t adler32_of(const char *p, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) {
        a = (a + (unsigned char)p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void put_chunk(struct buf *b, const char *name, struct str data)
{
    put_big(b, (uint32_t)data.n);
    size_t from = b->n;
    buf_z(b, name);
    buf_str(b, data);
    put_big(b, crc32_of(b->p + from, b->n - from));
}

/* One of four colours per pixel. */
static char pixel(int x, int y)
{
    if (x >= 8 && x < 44 && y >= 12 && y < 42)
        return 1;
    int dx = 2 * x + 1 - 140, dy = 2 * y + 1 - 64;
    if (dx * dx + dy * dy <= 36 * 36)
        return 2;
    return y < 46 ? 0 : 3;
}

void example_png(struct buf *b, unsigned variant)
{
    static const unsigned char colours[][12] = {
        {214, 230, 244, 200, 90, 60, 60, 120, 190, 170, 200, 150},
        {250, 236, 210, 90, 140, 80, 190, 80, 140, 200, 180, 150},
    };
    auto_buf struct buf rows = {0}, data = {0}, head = {0};
    for (int y = 0; y < EXAMPLE_HEIGHT; y++) {
        buf_char(&rows, 0);
        for (int x = 0; x < EXAMPLE_WIDTH; x++)
            buf_char(&rows, pixel(x, y));
    }
    /* One stored block of zlib. */
    buf_add(&data, "\x78\x01\x01", 3);
    put_little(&data, (uint32_t)rows.n, 2);
    put_little(&data, ~(uint32_t)rows.n & 0xffff, 2);
    buf_str(&data, buf_view(&rows));
    put_big(&data, adler32_of(rows.p, rows.n));
    put_big(&head, EXAMPLE_WIDTH);
    put_big(&head, EXAMPLE_HEIGHT);
    buf_add(&head, "\x08\x03\0\0\0", 5); /* 8 bits, palette */
    buf_add(b, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(b, "IHDR", buf_view(&head));
    put_chunk(b, "PLTE", (struct str){(const char *)colours[variant % countof(colours)], 12});
    put_chunk(b, "IDAT", buf_view(&data));
    put_chunk(b, "IEND", STR(""));
}

void example_wav(struct buf *b, unsigned variant)
{
    enum { RATE = 8000, SAMPLES = 4000 };
    buf_z(b, "RIFF");
    put_little(b, 36 + SAMPLES * 2, 4);
    buf_z(b, "WAVEfmt ");
    put_little(b, 16, 4);
    put_little(b, 1, 2);
    put_little(b, 1, 2);
    put_little(b, RATE, 4);
    put_little(b, RATE * 2, 4);
    put_little(b, 2, 2);
    put_little(b, 16, 2);
    buf_z(b, "data");
    put_little(b, SAMPLES * 2, 4);
    int period = 20 + 8 * (int)(variant % 4);
    for (int i = 0; i < SAMPLES; i++) {
        int at = i % period * 4, level = at < 2 * period ? at - period : 3 * period - at; /* a triangle */
        put_little(b, (uint32_t)(level * 6000 / period), 2);
    }
}
