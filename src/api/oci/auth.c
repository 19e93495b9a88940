/* What a client of the registry shows: a user's name with the password or an API token (Basic), an API token
 * (Bearer), or a token of this file, which GET /v2/token gives for name and password. Such a token is good
 * for an hour and for the scopes it was asked for; it ends with any change of the user's password or rights.
 */
#include "api/auth.h"
#include "api/oci/own.h"
#include "base/clock.h"
#include "net/url.h"

#include <pthread.h>

#define PREFIX     "ir1."
#define LIFE_S     3600
#define MAX_SCOPES 4096
#define SLOTS      64
#define MAX_KEY    6000

static struct {
    pthread_mutex_t lock;
    uint8_t key[32]; /* of this process */
    bool made;
    struct slot {
        char *text; /* the Authorization header */
        const struct core *core;
        struct caller caller;
        char *scopes;
        int64_t until;
    } slot[SLOTS];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct str secret_key(void)
{
    pthread_mutex_lock(&known.lock);
    if (!known.made)
        random_bytes(known.key, sizeof known.key);
    known.made = true;
    pthread_mutex_unlock(&known.lock);
    return (struct str){(const char *)known.key, sizeof known.key};
}

/* --- what was proven a moment ago --- */

static struct slot *slot_of(struct str text)
{
    return &known.slot[hash64(text) % SLOTS];
}

static void forget(struct slot *s)
{
    if (s->core)
        accounts_caller_release(s->core->accounts, &s->caller);
    free(s->text);
    free(s->scopes);
    *s = (struct slot){0};
}

static bool recall(struct oci_call *call, struct str text)
{
    pthread_mutex_lock(&known.lock);
    struct slot *s = slot_of(text);
    bool hit = s->text && s->core == call->core && str_is(text, s->text) && s->until > clock_now() &&
               accounts_caller_current(call->core->accounts, &s->caller);
    if (hit) {
        call->caller = accounts_caller_ref(&s->caller);
        call->scopes = s->scopes ? str_of(arena_strdup(call->arena, s->scopes)) : STR_NULL;
        call->until = s->until;
    }
    pthread_mutex_unlock(&known.lock);
    return hit;
}

static char *keep(struct str s)
{
    char *copy = base_alloc(s.n + 1);
    memcpy(copy, s.p, s.n);
    copy[s.n] = 0;
    return copy;
}

static void remember(const struct oci_call *call, struct str text)
{
    if (text.n > MAX_KEY)
        return;
    pthread_mutex_lock(&known.lock);
    struct slot *s = slot_of(text);
    forget(s);
    *s = (struct slot){.text = keep(text),
                       .core = call->core,
                       .caller = accounts_caller_ref(&call->caller),
                       .scopes = call->scopes.p ? keep(call->scopes) : NULL,
                       .until = call->until};
    s->caller.peer = NULL;
    pthread_mutex_unlock(&known.lock);
}

/* --- tokens --- */

/* Changes with the password. */
static bool password_mark(struct core *core, struct arena *a, int64_t user, char ret[SHA256_HEX + 1],
                          struct err *err)
{
    struct db_row row;
    bool found;
    uint8_t hash[SHA256_SIZE];
    if (!db_query_one(core->db, a, "SELECT password FROM users WHERE id = ?", db_args(db_int(user)), &row,
                      &found, err))
        return false;
    hmac_sha256(secret_key(), found && row.v[0].type == DB_TEXT ? row.v[0].s : STR(""), hash);
    hex_encode(hash, sizeof hash, ret);
    return true;
}

static void sign(struct str text, char ret[64])
{
    uint8_t mac[SHA256_SIZE];
    hmac_sha256(secret_key(), text, mac);
    base64url_encode(mac, sizeof mac, ret);
}

static bool bad_token(struct err *err)
{
    return err_set(err, ERR_UNAUTHORIZED, NULL, "the token is unknown or has expired");
}

/* "ir1.<payload>.<mac>"; the payload is "<user> <until> <mark>\n<scopes>". */
static bool read_token(struct oci_call *call, struct str text, struct err *err)
{
    struct str mac, signed_part, rest, word;
    char right[64], mark[SHA256_HEX + 1];
    int64_t user;
    const char *dot = memrchr(text.p, '.', text.n);
    if (!dot || dot < text.p + 4 || text.n > MAX_KEY)
        return bad_token(err);
    signed_part = (struct str){text.p, (size_t)(dot - text.p)};
    mac = (struct str){dot + 1, text.n - signed_part.n - 1};
    sign(signed_part, right);
    if (mac.n != strlen(right) || !equal_constant_time(mac.p, right, mac.n))
        return bad_token(err);
    char *payload = arena_alloc(call->arena, signed_part.n + 1);
    size_t n;
    if (!base64_decode((struct str){signed_part.p + 4, signed_part.n - 4}, payload, signed_part.n, &n))
        return bad_token(err);
    struct str head = str_cut((struct str){payload, n}, '\n', &call->scopes);
    word = str_cut(head, ' ', &rest);
    struct str until = str_cut(rest, ' ', &rest);
    if (!str_to_i64(word, &user) || !str_to_i64(until, &call->until) || call->until <= clock_now())
        return bad_token(err);
    if (!password_mark(call->core, call->arena, user, mark, err))
        return false;
    if (!str_is(rest, mark))
        return bad_token(err);
    return accounts_caller_of(call->core->accounts, user, &call->caller, err) || bad_token(err);
}

static char *make_token(struct oci_call *call, struct str scopes, struct err *err)
{
    char mark[SHA256_HEX + 1], mac[64];
    if (!password_mark(call->core, call->arena, call->caller.user, mark, err))
        return NULL;
    long long until = clock_now() + LIFE_S * INT64_C(1000000);
    const char *payload = arena_printf(call->arena, "%lld %lld %s\n" STR_FMT, (long long)call->caller.user,
                                       until, mark, STR_ARG(scopes));
    size_t n = strlen(payload);
    char *text = arena_alloc(call->arena, 4 * (n + 2) / 3 + 8);
    memcpy(text, PREFIX, 4);
    base64url_encode(payload, n, text + 4);
    sign(str_of(text), mac);
    return arena_printf(call->arena, "%s.%s", text, mac);
}

/* --- the Authorization header --- */

static bool basic(struct oci_call *call, struct str text, struct err *err)
{
    char *plain = arena_alloc(call->arena, text.n + 1);
    size_t n;
    struct str password, name;
    if (text.n > MAX_KEY || !base64_decode(text, plain, text.n, &n))
        return err_set(err, ERR_UNAUTHORIZED, NULL, "the Authorization header cannot be read");
    name = str_cut((struct str){plain, n}, ':', &password);
    if (str_starts(password, "ingot_")) {
        if (!accounts_resolve(call->core->accounts, password, false, &call->caller, err))
            return false;
        if (str_is(name, call->caller.name) && !call->caller.job)
            return true;
        accounts_caller_release(call->core->accounts, &call->caller);
        return err_set(err, ERR_UNAUTHORIZED, NULL, "the API token is not " STR_FMT "'s", STR_ARG(name));
    }
    struct sign_in s = {.name = name, .password = password, .peer = call->request->peer};
    unsigned retry;
    int64_t user;
    call->until = clock_now() + LIFE_S * INT64_C(1000000);
    return accounts_check_password(call->core, &s, &user, &retry, err) &&
           accounts_caller_of(call->core->accounts, user, &call->caller, err);
}

bool oci_who(struct oci_call *call, struct err *err)
{
    struct str rest, header = request_header(call->request, "authorization"),
                     scheme = str_cut(header, ' ', &rest);
    rest = str_trim(rest);
    bool is_basic = str_ieq(scheme, STR("basic")), own = str_starts(rest, PREFIX);
    call->until = INT64_MAX;
    if (!header.n)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "sign in first: name and password, or an API token");
    if ((own || is_basic) && recall(call, header)) {
        call->caller.peer = call->request->peer;
        return true;
    }
    bool ok = is_basic ? basic(call, rest, err)
              : own    ? read_token(call, rest, err)
                       : auth_caller(call->core, call->request, &call->caller, err);
    if (!ok)
        return false;
    call->caller.peer = call->request->peer;
    /* API tokens have a cache of their own, and may be revoked one by one. */
    if (own || (is_basic && !call->caller.token))
        remember(call, header);
    return true;
}

