/* Pictures, with libvips. */
#include "media/worker/worker.h"

#include "media/media.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <vips/vips.h>

/* The loaders we let near our files, and the names of their formats. */
static const struct {
    const char *loader; /* prefix of the operation's name */
    const char *format;
} formats[] = {
    {"VipsForeignLoadJpeg", "jpeg"}, {"VipsForeignLoadPng", "png"},   {"VipsForeignLoadWebp", "webp"},
    {"VipsForeignLoadTiff", "tiff"}, {"VipsForeignLoadNsgif", "gif"}, {"VipsForeignLoadMagick", "bmp"},
};

struct input {
    void *map;
    size_t size;
    const char *format;
    VipsImage *image;
};

static bool vips_failed(struct err *err, const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "%s", vips_error_buffer());
    text[strcspn(text, "\n")] = 0;
    vips_error_clear();
    return err_set(err, ERR_INVALID, "file", "%s: %s", what, text[0] ? text : "unknown reason");
}

static void input_close(struct input *in)
{
    if (in->image)
        g_object_unref(in->image);
    if (in->map)
        munmap(in->map, in->size);
}
#define auto_input __attribute__((cleanup(input_close)))

static bool input_map(struct work *w, struct input *in, struct err *err)
{
    struct stat st;
    if (fstat(w->fd, &st) != 0 || st.st_size == 0)
        return err_set(err, ERR_INVALID, "file", "the file is empty");
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, w->fd, 0);
    if (map == MAP_FAILED)
        return err_set(err, ERR_INVALID, "file", "the file cannot be read");
    in->map = map;
    in->size = (size_t)st.st_size;
    return true;
}

static const char *format_of(const struct input *in)
{
    const char *loader = vips_foreign_find_load_buffer(in->map, in->size);
    for (size_t i = 0; loader && i < countof(formats); i++)
        if (strncmp(loader, formats[i].loader, strlen(formats[i].loader)) == 0)
            return formats[i].format;
    return NULL;
}

/* BMP comes through ImageMagick, which is let in for that one format only. */
static bool is_bmp(const struct input *in)
{
    return in->size > 30 && memcmp(in->map, "BM", 2) == 0;
}

static bool input_open(struct work *w, struct input *in, VipsAccess access, struct err *err)
{
    if (!input_map(w, in, err))
        return false;
    if (is_bmp(in))
        vips_operation_block_set("VipsForeignLoadMagick", FALSE);
    in->format = format_of(in);
    bool known = in->format && (strcmp(in->format, "bmp") != 0 || is_bmp(in));
    if (known)
        in->image = vips_image_new_from_buffer(in->map, in->size, "", "access", access, "fail_on",
                                               VIPS_FAIL_ON_TRUNCATED, NULL);
    vips_operation_block_set("VipsForeignLoadMagick", TRUE);
    if (!known)
        return err_set(err, ERR_INVALID, "file", "the bytes are no picture of a known format");
    if (!in->image)
        return vips_failed(err, "the picture cannot be read");
    uint64_t pixels = (uint64_t)in->image->Xsize * (uint64_t)in->image->Ysize;
    if (pixels > w->max_pixels)
        return err_set(err, ERR_INVALID, "file", "a picture of %d x %d pixels is over the limit of %llu",
                       in->image->Xsize, in->image->Ysize, (unsigned long long)w->max_pixels);
    return true;
}

bool image_probe(struct work *w, struct err *err)
{
    auto_input struct input in = {0};
    if (!input_open(w, &in, VIPS_ACCESS_SEQUENTIAL, err))
        return false;
    int orientation = vips_image_get_orientation(in.image);
    bool swapped = orientation >= 5;
    buf_printf(
        w->answer,
        "\"kind\":\"image\",\"format\":\"%s\",\"width\":%d,\"height\":%d,\"orientation\":%d,\"bands\":%d,"
        "\"frames\":%d,\"duration\":0,\"rate\":0,\"channels\":0",
        in.format, swapped ? in.image->Ysize : in.image->Xsize, swapped ? in.image->Xsize : in.image->Ysize,
        orientation, in.image->Bands, vips_image_get_n_pages(in.image));
    return true;
}

