/* The YOLO reader: the bytes up to the first 0 are data.yaml, the rest is the labels of one picture. */
#include "codec_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = {(const char *)data, size}, labels;
    struct str yaml = str_cut(all, '\0', &labels);
    const struct fuzz_file files[] = {
        {"data.yaml", yaml},
        {"images/a.png", STR("x")},
        {"labels/a.txt", labels},
    };
    static const enum annotation_type types[] = {ANNOTATION_DETECTION, ANNOTATION_ROTATED,
                                                 ANNOTATION_SEGMENTATION, ANNOTATION_KEYPOINTS};
    for (size_t i = 0; i < countof(types); i++)
        fuzz_codec("yolo", types[i], files, countof(files));
    return 0;
}
