/* A new layer: a tar on its way becomes a blob, compressed with gzip, and both digests are taken. */
#ifndef INGOT_CORE_IMAGE_LAYER_WRITE_H
#define INGOT_CORE_IMAGE_LAYER_WRITE_H

#include "core/image/oci.h"

struct layer_writer;
struct layer_writer *layer_writer_new(struct store *s, struct err *err);
/* Fits exec_sink_fn. */
bool layer_writer_add(void *writer, struct str piece, struct err *err);
int64_t layer_writer_bytes(const struct layer_writer *w); /* that came */
/* Frees it. diff is the digest of the tar itself. */
bool layer_writer_finish(struct layer_writer *w, struct oci_descriptor *ret, struct digest *ret_diff,
                         struct err *err);
void layer_writer_abort(struct layer_writer *w); /* NULL allowed */

#endif
