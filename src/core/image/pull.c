/* Pulling an image through from a registry outside, of those that the configuration allows. */
#include "core/image/pull.h"

#include "base/messages.h"
#include "core/image/assemble.h"
#include "net/client.h"
#include "net/url.h"

#include <stdio.h>

#define ACCEPT OCI_MANIFEST ", " OCI_INDEX ", " DOCKER_MANIFEST ", " DOCKER_LIST

struct pull {
    struct task *task;
    const char *base; /* "https://host" */
    const char *name;
    const char *login; /* "name:password"; NULL */
    const char *token; /* the Authorization header; NULL */
    struct repository target;
    int64_t done, total;
    bool every; /* architecture of an index */
};

/* --- names --- */

static const char *base_of(struct core *core, struct str host, struct arena *a)
{
    for (size_t i = 0; i < core->registries.n; i++) {
        struct str entry = str_of(core->registries.items[i]), bare = entry;
        bool schemed = str_starts(entry, "http://") || str_starts(entry, "https://");
        if (schemed)
            bare = str_of(strstr(core->registries.items[i], "://") + 3);
        if (!str_eq(bare, host))
            continue;
        if (str_is(host, "docker.io"))
            return "https://registry-1.docker.io";
        return schemed ? arena_strz(a, entry) : arena_printf(a, "https://" STR_FMT, STR_ARG(host));
    }
    return NULL;
}

bool pull_parse(struct core *core, struct str from, struct arena *a, struct pull_source *ret, struct err *err)
{
    struct reference_image ref;
    struct str path, host = str_cut(from, '/', &path);
    struct pull_source s = {0};
    if (!path.n || from.n > 500)
        return err_set(err, ERR_INVALID, "from", "from: \"%.*s\" is not host/name:version",
                       (int)(from.n > 80 ? 80 : from.n), from.p ? from.p : "");
    if (!reference_image(path, &ref, err))
        return false;
    s.base = base_of(core, host, a);
    if (!s.base)
        return err_set(err, ERR_INVALID, "from",
                       "from: \"" STR_FMT
                       "\" is none of the registries that the administrator allows (registries)",
                       STR_ARG(host));
    for (size_t i = 0; i < ref.name.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789._-/", ref.name.p[i]))
            return err_set(err, ERR_INVALID, "from", "from: \"%.*s\" is no image's name",
                           (int)(ref.name.n > 80 ? 80 : ref.name.n), ref.name.p);
    bool short_name = str_is(host, "docker.io") && !memchr(ref.name.p, '/', ref.name.n);
    s.name = arena_printf(a, "%s" STR_FMT, short_name ? "library/" : "", STR_ARG(ref.name));
    char digest[REFERENCE_DIGEST];
    s.reference =
        ref.at.tag.p ? arena_strz(a, ref.at.tag) : arena_strdup(a, reference_text(&ref.at.digest, digest));
    *ret = s;
    return true;
}

/* --- asking --- */

/* One value of: Bearer realm="...",service="...",scope="..." */
static struct str challenge_value(struct str text, const char *key)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s=\"", key);
    ptrdiff_t at = str_find(text, str_of(wanted));
    if (at < 0)
        return STR_NULL;
    struct str rest = {text.p + at + strlen(wanted), text.n - (size_t)at - strlen(wanted)}, ignored;
    return str_cut(rest, '"', &ignored);
}

static bool is_http(struct str url)
{
    return str_starts(url, "http://");
}

static bool refused(const struct pull *p, struct err *err)
{
    return p->login ? err_message(err, ERR_UPSTREAM, "from", MESSAGE_REGISTRY_REFUSES, p->base, p->name)
                    : err_message(err, ERR_UPSTREAM, "from", MESSAGE_REGISTRY_LOGIN, p->base, p->name);
}

