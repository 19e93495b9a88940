/* The CSV reader on any bytes. */
#include "codec_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fuzz_file files[] = {
        {"a.png", STR("x")},
        {"a.wav", STR("x")},
        {"t.csv", (struct str){(const char *)data, size}},
    };
    static const enum annotation_type types[] = {ANNOTATION_IMAGE_CLASSES, ANNOTATION_DETECTION,
                                                 ANNOTATION_TEXT_CLASS, ANNOTATION_TRANSCRIPTION};
    for (size_t i = 0; i < countof(types); i++)
        fuzz_codec("csv", types[i], files, countof(files));
    return 0;
}
