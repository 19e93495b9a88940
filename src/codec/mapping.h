/* Files mapped for codec_input's open, close and drop. */
#ifndef INGOT_CODEC_MAPPING_H
#define INGOT_CODEC_MAPPING_H

#include "base/err.h"
#include "base/str.h"

/* Maps a regular file beneath dirfd for reading; an empty one gives an empty string. The file must not be
 * shortened meanwhile. */
bool mapping_open(int dirfd, struct str path, struct str *ret, struct err *err);
void mapping_close(struct str bytes);
/* Gives the pages of a part back to the kernel; they are read again when touched. */
void mapping_drop(struct str part);

#endif
