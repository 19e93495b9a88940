/* One layer of an image, from its tar to a folder that overlayfs takes: whiteouts become character devices
 * 0:0 and opaque folders, owners stay as the tar has them (the executor maps them). Nothing is ever made
 * outside of the folder: every path is resolved inside of it. Devices and sockets are left out. */
#ifndef INGOT_CORE_IMAGE_LAYER_H
#define INGOT_CORE_IMAGE_LAYER_H

#include "base/arena.h"
#include "base/err.h"

#include <stdatomic.h>

struct layer_limits {
    int64_t bytes; /* unpacked */
    int64_t entries;
    int64_t free_bytes;      /* that must stay free on the disk */
    const atomic_bool *stop; /* set: give up (ERR_UNAVAILABLE); may be NULL */
};

/* in: the layer, plain or compressed with gzip or zstd. dir: an empty folder. */
bool layer_unpack(int in, int dir, const struct layer_limits *l, struct err *err);

#endif
