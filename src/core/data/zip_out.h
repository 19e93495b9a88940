/* A zip archive written into a blob, file after file. */
#ifndef INGOT_CORE_DATA_ZIP_OUT_H
#define INGOT_CORE_DATA_ZIP_OUT_H

#include "store/store.h"

struct zip_out;
struct zip_out *zip_out_new(struct store *s, struct err *err);
bool zip_out_begin(struct zip_out *z, const char *path, struct err *err);
bool zip_out_write(struct zip_out *z, const void *p, size_t n, struct err *err);
bool zip_out_end(struct zip_out *z, struct err *err);
/* A whole blob as one file, stored without compressing it again. */
bool zip_out_blob(struct zip_out *z, const char *path, const struct digest *d, struct err *err);
/* Frees z. */
bool zip_out_finish(struct zip_out *z, struct digest *ret, int64_t *ret_size, struct err *err);
void zip_out_abort(struct zip_out *z); /* NULL allowed */

#endif
