#include "cli/account.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "cli/prompt.h"
#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/table.h"
#include "cli/verb.h"

#define DAYS_DEFAULT 90

const struct flag account_login_flags[] = {
    {"name", 'n', FLAG_VALUE, "NAME", "who signs in", NULL},
    {"password-stdin", 0, FLAG_SWITCH, NULL, "read the password from standard input", NULL},
    {"token-stdin", 0, FLAG_SWITCH, NULL, "use a token from standard input instead of a password", NULL},
    {"days", 0, FLAG_VALUE, "N", "the sign-in ends after so many days (90); 0: never", NULL},
    {"ca-file", 0, FLAG_VALUE, "FILE", "trust this certificate authority", NULL},
    {"insecure", 0, FLAG_SWITCH, NULL, "do not check the server's certificate", NULL},
};
const size_t account_login_flag_count = countof(account_login_flags);
const struct flag account_use_flags[] = {
    {"none", 0, FLAG_SWITCH, NULL, "forget the project", NULL},
};
const size_t account_use_flag_count = countof(account_use_flags);

static struct str body_of(struct arena *a, const char *k1, const char *v1, const char *k2, const char *v2)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_object(&o);
    json_kz(&o, k1, v1);
    if (v2)
        json_kz(&o, k2, v2);
    json_object_end(&o);
    return arena_str(a, buf_view(&b));
}

/* Unique among the tokens of a user, and within the rule for names. */
static const char *token_name(struct arena *a)
{
    char host[64] = "", tail[16];
    if (gethostname(host, sizeof host - 1) != 0 || !host[0])
        strcpy(host, "unknown");
    for (char *p = host; *p; p++)
        if (strchr("/:*?\"<'>|", *p) || (unsigned char)*p < 0x20)
            *p = '-';
    random_text(4, tail);
    return arena_printf(a, "cli on %.30s %.6s", host, tail);
}

/* "ingot_session=..." of Set-Cookie, whose name has a beginning under TLS. */
static const char *session_cookie(struct arena *a, const struct client_answer *answer)
{
    struct str header = client_header_value(answer, "Set-Cookie");
    struct str value, pair = str_trim(str_cut(header, ';', &value));
    struct str name = str_cut(pair, '=', &value);
    return str_ends(name, "ingot_session") && value.n ? arena_strz(a, pair) : NULL;
}

static bool make_token(struct cli *cli, const char *cookie, int64_t days, struct err *err)
{
    struct arena *a = &cli->arena;
    char when[CLOCK_TEXT_MAX];
    if (days)
        clock_format(clock_now() + days * 86400 * 1000000, when);
    struct remote_call call = {.method = "POST",
                               .path = "/tokens",
                               .cookie = cookie,
                               .body = body_of(a, "name", token_name(a), "expires_at", days ? when : NULL)};
    yyjson_val *made, *gone;
    if (!remote_json(cli, &call, &made, err))
        return false;
    struct str secret = json_str(yyjson_obj_get(made, "secret"));
    if (!secret.n)
        return err_set(err, ERR_UPSTREAM, NULL, "the server made a token but did not tell it");
    cli->config.token = arena_strz(a, secret);
    cli->config.token_id = yyjson_get_sint(yyjson_obj_get(made, "id"));
    /* The session was only the way to the token. */
    call = (struct remote_call){.method = "DELETE", .path = "/session", .cookie = cookie};
    return remote_json(cli, &call, &gone, err);
}

static bool by_password(struct cli *cli, const struct args *args, int64_t days, struct err *err)
{
    struct arena *a = &cli->arena;
    const char *name = args_value(args, "name"), *password;
    if (!name && args_has(args, "password-stdin"))
        return err_set(err, ERR_MALFORMED, NULL, "--password-stdin needs --name NAME");
    if (!name && !prompt_possible())
        return err_set(err, ERR_MALFORMED, NULL, "--name is missing, and there is no terminal to ask on");
    if (!name && !prompt_text(a, "Name", &name, err))
        return false;
    if (!args_has(args, "password-stdin") && !prompt_possible())
        return err_set(err, ERR_MALFORMED, NULL,
                       "--password-stdin is missing, and there is no terminal to ask on");
    bool ok = args_has(args, "password-stdin") ? prompt_read_line(a, &password, err)
                                               : prompt_secret(a, "Password", &password, err);
    struct client_answer answer;
    struct remote_call call = {.method = "POST", .path = "/sessions"};
    if (!ok)
        return false;
    call.body = body_of(a, "name", name, "password", password);
    if (!remote_do(cli, &call, &answer, err))
        return false;
    const char *cookie = session_cookie(a, &answer);
    if (!cookie)
        return err_set(err, ERR_UPSTREAM, NULL, "%s opened no session: is it an Ingot server?",
                       cli->config.url);
    return make_token(cli, cookie, days, err);
}

static bool by_token(struct cli *cli, struct err *err)
{
    yyjson_val *v;
    const char *token;
    if (!prompt_read_line(&cli->arena, &token, err))
        return false;
    cli->config.token = arena_strz(&cli->arena, str_trim(str_of(token)));
    return remote_json(cli, &(struct remote_call){.method = "GET", .path = "/session"}, &v, err);
}

