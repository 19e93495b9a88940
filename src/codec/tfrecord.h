/* TFRecord files of tf.train.Example, written by hand: each record is its length (8 bytes), the masked
 * CRC-32C of those 8 bytes, the message, and the masked CRC-32C of the message; numbers are little-endian. */
#ifndef INGOT_CODEC_TFRECORD_H
#define INGOT_CODEC_TFRECORD_H

#include "base/buf.h"

uint32_t tfrecord_crc32c(const void *data, size_t n);

/* An Example is built feature by feature, then framed. */
struct tfrecord_example {
    struct buf features; /* entries of the map */
};
void tfrecord_bytes(struct tfrecord_example *e, const char *key, struct str value);
void tfrecord_texts(struct tfrecord_example *e, const char *key, const struct str *values, size_t n);
void tfrecord_ints(struct tfrecord_example *e, const char *key, const int64_t *values, size_t n);
/* Appends the framed record and empties the example. */
void tfrecord_put(struct buf *out, struct tfrecord_example *e);

#endif