/* Replaces *image by the result of an operation that wrote next; false leaves the error in vips. */
static bool step(VipsImage **image, int failed, VipsImage **next)
{
    g_object_unref(*image);
    *image = failed ? NULL : *next;
    return !failed;
}

/* Upright, 8-bit sRGB without transparency. */
static bool normalise(VipsImage **image)
{
    VipsImage *next = NULL;
    if (!step(image, vips_autorot(*image, &next, NULL), &next))
        return false;
    next = NULL;
    if (!step(image, vips_colourspace(*image, &next, VIPS_INTERPRETATION_sRGB, NULL), &next))
        return false;
    if (vips_image_hasalpha(*image)) {
        VipsArrayDouble *white = vips_array_double_newv(3, 255.0, 255.0, 255.0);
        next = NULL;
        bool ok = step(image, vips_flatten(*image, &next, "background", white, NULL), &next);
        vips_area_unref(VIPS_AREA(white));
        if (!ok)
            return false;
    }
    next = NULL;
    return step(image, vips_cast_uchar(*image, &next, NULL), &next);
}

static bool save_jpeg(struct work *w, VipsImage *image, int quality)
{
    void *bytes = NULL;
    size_t n = 0;
    if (vips_jpegsave_buffer(image, &bytes, &n, "Q", quality, "strip", TRUE, "optimize_coding", TRUE, NULL) !=
        0)
        return false;
    buf_add(w->data, bytes, n);
    g_free(bytes);
    return true;
}

bool image_thumbnail(struct work *w, struct err *err)
{
    auto_input struct input in = {0};
    int side = (int)yyjson_get_int(yyjson_obj_get(w->request, "side"));
    if (!input_open(w, &in, VIPS_ACCESS_SEQUENTIAL, err))
        return false;
    VipsImage *small = NULL;
    bool bmp = strcmp(in.format, "bmp") == 0;
    int failed =
        bmp ? vips_thumbnail_image(in.image, &small, side, "height", side, "size", VIPS_SIZE_DOWN, NULL)
            : vips_thumbnail_buffer(in.map, in.size, &small, side, "height", side, "size", VIPS_SIZE_DOWN,
                                    NULL);
    if (failed)
        return vips_failed(err, "the picture cannot be made smaller");
    bool ok = normalise(&small) && save_jpeg(w, small, 80);
    if (small)
        g_object_unref(small);
    return ok || vips_failed(err, "the picture cannot be made smaller");
}

/* --- tiles --- */

/* The picture at a level, as it is stored. JPEGs are made smaller while they are decoded; both ways round up.
 */
