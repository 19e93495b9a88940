/* Import from a bucket of an S3-compatible object store (D6): one object (an archive is unpacked), or all
 * below a prefix. */
#ifndef INGOT_CORE_DATA_S3_IN_H
#define INGOT_CORE_DATA_S3_IN_H

#include "core/data/sources.h"

/* v: {"endpoint", "region", "bucket", "key" or "prefix", "access_key", "ca"}; the secret key is apart. */
bool s3_in_check(struct op *op, yyjson_val *v, struct str secret, struct err *err);
bool s3_in(struct task *t, yyjson_val *v, struct unpacked *out, struct err *err);

#endif
