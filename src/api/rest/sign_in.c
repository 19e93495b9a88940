/* The routes for signing in and out, and for one's own profile. */
#include "api/auth.h"
#include "core/account/external.h"
#include "net/url.h"

#include <stdio.h>

#define LOGIN_COOKIE "ingot_login"
#define LOGIN_PATH   "/api/v1/sign-in"

/* --- bodies of texts --- */
struct text {
    const char *name;
    struct str value;
};

/* All must be there, and nothing else. */
static bool read_texts(struct api_call *call, struct text *texts, size_t n, struct err *err)
{
    if (!yyjson_is_obj(call->json))
        return err_set(err, ERR_MALFORMED, NULL, "the body must be a JSON object");
    size_t i, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(call->json, i, count, key, value)
    {
        struct text *t = NULL;
        for (size_t k = 0; k < n; k++)
            if (str_is(json_str(key), texts[k].name))
                t = &texts[k];
        if (!t)
            return err_set(err, ERR_INVALID, yyjson_get_str(key), "%.60s: is no field here",
                           yyjson_get_str(key));
        if (!yyjson_is_str(value))
            return err_set(err, ERR_INVALID, t->name, "%s: must be a text", t->name);
        t->value = json_str(value);
    }
    for (size_t k = 0; k < n; k++)
        if (!texts[k].value.p)
            return err_set(err, ERR_INVALID, texts[k].name, "%s: is required", texts[k].name);
    return true;
}

static void problem(struct api_call *call, const struct err *err)
{
    api_problem(call, err, NULL, 0);
}

/* --- cookies --- */
static struct str cookie(struct api_call *call, const char *name, const char *value, int seconds)
{
    const struct request *r = call->request;
    return str_of(arena_printf(call->arena, "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d%s",
                               auth_cookie_name(call->core, r, call->arena, name), value, seconds,
                               auth_is_secure(call->core, r) ? "; Secure" : ""));
}

static struct str session_cookie(struct api_call *call, const char *secret)
{
    return cookie(call, AUTH_COOKIE, secret, *secret ? ACCOUNTS_SESSION_MAX : 0);
}

/* --- sessions --- */
static void run_sign_in(struct api_call *call)
{
    struct err err = {0};
    struct text texts[] = {{"name", STR_NULL}, {"password", STR_NULL}};
    char secret[ACCOUNTS_SECRET_MAX], retry[16];
    unsigned wait = 0;
    struct caller who;
    if (!auth_sign_in_ok(call->core, call->request, &err) || !read_texts(call, texts, countof(texts), &err)) {
        problem(call, &err);
        return;
    }
    struct sign_in s = {.name = texts[0].value,
                        .password = texts[1].value,
                        .peer = call->request->peer,
                        .agent = request_header(call->request, "user-agent")};
    if (!accounts_sign_in(call->core, &s, secret, &wait, &err)) {
        snprintf(retry, sizeof retry, "%u", wait);
        struct header header = {STR("Retry-After"), str_of(retry)};
        api_problem(call, &err, &header, err.code == ERR_TOO_MANY ? 1 : 0);
        return;
    }
    auto_buf struct buf body = {0};
    if (!accounts_resolve(call->core->accounts, str_of(secret), true, &who, &err)) {
        problem(call, &err);
        return;
    }
    bool ok = accounts_show_session(call->core, &who, &body, &err);
    accounts_caller_release(call->core->accounts, &who);
    struct header header = {STR("Set-Cookie"), session_cookie(call, secret)};
    if (ok)
        api_answer(call, 201, &header, 1, buf_view(&body));
    else
        problem(call, &err);
}

