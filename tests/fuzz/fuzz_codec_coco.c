/* The COCO reader on any bytes. */
#include "codec_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fuzz_file files[] = {
        {"a.png", STR("x")},
        {"i.json", (struct str){(const char *)data, size}},
        {"j.json", (struct str){(const char *)data, size}}, /* captions are kept for other files */
    };
    static const enum annotation_type types[] = {ANNOTATION_DETECTION, ANNOTATION_ROTATED,
                                                 ANNOTATION_SEGMENTATION, ANNOTATION_KEYPOINTS,
                                                 ANNOTATION_OCR};
    for (size_t i = 0; i < countof(types); i++)
        fuzz_codec("coco", types[i], files, i ? 2 : 3);
    return 0;
}
