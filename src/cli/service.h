/* Commands about services: deploy, request, and the log of all replicas. */
#ifndef INGOT_CLI_SERVICE_H
#define INGOT_CLI_SERVICE_H

#include "cli/cli.h"

extern const struct flag service_deploy_flags[];
#define SERVICE_DEPLOY_FLAGS 8

bool service_deploy_run(struct cli *cli, const struct args *args, struct err *err);
bool service_request_run(struct cli *cli, const struct args *args, struct err *err);
/* The newest lines of all replicas; follow: and those that come, until it is interrupted. */
bool service_logs(struct cli *cli, const char *service, bool follow, struct err *err);

#endif