static void run_show_session(struct api_call *call)
{
    struct err err = {0};
    auto_buf struct buf body = {0};
    if (accounts_show_session(call->core, &call->caller, &body, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        problem(call, &err);
}

static void run_sign_out(struct api_call *call)
{
    struct err err = {0};
    struct header header = {STR("Set-Cookie"), session_cookie(call, "")};
    if (accounts_sign_out(call->core, &call->caller, &err))
        api_answer(call, 204, &header, 1, STR_NULL);
    else
        problem(call, &err);
}

/* --- profile --- */
static void run_profile(struct api_call *call)
{
    struct err err = {0};
    auto_buf struct buf body = {0};
    if (accounts_change_profile(call->core, &call->caller, call->json, call->arena, &err) &&
        accounts_show_session(call->core, &call->caller, &body, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        problem(call, &err);
}

static void run_show_preferences(struct api_call *call)
{
    struct err err = {0};
    auto_buf struct buf body = {0};
    if (accounts_show_preferences(call->core, &call->caller, &body, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        problem(call, &err);
}

static void run_keep_preferences(struct api_call *call)
{
    struct err err = {0};
    if (accounts_keep_preferences(call->core, &call->caller, call->json, &err))
        api_answer(call, 204, NULL, 0, STR_NULL);
    else
        problem(call, &err);
}

static void run_password(struct api_call *call)
{
    struct err err = {0};
    struct text texts[] = {{"old", STR_NULL}, {"new", STR_NULL}};
    struct header header = {STR("Set-Cookie"), session_cookie(call, "")};
    if (read_texts(call, texts, countof(texts), &err) &&
        accounts_change_password(call->core, &call->caller, texts[0].value, texts[1].value, &err))
        api_answer(call, 204, &header, 1, STR_NULL);
    else
        problem(call, &err);
}

/* --- providers --- */
static void run_providers(struct api_call *call)
{
    auto_buf struct buf body = {0};
    external_show(call->core, &body);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

/* People see the sign-in page with what went wrong, programs a problem document. */
static void refuse(struct api_call *call, const struct err *err)
{
    struct str accept = request_header(call->request, "accept");
    if (str_find(accept, STR("text/html")) < 0) {
        problem(call, err);
        return;
    }
    const char *to =
        arena_printf(call->arena, "/sign-in?error=%s", url_encode(call->arena, str_of(err->message)));
    struct header headers[] = {{STR("Location"), str_of(to)},
                               {STR("Set-Cookie"), cookie(call, LOGIN_COOKIE, "", 0)}};
    api_answer(call, 303, headers, countof(headers), STR_NULL);
}

static void run_begin(struct api_call *call)
{
    struct err err = {0};
    struct external_begin b = {.provider = call->params[0]};
    const char *location, *attempt;
    b.redirect_uri = arena_printf(call->arena, "%s" LOGIN_PATH "/%s/callback",
                                  auth_base_url(call->core, call->request, call->arena),
                                  url_encode(call->arena, b.provider));
    if ((!request_param(call->request, "next", &b.next, &err) && err.code != ERR_NONE) ||
        !external_begin(call->core, &b, call->arena, &location, &attempt, &err)) {
        refuse(call, &err);
        return;
    }
    struct header headers[] = {{STR("Location"), str_of(location)},
                               {STR("Set-Cookie"), cookie(call, LOGIN_COOKIE, attempt, EXTERNAL_SECONDS)}};
    api_answer(call, 303, headers, countof(headers), STR_NULL);
}

static bool read_callback(struct api_call *call, struct external_callback *c, struct err *err)
{
    struct text texts[] = {{"code", STR_NULL},
                           {"state", STR_NULL},
                           {"iss", STR_NULL},
                           {"error", STR_NULL},
                           {"error_description", STR_NULL}};
    for (size_t i = 0; i < countof(texts); i++)
        if (!request_param(call->request, texts[i].name, &texts[i].value, err) && err->code != ERR_NONE)
            return false;
    struct str attempt;
    if (request_cookies(call->request, auth_cookie_name(call->core, call->request, call->arena, LOGIN_COOKIE),
                        &attempt) != 1)
        attempt = STR_NULL; /* of two, one is another page's */
    *c = (struct external_callback){
        .provider = call->params[0],
        .cookie = attempt,
        .code = texts[0].value,
        .state = texts[1].value,
        .issuer = texts[2].value,
        .error = texts[3].value,
        .error_description = texts[4].value,
        .from = {.peer = call->request->peer, .agent = request_header(call->request, "user-agent")}};
    return true;
}

static void run_callback(struct api_call *call)
{
    struct err err = {0};
    struct external_callback c;
    char secret[ACCOUNTS_SECRET_MAX];
    const char *next;
    if (!read_callback(call, &c, &err) ||
        !external_finish(call->core, &c, call->arena, secret, &next, &err)) {
        refuse(call, &err);
        return;
    }
    struct header headers[] = {{STR("Location"), str_of(next)},
                               {STR("Set-Cookie"), session_cookie(call, secret)},
                               {STR("Set-Cookie"), cookie(call, LOGIN_COOKIE, "", 0)}};
    api_answer(call, 303, headers, countof(headers), STR_NULL);
}

/* --- the table --- */
#define TEXT         "{\"type\":\"string\"}"
#define TEXT_OR_NULL "{\"type\":[\"string\",\"null\"]}"
#define TEXTS        "{\"type\":\"array\",\"items\":" TEXT "}"
#define SESSION_ANSWER                                                                                       \
    "{\"type\":\"object\",\"required\":[\"user\",\"via\",\"permissions\",\"projects\"],\"properties\":{"     \
    "\"user\":{\"type\":\"object\",\"required\":[\"id\",\"name\",\"display_name\",\"email\","                \
    "\"administrator\",\"language\",\"category\"],\"properties\":{\"id\":{\"type\":\"integer\"},"            \
    "\"name\":" TEXT ",\"display_name\":" TEXT ",\"email\":" TEXT_OR_NULL                                    \
    ",\"administrator\":{\"type\":\"boolean\"},\"language\":" TEXT_OR_NULL ",\"category\":" TEXT             \
    "}},\"via\":{\"type\":\"string\",\"enum\":[\"session\",\"token\",\"job\"]},\"job\":{\"type\":"           \
    "\"integer\"},\"permissions\":" TEXTS                                                                    \
    ",\"projects\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"id\",\"name\","        \
    "\"role\",\"permissions\"],\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":" TEXT                 \
    ",\"role\":" TEXT ",\"permissions\":" TEXTS "}}}}}"
#define TWO_TEXTS(a, b)                                                                                      \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"" a "\",\"" b "\"],"                \
    "\"properties\":{\"" a "\":" TEXT ",\"" b "\":" TEXT "}}"

const struct route auth_routes[] = {
    {"POST", "/api/v1/sessions", "public", run_sign_in, .summary = "Sign in with name and password",
     .input = TWO_TEXTS("name", "password"), .answer = SESSION_ANSWER, .status = 201},
    {"GET", "/api/v1/session", NULL, run_show_session, .summary = "Who is signed in, and what they may do",
     .answer = SESSION_ANSWER},
    {"DELETE", "/api/v1/session", NULL, run_sign_out, .summary = "Sign out"},
    {"PATCH", "/api/v1/profile", NULL, run_profile,
     .summary = "Change one's own e-mail, display name, language; another e-mail ends all sessions",
     .input = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"email\":" TEXT_OR_NULL
              ",\"display_name\":" TEXT ",\"language\":" TEXT_OR_NULL "}}",
     .answer = SESSION_ANSWER},
    {"GET", "/api/v1/profile/preferences", NULL, run_show_preferences,
     .summary = "How one likes to work: what the web pages keep for the user",
     .answer = "{\"type\":\"object\",\"additionalProperties\":true}"},
    {"PUT", "/api/v1/profile/preferences", NULL, run_keep_preferences,
     .summary = "Keep one's preferences: any JSON object of at most 32 KiB",
     .input = "{\"type\":\"object\",\"additionalProperties\":true}", .status = 204},
    {"POST", "/api/v1/profile/password", NULL, run_password,
     .summary = "Change one's own password; ends all sessions", .input = TWO_TEXTS("old", "new"),
     .status = 204},
    {"GET", "/api/v1/sign-in", "public", run_providers, .summary = "The ways to sign in",
     .answer = "{\"type\":\"object\",\"required\":[\"password\",\"providers\"],\"properties\":{\"password\":"
               "{\"type\":\"boolean\"},\"providers\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
               "\"required\":[\"id\",\"title\"],\"properties\":{\"id\":" TEXT ",\"title\":" TEXT "}}}}}"},
    {"GET", LOGIN_PATH "/{provider}", "public", run_begin, .summary = "Go to a provider to sign in",
     .query = "next", .status = 303},
    {"GET", LOGIN_PATH "/{provider}/callback", "public", run_callback, .summary = "Come back from a provider",
     .query = "code state iss error error_description *", .status = 303},
    {0},
};
