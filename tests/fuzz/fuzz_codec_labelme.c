/* The LabelMe reader on any bytes. */
#include "codec_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fuzz_file files[] = {
        {"a.png", STR("x")},
        {"a.json", (struct str){(const char *)data, size}},
    };
    static const enum annotation_type types[] = {ANNOTATION_IMAGE_CLASS, ANNOTATION_DETECTION,
                                                 ANNOTATION_ROTATED, ANNOTATION_SEGMENTATION, ANNOTATION_OCR};
    for (size_t i = 0; i < countof(types); i++)
        fuzz_codec("labelme", types[i], files, countof(files));
    return 0;
}