/* One line "repository:name:pull,push" of the token. */
static bool line_allows(struct str line, struct str name, const char *action)
{
    struct str rest, type = str_cut(line, ':', &rest), has = str_cut(rest, ':', &rest);
    if (!str_is(type, "repository") || !str_eq(has, name))
        return false;
    while (rest.p) {
        struct str one = str_cut(rest, ',', &rest);
        if (str_is(one, action) || str_is(one, "*"))
            return true;
    }
    return false;
}

bool oci_scoped(const struct oci_call *call, struct str name, const char *action)
{
    struct str rest = call->scopes;
    if (!rest.p)
        return true;
    while (rest.p && rest.n)
        if (line_allows(str_cut(rest, '\n', &rest), name, action))
            return true;
    return false;
}

struct header oci_challenge(struct oci_call *call, const char *error)
{
    const char *action = call->route ? call->route->action : NULL;
    const char *scope = "";
    if (action && call->name.p)
        scope = arena_printf(call->arena, ",scope=\"repository:" STR_FMT ":%s\"", STR_ARG(call->name),
                             strcmp(action, "push") == 0 ? "pull,push" : action);
    return (struct header){
        STR("WWW-Authenticate"),
        str_of(arena_printf(call->arena, "Bearer realm=\"%s/v2/token\",service=\"ingot\"%s%s%s%s",
                            auth_base_url(call->core, call->request, call->arena), scope,
                            error ? ",error=\"" : "", error ? error : "", error ? "\"" : ""))};
}