/* Ends the token that a former login made; a server that is gone must not hold up the next login. */
static void drop_old(struct cli *cli, const struct config *old)
{
    if (!old->token_id || !old->token)
        return;
    struct cli with = {.arena = cli->arena, .config = *old, .timeout_s = cli->timeout_s};
    yyjson_val *v;
    struct err err = {0};
    const char *path = arena_printf(&with.arena, "/tokens/%lld", (long long)old->token_id);
    if (!remote_json(&with, &(struct remote_call){.method = "DELETE", .path = path}, &v, &err) &&
        err.code != ERR_UNAUTHORIZED && err.code != ERR_NOT_FOUND)
        fprintf(stderr, "The token of the former sign-in was not ended: %s\n", err.message);
    cli->arena = with.arena;
}

bool account_login(struct cli *cli, const struct args *args, struct err *err)
{
    struct config old;
    int64_t days = DAYS_DEFAULT;
    if (!args_count(args, 0, 1, "ingot login URL", err) || !args_int(args, "days", 0, 36500, &days, err) ||
        !config_load(&cli->arena, &old, err))
        return false;
    const char *url = args->word_count ? args->words[0] : cli->config.url;
    if (!url)
        return err_set(err, ERR_MALFORMED, NULL, "the address is missing: ingot login http://HOST:PORT");
    cli->config =
        (struct config){.ca_file = args_value(args, "ca-file"), .insecure = args_has(args, "insecure")};
    if (cli->config.ca_file) {
        char *absolute = realpath(cli->config.ca_file, NULL);
        if (!absolute)
            return err_set(err, ERR_INVALID, NULL, "--ca-file: there is no file %s", cli->config.ca_file);
        cli->config.ca_file = arena_strdup(&cli->arena, absolute);
        free(absolute);
    }
    if (!config_url(&cli->arena, url, &cli->config.url, err))
        return false;
    bool ok = args_has(args, "token-stdin") ? by_token(cli, err) : by_password(cli, args, days, err);
    if (!ok)
        return false;
    if (old.url && strcmp(old.url, cli->config.url) == 0)
        cli->config.project = old.project;
    if (!config_save(&cli->arena, &cli->config, err))
        return false;
    drop_old(cli, &old);
    fprintf(stderr, "Signed in to %s.\n", cli->config.url);
    return true;
}

bool account_logout(struct cli *cli, const struct args *args, struct err *err)
{
    struct config file;
    if (!args_count(args, 0, 0, "ingot logout", err) || !config_load(&cli->arena, &file, err))
        return false;
    if (!file.token)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "nobody is signed in");
    drop_old(cli, &file);
    const char *path = config_path(&cli->arena, err);
    if (!path)
        return false;
    struct config left = {.url = file.url, .ca_file = file.ca_file, .insecure = file.insecure};
    if (!config_save(&cli->arena, &left, err))
        return false;
    fprintf(stderr, "Signed out of %s.\n", file.url);
    return true;
}

bool account_whoami(struct cli *cli, const struct args *args, struct err *err)
{
    yyjson_val *v;
    if (!args_count(args, 0, 0, "ingot whoami", err) ||
        !remote_json(cli, &(struct remote_call){.method = "GET", .path = "/session"}, &v, err))
        return false;
    yyjson_val *user = yyjson_obj_get(v, "user");
    struct str name = json_str(yyjson_obj_get(user, "name"));
    if (cli->output == OUTPUT_JSON) {
        verb_show(cli, NULL, v);
        return true;
    }
    printf(STR_FMT "\n", STR_ARG(name));
    if (cli->output == OUTPUT_NAME)
        return true;
    printf("server   %s\n", cli->config.url);
    if (yyjson_get_bool(yyjson_obj_get(user, "administrator")))
        puts("rights   administrator");
    size_t i, n;
    yyjson_val *p;
    yyjson_arr_foreach(yyjson_obj_get(v, "projects"), i, n, p)
    {
        struct str project = json_str(yyjson_obj_get(p, "name"));
        struct str role = table_value(&cli->arena, yyjson_obj_get(p, "role"), NULL);
        printf("project  " STR_FMT " (" STR_FMT ")\n", STR_ARG(project), STR_ARG(role));
    }
    return true;
}

bool account_use(struct cli *cli, const struct args *args, struct err *err)
{
    struct config file;
    bool none = args_has(args, "none");
    if (!args_count(args, none ? 0 : 1, none ? 0 : 1, "ingot use PROJECT", err) ||
        !config_load(&cli->arena, &file, err))
        return false;
    if (none) {
        file.project = NULL;
        return config_save(&cli->arena, &file, err);
    }
    const struct kind *k = kind_by_name(STR("project"));
    yyjson_val *v;
    const char *path;
    if (!verb_object_path(cli, k, args, args->words[0], &path, err) ||
        !remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
        return false;
    /* By id: a project may be renamed. */
    file.project = arena_printf(&cli->arena, "%lld", (long long)yyjson_get_sint(yyjson_obj_get(v, "id")));
    if (!config_save(&cli->arena, &file, err))
        return false;
    struct str name = json_str(yyjson_obj_get(v, "name"));
    fprintf(stderr, "Commands without --project now mean " STR_FMT ".\n", STR_ARG(name));
    return true;
}
