/* From an image's name to what a container needs. */
#include "core/image/images_own.h"

#include <sys/utsname.h>

const char *image_arch(void)
{
    static const char *const words[][2] = {{"x86_64", "amd64"},
                                           {"aarch64", "arm64"},
                                           {"riscv64", "riscv64"},
                                           {"ppc64le", "ppc64le"},
                                           {"s390x", "s390x"}};
    struct utsname u;
    for (size_t i = 0; uname(&u) == 0 && i < countof(words); i++)
        if (strcmp(u.machine, words[i][0]) == 0)
            return words[i][1];
    return "unknown";
}

static bool wrong_arch(struct str has, const char *wanted, struct err *err)
{
    return err_set(err, ERR_INVALID, "image", "the image is for %.*s, and this machine is %s",
                   has.n ? (int)(has.n > 40 ? 40 : has.n) : 12, has.n ? has.p : "another one", wanted);
}

static bool read_manifest(struct core *core, const struct digest *d, struct str type, struct arena *a,
                          struct image_parts *p, struct err *err)
{
    p->digest = *d;
    return blob_read(core->store, a, d, OCI_MANIFEST_MAX, &p->text, err) &&
           oci_parse(a, type, p->text, &p->manifest, err);
}

/* Of an index the manifest for this machine. */
static bool choose(struct core *core, const char *arch, struct arena *a, struct image_parts *p,
                   struct err *err)
{
    const struct oci_manifest index = p->manifest;
    for (size_t i = 0; i < index.n; i++) {
        const struct oci_descriptor *d = &index.items[i];
        if (str_is(d->arch, arch) && (!d->os.n || str_is(d->os, "linux")))
            return read_manifest(core, &d->digest, d->media_type, a, p, err) &&
                   (!p->manifest.index ||
                    err_set(err, ERR_INVALID, "image", "an index of indexes cannot be run"));
    }
    return wrong_arch(index.n ? index.items[0].arch : STR_NULL, arch, err);
}

static bool check(const struct image_parts *p, const char *arch, struct err *err)
{
    static const char *const types[] = {"application/vnd.oci.image.config.v1+json",
                                        "application/vnd.docker.container.image.v1+json"};
    bool image = false;
    for (size_t i = 0; i < countof(types); i++)
        image = image || str_is(p->manifest.config.media_type, types[i]);
    if (!image)
        return err_set(err, ERR_INVALID, "image", "this is no image that can be run, but an artefact");
    if (!str_is(p->config.arch, arch))
        return wrong_arch(p->config.arch, arch, err);
    if (p->config.os.n && !str_is(p->config.os, "linux"))
        return err_set(err, ERR_INVALID, "image", "the image is for \"%.*s\", not for linux",
                       (int)(p->config.os.n > 40 ? 40 : p->config.os.n), p->config.os.p);
    if (p->manifest.n > OCI_LAYERS_RUN)
        return err_set(err, ERR_INVALID, "image", "the image has %zu layers; at most %d can be run",
                       p->manifest.n, OCI_LAYERS_RUN);
    return true;
}

bool image_load(struct core *core, const struct repository *r, const struct reference *at, const char *arch,
                struct arena *a, struct image_parts *ret, struct err *err)
{
    struct image_parts p = {.repository = *r};
    struct repository_manifest m;
    struct str text;
    if (!arch)
        arch = image_arch();
    if (!repository_manifest(core, r, at, a, &m, err) ||
        !read_manifest(core, &m.digest, m.media_type, a, &p, err) ||
        (p.manifest.index && !choose(core, arch, a, &p, err)) ||
        !blob_read(core->store, a, &p.manifest.config.digest, OCI_CONFIG_MAX, &text, err) ||
        !oci_config_parse(a, text, &p.config, err) || !check(&p, arch, err))
        return false;
    *ret = p;
    return true;
}

bool image_find(struct core *core, int64_t project, struct str name, const char *arch, struct arena *a,
                struct image_parts *ret, struct err *err)
{
    struct reference_image ref;
    struct repository r;
    return reference_image(name, &ref, err) && repository_of_name(core, project, ref.name, a, &r, err) &&
           image_load(core, &r, &ref.at, arch, a, ret, err);
}

/* Images may be made for some specs only. */
static bool suits(struct core *core, int64_t image, int64_t spec, struct arena *a, struct err *err)
{
    struct db_row row;
    struct db_rows names;
    bool found;
    yyjson_val *list, *id;
    size_t i, max;
    auto_buf struct buf text = {0};
    if (!spec)
        return true;
    if (!db_query_one(core->db, a, "SELECT specs FROM images WHERE id = ?", db_args(db_int(image)), &row,
                      &found, err))
        return false;
    list = found && row.v[0].type == DB_TEXT ? json_parse(a, row.v[0].s, err) : NULL;
    if (!yyjson_arr_size(list))
        return true;
    yyjson_arr_foreach(list, i, max, id)
    {
        if (yyjson_get_sint(id) == spec)
            return true;
        if (!db_query(core->db, a, "SELECT name FROM specs WHERE id = ?",
                      db_args(db_int(yyjson_get_sint(id))), &names, err))
            return false;
        if (names.n && text.n < 200)
            buf_printf(&text, "%s" STR_FMT, text.n ? ", " : "", STR_ARG(names.row[0].v[0].s));
    }
    return err_set(err, ERR_INVALID, "image", "the image is made for other specs: " STR_FMT,
                   STR_ARG(buf_view(&text)));
}