static bool plain_scope(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' && s.p[i] != ' ')
            return false;
    return true;
}

/* All scope parameters, and the parts of each that are parted by spaces, a line each. */
static bool collect_scopes(struct oci_call *call, struct buf *out, struct err *err)
{
    struct str rest = call->request->query;
    while (rest.n) {
        struct str value, key = str_cut(str_cut(rest, '&', &rest), '=', &value), text;
        if (!str_is(key, "scope") || !value.p)
            continue;
        if (!url_value(call->arena, value, &text, err))
            return false;
        if (!plain_scope(text) || out->n + text.n > MAX_SCOPES)
            return err_set(err, ERR_INVALID, "scope", "scope: at most %d bytes of repository:name:actions",
                           MAX_SCOPES);
        while (text.p) {
            struct str one = str_cut(text, ' ', &text);
            if (one.n)
                buf_printf(out, STR_FMT "\n", STR_ARG(one));
        }
    }
    return true;
}

void oci_run_token(struct oci_call *call)
{
    struct err err = {0};
    auto_buf struct buf scopes = {0}, body = {0};
    char now[CLOCK_TEXT_MAX];
    struct json_out o;
    const char *token = NULL;
    /* An API token is its own bearer: its scopes and its end stay exact. */
    if (call->caller.token) {
        struct str rest, header = request_header(call->request, "authorization");
        bool is_basic = str_ieq(str_cut(header, ' ', &rest), STR("basic"));
        rest = str_trim(rest);
        char *plain = arena_zalloc(call->arena, rest.n + 1);
        size_t n = 0;
        if (is_basic && base64_decode(rest, plain, rest.n, &n))
            str_cut((struct str){plain, n}, ':', &rest);
        token = arena_strz(call->arena, rest);
    } else if (collect_scopes(call, &scopes, &err)) {
        token = make_token(call, scopes.p ? buf_view(&scopes) : STR(""), &err);
    }
    if (!token) {
        oci_problem(call, &err, NULL, 0);
        return;
    }
    json_begin(&o, &body);
    json_object(&o);
    json_kz(&o, "token", token);
    json_kz(&o, "access_token", token);
    json_kint(&o, "expires_in", LIFE_S);
    json_kz(&o, "issued_at", clock_format(clock_now(), now));
    json_object_end(&o);
    const struct header headers[] = {{STR("Cache-Control"), STR("no-store")}};
    oci_answer(call, 200, headers, 1, buf_view(&body));
}
