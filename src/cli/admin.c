#include "cli/admin.h"

#include "cli/prompt.h"
#include "core/account/new_password.h"
#include "core/account/password.h"

#include <errno.h>
#include <stdlib.h>

#define SERVER_WAIT_S 30
#define USAGE         "usage: ingot admin password [NAME] [--data DIR]"

const struct flag admin_flags[] = {
    {"data", 0, FLAG_VALUE, "DIR", "the data folder, as `ingot serve` has it (./data)", NULL},
    {"db", 0, FLAG_VALUE, "URL", "the database, where `ingot serve` was given one", NULL},
    {"password-stdin", 0, FLAG_SWITCH, NULL, "read the password from standard input, generate none", NULL},
};

bool admin_run(struct cli *cli, const struct args *args, struct err *err)
{
    struct arena *a = &cli->arena;
    struct new_password p = {.user = STR("admin"), .wait_s = SERVER_WAIT_S};
    char generated[PASSWORD_TEXT];
    const char *data = args_value(args, "data"), *password = generated;
    if (args->word_count < 1 || args->word_count > 2 || strcmp(args->words[0], "password") != 0)
        return err_set(err, ERR_MALFORMED, NULL, USAGE);
    if (args->word_count == 2)
        p.user = str_of(args->words[1]);
    data = data ? data : "./data";
    auto_free char *real = realpath(data, NULL);
    if (!real)
        return err_set(err, ERR_NOT_FOUND, NULL, "%s: %s; name the data folder by --data DIR", data,
                       strerror(errno));
    password_generate(generated);
    if (args_has(args, "password-stdin") && !prompt_read_line(a, &password, err))
        return false;
    p.data = real;
    p.db_url = args_value(args, "db");
    p.password = str_of(password);
    if (!new_password_set(&p, a, err))
        return false;
    if (cli->output == OUTPUT_NAME)
        printf("%s\n", password);
    else if (args_has(args, "password-stdin"))
        printf("The password of " STR_FMT " is set; their sessions have ended.\n", STR_ARG(p.user));
    else
        printf("user      " STR_FMT "\npassword  %s\n", STR_ARG(p.user), password);
    return true;
}
