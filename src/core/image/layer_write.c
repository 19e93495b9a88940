#include "core/image/layer_write.h"

#include <zlib.h>

#define SPACE (64 << 10)

struct layer_writer {
    struct blob_writer *blob;
    struct sha256 *diff;
    z_stream z;
    int64_t bytes;
    uint8_t space[SPACE];
};

struct layer_writer *layer_writer_new(struct store *s, struct err *err)
{
    struct blob_writer *blob = blob_writer_new(s, err);
    if (!blob)
        return NULL;
    struct layer_writer *w = base_zalloc(sizeof *w);
    w->blob = blob;
    w->diff = sha256_new();
    /* 16: with gzip's header. Fast: layers are written once, and networks here are quick. */
    if (deflateInit2(&w->z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return w;
    err_set(err, ERR_INTERNAL, NULL, "zlib cannot begin");
    layer_writer_abort(w);
    return NULL;
}

static bool squeeze(struct layer_writer *w, struct str piece, int flush, struct err *err)
{
    w->z.next_in = (uint8_t *)(uintptr_t)piece.p;
    w->z.avail_in = (uInt)piece.n;
    int rc;
    do {
        w->z.next_out = w->space;
        w->z.avail_out = SPACE;
        rc = deflate(&w->z, flush);
        if (rc == Z_STREAM_ERROR)
            return err_set(err, ERR_INTERNAL, NULL, "zlib failed");
        struct str out = {(const char *)w->space, SPACE - w->z.avail_out};
        if (out.n && !blob_writer_add(w->blob, out, err))
            return false;
    } while (w->z.avail_out == 0);
    return true;
}

bool layer_writer_add(void *writer, struct str piece, struct err *err)
{
    struct layer_writer *w = writer;
    while (piece.n) {
        struct str part = {piece.p, piece.n < 1 << 30 ? piece.n : 1 << 30};
        sha256_add(w->diff, part.p, part.n);
        w->bytes += (int64_t)part.n;
        if (!squeeze(w, part, Z_NO_FLUSH, err))
            return false;
        piece = (struct str){piece.p + part.n, piece.n - part.n};
    }
    return true;
}

int64_t layer_writer_bytes(const struct layer_writer *w)
{
    return w->bytes;
}

bool layer_writer_finish(struct layer_writer *w, struct oci_descriptor *ret, struct digest *ret_diff,
                         struct err *err)
{
    struct oci_descriptor d = {.media_type = STR(OCI_LAYER_GZIP)};
    struct digest diff;
    if (!squeeze(w, STR(""), Z_FINISH, err)) {
        layer_writer_abort(w);
        return false;
    }
    struct blob_writer *blob = w->blob;
    sha256_finish(w->diff, diff.b);
    deflateEnd(&w->z);
    free(w);
    if (!blob_writer_finish(blob, &d.digest, &d.size, err))
        return false;
    *ret = d;
    *ret_diff = diff;
    return true;
}

void layer_writer_abort(struct layer_writer *w)
{
    if (!w)
        return;
    blob_writer_abort(w->blob);
    sha256_free(w->diff);
    deflateEnd(&w->z);
    free(w);
}
