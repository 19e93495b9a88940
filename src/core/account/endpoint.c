#include "core/account/endpoint.h"

#include "base/clock.h"
#include "net/client.h"
#include "net/url.h"

#define HOUR       (3600 * INT64_C(1000000))
#define MINUTE     (60 * INT64_C(1000000))
#define ANSWER_MAX (1 << 20)
#define TIMEOUT_S  15
#define TALKS_MAX  8 /* a provider that does not answer must not hold all pool threads */

/* Any answer with a JSON object; *ret_status is not judged. */
static bool ask(struct provider *p, const struct client_request *q, struct arena *a, int *ret_status,
                yyjson_val **ret, struct str *ret_text, struct err *err)
{
    struct client_request request = *q;
    struct client_answer answer;
    request.max_answer = ANSWER_MAX;
    request.timeout_s = TIMEOUT_S;
    request.ca_file = p->ca_file;
    bool free_line = atomic_fetch_add(&p->talking, 1) < TALKS_MAX;
    bool answered = free_line && client_do(a, &request, &answer, err);
    atomic_fetch_sub(&p->talking, 1);
    if (!free_line)
        return err_set(err, ERR_UNAVAILABLE, NULL, "%s is slow and too many wait for it; try again",
                       p->title);
    if (!answered)
        return err_set(err, ERR_UPSTREAM, NULL, "%s cannot be reached: %.200s", p->title,
                       arena_strdup(a, err->message));
    struct err parse = {0};
    yyjson_val *root = json_parse(a, answer.body, &parse);
    if (!yyjson_is_obj(root))
        return err_set(err, ERR_UPSTREAM, NULL, "%s answered %d without a JSON object", p->title,
                       answer.status);
    *ret_status = answer.status;
    *ret = root;
    if (ret_text)
        *ret_text = answer.body;
    return true;
}

static bool get(struct provider *p, const char *url, const char *authorization, struct arena *a,
                yyjson_val **ret, struct str *ret_text, struct err *err)
{
    struct client_header headers[] = {{"Accept", "application/json"}, {"Authorization", authorization}};
    struct client_request q = {.method = "GET",
                               .url = url,
                               .headers = headers,
                               .header_count = authorization ? 2 : 1,
                               .body_fd = -1};
    int status;
    if (!ask(p, &q, a, &status, ret, ret_text, err))
        return false;
    if (status != 200)
        return err_set(err, ERR_UPSTREAM, NULL, "%s answered %d to GET %.200s", p->title, status, url);
    return true;
}

/* --- discovery --- */
/* The kept text when it is younger than age, copied to the arena; STR_NULL otherwise. */
static struct str kept(struct provider *p, char *const *text, const int64_t *at, int64_t age, struct arena *a)
{
    pthread_mutex_lock(&p->lock);
    bool fresh = *text && clock_now() - *at < age;
    struct str copy = fresh ? arena_str(a, str_of(*text)) : STR_NULL;
    pthread_mutex_unlock(&p->lock);
    return copy;
}

static void keep(struct provider *p, char **text, int64_t *at, struct arena *a, struct str fresh)
{
    char *copy = base_strdup(arena_strz(a, fresh));
    pthread_mutex_lock(&p->lock);
    free(*text);
    *text = copy;
    *at = clock_now();
    pthread_mutex_unlock(&p->lock);
}

static bool discover(struct provider *p, struct arena *a, yyjson_val **ret, struct err *err)
{
    struct str text = kept(p, &p->discovery, &p->discovered_at, HOUR, a);
    if (text.p) {
        *ret = json_parse(a, text, err);
        return *ret != NULL;
    }
    size_t n = strlen(p->issuer);
    const char *url = arena_printf(a, "%.*s/.well-known/openid-configuration",
                                   (int)(p->issuer[n - 1] == '/' ? n - 1 : n), p->issuer);
    if (!get(p, url, NULL, a, ret, &text, err))
        return false;
    if (!str_is(json_str(yyjson_obj_get(*ret, "issuer")), p->issuer))
        return err_set(err, ERR_UPSTREAM, NULL, "%s calls itself by another issuer than %s", p->title,
                       p->issuer);
    keep(p, &p->discovery, &p->discovered_at, a, text);
    return true;
}

