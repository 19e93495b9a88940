#include "core/account/external.h"

#include "base/clock.h"
#include "base/hash.h"
#include "core/account/endpoint.h"
#include "core/account/identity.h"
#include "core/account/jwt.h"
#include "core/account/state.h"
#include "net/url.h"

#define RANDOM_TEXT 48 /* bytes for 32 random ones in base64url */
#define NEXT_MAX    2000

static bool lost(struct err *err)
{
    return err_set(err, ERR_UNAUTHORIZED, NULL,
                   "this sign-in was not begun in this browser, or too long ago: begin again");
}

void external_show(struct core *core, struct buf *out)
{
    const struct providers *all = core->accounts->providers;
    struct json_out json;
    json_begin(&json, out);
    json_object(&json);
    json_kbool(&json, "password", all->password);
    json_key(&json, "providers");
    json_array(&json);
    for (size_t i = 0; i < all->count; i++) {
        json_object(&json);
        json_kz(&json, "id", all->items[i].id);
        json_kz(&json, "title", all->items[i].title);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
}

bool external_next_ok(struct str next)
{
    if (next.n == 0 || next.n > NEXT_MAX || next.p[0] != '/')
        return false;
    if (next.n > 1 && (next.p[1] == '/' || next.p[1] == '\\'))
        return false;
    for (size_t i = 0; i < next.n; i++)
        if ((unsigned char)next.p[i] <= ' ' || next.p[i] == '\\' || (unsigned char)next.p[i] >= 0x7f)
            return false;
    return true;
}

static struct provider *find_provider(struct core *core, struct str id, struct err *err)
{
    struct provider *p = providers_find(core->accounts->providers, id);
    if (!p)
        err_set(err, ERR_NOT_FOUND, NULL, "there is no sign-in provider of that name");
    return p;
}

/* --- the attempt: JSON in base64url, a dot, its HMAC --- */
struct login {
    char state[RANDOM_TEXT], nonce[RANDOM_TEXT], verifier[RANDOM_TEXT];
    struct str provider, next, redirect;
    int64_t until;
};

static void sign(struct core *core, struct str text, char ret[RANDOM_TEXT])
{
    uint8_t mac[SHA256_SIZE];
    const struct providers *all = core->accounts->providers;
    hmac_sha256((struct str){(const char *)all->key, sizeof all->key}, text, mac);
    base64url_encode(mac, sizeof mac, ret);
}

static const char *seal(struct core *core, struct arena *a, const struct login *l)
{
    struct buf auto_buf json = {0};
    struct json_out out;
    json_begin(&out, &json);
    json_object(&out);
    json_kz(&out, "state", l->state);
    json_kz(&out, "nonce", l->nonce);
    json_kz(&out, "verifier", l->verifier);
    json_kstr(&out, "provider", l->provider);
    json_kstr(&out, "next", l->next);
    json_kstr(&out, "redirect", l->redirect);
    json_kint(&out, "until", l->until);
    json_object_end(&out);
    char *text = arena_alloc(a, 4 * (json.n + 2) / 3 + 1), mac[RANDOM_TEXT];
    size_t n = base64url_encode(json.p, json.n, text);
    sign(core, (struct str){text, n}, mac);
    return arena_printf(a, "%.*s.%s", (int)n, text, mac);
}

static bool copy_random(yyjson_val *root, const char *key, char ret[RANDOM_TEXT])
{
    struct str s = json_str(yyjson_obj_get(root, key));
    if (s.n == 0 || s.n >= RANDOM_TEXT)
        return false;
    memcpy(ret, s.p, s.n);
    ret[s.n] = 0;
    return true;
}

static bool unseal(struct core *core, struct arena *a, struct str cookie, struct login *ret, struct err *err)
{
    struct str mac, text = str_cut(cookie, '.', &mac);
    char right[RANDOM_TEXT];
    if (!mac.p || cookie.n > 8192)
        return lost(err);
    sign(core, text, right);
    if (mac.n != strlen(right) || !equal_constant_time(mac.p, right, mac.n))
        return lost(err);
    char *json = arena_alloc(a, text.n + 4);
    size_t n;
    if (!base64_decode(text, json, text.n + 4, &n))
        return lost(err);
    yyjson_val *root = json_parse(a, (struct str){json, n}, err);
    if (!root || !copy_random(root, "state", ret->state) || !copy_random(root, "nonce", ret->nonce) ||
        !copy_random(root, "verifier", ret->verifier))
        return lost(err);
    ret->provider = json_str(yyjson_obj_get(root, "provider"));
    ret->next = json_str(yyjson_obj_get(root, "next"));
    ret->redirect = json_str(yyjson_obj_get(root, "redirect"));
    ret->until = yyjson_get_sint(yyjson_obj_get(root, "until"));
    return ret->until > clock_now() || lost(err);
}

/* --- going --- */
bool external_begin(struct core *core, const struct external_begin *b, struct arena *a,
                    const char **ret_location, const char **ret_cookie, struct err *err)
{
    struct provider *p = find_provider(core, b->provider, err);
    if (!p)
        return false;
    struct str next = b->next.n > 0 ? b->next : STR("/");
    if (!external_next_ok(next))
        return err_set(err, ERR_INVALID, "next", "next: must be a path of this site, such as /projects");
    struct endpoint e;
    if (!endpoint_find(p, a, &e, err))
        return false;
    struct login l = {.provider = str_of(p->id),
                      .next = next,
                      .redirect = str_of(b->redirect_uri),
                      .until = clock_now() + EXTERNAL_SECONDS * SECOND};
    random_text(32, l.state);
    random_text(32, l.nonce);
    random_text(32, l.verifier);
    uint8_t digest[SHA256_SIZE];
    char challenge[RANDOM_TEXT];
    sha256_of(str_of(l.verifier), digest);
    base64url_encode(digest, sizeof digest, challenge);
    *ret_location =
        arena_printf(a,
                     "%s%sresponse_type=code&client_id=%s&redirect_uri=%s&scope=%s&state=%s&code_challenge=%s"
                     "&code_challenge_method=S256%s%s",
                     e.authorize, strchr(e.authorize, '?') ? "&" : "?", url_encode(a, str_of(p->client_id)),
                     url_encode(a, l.redirect), url_encode(a, str_of(p->scopes)), l.state, challenge,
                     p->oidc ? "&nonce=" : "", p->oidc ? l.nonce : "");
    *ret_cookie = seal(core, a, &l);
    return true;
}

/* --- coming back --- */
/* A claim as text; numbers (GitHub's id) too. */
static struct str claim(struct arena *a, yyjson_val *claims, const char *name)
{
    yyjson_val *v = yyjson_obj_get(claims, name);
    if (yyjson_is_int(v))
        return str_of(arena_printf(a, "%lld", (long long)yyjson_get_sint(v)));
    return yyjson_is_str(v) && yyjson_get_len(v) <= 500 ? json_str(v) : STR_NULL;
}

static bool id_claims(struct provider *p, const struct endpoint *e, const struct login *l, struct str token,
                      struct arena *a, yyjson_val **ret, struct err *err)
{
    struct jwt_rules rules = {p->issuer, p->client_id, l->nonce, clock_now() / SECOND};
    yyjson_val *keys;
    if (!endpoint_keys(p, e, a, false, &keys, err))
        return false;
    if (!jwt_verify(a, token, keys, ret, err)) {
        /* The provider may have changed its keys. */
        if (err->code != ERR_NOT_FOUND)
            return false;
        if (!endpoint_keys(p, e, a, true, &keys, err))
            return false;
        if (!jwt_verify(a, token, keys, ret, err)) {
            err->code = ERR_UNAUTHORIZED;
            return false;
        }
    }
    return jwt_check_claims(*ret, &rules, err);
}

/* email_verified speaks of the claim email, whichever claim is taken as the address. */
static bool verified(const struct provider *p, struct arena *a, yyjson_val *claims, struct str email)
{
    return email.n > 0 && (p->trust_email || (yyjson_is_true(yyjson_obj_get(claims, "email_verified")) &&
                                              str_eq(email, claim(a, claims, "email"))));
}

static bool read_identity(struct provider *p, const struct endpoint *e, yyjson_val *tokens,
                          yyjson_val *claims, struct arena *a, struct identity *ret, struct err *err)
{
    yyjson_val *info = NULL;
    struct str access = json_str(yyjson_obj_get(tokens, "access_token"));
    bool enough = claims && claim(a, claims, p->name_claim).n > 0 && claim(a, claims, p->email_claim).n > 0;
    if (!enough && e->userinfo && access.n > 0 && !endpoint_userinfo(p, e, access, a, &info, err))
        return false;
    struct str subject = claims ? claim(a, claims, "sub") : claim(a, info, p->subject_claim);
    if (subject.n == 0)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "%s did not say who signed in", p->title);
    if (claims && info && !str_eq(claim(a, info, "sub"), subject))
        return err_set(err, ERR_UNAUTHORIZED, NULL, "%s speaks of two different people", p->title);
    *ret = (struct identity){.subject = subject};
    yyjson_val *sources[] = {claims, info};
    for (size_t i = 0; i < countof(sources); i++) {
        if (ret->name.n == 0)
            ret->name = claim(a, sources[i], p->name_claim);
        if (ret->email.n == 0) {
            ret->email = claim(a, sources[i], p->email_claim);
            ret->email_verified = verified(p, a, sources[i], ret->email);
        }
    }
    return true;
}

