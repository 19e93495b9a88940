#include "codec/codec.h"

#include "base/messages.h"
#include "codec/formats.h"
#include "codec/reader.h"
#include "codec/writer.h"

#define BIT(t)      (1U << ANNOTATION_##t)
#define IMAGE_CLASS (BIT(IMAGE_CLASS) | BIT(IMAGE_CLASSES))
#define CLASSES     (IMAGE_CLASS | BIT(TEXT_CLASS) | BIT(AUDIO_CLASS))
#define EVERYTHING  ((1U << ANNOTATION_TYPE_COUNT) - 1)

const char *const codec_split_names[] = {"", "train", "val", "test"};
const char *const codec_problem_names[] = {"skipped", "repaired", "ignored"};

#define COCO_TYPES    (BIT(DETECTION) | BIT(ROTATED) | BIT(SEGMENTATION) | BIT(KEYPOINTS) | BIT(OCR))
#define LABELME_TYPES (IMAGE_CLASS | BIT(DETECTION) | BIT(ROTATED) | BIT(SEGMENTATION) | BIT(OCR))
#define YOLO_TYPES    (BIT(DETECTION) | BIT(ROTATED) | BIT(SEGMENTATION) | BIT(KEYPOINTS))
#define CSV_TYPES     (CLASSES | BIT(DETECTION) | BIT(TRANSCRIPTION))
#define JSONL_TYPES   (BIT(TEXT_CLASS) | BIT(TEXT_SPANS) | BIT(TRANSCRIPTION))

const struct codec codec_table[] = {
    {.name = "ingot",
     .title_en = "Ingot JSON",
     .title_zh = "Ingot JSON",
     .files = "ingot.jsonl",
     .reads = EVERYTHING,
     .writes = EVERYTHING,
     .detect = own_detect,
     .read = own_read,
     .write = own_write},
    {.name = "coco",
     .title_en = "COCO",
     .title_zh = "COCO",
     .files = "annotations/NAME.json",
     .reads = COCO_TYPES,
     .writes = COCO_TYPES,
     .detect = coco_detect,
     .read = coco_read,
     .write = coco_write},
    {.name = "voc",
     .title_en = "Pascal VOC",
     .title_zh = "Pascal VOC",
     .files = "Annotations/NAME.xml, JPEGImages/NAME.jpg",
     .reads = BIT(DETECTION) | BIT(ROTATED),
     .writes = BIT(DETECTION) | BIT(ROTATED),
     .detect = voc_detect,
     .read = voc_read,
     .write = voc_write},
    {.name = "labelme",
     .title_en = "LabelMe",
     .title_zh = "LabelMe",
     .files = "NAME.json beside NAME.jpg",
     .reads = LABELME_TYPES,
     .writes = LABELME_TYPES,
     .detect = labelme_detect,
     .read = labelme_read,
     .write = labelme_write},
    {.name = "yolo",
     .title_en = "YOLO",
     .title_zh = "YOLO",
     .files = "data.yaml, images/train/NAME.jpg, labels/train/NAME.txt",
     .reads = YOLO_TYPES,
     .writes = YOLO_TYPES,
     .detect = yolo_detect,
     .read = yolo_read,
     .write = yolo_write},
    {.name = "jsonl",
     .title_en = "JSON lines",
     .title_zh = "JSON 行",
     .files = "NAME.jsonl",
     .reads = JSONL_TYPES,
     .writes = JSONL_TYPES,
     .detect = jsonl_detect,
     .read = jsonl_read,
     .write = jsonl_write},
    {.name = "csv",
     .title_en = "CSV",
     .title_zh = "CSV",
     .files = "NAME.csv with the columns file,label or file,label,x,y,w,h or text,label",
     .reads = CSV_TYPES,
     .writes = CSV_TYPES,
     .detect = csv_detect,
     .read = csv_read,
     .write = csv_write},
    {.name = "image-folder",
     .title_en = "One folder per class",
     .title_zh = "按文件夹分类",
     .files = "train/CLASS/NAME.jpg",
     .reads = CLASSES,
     .writes = CLASSES,
     .detect = folder_detect,
     .read = folder_read,
     .write = folder_write},
    {.name = "files",
     .title_en = "Files without annotations",
     .title_zh = "无标注文件",
     .files = "NAME.jpg",
     .reads = EVERYTHING,
     .writes = EVERYTHING,
     .read = files_read,
     .write = files_write},
};
const size_t codec_count = countof(codec_table);

