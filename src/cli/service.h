/* Commands about services: deploy, request, traffic, and the log of all replicas. */
#ifndef INGOT_CLI_SERVICE_H
#define INGOT_CLI_SERVICE_H

#include "cli/cli.h"
#include "core/kind.h"

extern const struct flag service_deploy_flags[];
#define SERVICE_DEPLOY_FLAGS 8

bool service_deploy_run(struct cli *cli, const struct args *args, struct err *err);
bool service_request_run(struct cli *cli, const struct args *args, struct err *err);
extern const struct flag service_traffic_flags[];
#define SERVICE_TRAFFIC_FLAGS 1
/* A verb of `service`. */
bool service_traffic(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                     struct err *err);
/* The newest lines of all replicas; follow: and those that come, until it is interrupted. */
bool service_logs(struct cli *cli, const char *service, bool follow, struct err *err);

#endif