static bool identify(struct provider *p, const struct login *l, const struct external_callback *c,
                     struct arena *a, struct identity *ret, struct err *err)
{
    struct endpoint e;
    yyjson_val *tokens, *claims = NULL;
    if (!endpoint_find(p, a, &e, err) ||
        !endpoint_redeem(p, &e, c->code, l->verifier, l->redirect, a, &tokens, err))
        return false;
    if (p->oidc) {
        struct str token = json_str(yyjson_obj_get(tokens, "id_token"));
        if (token.n == 0)
            return err_set(err, ERR_UNAUTHORIZED, NULL, "%s gave no id_token", p->title);
        if (!id_claims(p, &e, l, token, a, &claims, err))
            return false;
    }
    return read_identity(p, &e, tokens, claims, a, ret, err);
}

static bool answer_ok(const struct provider *p, const struct login *l, const struct external_callback *c,
                      struct err *err)
{
    if (!str_is(l->provider, p->id) || c->state.n != strlen(l->state) ||
        !equal_constant_time(c->state.p, l->state, c->state.n))
        return lost(err);
    if (c->error.n > 0)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "%s refused: %.*s %.*s", p->title,
                       (int)(c->error.n > 60 ? 60 : c->error.n), c->error.p,
                       (int)(c->error_description.n > 200 ? 200 : c->error_description.n),
                       c->error_description.p ? c->error_description.p : "");
    if (p->oidc && c->issuer.n > 0 && !str_is(c->issuer, p->issuer))
        return err_set(err, ERR_UNAUTHORIZED, NULL, "another provider answered");
    if (c->code.n == 0 || c->code.n > 4096)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "%s gave no code", p->title);
    return true;
}

bool external_finish(struct core *core, const struct external_callback *c, struct arena *a,
                     char ret_secret[ACCOUNTS_SECRET_MAX], const char **ret_next, struct err *err)
{
    struct provider *p = find_provider(core, c->provider, err);
    struct login l = {0};
    struct identity who;
    int64_t user;
    if (!p || !unseal(core, a, c->cookie, &l, err) || !answer_ok(p, &l, c, err) ||
        !identify(p, &l, c, a, &who, err) || !identity_user(core, p, &who, c->from.peer, a, &user, err) ||
        !accounts_open_session(core, user, &c->from, p->id, ret_secret, err))
        return false;
    *ret_next = arena_strz(a, l.next);
    return true;
}