bool image_check(struct core *core, const struct image_want *w, const char *field, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct image_parts p;
    struct err why = {0};
    if (strcmp(w->name, "host") == 0 || (image_find(core, w->project, str_of(w->name), NULL, &a, &p, &why) &&
                                         suits(core, p.repository.image, w->spec, &a, &why)))
        return true;
    return err_set(err, why.code == ERR_NOT_FOUND ? ERR_INVALID : why.code, field, "%s: %s", field,
                   why.message);
}

const char *image_digest(struct core *core, int64_t project, struct str name, struct arena *a)
{
    struct image_parts p;
    struct err none = {0};
    char *hex = arena_alloc(a, SHA256_HEX + 1);
    if (str_is(name, "host") || !image_find(core, project, name, NULL, a, &p, &none))
        return "";
    digest_hex(&p.digest, hex);
    return hex;
}

struct use {
    int64_t job;
    const struct oci_manifest *manifest;
};

static bool use_write(struct db_conn *c, void *ctx, struct err *err)
{
    const struct use *u = ctx;
    for (size_t i = 0; i < u->manifest->n; i++)
        if (!conn_exec(
                c, "INSERT INTO layer_uses (job, digest) VALUES (?, ?) ON CONFLICT (job, digest) DO NOTHING",
                db_args(db_int(u->job), digest_arg(&u->manifest->items[i].digest)), NULL, err))
            return false;
    return true;
}

static enum image_state layers(struct core *core, const struct image_parts *p, struct arena *a,
                               struct image_ready *ret, struct err *err)
{
    size_t waiting = 0;
    const char **paths = arena_array(a, const char *, p->manifest.n + 1);
    for (size_t i = 0; i < p->manifest.n; i++) {
        const struct digest *d = &p->manifest.items[i].digest;
        enum layer_state state = images_layer(core->images, d, err);
        if (state == LAYER_FAILED)
            return IMAGE_FAILED;
        waiting += state == LAYER_WAITING;
        paths[i] = images_layer_path(core->images, d, a);
    }
    if (waiting) {
        err_set(err, ERR_UNAVAILABLE, NULL, "the image is being unpacked: %zu of %zu layers are left",
                waiting, p->manifest.n);
        return IMAGE_UNPACKING;
    }
    ret->layers = paths;
    ret->n_layers = p->manifest.n;
    return IMAGE_READY;
}

static void take_config(const struct image_parts *p, struct arena *a, struct image_ready *ret)
{
    const struct oci_config *c = &p->config;
    const char **argv = arena_array(a, const char *, c->n_entrypoint + c->n_cmd + 1);
    for (size_t i = 0; i < c->n_entrypoint; i++)
        argv[ret->n_entrypoint++] = c->entrypoint[i];
    for (size_t i = 0; i < c->n_cmd; i++)
        argv[ret->n_entrypoint++] = c->cmd[i];
    char hex[SHA256_HEX + 1];
    digest_hex(&p->digest, hex);
    ret->entrypoint = argv;
    ret->env = c->env;
    ret->n_env = c->n_env;
    ret->cwd = c->cwd;
    ret->user = c->user;
    ret->host = p->manifest.host;
    ret->digest = arena_strdup(a, hex);
}

enum image_state image_prepare(struct core *core, const struct image_want *w, struct arena *a,
                               struct image_ready *ret, struct err *err)
{
    struct image_parts p;
    struct image_ready ready = {.host = true, .digest = ""};
    if (!w->name || !*w->name || strcmp(w->name, "host") == 0) {
        *ret = ready;
        return IMAGE_READY;
    }
    if (!image_find(core, w->project, str_of(w->name), w->arch, a, &p, err) ||
        !suits(core, p.repository.image, w->spec, a, err))
        return err->code == ERR_UNAVAILABLE ? IMAGE_UNPACKING : IMAGE_FAILED;
    enum image_state state = layers(core, &p, a, &ready, err);
    if (state != IMAGE_READY)
        return state;
    struct use u = {w->job, &p.manifest};
    if (w->job && !db_write(core->db, use_write, &u, err))
        return err->code == ERR_UNAVAILABLE ? IMAGE_UNPACKING : IMAGE_FAILED;
    take_config(&p, a, &ready);
    *ret = ready;
    return IMAGE_READY;
}