static bool pick(const struct provider *p, yyjson_val *doc, const char *key, const char *given,
                 const char **ret, struct err *err)
{
    const char *url = given ? given : yyjson_get_str(yyjson_obj_get(doc, key));
    if (url && !provider_url_ok(url))
        return err_set(err, ERR_UPSTREAM, NULL, "%s: its %s is no https address", p->title, key);
    *ret = url;
    return true;
}

bool endpoint_find(struct provider *p, struct arena *a, struct endpoint *ret, struct err *err)
{
    yyjson_val *doc = NULL;
    struct endpoint e = {0};
    if (p->oidc && !discover(p, a, &doc, err))
        return false;
    if (!pick(p, doc, "authorization_endpoint", p->authorize_url, &e.authorize, err) ||
        !pick(p, doc, "token_endpoint", p->token_url, &e.token, err) ||
        !pick(p, doc, "userinfo_endpoint", p->userinfo_url, &e.userinfo, err) ||
        !pick(p, doc, "jwks_uri", NULL, &e.keys, err))
        return false;
    if (!e.authorize || !e.token || (p->oidc && !e.keys))
        return err_set(err, ERR_UPSTREAM, NULL, "%s does not say where its endpoints are", p->title);
    *ret = e;
    return true;
}

bool endpoint_keys(struct provider *p, const struct endpoint *e, struct arena *a, bool anew, yyjson_val **ret,
                   struct err *err)
{
    struct str text = kept(p, &p->keys, &p->keys_at, anew ? MINUTE : HOUR, a);
    if (text.p) {
        *ret = json_parse(a, text, err);
        return *ret != NULL;
    }
    if (!get(p, e->keys, NULL, a, ret, &text, err))
        return false;
    keep(p, &p->keys, &p->keys_at, a, text);
    return true;
}

/* --- tokens --- */
bool endpoint_redeem(struct provider *p, const struct endpoint *e, struct str code, const char *verifier,
                     struct str redirect_uri, struct arena *a, yyjson_val **ret, struct err *err)
{
    bool basic = p->client_secret && !p->secret_in_body;
    const char *id = url_encode(a, str_of(p->client_id));
    const char *secret = p->client_secret ? url_encode(a, str_of(p->client_secret)) : "";
    const char *in_body = "";
    if (!basic)
        in_body = p->client_secret ? arena_printf(a, "&client_id=%s&client_secret=%s", id, secret)
                                   : arena_printf(a, "&client_id=%s", id);
    const char *body =
        arena_printf(a, "grant_type=authorization_code&code=%s&redirect_uri=%s&code_verifier=%s%s",
                     url_encode(a, code), url_encode(a, redirect_uri), verifier, in_body);
    const struct client_header headers[] = {{"Content-Type", "application/x-www-form-urlencoded"},
                                            {"Accept", "application/json"}};
    struct client_request q = {.method = "POST",
                               .url = e->token,
                               .headers = headers,
                               .header_count = countof(headers),
                               .body = str_of(body),
                               .body_fd = -1,
                               .user_password = basic ? arena_printf(a, "%s:%s", id, secret) : NULL};
    int status;
    if (!ask(p, &q, a, &status, ret, NULL, err))
        return false;
    const char *error = yyjson_get_str(yyjson_obj_get(*ret, "error"));
    if (status != 200 || error)
        return err_set(err, status >= 500 ? ERR_UPSTREAM : ERR_UNAUTHORIZED, NULL,
                       "%s did not accept the code: %d %.100s", p->title, status, error ? error : "");
    return true;
}

bool endpoint_userinfo(struct provider *p, const struct endpoint *e, struct str access_token, struct arena *a,
                       yyjson_val **ret, struct err *err)
{
    for (size_t i = 0; i < access_token.n; i++)
        if (access_token.p[i] <= ' ' || access_token.p[i] > '~')
            return err_set(err, ERR_UPSTREAM, NULL, "%s gave a malformed access token", p->title);
    const char *authorization = arena_printf(a, "Bearer " STR_FMT, STR_ARG(access_token));
    return get(p, e->userinfo, authorization, a, ret, NULL, err);
}
