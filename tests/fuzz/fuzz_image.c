/* What clients of the registry send: the first line is a reference, the rest a manifest and a configuration.
 * What is accepted must survive being written again. */
#include "core/image/oci.h"
#include "core/image/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_reference(struct str text)
{
    struct err err = {0};
    struct reference_image image;
    struct reference at;
    struct digest d;
    char back[REFERENCE_DIGEST];
    reference_name(text, &err);
    reference_tag(text, &err);
    reference_parse(text, &at, &err);
    if (reference_digest(text, &d, &err) && !str_is(text, reference_text(&d, back)))
        abort();
    if (reference_image(text, &image, &err) && image.name.n > text.n)
        abort();
}

static void try_manifest(struct arena *a, struct str text)
{
    struct err err = {0};
    struct oci_manifest m, again;
    if (!oci_parse(a, STR_NULL, text, &m, &err) || m.index)
        return;
    auto_buf struct buf out = {0};
    oci_write(&(struct oci_write){.config = m.config, .layers = m.items, .n = m.n, .host = m.host}, &out);
    if (!oci_parse(a, STR_NULL, buf_view(&out), &again, &err) || again.n != m.n || again.host != m.host ||
        oci_bytes(&again) != oci_bytes(&m))
        abort();
}

static void try_config(struct arena *a, struct str text)
{
    struct err err = {0};
    struct oci_config c, again;
    if (!oci_config_parse(a, text, &c, &err))
        return;
    auto_buf struct buf out = {0};
    struct digest more = {{1}};
    const struct oci_change change = {.from = &c, .add_diff = &more, .cwd = "/x"};
    oci_config_write(a, &change, &out);
    if (!oci_config_parse(a, buf_view(&out), &again, &err) || again.n_diff_ids != c.n_diff_ids + 1 ||
        again.n_env != c.n_env)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct str rest = {(const char *)data, size};
    arena_init(&a);
    try_reference(str_cut(rest, '\n', &rest));
    if (rest.p) {
        try_manifest(&a, rest);
        try_config(&a, rest);
    }
    arena_release(&a);
    return 0;
}