static bool ask_token(struct pull *p, struct str challenge, struct err *err)
{
    struct arena *a = p->task->arena;
    struct str realm = challenge_value(challenge, "realm"), service = challenge_value(challenge, "service");
    if (str_starts(challenge, "Basic") && p->login) {
        size_t n = strlen(p->login);
        char *text = arena_alloc(a, 4 * (n + 2) / 3 + 8);
        base64url_encode(p->login, n, text);
        for (char *c = text; *c; c++)
            *c = *c == '-' ? '+' : *c == '_' ? '/' : *c;
        p->token = arena_printf(a, "Basic %s%.*s", text, (int)((4 - strlen(text) % 4) % 4), "===");
        return true;
    }
    if (str_starts(challenge, "Basic"))
        return refused(p, err);
    if (!realm.n || !(is_http(realm) || str_starts(realm, "https://")))
        return err_set(err, ERR_UPSTREAM, NULL, "the registry wants a way to sign in that is not known here");
    if (is_http(realm) && !is_http(str_of(p->base)))
        return err_set(err, ERR_UPSTREAM, NULL, "the registry would have the password sent in the clear");
    const char *url = arena_printf(a, STR_FMT "?service=%s&scope=%s", STR_ARG(realm), url_encode(a, service),
                                   url_encode(a, str_of(arena_printf(a, "repository:%s:pull", p->name))));
    struct client_request q = {
        .method = "GET", .url = url, .body_fd = -1, .max_answer = 1 << 20, .user_password = p->login};
    struct client_answer answer;
    if (!client_do(a, &q, &answer, err))
        return false;
    if (answer.status == 401 || answer.status == 403)
        return refused(p, err);
    yyjson_val *doc = answer.status == 200 ? json_parse(a, answer.body, err) : NULL;
    struct str token = json_str(yyjson_obj_get(doc, "token"));
    if (!token.p)
        token = json_str(yyjson_obj_get(doc, "access_token"));
    if (!token.p)
        return err_set(err, ERR_UPSTREAM, NULL, "the registry gave no token: status %d", answer.status);
    p->token = arena_printf(a, "Bearer " STR_FMT, STR_ARG(token));
    return true;
}

struct sink {
    struct pull *pull;
    struct blob_writer *writer;
    struct err *err;
};

static bool take(void *ctx, struct str piece)
{
    struct sink *s = ctx;
    s->pull->done += (int64_t)piece.n;
    return blob_writer_add(s->writer, piece, s->err) &&
           task_progress(s->pull->task, s->pull->done, s->pull->total, s->err);
}

/* What a redirection or a challenge had as a body is no part of the blob. */
static bool fresh_writer(struct pull *p, struct sink *s, struct err *err)
{
    blob_writer_abort(s->writer);
    s->writer = blob_writer_new(p->task->core->store, err);
    return s->writer != NULL;
}

static bool ask(struct pull *p, const char *path, struct sink *sink, struct client_answer *ret,
                struct err *err)
{
    struct arena *a = p->task->arena;
    const char *url = arena_printf(a, "%s/v2/%s/%s", p->base, p->name, path);
    bool own = true, asked = false; /* asked: for a token; those of large images run out on the way */
    for (int tries = 0; tries < 6; tries++) {
        if (sink && !fresh_writer(p, sink, err))
            return false;
        const struct client_header headers[] = {{"Accept", ACCEPT},
                                                {"Authorization", p->token ? p->token : ""}};
        struct client_request q = {.method = "GET",
                                   .url = url,
                                   .headers = headers,
                                   .header_count = own && p->token ? 2 : 1,
                                   .body_fd = -1,
                                   .max_answer = OCI_MANIFEST_MAX,
                                   .sink = sink ? take : NULL,
                                   .sink_ctx = sink};
        if (!client_do(a, &q, ret, err))
            return false;
        if (ret->status == 401 && own && !asked) {
            asked = true;
            if (!ask_token(p, client_header_value(ret, "www-authenticate"), err))
                return false;
        } else if (ret->status >= 301 && ret->status <= 308 && ret->location.n) {
            /* A store elsewhere, which has its own signature in the address. */
            if (is_http(ret->location) && !is_http(str_of(p->base)))
                return err_set(err, ERR_UPSTREAM, NULL, "the registry sends to an address that is not https");
            own = ret->location.p[0] == '/';
            url = own ? arena_printf(a, "%s" STR_FMT, p->base, STR_ARG(ret->location))
                      : arena_strz(a, ret->location);
        } else if (ret->status == 200) {
            return true;
        } else if (ret->status == 401 && own) {
            return refused(p, err);
        } else {
            break;
        }
    }
    return err_set(err, ret->status == 404 ? ERR_NOT_FOUND : ERR_UPSTREAM, "from", "%s answered %d", url,
                   ret->status);
}

/* --- parts --- */

static bool pull_blob(struct pull *p, const struct oci_descriptor *d, struct err *err)
{
    struct core *core = p->task->core;
    char digest[REFERENCE_DIGEST];
    struct client_answer answer;
    struct digest got;
    int64_t size;
    /* Only what this very image has need not come again: other projects' bytes are proven by sending them. */
    if (!repository_blob(core, &p->target, &d->digest, p->task->arena, &size, err))
        return false;
    if (size == d->size) {
        p->done += size;
        return true;
    }
    struct sink s = {.pull = p, .err = err};
    const char *path = arena_printf(p->task->arena, "blobs/%s", reference_text(&d->digest, digest));
    if (!ask(p, path, &s, &answer, err) || err->code) {
        blob_writer_abort(s.writer);
        return false;
    }
    if (!blob_writer_finish(s.writer, &got, &size, err))
        return false;
    if (memcmp(got.b, d->digest.b, sizeof got.b) != 0)
        return err_set(err, ERR_UPSTREAM, "from", "the registry sent other bytes for %s", digest);
    return repository_add_blob(core, &p->target, &got, size, err);
}

