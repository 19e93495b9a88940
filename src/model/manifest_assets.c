/* Files that the manifest names beside its parts: vocabularies, characters, anchors. */
#include "base/messages.h"
#include "model/manifest.h"

#define MAX_ASSET (64u << 20)
#define MAX_LINES 4000000u

/* Order by bytes, then by line: of equal lines the first counts. */
static int compare_lines(const void *x, const void *y, void *ctx)
{
    const struct model_asset *asset = ctx;
    uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    struct str a = asset->lines[i], b = asset->lines[k];
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    if (order)
        return order;
    if (a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return (i > k) - (i < k);
}

static bool split_lines(struct model_asset *asset, struct arena *a, struct err *err)
{
    size_t n = 1;
    for (size_t i = 0; i < asset->bytes.n; i++)
        n += asset->bytes.p[i] == '\n';
    if (n > MAX_LINES || !utf8_valid(asset->bytes))
        return err_message(err, ERR_INVALID, asset->path.p, MESSAGE_MODEL_LINES, asset->path.p);
    asset->lines = arena_array(a, struct str, n);
    for (struct str rest = asset->bytes; rest.p && rest.n;) {
        struct str line = str_cut(rest, '\n', &rest);
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        asset->lines[asset->n_lines++] = line;
    }
    asset->by_text = arena_array(a, uint32_t, asset->n_lines + 1);
    for (size_t i = 0; i < asset->n_lines; i++)
        asset->by_text[i] = (uint32_t)i;
    qsort_r(asset->by_text, asset->n_lines, sizeof *asset->by_text, compare_lines, asset);
    for (size_t i = 0; i < asset->n_lines; i++)
        if (!asset->n_by_text ||
            !str_eq(asset->lines[asset->by_text[asset->n_by_text - 1]], asset->lines[asset->by_text[i]]))
            asset->by_text[asset->n_by_text++] = asset->by_text[i];
    return true;
}

int64_t model_asset_find(const struct model_asset *asset, struct str text)
{
    size_t low = 0, high = asset->n_by_text;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        struct str line = asset->lines[asset->by_text[mid]];
        size_t n = line.n < text.n ? line.n : text.n;
        int order = n ? memcmp(line.p, text.p, n) : 0;
        order = order ? order : (line.n > text.n) - (line.n < text.n);
        if (!order)
            return asset->by_text[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

bool model_manifest_assets(struct model_manifest *m, struct arena *a, model_read_fn *read, void *ctx,
                           struct err *err)
{
    for (size_t i = 0; i < m->n_assets; i++)
        if (!read(ctx, m->assets[i].path, MAX_ASSET, a, &m->assets[i].bytes, err))
            return false;
    for (size_t i = 0; i < m->n_inputs; i++)
        if (m->inputs[i].vocab && !m->inputs[i].vocab->lines && !split_lines(m->inputs[i].vocab, a, err))
            return false;
    for (size_t i = 0; i < m->n_outputs; i++) {
        const struct model_output *out = &m->outputs[i];
        if (out->characters && !out->characters->lines && !split_lines(out->characters, a, err))
            return false;
        if (out->anchors && (!out->anchors->bytes.n || out->anchors->bytes.n % 16))
            return err_message(err, ERR_INVALID, out->anchors->path.p, MESSAGE_MODEL_ANCHORS,
                               out->anchors->path.p);
    }
    return true;
}