static bool shrink_to(struct input *in, int level)
{
    int whole = 1 << level, early = strcmp(in->format, "jpeg") != 0 ? 1 : whole < 8 ? whole : 8;
    VipsImage *next = NULL;
    if (early > 1) {
        char option[16];
        snprintf(option, sizeof option, "shrink=%d", early);
        g_object_unref(in->image);
        in->image = vips_image_new_from_buffer(in->map, in->size, option, "access", VIPS_ACCESS_SEQUENTIAL,
                                               "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
        if (!in->image)
            return false;
    }
    double rest = (double)whole / early;
    return rest <= 1 ||
           step(&in->image, vips_shrink(in->image, &next, rest, rest, "ceil", TRUE, NULL), &next);
}

/* One row of tiles, upright and in memory. What are rows of the upright picture may be columns as it is
 * stored; only the part that is needed is kept, so the picture may be larger than memory. */
static bool take_row(struct input *in, int y)
{
    int orientation = vips_image_get_orientation(in->image), w = in->image->Xsize, h = in->image->Ysize;
    bool columns = orientation >= 5;
    bool backwards = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    int length = columns ? w : h;
    if (y > (length - 1) / MEDIA_TILE) {
        vips_error("tile", "there is no such row");
        return false;
    }
    int from = y * MEDIA_TILE, to = from + MEDIA_TILE < length ? from + MEDIA_TILE : length;
    int at = backwards ? length - to : from, size = to - from;
    VipsImage *part = NULL, *next;
    if (!step(&in->image,
              vips_extract_area(in->image, &part, columns ? at : 0, columns ? 0 : at, columns ? size : w,
                                columns ? h : size, NULL),
              &part))
        return false;
    next = vips_image_copy_memory(in->image);
    return step(&in->image, next == NULL, &next) && normalise(&in->image);
}

static bool cut_tile(struct work *w, VipsImage *row, int x)
{
    VipsImage *tile = NULL;
    int left = x * MEDIA_TILE, wide = row->Xsize - left < MEDIA_TILE ? row->Xsize - left : MEDIA_TILE;
    buf_clear(w->data);
    bool ok = vips_extract_area(row, &tile, left, 0, wide, row->Ysize, NULL) == 0 && save_jpeg(w, tile, 90);
    if (tile)
        g_object_unref(tile);
    return ok;
}

static bool send_row(struct work *w, VipsImage *row, int wanted, struct err *err)
{
    int count = (row->Xsize + MEDIA_TILE - 1) / MEDIA_TILE;
    if (wanted >= count) {
        vips_error("tile", "there is no such column");
        return false;
    }
    for (int x = 0; x < count; x++) {
        char text[64];
        int n = snprintf(text, sizeof text, "{\"more\":true,\"x\":%d}", x);
        if (x != wanted && (!cut_tile(w, row, x) ||
                            !work_send_more(w, (struct str){text, (size_t)n}, buf_view(w->data), err)))
            return false;
    }
    return cut_tile(w, row, wanted);
}

bool image_tile(struct work *w, struct err *err)
{
    auto_input struct input in = {0};
    int level = (int)yyjson_get_int(yyjson_obj_get(w->request, "level")),
        x = (int)yyjson_get_int(yyjson_obj_get(w->request, "x")),
        y = (int)yyjson_get_int(yyjson_obj_get(w->request, "y"));
    if (level < 0 || level > MEDIA_LEVEL_MAX || x < 0 || y < 0)
        return err_set(err, ERR_INVALID, "level", "there is no such tile");
    if (!input_open(w, &in, VIPS_ACCESS_SEQUENTIAL, err))
        return false;
    if (shrink_to(&in, level) && take_row(&in, y) && send_row(w, in.image, x, err))
        return true;
    return vips_failed(err, "this part of the picture cannot be shown");
}

/* --- measures --- */

static bool to_grey(VipsImage **image)
{
    VipsImage *next = NULL;
    return step(image, vips_colourspace(*image, &next, VIPS_INTERPRETATION_B_W, NULL), &next);
}

static bool sharpness(VipsImage *grey, double *ret)
{
    VipsImage *mask = vips_image_new_matrixv(3, 3, 0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0),
              *edges = NULL, *wide = NULL;
    double deviation = 0;
    bool ok = vips_cast_float(grey, &wide, NULL) == 0 &&
              vips_conv(wide, &edges, mask, "precision", VIPS_PRECISION_FLOAT, NULL) == 0 &&
              vips_deviate(edges, &deviation, NULL) == 0;
    g_object_unref(mask);
    if (wide)
        g_object_unref(wide);
    if (edges)
        g_object_unref(edges);
    *ret = deviation * deviation;
    return ok;
}

/* The low frequencies of a 32 x 32 cosine transform, each a bit: above the median or not. */
static uint64_t dct_hash(const uint8_t p[32 * 32])
{
    double low[64], sorted[64];
    for (int v = 0; v < 8; v++)
        for (int u = 0; u < 8; u++) {
            double sum = 0;
            for (int y = 0; y < 32; y++)
                for (int x = 0; x < 32; x++)
                    sum += p[y * 32 + x] * cos((2 * x + 1) * (u + 1) * M_PI / 64) *
                           cos((2 * y + 1) * (v + 1) * M_PI / 64);
            low[v * 8 + u] = sorted[v * 8 + u] = sum;
        }
    for (int i = 1; i < 64; i++)
        for (int k = i; k > 0 && sorted[k - 1] > sorted[k]; k--) {
            double t = sorted[k];
            sorted[k] = sorted[k - 1];
            sorted[k - 1] = t;
        }
    uint64_t hash = 0;
    for (int i = 0; i < 64; i++)
        hash = hash << 1 | (low[i] > (sorted[31] + sorted[32]) / 2);
    return hash;
}

static bool perceptual_hash(VipsImage *grey, uint64_t *ret)
{
    VipsImage *small = NULL;
    if (vips_thumbnail_image(grey, &small, 32, "height", 32, "size", VIPS_SIZE_FORCE, NULL) != 0)
        return false;
    size_t n = 0;
    uint8_t *pixels = vips_image_write_to_memory(small, &n);
    bool ok = pixels && n >= 32 * 32;
    if (ok)
        *ret = dct_hash(pixels);
    g_free(pixels);
    g_object_unref(small);
    return ok;
}

bool image_measure(struct work *w, struct err *err)
{
    auto_input struct input in = {0};
    double sharp;
    uint64_t hash;
    if (!input_open(w, &in, VIPS_ACCESS_RANDOM, err))
        return false;
    VipsImage *grey = in.image;
    in.image = NULL;
    bool ok = normalise(&grey) && to_grey(&grey) && sharpness(grey, &sharp) && perceptual_hash(grey, &hash);
    if (grey)
        g_object_unref(grey);
    if (!ok)
        return vips_failed(err, "the picture cannot be measured");
    buf_printf(w->answer, "\"sharpness\":%.17g,\"phash\":\"%016llx\"", sharp, (unsigned long long)hash);
    return true;
}

/* --- transforming: the picture, and the matrix that points follow --- */

struct turning {
    VipsImage *image;
    double m[6];
};

/* What a further step does to points, after what was done already. */
static void then(struct turning *t, double a, double b, double c, double d, double e, double f)
{
    double *m = t->m;
    double r[6] = {a * m[0] + b * m[3], a * m[1] + b * m[4], a * m[2] + b * m[5] + c,
                   d * m[0] + e * m[3], d * m[1] + e * m[4], d * m[2] + e * m[5] + f};
    memcpy(m, r, sizeof r);
}

static double op_number(yyjson_val *op, const char *key)
{
    return yyjson_get_num(yyjson_obj_get(op, key));
}

static int64_t clip(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static bool crop(struct turning *t, yyjson_val *op)
{
    int64_t x0 = clip((int64_t)op_number(op, "x"), 0, t->image->Xsize),
            y0 = clip((int64_t)op_number(op, "y"), 0, t->image->Ysize);
    int64_t x1 = clip((int64_t)op_number(op, "x") + (int64_t)op_number(op, "w"), x0, t->image->Xsize);
    int64_t y1 = clip((int64_t)op_number(op, "y") + (int64_t)op_number(op, "h"), y0, t->image->Ysize);
    VipsImage *next = NULL;
    if (x1 == x0 || y1 == y0) {
        vips_error("crop", "the rectangle lies outside the picture");
        return false;
    }
    if (!step(&t->image, vips_crop(t->image, &next, (int)x0, (int)y0, (int)(x1 - x0), (int)(y1 - y0), NULL),
              &next))
        return false;
    then(t, 1, 0, (double)-x0, 0, 1, (double)-y0);
    return true;
}

static bool rotate_quarter(struct turning *t, int quarters)
{
    VipsImage *next = NULL;
    double w = t->image->Xsize, h = t->image->Ysize;
    if (quarters == 0)
        return true;
    if (!step(&t->image, vips_rot(t->image, &next, (VipsAngle)quarters, NULL), &next))
        return false;
    if (quarters == 1)
        then(t, 0, -1, h, 1, 0, 0);
    else if (quarters == 2)
        then(t, -1, 0, w, 0, -1, h);
    else
        then(t, 0, 1, 0, -1, 0, w);
    return true;
}

/* Any other angle: the canvas grows to hold the turned picture, the corners are black. The picture's middle
 * becomes the canvas's middle. vips_rotate would shift it by up to a pixel, as it rounds the canvas outwards
 * and does not say by how much; so canvas and shift are given. libvips counts from the middle of the first
 * pixel, points from its corner: half a pixel of difference on both sides. */
static bool rotate_free(struct turning *t, double degrees)
{
    double s = sin(degrees * M_PI / 180), c = cos(degrees * M_PI / 180), w = t->image->Xsize,
           h = t->image->Ysize;
    int wide = (int)ceil(fabs(c) * w + fabs(s) * h - 1e-6),
        high = (int)ceil(fabs(s) * w + fabs(c) * h - 1e-6);
    VipsArrayInt *canvas = vips_array_int_newv(4, 0, 0, wide, high);
    VipsInterpolate *between = vips_interpolate_new("bilinear");
    VipsImage *next = NULL;
    int failed =
        vips_affine(t->image, &next, c, -s, s, c, "oarea", canvas, "interpolate", between, "idx", 0.5 - w / 2,
                    "idy", 0.5 - h / 2, "odx", wide / 2.0 - 0.5, "ody", high / 2.0 - 0.5, NULL);
    vips_area_unref(VIPS_AREA(canvas));
    g_object_unref(between);
    if (!step(&t->image, failed, &next))
        return false;
    then(t, c, -s, wide / 2.0 - (c * w - s * h) / 2, s, c, high / 2.0 - (s * w + c * h) / 2);
    return true;
}

static bool rotate(struct turning *t, yyjson_val *op)
{
    double degrees = fmod(fmod(op_number(op, "angle"), 360) + 360, 360), quarters = degrees / 90;
    if (quarters == floor(quarters))
        return rotate_quarter(t, (int)quarters % 4);
    return rotate_free(t, degrees);
}

static bool mirror(struct turning *t, bool horizontal)
{
    VipsImage *next = NULL;
    VipsDirection d = horizontal ? VIPS_DIRECTION_HORIZONTAL : VIPS_DIRECTION_VERTICAL;
    if (!step(&t->image, vips_flip(t->image, &next, d, NULL), &next))
        return false;
    if (horizontal)
        then(t, -1, 0, t->image->Xsize, 0, 1, 0);
    else
        then(t, 1, 0, 0, 0, -1, t->image->Ysize);
    return true;
}

static bool turn(struct turning *t, yyjson_val *op)
{
    struct str name = json_str(yyjson_obj_get(op, "op"));
    if (str_is(name, "crop"))
        return crop(t, op);
    if (str_is(name, "rotate"))
        return rotate(t, op);
    return mirror(t, str_is(name, "mirror-h"));
}

/* Lossless formats stay lossless, photographs stay photographs. */
static const char *save(struct work *w, VipsImage *image, const char *format)
{
    void *bytes = NULL;
    size_t n = 0;
    if (strcmp(format, "jpeg") == 0)
        return save_jpeg(w, image, 95) ? "jpeg" : NULL;
    bool webp = strcmp(format, "webp") == 0;
    int failed = webp ? vips_webpsave_buffer(image, &bytes, &n, "Q", 95, "strip", TRUE, NULL)
                      : vips_pngsave_buffer(image, &bytes, &n, "strip", TRUE, NULL);
    if (failed)
        return NULL;
    buf_add(w->data, bytes, n);
    g_free(bytes);
    return webp ? "webp" : "png";
}

static void answer_turning(struct work *w, const struct turning *t, const char *format, int pages)
{
    buf_printf(w->answer, "\"width\":%d,\"height\":%d,\"format\":\"%s\",\"pages\":%d,\"matrix\":[",
               t->image->Xsize, t->image->Ysize, format, pages);
    for (int i = 0; i < 6; i++)
        buf_printf(w->answer, "%s%.17g", i ? "," : "", t->m[i]);
    buf_char(w->answer, ']');
}

bool image_transform(struct work *w, struct err *err)
{
    auto_input struct input in = {0};
    if (!input_open(w, &in, VIPS_ACCESS_RANDOM, err))
        return false;
    int pages = vips_image_get_n_pages(in.image);
    struct turning t = {in.image, {1, 0, 0, 0, 1, 0}};
    in.image = NULL;
    VipsImage *upright = NULL;
    bool ok = step(&t.image, vips_autorot(t.image, &upright, NULL), &upright);
    yyjson_val *op;
    size_t i, max;
    yyjson_arr_foreach(yyjson_obj_get(w->request, "ops"), i, max, op) ok = ok && turn(&t, op);
    const char *format = ok ? save(w, t.image, in.format) : NULL;
    if (format)
        answer_turning(w, &t, format, pages);
    if (t.image)
        g_object_unref(t.image);
    return format || vips_failed(err, "the picture cannot be transformed");
}