static bool get_manifest(struct pull *p, const char *reference, struct oci_manifest *m, struct str *ret_text,
                         struct err *err)
{
    struct client_answer answer;
    struct str rest;
    if (!ask(p, arena_printf(p->task->arena, "manifests/%s", reference), NULL, &answer, err))
        return false;
    struct str type = str_trim(str_cut(answer.content_type, ';', &rest));
    *ret_text = answer.body;
    return oci_parse(p->task->arena, type.n ? type : STR_NULL, answer.body, m, err);
}

static const struct oci_descriptor *of_machine(const struct oci_manifest *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_is(m->items[i].arch, image_arch()) && (!m->items[i].os.n || str_is(m->items[i].os, "linux")))
            return &m->items[i];
    return NULL;
}

/* What an index or a tag names: layers, configuration, and the manifest itself. */
static bool pull_manifest(struct pull *p, const struct oci_manifest *m, struct str text,
                          const struct reference *at, struct repository_pushed *ret, struct err *err)
{
    p->total += oci_bytes(m);
    for (size_t i = 0; i < m->n; i++)
        if (!pull_blob(p, &m->items[i], err))
            return false;
    if (!pull_blob(p, &m->config, err))
        return false;
    const struct repository_push push = {.at = *at, .media_type = m->media_type, .text = text};
    return repository_push(p->task->core, &p->task->caller, &p->target, &push, p->task->arena, ret, err);
}

/* One manifest that an index names. */
static bool pull_child(struct pull *p, const struct oci_descriptor *d, const struct reference *at,
                       struct repository_pushed *ret, struct err *err)
{
    struct oci_manifest m;
    struct str text;
    char digest[REFERENCE_DIGEST];
    uint8_t hash[SHA256_SIZE];
    if (!get_manifest(p, reference_text(&d->digest, digest), &m, &text, err))
        return false;
    sha256_of(text, hash);
    if (m.index || memcmp(hash, d->digest.b, sizeof hash) != 0)
        return err_set(err, ERR_UPSTREAM, "from", "the registry sent another manifest than the index names");
    return pull_manifest(p, &m, text, at, ret, err);
}

static bool pull_index(struct pull *p, const struct oci_manifest *m, struct str text,
                       const struct reference *at, struct repository_pushed *ret, struct err *err)
{
    const struct repository_push push = {.at = *at, .media_type = m->media_type, .text = text};
    for (size_t i = 0; i < m->n; i++) {
        const struct reference child = {.digest = m->items[i].digest};
        if (!pull_child(p, &m->items[i], &child, ret, err))
            return false;
    }
    return repository_push(p->task->core, &p->task->caller, &p->target, &push, p->task->arena, ret, err);
}

static bool pull_all(struct pull *p, const char *reference, struct str version, struct repository_pushed *ret,
                     struct err *err)
{
    struct oci_manifest m;
    struct str text;
    const struct reference at = {.tag = version};
    if (!get_manifest(p, reference, &m, &text, err))
        return false;
    if (!m.index)
        return pull_manifest(p, &m, text, &at, ret, err);
    if (p->every)
        return pull_index(p, &m, text, &at, ret, err);
    const struct oci_descriptor *d = of_machine(&m);
    if (!d)
        return err_message(err, ERR_INVALID, "from", MESSAGE_IMAGE_OTHER_ARCH, image_arch());
    return pull_child(p, d, &at, ret, err);
}

static bool run_pull(struct task *t, struct err *err)
{
    struct pull_source source;
    struct str version = json_str(yyjson_obj_get(t->params, "version"));
    struct pull p = {.task = t, .every = yyjson_get_bool(yyjson_obj_get(t->params, "every"))};
    struct repository_pushed pushed;
    if (!pull_parse(t->core, json_str(yyjson_obj_get(t->params, "from")), t->arena, &source, err) ||
        !assemble_target(t->core, t->project, json_str(yyjson_obj_get(t->params, "name")), t->arena,
                         &p.target, err))
        return false;
    p.base = source.base;
    p.name = source.name;
    struct str secret = json_str(yyjson_obj_get(t->params, "secret"));
    p.login = images_secret(t->core->images, secret, t->arena);
    if (secret.n && !p.login)
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_PULL_PASSWORD);
    if (!pull_all(&p, source.reference, version, &pushed, err))
        return false;
    assemble_result(t, &p.target, version, &pushed);
    return true;
}

const struct task_type task_image_pull = {
    .name = "image_pull", .title = {"Pull an image", "拉取镜像"}, .run = run_pull};
