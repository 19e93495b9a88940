/* Credentials as they come from outside: the Cookie, Authorization, Origin and Host headers of a request, one
 * per line of the input, then id_tokens of providers. */
#include "api/auth.h"
#include "core/account/jwt.h"
#include "core/account/state.h"

#include <openssl/err.h>

static struct core core;
static struct accounts accounts = {.lock = PTHREAD_RWLOCK_INITIALIZER};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    accounts.core = &core;
    accounts.credentials = map_new();
    core.accounts = &accounts;
    core.public_url = "https://ingot.example/";
    return 0;
}

static const char keys[] =
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}";

static void try_request(const struct str *lines)
{
    static const char *const names[] = {"cookie", "authorization", "origin", "sec-fetch-site"};
    struct header headers[countof(names)];
    struct request r = {.method = STR("POST"), .host = lines[4]};
    for (size_t i = 0; i < countof(names); i++)
        if (lines[i].n > 0)
            headers[r.header_count++] = (struct header){str_of(names[i]), lines[i]};
    r.headers = headers;
    struct caller c = {0};
    struct err err = {0};
    /* Nothing is known here, so nobody gets in. */
    if (auth_peek(&core, &r, &c) == AUTH_HIT && c.user != 0)
        abort();
    c.session = 1;
    auth_origin_ok(&core, &r, &c, &err);
    auth_sign_in_ok(&core, &r, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    arena_init(&a);
    struct str rest = {(const char *)data, size}, lines[5];
    for (size_t i = 0; i < countof(lines); i++)
        lines[i] = rest.p ? str_cut(rest, '\n', &rest) : STR_NULL;
    try_request(lines);
    struct err err = {0};
    yyjson_val *set = json_parse(&a, STR(keys), &err), *claims;
    struct jwt_rules rules = {"https://id.example", "ingot", NULL, 1000};
    if (jwt_verify(&a, rest.p ? rest : lines[0], set, &claims, &err))
        jwt_check_claims(claims, &rules, &err);
    ERR_clear_error();
    arena_release(&a);
    return 0;
}
