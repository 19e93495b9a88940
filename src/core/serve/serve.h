/* Services: a stable address in front of one production version and at most one canary. A version is a model
 * version, served by the program ingot-infer, or a command in an image that listens on a port; its replicas
 * are jobs, one each (core/job/owner.h). One controller (services.c) compares what is wanted with what is:
 * it starts missing replicas, asks them whether they are well, replaces those that are not, drains what is
 * not wanted any more, and publishes the routes (route.h) by which the gateway finds those that answer.
 *
 * A service has two slots, production and canary. The version whose role names the slot is its target; a
 * replica keeps its slot until it is over, so that the replicas of the version before go on answering until
 * the target's are ready. What a container is made of has a generation: it grows with each change of the
 * version, and replicas of former generations are replaced one after the other. */
#ifndef INGOT_CORE_SERVE_SERVE_H
#define INGOT_CORE_SERVE_SERVE_H

#include "core/job/owner.h"

extern const struct kind kind_service, kind_service_version, kind_service_key;
extern const struct action service_actions[], service_version_actions[];
extern const struct job_owner service_version_owner;

enum slot { SLOT_PRODUCTION, SLOT_CANARY, SLOTS };
extern const char *const slot_names[]; /* as the roles of versions, which have "retired", too */
/* SLOTS: none. */
enum slot slot_of(struct str role);

/* The controller looks again. */
void services_wake(struct core *core);
/* The same, and waits a moment until it has looked and published: what was committed is in force then. Not on
 * loop threads. */
void services_settle(struct core *core);

/* How many replicas it is to have: none when it or its service is stopped. */
int64_t service_wanted(const struct object *service, const struct object *version);
/* "fruit", or "id.7" where the name cannot stand in an address. */
const char *service_address_name(struct arena *a, const struct object *service);

/* Inside a write: the version has its role from now on, and who had it before is retired. */
bool service_take_role(struct op *op, const struct object *version, struct err *err);
/* Inside a write: makes a service, version or key as a client's create of this body would; its project (a
 * service) or parent is set in *o. The secret of a new key is in *o. */
bool service_make(struct op *op, const struct kind *k, struct str body, struct object *o, struct err *err);

/* Deploying: the action `deploy` of services (deploy.c). */
extern const struct field service_deploy_fields[], service_fitting_fields[];
/* The services of a project whose production does the same model task. */
bool service_fitting(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err);
bool service_deploy(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err);
/* Merged logs of all replicas: the action `log` (replica_log.c). */
extern const struct field service_log_fields[];
bool service_log(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);

#endif