const struct codec *codec_named(struct str name)
{
    for (size_t i = 0; i < codec_count; i++)
        if (str_is(name, codec_table[i].name))
            return &codec_table[i];
    return NULL;
}

const struct codec *codec_asked(struct str name, struct err *err)
{
    const struct codec *c = codec_named(name);
    char shown[64], all[256] = "";
    size_t n = 0;
    if (c)
        return c;
    for (size_t i = 0; i < codec_count && n < sizeof all; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", codec_table[i].name);
    snprintf(shown, sizeof shown, "\"" STR_FMT "\"", STR_ARG(name));
    err_message(err, ERR_INVALID, "format", MESSAGE_NO_CHOICE, "format", shown, all);
    return NULL;
}

/* From here on annotation files speak for a format, not only the layout of the folders. */
enum { BY_FILES = 50, CERTAIN = 100 };

/* What speaks for a format. */
struct guess {
    const struct codec *codec;
    int sure;
    size_t file;
};

/* Several formats have annotation files here: which one is meant, only the user knows. */
static void say_doubt(const struct codec_reader *r, const struct guess *g, size_t n, struct err *err)
{
    auto_buf struct buf b = {0};
    for (size_t i = 0; i < n && b.n < 250; i++) {
        struct str path = reader_path(r, g[i].file);
        buf_printf(&b, "%s%s (\"%.*s\")", i ? " or " : "", g[i].codec->name, path.n > 80 ? 80 : (int)path.n,
                   path.p);
    }
    buf_char(&b, 0);
    err_message(err, ERR_INVALID, "format", MESSAGE_FORMAT_DOUBT, b.p);
}

/* Those with annotation files, or else the surest. */
static size_t guesses(struct codec_reader *r, struct guess *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < codec_count; i++) {
        const struct codec *c = &codec_table[i];
        struct guess g = {.codec = c, .file = READER_NONE};
        g.sure = c->detect && c->reads >> r->type & 1 ? c->detect(r, &g.file) : 0;
        if (g.sure == CERTAIN) {
            ret[0] = g;
            return 1;
        }
        if (g.sure >= BY_FILES || (g.sure && !n))
            ret[n++] = g;
    }
    return n;
}

const struct codec *codec_detect(const struct codec_input *in, enum annotation_type type, struct err *err)
{
    struct codec_reader r;
    struct guess g[16] = {{.codec = codec_named(STR("files"))}};
    _Static_assert(countof(codec_table) <= countof(g), "a guess per format");
    reader_init(&r, in, type);
    size_t n = guesses(&r, g);
    bool ok = n <= 1;
    if (!ok)
        say_doubt(&r, g, n, err);
    else if (n && g[0].sure < BY_FILES)
        ok = folder_is_sure(&r, err);
    reader_release(&r);
    return ok ? g[0].codec : NULL;
}

static bool carries(const struct codec *c, unsigned types, enum annotation_type type, struct err *err)
{
    if (types >> type & 1)
        return true;
    return err_set(err, ERR_INVALID, "format", "%s does not carry annotations of the type %s", c->name,
                   annotation_types[type].name);
}

bool codec_read(const struct codec *c, const struct codec_input *in, enum annotation_type type,
                struct codec_counts *ret, struct err *err)
{
    struct codec_reader r;
    if (!carries(c, c->reads, type, err))
        return false;
    reader_init(&r, in, type);
    bool ok = c->read(&r, err) && reader_rest(&r, err);
    if (ok)
        *ret = r.counts;
    reader_release(&r);
    return ok;
}

bool codec_write(const struct codec *c, const struct codec_source *src, enum annotation_type type,
                 const struct codec_output *out, void (*problem)(void *ctx, const struct codec_problem *p),
                 void *problem_ctx, struct err *err)
{
    if (!carries(c, c->writes, type, err))
        return false;
    struct codec_writer w = {.problem = problem, .problem_ctx = problem_ctx};
    bool ok = writer_init(&w, src, type, out, err) && c->write(&w, err);
    writer_release(&w);
    return ok;
}
