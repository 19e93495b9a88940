#include "infer/decode_formats.h"

#include <setjmp.h>
#include <stdio.h>

#include <png.h>

struct png {
    png_structp read;
    png_infop info;
    struct str bytes;
    size_t at;
    png_bytep *rows;
    char why[100];
};

static void take(png_structp read, png_bytep to, size_t n)
{
    struct png *p = png_get_io_ptr(read);
    if (n > p->bytes.n - p->at)
        png_error(read, "cut off");
    memcpy(to, p->bytes.p + p->at, n);
    p->at += n;
}

static void fail(png_structp read, png_const_charp why)
{
    struct png *p = png_get_error_ptr(read);
    snprintf(p->why, sizeof p->why, "%s", why);
    png_longjmp(read, 1);
}

static void quiet(png_structp read, png_const_charp why)
{
    (void)read;
    (void)why;
}

static int orientation_of(struct png *p)
{
    png_uint_32 n = 0;
    png_bytep exif = NULL;
    if (!png_get_eXIf_1(p->read, p->info, &n, &exif) || !exif)
        return 1;
    return decode_exif((struct str){(const char *)exif, n});
}

static bool read_file(struct decoding *d, struct png *p)
{
    png_set_user_limits(p->read, DECODE_MAX_SIDE, DECODE_MAX_SIDE);
    png_set_chunk_malloc_max(p->read, 8u << 20);
    png_set_chunk_cache_max(p->read, 64);
    png_set_read_fn(p->read, p, take);
    png_read_info(p->read, p->info);
    d->orientation = orientation_of(p);
    uint32_t w = png_get_image_width(p->read, p->info), h = png_get_image_height(p->read, p->info);
    if (!decode_allocate(d, w, h))
        return false;
    d->picture.full_width = w;
    d->picture.full_height = h;
    png_set_expand(p->read);
    png_set_strip_16(p->read);
    png_set_strip_alpha(p->read);
    png_set_gray_to_rgb(p->read);
    png_set_interlace_handling(p->read);
    png_read_update_info(p->read, p->info);
    if (png_get_rowbytes(p->read, p->info) != (size_t)w * 3)
        png_error(p->read, "pixels of an unknown kind");
    p->rows = base_alloc(sizeof *p->rows * h);
    for (uint32_t y = 0; y < h; y++)
        p->rows[y] = d->picture.rgb + (size_t)y * w * 3;
    png_read_image(p->read, p->rows);
    return true;
}

bool decode_png(struct decoding *d)
{
    struct png *p = base_zalloc(sizeof *p);
    p->bytes = d->bytes;
    p->read = png_create_read_struct(PNG_LIBPNG_VER_STRING, p, fail, quiet);
    p->info = p->read ? png_create_info_struct(p->read) : NULL;
    bool ok;
    if (!p->info)
        ok = decode_damaged(d, "PNG", "no memory");
    else
        ok = setjmp(png_jmpbuf(p->read)) ? decode_damaged(d, "PNG", p->why) : read_file(d, p);
    png_destroy_read_struct(&p->read, &p->info, NULL);
    free(p->rows);
    free(p);
    return ok;
}
