/* The files of the web UI, built into the program. The table is generated from web/dist by scripts/embed.py;
 * it is empty when the web UI was not built. Everything is constant and lives as long as the program. */
#ifndef INGOT_API_ASSETS_H
#define INGOT_API_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

struct asset {
    const char *path; /* as in the URL, with a leading slash: "/index.html", "/assets/index-3f9aQx_1.js" */
    const char *type; /* Content-Type, with charset for text */
    const unsigned char *data;
    const unsigned char *gzip;   /* NULL when compression does not make it smaller */
    const unsigned char *brotli; /* NULL likewise */
    size_t size;
    size_t gzip_size;
    size_t brotli_size;
    char etag[36];  /* strong, of the uncompressed bytes, with its quotes: "\"<32 hex digits>\"" */
    bool immutable; /* the name holds a hash of the content: may be cached for ever */
};

/* Sorted by path (strcmp), so that it can be searched by bisection. */
extern const struct asset web_assets[];
extern const size_t web_assets_count;

#endif
