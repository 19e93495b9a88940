#include "infer/decode_formats.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#define MAX_SCANS 100 /* of a progressive file; each goes over the whole picture */

struct jpeg {
    struct jpeg_error_mgr errors; /* first: the library hands out its address */
    struct jpeg_progress_mgr progress;
    struct jpeg_decompress_struct info;
    jmp_buf back;
    char why[JMSG_LENGTH_MAX];
    uint8_t *line; /* of CMYK */
};

static void fail(j_common_ptr info)
{
    struct jpeg *j = (struct jpeg *)info->err;
    info->err->format_message(info, j->why);
    longjmp(j->back, 1);
}

static void quiet(j_common_ptr info, int level)
{
    (void)info;
    (void)level;
}

static void watch(j_common_ptr info)
{
    struct jpeg *j = (struct jpeg *)info->err;
    if (((j_decompress_ptr)info)->input_scan_number > MAX_SCANS) {
        snprintf(j->why, sizeof j->why, "too many scans");
        longjmp(j->back, 1);
    }
}

static int orientation_of(struct jpeg_decompress_struct *info)
{
    for (jpeg_saved_marker_ptr m = info->marker_list; m; m = m->next)
        if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && !memcmp(m->data, "Exif\0\0", 6))
            return decode_exif((struct str){(const char *)m->data + 6, m->data_length - 6});
    return 1;
}

/* The greatest reduction that is still at least as large as wanted. */
static unsigned reduction(const struct decoding *d, const struct jpeg_decompress_struct *info)
{
    uint32_t w = d->least_width, h = d->least_height;
    if (d->orientation >= 5) {
        w = d->least_height;
        h = d->least_width;
    }
    for (unsigned by = 8; by > 1 && w && h; by /= 2)
        if (info->image_width / by >= w && info->image_height / by >= h)
            return by;
    return 1;
}

/* Adobe's CMYK is inverted: 255 is no ink. */
static void from_cmyk(const uint8_t *cmyk, uint8_t *rgb, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            rgb[3 * i + c] = (uint8_t)((cmyk[4 * i + c] * cmyk[4 * i + 3] + 127) / 255);
}

static bool read_pixels(struct decoding *d, struct jpeg *j)
{
    struct jpeg_decompress_struct *info = &j->info;
    bool cmyk = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    info->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    info->scale_num = 1;
    info->scale_denom = reduction(d, info);
    jpeg_calc_output_dimensions(info);
    if (!decode_allocate(d, info->output_width, info->output_height))
        return false;
    if (cmyk)
        j->line = base_alloc((size_t)info->output_width * 4);
    jpeg_start_decompress(info);
    size_t stride = (size_t)info->output_width * 3;
    while (info->output_scanline < info->output_height) {
        uint8_t *to = d->picture.rgb + info->output_scanline * stride;
        JSAMPROW rows[1] = {cmyk ? j->line : to};
        jpeg_read_scanlines(info, rows, 1);
        if (cmyk)
            from_cmyk(j->line, to, info->output_width);
    }
    jpeg_finish_decompress(info);
    return true;
}

static bool read_file(struct decoding *d, struct jpeg *j)
{
    jpeg_create_decompress(&j->info);
    j->progress.progress_monitor = watch;
    j->info.progress = &j->progress;
    jpeg_save_markers(&j->info, JPEG_APP0 + 1, 0xffff);
    jpeg_mem_src(&j->info, (const unsigned char *)d->bytes.p, d->bytes.n);
    jpeg_read_header(&j->info, TRUE);
    uint64_t pixels = (uint64_t)j->info.image_width * j->info.image_height;
    if (pixels > DECODE_MAX_PIXELS)
        return decode_allocate(d, j->info.image_width, j->info.image_height); /* which says so */
    d->picture.full_width = j->info.image_width;
    d->picture.full_height = j->info.image_height;
    d->orientation = orientation_of(&j->info);
    return read_pixels(d, j);
}

bool decode_jpeg(struct decoding *d)
{
    struct jpeg *j = base_zalloc(sizeof *j);
    j->info.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = fail;
    j->errors.emit_message = quiet;
    bool ok = setjmp(j->back) ? decode_damaged(d, "JPEG", j->why) : read_file(d, j);
    jpeg_destroy_decompress(&j->info);
    free(j->line);
    free(j);
    return ok;
}
