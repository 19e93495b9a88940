/* What of an annotation comes back from a format. Formats cannot say everything (YOLO no attributes, a folder
 * only one class, most no state "of no part"): an annotation file that says exactly what its format could say
 * of a sample brings nothing new about it, so an export that is imported again changes nothing. */
#ifndef INGOT_CODEC_ECHO_H
#define INGOT_CODEC_ECHO_H

#include "codec/codec.h"

/* The sample as it is read after it was written in the format: canonical annotation (STR_NULL: none) and
 * part, in the arena. text: the sample's bytes when it is a text. False when the format does not write the
 * type, or leaves this sample out. */
bool codec_echo(const struct codec *c, enum annotation_type type, const struct codec_sample *was,
                struct str text, struct arena *a, struct str *ret_annotation, enum codec_split *ret_split,
                struct err *err);

#endif
