/* Commands about the server and oneself: login, logout, whoami, use. */
#ifndef INGOT_CLI_ACCOUNT_H
#define INGOT_CLI_ACCOUNT_H

#include "cli/cli.h"

extern const struct flag account_login_flags[];
extern const size_t account_login_flag_count;
extern const struct flag account_use_flags[];
extern const size_t account_use_flag_count;

bool account_login(struct cli *cli, const struct args *args, struct err *err);
bool account_logout(struct cli *cli, const struct args *args, struct err *err);
bool account_whoami(struct cli *cli, const struct args *args, struct err *err);
bool account_use(struct cli *cli, const struct args *args, struct err *err);

#endif
